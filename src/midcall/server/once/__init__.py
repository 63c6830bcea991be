"""`once`: effects, and how their results are recorded."""
