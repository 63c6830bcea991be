"""What a store does beside its requests: opening and closing, waking who waits, purging."""
