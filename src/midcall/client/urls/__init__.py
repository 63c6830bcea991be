"""Addresses that a server wants the user to open: their hosts, and every reason for doubt. Pure."""
