"""Applications, made up: ``python people.py FILE ROWS SEED``. Replace this by your own extract."""

import sys

from fairpatch.datasets import load_loans

file, rows, seed = sys.argv[1:]
load_loans(int(rows), int(seed)).to_parquet(file, index=False)
