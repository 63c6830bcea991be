"""Forms as MCP Apps: for clients that show Apps, and cannot be asked.

listing   what such a client is told: the one resource, the tool behind it, and which tools point there
opening   the questions that a call has open, by the call's nonce
frames    how an App that is shown while its call is held finds that call
tool      `midcall_app`: gives an App its question, and takes the answer
"""
