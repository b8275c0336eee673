"""The agent clients: one module each, behind the seam of `graphmem.clients.port`."""
