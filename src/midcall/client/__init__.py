"""The client side: what answers a question."""
