"""Every sentence that a user, an author or a model may read: a module for each part of midcall.

Plain functions, so that a sentence and what goes into it are checked together. What a client of ours says to its user
is in `client`, what the pages of the portal say in `portal`. Nothing here imports anything else of midcall.
"""
