"""Owns how modules come about at one moment: from links and what was before, to modules and what they say.

It is not the search for communities (`inference.communities`) nor the wording (`module_texts`), and writes
nothing. A module whose files are the same keeps what was said of it, as long as everything it says is there.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from graphmem.database import chunked
from graphmem.graph import EdgeStatus
from graphmem.minting import moment
from graphmem.module_memory import KeptModule, Memory, fingerprint, former, present_paths
from graphmem.module_texts import Current, Group, Portraits, Told, summary
from graphmem.nodes import NodeTable, number_of
from graphmem.postings import View
from graphmem.work import WorkLog
from inference.communities import Community, Inside, Link, Part, communities, insides, merged, parts

WHOLE, PART = LEVELS = (0, 1)
"""The levels: modules, and the parts of large ones."""
CONFIRMED = 3
"""A confirmed edge counts as if so many more observations held both ends."""
_LINEAGE = 10


@dataclass(frozen=True, slots=True)
class Module:
    """A module as it is written down; `members` are nodes, `built_at` is when it was last summed up."""

    kept: KeptModule
    members: tuple[int, ...]
    summary: str
    cohesion: float
    current: Current


class Grouping(NamedTuple):
    """The modules of a moment, and what identifies the links they were found from."""

    at: float
    links: str
    modules: tuple[Module, ...]


class _Place(NamedTuple):
    """A community, where it stands and how it holds together."""

    level: int
    parent: str | None
    community: Community
    inside: Inside


def group(view: View, memory: Memory, project: str) -> Grouping:
    """Return the present modules; `memory` are those of before, `project` is part of new ids."""
    paths = present_paths(view, memory)
    files, links = _links(view)
    print_of_links = fingerprint(links)
    if print_of_links == memory.links and _is_complete(memory, paths):
        found = _as_before(memory, paths)
    else:
        wholes = communities(links, former(memory.modules, WHOLE, paths), project)
        found = wholes, parts(links, wholes, former(memory.modules, PART, paths), project)
    places = list(_places(links, *found))
    described = _Describing(view, memory, paths, files, places)
    return Grouping(described.now, print_of_links, tuple(map(described.module, places)))


def _links(view: View) -> tuple[dict[str, int], list[Link]]:
    """Return the files at the ends of living edges, path to id, and the links between them.

    Of the weights tried on 29 histories, ln(1 + joint observations) gave modules that hold the most of the
    future; the probability, alone or as a factor, less. Links with concepts are left out: at a quarter of the
    weight a twentieth more of the future lay inside, but modules became words with few files among them, and
    fewer of their ids stayed.
    """
    rows = view.connection.execute(
        "SELECT source / 4, target / 4, together, status FROM edge WHERE status IN (?, ?)"
        " AND source % 4 = ? AND target % 4 = ?",
        (EdgeStatus.CANDIDATE, EdgeStatus.CONFIRMED, NodeTable.FILE, NodeTable.FILE),
    ).fetchall()
    living = view.files({id for row in rows for id in row[:2]})
    paths = {id: file.path for id, file in living.items() if file.alive}
    links = [
        Link(
            paths[source],
            paths[target],
            math.log1p(together + (CONFIRMED if status == EdgeStatus.CONFIRMED else 0)),
        )
        for source, target, together, status in rows
        if source in paths and target in paths
    ]
    return {path: id for id, path in paths.items()}, merged(links)


def _is_complete(memory: Memory, paths: Mapping[str, str]) -> bool:
    return all(path in paths for module in memory.modules for path in module.files)


def _as_before(memory: Memory, paths: Mapping[str, str]) -> tuple[list[Community], list[Part]]:
    """Return the kept modules as they are."""
    wholes: list[Community] = []
    inner: list[Part] = []
    for module in memory.modules:
        community = Community(module.id, frozenset(paths[name] for name in module.files), (), True)
        if module.parent is None:
            wholes.append(community)
        else:
            inner.append(Part(module.parent, community))
    return wholes, inner


def _places(links: Sequence[Link], wholes: Sequence[Community], inner: Sequence[Part]) -> Iterable[_Place]:
    inside = insides(links, {each.id: each.members for each in wholes})
    for each in wholes:
        yield _Place(WHOLE, None, each, inside[each.id])
    inside = insides(links, {part.community.id: part.community.members for part in inner})
    for part in inner:
        yield _Place(PART, part.parent, part.community, inside[part.community.id])


class _Describing:
    """What is said of all modules of one moment."""

    def __init__(
        self,
        view: View,
        memory: Memory,
        paths: Mapping[str, str],
        files: Mapping[str, int],
        places: Sequence[_Place],
    ) -> None:
        self._view = view
        self._files = files
        self._before = {module.id: module for module in memory.modules}
        self.now = moment(view.connection)
        same = {
            place.community.id: self._before[place.community.id].told
            for place in places
            if place.community.id in self._before
            and _is_same(self._before[place.community.id], place.community, paths)
        }
        self._look_up(same.values())
        self._kept = {id: told for id, told in same.items() if self._is_there(told)}
        self._told: dict[str, Told] = {}
        self._current: dict[str, Current] = {}
        log = WorkLog(view)
        for level in LEVELS:
            self._portray(log, [self._group(place) for place in places if place.level == level])
        self._look_up(self._told.values())

    def _portray(self, log: WorkLog, groups: Sequence[Group]) -> None:
        portraits = Portraits(log, self._view.total(), groups)
        kept = {group.id: self._kept[group.id] for group in groups if group.id in self._kept}
        self._told |= kept | portraits.told(kept)
        self._current |= {group.id: portraits.current(group.id) for group in groups}

    def _group(self, place: _Place) -> Group:
        paths = {self._files[path]: path for path in sorted(place.community.members)}
        weights = {self._files[path]: weight for path, weight in place.inside.weights.items()}
        return Group(place.community.id, paths, weights)

    def _look_up(self, told: Iterable[Told]) -> None:
        """Read which of the cited observations and named concepts there are."""
        said = list(told)
        cites = {id for each in said for id in each.cites}
        names = {name for each in said for name in (*each.terms, *each.concepts)}
        self._titles = dict(
            chunked(self._view.connection, "SELECT id, title FROM observation WHERE id IN ({})", cites)
        )
        self._concepts = dict(
            chunked(self._view.connection, "SELECT name, id FROM concept WHERE name IN ({})", names)
        )

    def _is_there(self, told: Told) -> bool:
        named = (*told.terms, *told.concepts)
        return all(id in self._titles for id in told.cites) and all(name in self._concepts for name in named)

    def module(self, place: _Place) -> Module:
        """Return a module with all that is said of it."""
        id, members, lineage, _ = place.community
        told, before = self._told[id], self._before.get(id)
        earlier = before.lineage if before is not None else ()
        kept = KeptModule(
            id=id,
            level=place.level,
            parent=place.parent,
            files=tuple(sorted(members)),
            told=told,
            built_at=before.built_at if before is not None and id in self._kept else self.now,
            lineage=tuple(dict.fromkeys((*lineage, *earlier)))[:_LINEAGE],
        )
        nodes = [number_of(NodeTable.FILE, self._files[path]) for path in members]
        nodes += [number_of(NodeTable.CONCEPT, self._concepts[name]) for name in told.concepts]
        said = summary((self._titles[cited], cited) for cited in told.cites)
        return Module(kept, tuple(sorted(nodes)), said, place.inside.cohesion, self._current[id])


def _is_same(before: KeptModule, community: Community, paths: Mapping[str, str]) -> bool:
    """Return whether a module has the very files it had, whatever they are called by now."""
    return community.members == {paths.get(name) for name in before.files}
