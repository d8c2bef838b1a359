"""The rows that are learned from, chosen on and certified on: read once, passed on whole."""
