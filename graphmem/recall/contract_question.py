"""Owns the answer to "who uses this contract": its users, those last seen on a superseded one first.

It is not how contracts are read from texts (`graphmem.contracts`) nor the edges of the graph: who uses a
contract is told by the observations that name it, so it can be asked with the graph away and of any moment.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from graphmem.contracts import read_contracts, version_family
from graphmem.database import chunked
from graphmem.graph import NodeName, NodeType
from graphmem.instant import to_iso
from graphmem.model import Observation
from graphmem.postings import View
from graphmem.question import FoundNode, Hop
from graphmem.recall.activity import replacement
from graphmem.recall.asking import is_chinese
from graphmem.text import tokens
from inference.lineage import Change

_LOOKED_AT = 2_000
_MOST_CONTRACTS = 12
_USES = 200
_LISTED = 2_000
_OLD, _NEW = 1.0, 0.5
_PATH = re.compile(r"/[\w{}.~:@%+\-]{1,80}(?:/[\w{}.~:@%+\-]{1,80}){0,15}")
_LABEL = re.compile(r"[A-Za-z][\w]{1,60}(?:[.:\-/][\w]{1,60}){0,6}")
_API = re.compile(r"\b(?:apis?|endpoints?|routes?)\b|接口|路由|端点", re.IGNORECASE)
_VERSION = re.compile(r"(?<![A-Za-z0-9_/.])v(\d{1,3})(?![\w./])", re.IGNORECASE)
_PLAIN_KINDS = {
    "table": re.compile(r"\btables?\b|表", re.IGNORECASE),
    "event": re.compile(r"\b(?:events?|topics?)\b|事件|主题|消息", re.IGNORECASE),
    "setting": re.compile(r"\b(?:settings?|config\w*|env\w*|variables?)\b|配置|环境变量", re.IGNORECASE),
}


class NamedContract(NamedTuple):
    """A recorded contract: its row and its name."""

    row: int
    name: str


class Added(NamedTuple):
    """An observation that is brought in by `via`; `weight` (0 to 1) orders these among themselves."""

    seq: int
    weight: float
    via: tuple[Hop, ...]


@dataclass(frozen=True, slots=True)
class ContractAnswer:
    """The contracts and the files that use them, as they are to be listed, and the observations behind."""

    nodes: tuple[FoundNode, ...] = ()
    pieces: tuple[Added, ...] = ()


class _Use(NamedTuple):
    seq: int
    id: str
    at: float
    superseded_by: str | None


@dataclass(frozen=True, slots=True)
class _Contract:
    row: int
    name: str
    uses: tuple[_Use, ...]
    replaced: tuple[str, float] | None

    @property
    def ref(self) -> str:
        return str(NodeName(NodeType.CONTRACT, self.name))


class _LastUse(NamedTuple):
    """Where a file was last seen: the contract, the observation, when."""

    file: int
    contract: _Contract
    use: _Use


# ---- which contracts are meant ------------------------------------------------------------------


def named_contracts(view: View, text: str) -> tuple[NamedContract, ...]:
    """Return the recorded contracts that a question names, at most twelve.

    An endpoint may be named in full, by its path, by the beginning of its path, or by words of its path
    beside "API" or the like; with a version (`v1 of the session API`) only those of that version. Tables,
    events and settings by their names.
    """
    cut = text[:_LOOKED_AT]
    read = [mention.name for mention in read_contracts(Observation(id="", session="", at=0.0, title=cut))]
    known = _known(view, read)
    if known:
        return _limited(known)
    paths = [name[name.find("/") :] for name in read if "/" in name] + _PATH.findall(cut)
    known = [found for path in dict.fromkeys(paths) for found in _on_path(view, path.rstrip(".:"))]
    known += _labelled(view, cut)
    if not known and not paths and _API.search(cut):
        known = _by_words(view, cut)
    return _limited(known)


def _limited(found: Iterable[NamedContract]) -> tuple[NamedContract, ...]:
    return tuple(dict.fromkeys(found))[:_MOST_CONTRACTS]


def _known(view: View, names: Iterable[str]) -> list[NamedContract]:
    rows = chunked(view.connection, "SELECT id, name FROM contract WHERE name IN ({})", dict.fromkeys(names))
    return [NamedContract(*row) for row in rows if _is_known_by_then(view, row[0])]


def _is_known_by_then(view: View, row: int) -> bool:
    used = view.connection.execute(
        "SELECT 1 FROM contract_use JOIN observation USING (seq) WHERE contract = ? AND at <= ? LIMIT 1",
        (row, view.as_of),
    )
    return used.fetchone() is not None


def _on_path(view: View, path: str) -> list[NamedContract]:
    """Return the endpoints of that path, whatever the method, else those below it."""
    if path.count("/") < 1 or len(path) < 3:
        return []
    found = [
        NamedContract(row, name)
        for row, name in _endpoints(view)
        if (own := name[name.find("/") :]) == path or own.startswith(f"{path}/")
    ]
    exact = [contract for contract in found if contract.name.endswith(path)]
    return [contract for contract in exact or found if _is_known_by_then(view, contract.row)]


def _endpoints(view: View) -> list[tuple[int, str]]:
    return view.connection.execute(
        "SELECT id, name FROM contract WHERE instr(name, '/') > 0 ORDER BY id DESC LIMIT ?", (_LISTED,)
    ).fetchall()


def _labelled(view: View, text: str) -> list[NamedContract]:
    """Return tables, events and settings; a plain word counts only beside the word for its kind."""
    names: list[str] = []
    for match in _LABEL.finditer(text):
        label = match.group()
        telling = any(char in label for char in "._:-/") or (label.isupper() and "_" in label)
        names += [f"{kind} {label}" for kind, noun in _PLAIN_KINDS.items() if telling or noun.search(text)]
    return _known(view, names[:200])


def _by_words(view: View, text: str) -> list[NamedContract]:
    """Return the endpoints whose path's last word, and version where one is told, stand in the question."""
    words = frozenset(tokens(text))
    versions = {int(match[1]) for match in _VERSION.finditer(text)}
    found: dict[NamedContract, int] = {}
    for row, name in _endpoints(view):
        family = version_family(name)
        if versions and (family is None or family[1] not in versions):
            continue
        parts = [part for part in name[name.find("/") + 1 :].split("/") if "{" not in part]
        told = [part for part in parts if set(tokens(part)) & words]
        if parts and parts[-1] in told and _is_known_by_then(view, row):
            found[NamedContract(row, name)] = len(told)
    most = max(found.values(), default=0)
    return [contract for contract, count in found.items() if count == most]


