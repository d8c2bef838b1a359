"""The paper's learner: a ratio against an adversary that guesses S (METHOD sections 2 and 3)."""
