"""What the table is: the role that every column plays, said once, and the same everywhere."""
