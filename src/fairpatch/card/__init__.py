"""Learning a scorecard (METHOD sections 13, 14, 17 and 18): convex, and the same every time.

learner.py     Card: its options, what every learner does, and the card in force as a candidate
bins.py        how columns are cut into pieces, by a user's options; columns that none reads
aim.py         P(cell | x), and what an approval is worth in each cell: the target's multipliers
problem.py     rows as they are learned from, and scores of people that have not been learned from
scorecard.py   the few columns that say the scores best, in f's order, and as whole points
confidence.py  f's confidence as bands of its score, and which values f likes better
candidates.py  scorecards at several weights of the push and in each direction, as a pool
sense.py       what speaks against a card's lines: whom they reward, and for what
"""
