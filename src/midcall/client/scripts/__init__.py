"""Answers from a script: a dict, a list, a function or a file."""
