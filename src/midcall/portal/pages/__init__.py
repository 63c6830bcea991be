"""The pages of the portal."""
