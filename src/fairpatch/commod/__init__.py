"""COMMOD, the paper's method: one file per symbol; README.md beside this says which."""
