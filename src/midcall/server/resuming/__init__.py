"""Calls that continue later: resume codes, what is kept for them, visits, and holding a request."""
