"""What the two portal examples have in common.

tools.py    the four tools, one for each verb
access.py   MCP access tokens, checked against their issuer
shop.py     a page of the author's own, for `visit`, and the webhook that finishes it
tracker.py  a service where users have accounts, for `authorize`: a toy, unless you name a real one
options.py  what both take on the command line
"""
