"""Models that turn texts into vectors, where vectors are kept, and the thread that fills them in."""
