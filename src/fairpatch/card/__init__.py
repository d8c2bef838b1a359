"""Learning a scorecard (METHOD sections 13, 14, 17 and 18): convex, and the same every time.

learner.py     Card: its options, and what every learner does
options.py     how a scorecard may look: bins, order, names
left_out.py    columns that none reads: copies of the score, names of people
fields.py      columns in bins and groups of categories
order.py       which values f likes better, asked of f
cells.py       P(cell | x): who somebody is, from the columns
aim.py         what an approval is worth in each cell: the multipliers of the target
scorecard.py   the few columns that say the push best, in f's order
points.py      their scores as whole points
confidence.py  f's confidence as bands of its score
crossfit.py    scores from rows; everybody's points by scores that have not seen them
candidates.py  scorecards at several weights of the push and in each direction, as a pool
previous.py    the scorecard in force until now, as a candidate beside new ones
"""
