"""`midcall call`: call a tool, and answer its questions."""
