"""What commands print: results, progress, the server's log, tables."""
