"""What operators read: log lines that strangers' text can't forge, and the audit trail.

`filter` is loaded with midcall, `audit` only where a trail is kept.
"""
