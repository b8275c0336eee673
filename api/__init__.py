"""The ways in: HTTP, command line, demo. Uses `graphmem`; no scoring here."""
