"""What midcall knows of frameworks: sessions, adoption, errors, and what FastMCP needs on top."""