# ---- who uses them ------------------------------------------------------------------------------


def contract_users(
    view: View, contracts: Sequence[NamedContract], text: str, limit: int = 20
) -> ContractAnswer:
    """Return the users of contracts as of the view's moment, those still on a superseded one first.

    Args:
        view: the postings, cut at the moment asked about.
        contracts: those the question names, see `named_contracts`.
        text: the question, whose language the lines take.
        limit: files at most.
    """
    known = _with_successors(view, contracts)
    heads = {contract.name: contract for contract in known}
    last: dict[int, _LastUse] = {}
    for contract in known:
        for use, files in _files_of(view, contract):
            for file in files:
                before = last.get(file)
                # What names the old and the new one at once knows the new one, which comes later here.
                if before is None or (use.at, use.seq) >= (before.use.at, before.use.seq):
                    last[file] = _LastUse(file, contract, use)
    living = view.files(last)
    users = [entry for file, entry in last.items() if file in living and living[file].alive]
    users.sort(key=lambda entry: (*_standing(entry), -entry.use.at, living[entry.file].path))
    chinese = is_chinese(text)
    nodes = [_contract_node(contract, place, chinese) for place, contract in enumerate(known)]
    listed = [
        _user_node(entry, living[entry.file].path, 0.98 - 0.001 * place, chinese)
        for place, entry in enumerate(users[:limit])
    ]
    olds = [node for node in nodes if node.superseded_by is not None]
    return ContractAnswer(
        (*olds, *listed, *(node for node in nodes if node.superseded_by is None)),
        tuple(_pieces(users[:limit], heads)),
    )


def _with_successors(view: View, contracts: Sequence[NamedContract]) -> list[_Contract]:
    """Return these contracts and what took their places, in that order."""
    found: dict[str, _Contract] = {}
    waiting = list(contracts)
    while waiting and len(found) < _MOST_CONTRACTS:
        row, name = waiting.pop(0)
        if name in found:
            continue
        uses = tuple(_uses(view, row))
        replaced = replacement(view, name, ((use.superseded_by, use.at) for use in uses))
        found[name] = _Contract(row, name, uses, replaced)
        if replaced is not None:
            waiting += _known(view, (replaced[0],))
    return list(found.values())


