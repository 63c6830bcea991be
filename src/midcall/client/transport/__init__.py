"""Transports to a server: connect, declare modes, and repair incoming messages."""
