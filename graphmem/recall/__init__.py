"""The answers: impact, activity, search, sessions. It reads the postings and writes nothing."""
