"""The paper's experiments and ours."""
