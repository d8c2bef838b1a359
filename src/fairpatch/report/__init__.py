"""What people look at. Data is computed elsewhere; here it is drawn."""
