"""The graph store: the port, its in-memory twin, and the embedded engine behind it."""
