"""What the stores are built from: connections, waiting, rows, SQL, failures."""
