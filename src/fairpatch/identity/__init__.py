"""Whether a model and its people are those that a patch was learned for."""
