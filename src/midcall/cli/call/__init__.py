"""`midcall call`: call a tool, and answer what it asks."""
