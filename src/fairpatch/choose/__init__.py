"""From training rows to candidates, and from candidates to one patch."""
