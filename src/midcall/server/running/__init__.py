"""Runs: a tool's code in a task of its own, which can outlive the request that started it."""
