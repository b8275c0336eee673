"""What somebody said: sentences, and the rules by which they state something worth keeping."""
