"""What the stores are built from: connections, waiting, rows, migrations, failures."""
