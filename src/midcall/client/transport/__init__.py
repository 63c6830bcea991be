"""What a client sends and gets: how it connects, what it offers, and what it makes of what comes."""
