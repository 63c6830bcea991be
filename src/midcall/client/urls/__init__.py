"""Inspect URLs before the user opens them."""
