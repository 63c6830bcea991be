"""`midcall demo`: two tools that ask, played at the terminal or from a script."""
