"""What the two portal examples have in common.

tools.py    the four tools, one for each verb
access.py   MCP access tokens, checked against their issuer
shop.py     the author's own page, for `visit`, and the webhook that completes it
tracker.py  a service with accounts, for `authorize`: a toy, unless you name a real one
options.py  the command-line options of both
"""
