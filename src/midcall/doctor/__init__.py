"""`midcall doctor`: checks of an installation. Only `cli` imports it."""
