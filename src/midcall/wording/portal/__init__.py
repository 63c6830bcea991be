"""Every sentence on the pages of the portal, and what the portal says to authors and logs: a module for each part."""
