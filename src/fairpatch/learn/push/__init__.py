"""Learning a card without a game (METHOD sections 13 and 14): convex, and the same every time.

cells.py    P(cell | x): who somebody is, from the columns
aim.py      what a decision of 1 is worth in each cell: the multipliers of the target
fields.py   columns cut into ranges and levels
select.py   the few lines that say the push best
points.py   their weights as whole points
card.py     all of it together, and cross-fitted
"""
