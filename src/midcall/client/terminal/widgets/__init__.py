"""What the forms in the terminal are made of."""
