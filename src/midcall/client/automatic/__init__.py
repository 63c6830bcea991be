"""Answerers without a person: a script, a policy."""
