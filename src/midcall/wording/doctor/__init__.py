"""Every sentence of `midcall doctor` and of the probe: a module for each thing that is looked at."""