def _uses(view: View, row: int) -> Iterator[_Use]:
    rows = view.connection.execute(
        "SELECT seq, observation.id, at, superseded_by FROM contract_use JOIN observation USING (seq)"
        " WHERE contract = ? AND at <= ? ORDER BY at DESC, seq DESC LIMIT ?",
        (row, view.as_of, _USES),
    )
    return map(_Use._make, rows.fetchall())


def _files_of(view: View, contract: _Contract) -> Iterator[tuple[_Use, list[int]]]:
    """Yield each use with the files it changed, or read where it changed none; bulk changes use nothing.

    What says that the contract was replaced has not used it.
    """
    uses = {use.seq: use for use in contract.uses if use.superseded_by is None}
    rows = chunked(
        view.connection,
        "SELECT touch.seq, file, change FROM touch JOIN observation ON observation.seq = touch.occasion"
        " WHERE touch.seq IN ({}) AND (pairs = 1 OR size <= 1) ORDER BY touch.seq, ord",
        uses,
    )
    touched: dict[int, tuple[list[int], list[int]]] = {seq: ([], []) for seq in uses}
    for seq, file, change in rows:
        touched[seq][change == Change.READ].append(file)
    for seq, (changed, read) in touched.items():
        yield uses[seq], changed or read


def _standing(entry: _LastUse) -> tuple[bool, bool]:
    """Return what orders users: on a superseded one before others, among these those seen on it since."""
    replaced = entry.contract.replaced
    return replaced is None, replaced is None or entry.use.at < replaced[1]


def _pieces(users: Sequence[_LastUse], known: Mapping[str, _Contract]) -> Iterator[Added]:
    """Yield the observations behind the users, and what says that a contract was replaced."""
    seen: set[int] = set()
    for place, entry in enumerate(users):
        if entry.use.seq not in seen:
            seen.add(entry.use.seq)
            weight = _OLD if entry.contract.replaced is not None else _NEW
            yield Added(entry.use.seq, weight - 0.001 * place, (_told(entry.contract, entry.use),))
    for contract in known.values():
        for use in contract.uses:
            if use.superseded_by is not None and use.seq not in seen:
                seen.add(use.seq)
                yield Added(use.seq, _NEW, (_told(contract, use),))
                break


def _told(contract: _Contract, use: _Use) -> Hop:
    return Hop(contract.ref, f"observation:{use.id}", "mentions")


# ---- in words -----------------------------------------------------------------------------------


def _contract_node(contract: _Contract, place: int, chinese: bool) -> FoundNode:
    by = None if contract.replaced is None else contract.replaced[0]
    if contract.replaced is not None:
        on = to_iso(contract.replaced[1])[:10]
        text = f"已被 {by} 取代 ({on})" if chinese else f"superseded by {by} on {on}"
    else:
        text = f"提到它的观察有 {len(contract.uses)} 条" if chinese else _named_in(len(contract.uses))
    at = contract.uses[0].at if contract.uses else None
    score = 1.0 - 0.001 * place
    return FoundNode(
        NodeType.CONTRACT, contract.ref, contract.name, text, score, at, {"contract": 1.0}, superseded_by=by
    )


def _named_in(count: int) -> str:
    return f"named in {count} observation{'' if count == 1 else 's'}"


def _user_node(entry: _LastUse, path: str, score: float, chinese: bool) -> FoundNode:
    on = to_iso(entry.use.at)[:10]
    name = entry.contract.name
    if entry.contract.replaced is None:
        text = f"最近一次使用 {name} 是在 {on}" if chinese else f"last seen on {name} on {on}"
    else:
        by = entry.contract.replaced[0]
        text = (
            f"最近一次看到仍在用 {name} ({on}),它已被 {by} 取代"
            if chinese
            else f"last seen on {name} on {on}, which is superseded by {by}"
        )
    ref = str(NodeName(NodeType.FILE, path))
    via = (Hop(entry.contract.ref, ref, "uses"),)
    return FoundNode(NodeType.FILE, ref, path, text, score, entry.use.at, {"contract": 1.0}, via)
