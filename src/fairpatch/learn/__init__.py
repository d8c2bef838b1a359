"""Section 5 of the paper, one file per symbol; README.md has the map. Works on arrays only."""
