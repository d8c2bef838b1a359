"""The paper's experiments, one file each: what to run, and what one run gives. No drawing here."""
