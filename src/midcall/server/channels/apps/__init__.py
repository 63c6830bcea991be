"""Forms as MCP Apps: for clients that show Apps but have no elicitation.

channel   the channel: waits for an answer from an App, or ends the call with a code
requests  what such a client sees: the one resource, the tool behind it, and which tools point there
opening   the questions that a call has open, and how an App finds them
tool      `midcall_app`: gives an App its question, and takes the answer
"""
