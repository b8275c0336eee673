"""Owns what can be left out of answering a question in words, so that its worth can be measured.

It is no setting: users always get everything. Only an evaluation leaves something out.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Switches:
    """`supersession`: what is out of date is marked and put last. `expansion`: the graph adds pieces."""

    supersession: bool = True
    expansion: bool = True


EVERYTHING = Switches()
