"""What may be shown of counts, so that no small group can be worked out from a page."""
