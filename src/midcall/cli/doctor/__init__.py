"""`midcall doctor`: what a server has to reach its users, and what is missing."""
