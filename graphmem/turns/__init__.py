"""Turns of agents' sessions: what was done between a prompt and its answer, and how it is told."""
