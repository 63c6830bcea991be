"""`midcall demo`: play two tools that ask, in the terminal or from a script."""
