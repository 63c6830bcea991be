"""Visits that a call waits for: after the error -32042 it is made again when they are done."""
