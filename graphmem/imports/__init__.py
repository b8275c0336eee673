"""Owns the imports in a project's code: reading them, and which file of the project each means.

It is a tier of its own: what is read here corroborates edges, and is never evidence for one. It is not where
what was read is kept (`graphmem.code_facts`).
"""

from graphmem.imports.reading import read_imports
from graphmem.imports.reference import ImportGraph, Language, Unread
from graphmem.imports.source_files import walked

__all__ = ["ImportGraph", "Language", "Unread", "read_imports", "walked"]
