"""Owns `python -m api`, which is `graphmem` for places without the console script."""

from api.entry import main

if __name__ == "__main__":
    main()
