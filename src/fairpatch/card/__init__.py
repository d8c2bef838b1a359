"""Learning a card of points (METHOD sections 13 and 14): convex, and the same every time.

learner.py     Card: its options, and what every learner does
options.py     how a card may look: lines, directions, names
cells.py       P(cell | x): who somebody is, from the columns
aim.py         what a decision of 1 is worth in each cell: the multipliers of the target
fields.py      columns cut into ranges and categories
select.py      the few lines that say the push best
points.py      their weights as whole points
crossfit.py    a card from rows; everybody's points by a card that has not seen them
candidates.py  cards at several confidence points and in each direction, as a pool
previous.py    the card in force until now, as a candidate beside new ones
"""
