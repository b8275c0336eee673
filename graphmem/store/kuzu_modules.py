"""Owns replacing the modules of an open graph by touching only what differs.

It is not how modules are found. Writing all of them anew each time would let the file grow without end: the
engine does not use the room again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graphmem.store import kuzu_schema as cypher
from graphmem.store.kuzu_changes import labels_of, plain, run
from graphmem.store.kuzu_engine import Speaker
from graphmem.store.kuzu_loading import copy_members
from graphmem.store.port import GraphModule

_BY_COPY = 500
"""More new members than this are copied in bulk."""


@dataclass(frozen=True, slots=True)
class ModulePlan:
    """What there is to do: modules to drop, make and rename, members (node, module) to drop and add."""

    gone: frozenset[str]
    new: tuple[GraphModule, ...]
    renamed: tuple[GraphModule, ...]
    leaving: tuple[tuple[int, str], ...]
    coming: tuple[tuple[int, str, int], ...]
    labels: dict[int, str]


def plan_modules(speaker: Speaker, modules: Sequence[GraphModule]) -> ModulePlan:
    """Compare the wanted modules with those that are there; members nobody knows are left out."""
    wanted = {module.id: module for module in modules}
    held = {id: (label, level, parent) for id, label, level, parent in speaker.rows(cypher.ALL_MODULES)}
    # The level is repeated on each membership: with another one, a module is made anew.
    stays = {id for id, module in wanted.items() if id in held and held[id][1] == module.level}
    before = {(node, id) for node, id in speaker.rows(cypher.ALL_MEMBERS)}
    after = {(node, module.id) for module in wanted.values() for node in module.members}
    stay = {(node, id) for node, id in before & after if id in stays}
    labels = labels_of(speaker, {node for node, _ in (before | after) - stay})
    return ModulePlan(
        frozenset(held.keys() - stays),
        tuple(module for id, module in wanted.items() if id not in stays),
        tuple(wanted[id] for id in stays if held[id] != _told(wanted[id])),
        tuple(sorted(before - stay)),
        tuple((node, id, wanted[id].level) for node, id in sorted(after - stay) if node in labels),
        labels,
    )


def put_modules(speaker: Speaker, planned: ModulePlan) -> None:
    """Carry out a plan, inside a transaction of the caller's."""
    for node, id in planned.leaving:
        run(speaker, cypher.DROP_MEMBER, {"label": planned.labels[node]}, node=node, module=id)
    for id in sorted(planned.gone):
        speaker.rows(cypher.DROP_MODULE, id=id)
    for statement, modules in ((cypher.NEW_MODULE, planned.new), (cypher.SET_MODULE, planned.renamed)):
        for module in modules:
            label, level, parent = _told(module)
            speaker.rows(statement, id=module.id, label=label, level=level, parent=parent)
    if len(planned.coming) > _BY_COPY:
        copy_members(speaker, planned.coming, planned.labels)
        return
    for node, id, level in planned.coming:
        names = {"label": planned.labels[node]}
        run(speaker, cypher.NEW_MEMBER, names, node=node, module=id, level=level)


def _told(module: GraphModule) -> tuple[str, int, str]:
    return plain(module.label), module.level, plain(module.parent or "")
