"""`midcall doctor`: checks of an installation, and of a server from outside."""
