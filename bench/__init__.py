"""What midcall costs, against every other way to ask: `python -m bench`, or `make bench`."""
