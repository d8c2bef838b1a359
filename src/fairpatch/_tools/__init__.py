"""What any program needs: files written whole, tables, progress, checks at the door."""
