"""Real agent hosts against one of our servers: `python -m scripts.hosts`."""
