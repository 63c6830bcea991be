"""Runs: a tool's code in its own task, which can outlive the request that started it."""
