"""A client whose questions are answered: connect one, or attach an answerer to your own."""
