"""Two learners of one form: ``push`` makes a card without a game, ``adversarial`` is the paper's.

Both work on arrays and columns, and know nothing of choosing.
"""
