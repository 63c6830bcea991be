"""Measure what midcall costs, compared with every other way to ask: `python -m bench`, or `make bench`."""
