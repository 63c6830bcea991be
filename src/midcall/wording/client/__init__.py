"""Every sentence that the person at a client may read: a module for each part of the client.

What several of them say is in `questions` and `fields`, and carried by those that say it.
"""
