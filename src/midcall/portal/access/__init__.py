"""Who may see an interaction."""
