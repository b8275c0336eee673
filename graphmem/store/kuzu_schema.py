"""Owns the form of a graph file: its tables, and every sentence of Cypher that is spoken to it.

It is not where they are run. Values always come as parameters; labels and relation names come from this
module. Numbers of nodes are repeated on the relations, as reading a neighbour's own properties costs a join
over all nodes (1.3 ms of 50,000, measured), and `open` says in one bit what comparing strings would.
"""

from __future__ import annotations

from collections.abc import Iterable

from graphmem.graph import NodeType
from graphmem.store.port import Towards

FORMAT = 1
"""Raise it with any change of the tables: a file of another format is built anew."""

LABELS = {
    NodeType.FILE: "File",
    NodeType.CONCEPT: "Concept",
    NodeType.CONTRACT: "Contract",
    NodeType.FEATURE: "Feature",
}
ANY = ":".join(LABELS.values())

_BETWEEN = ", ".join(f"FROM {one} TO {other}" for one in LABELS.values() for other in LABELS.values())
_OBSERVED = ", ".join(f"FROM Observation TO {label}" for label in LABELS.values())
_HELD = ", ".join(f"FROM {label} TO Module" for label in LABELS.values())

TABLES = (
    *(
        f"CREATE NODE TABLE {label} (number INT64 PRIMARY KEY, name STRING, alive BOOL)"
        for label in LABELS.values()
    ),
    "CREATE NODE TABLE Module (id STRING PRIMARY KEY, label STRING, level INT64, parent STRING)",
    "CREATE NODE TABLE Session (name STRING PRIMARY KEY)",
    "CREATE NODE TABLE Observation (number INT64 PRIMARY KEY, at DOUBLE, title STRING)",
    "CREATE NODE TABLE Meta (key STRING PRIMARY KEY, generation INT64, change INT64, entries INT64)",
    f"CREATE REL TABLE EDGE ({_BETWEEN}, id STRING, key INT64, source INT64, target INT64, open BOOL, "
    "kind STRING, status STRING, probability DOUBLE, relation STRING, direction STRING)",
    f"CREATE REL TABLE DEPENDS ({_BETWEEN}, edge STRING, source INT64, target INT64, relation STRING)",
    f"CREATE REL TABLE TOUCHED ({_OBSERVED}, observation INT64, at DOUBLE, node INT64)",
    f"CREATE REL TABLE MENTIONS ({_OBSERVED}, observation INT64, at DOUBLE, node INT64)",
    "CREATE REL TABLE IN_SESSION (FROM Observation TO Session)",
    f"CREATE REL TABLE MEMBER_OF ({_HELD}, node INT64, module STRING, level INT64)",
)


def among(value: str, list: str, type: str = "INT64") -> str:
    """Return the condition that a value is in a list that comes as a parameter.

    The plain `IN` returns other rows than those it found where nodes of several labels are looked through
    (0.11.3).
    """
    return f"list_position(cast(${list}, '{type}[]'), {value}) > 0"


# ---- questions -----------------------------------------------------------------------------------

MARK = "MATCH (m:Meta {key: 'mark'}) RETURN m.generation, m.change, m.entries"

# The hints keep the engine from reading every relation where it thinks little of a list of numbers.
FIRST_HOP = {
    Towards.DEPENDENCIES: "MATCH (n {number: $node})-[d:DEPENDS]->() "
    "RETURN d.target AS found, d.source, d.edge ORDER BY found LIMIT $most",
    Towards.DEPENDENTS: "MATCH (n {number: $node})<-[d:DEPENDS]-() "
    "RETURN d.source AS found, d.target, d.edge ORDER BY found LIMIT $most",
}
NEXT_HOP = {
    Towards.DEPENDENCIES: f"MATCH (n)-[d:DEPENDS]->(m) WHERE {among('n.number', 'level')} "
    "HINT (n JOIN d) JOIN m RETURN d.target AS found, d.source, d.edge ORDER BY found LIMIT $most",
    Towards.DEPENDENTS: f"MATCH (n)<-[d:DEPENDS]-(m) WHERE {among('n.number', 'level')} "
    "HINT (n JOIN d) JOIN m RETURN d.source AS found, d.target, d.edge ORDER BY found LIMIT $most",
}
BESIDE = (
    "MATCH (n {number: $node})-[e:EDGE]-() "
    f"WHERE {among('e.status', 'statuses', 'STRING')} AND e.source <> e.target "
    "RETURN e.source, e.target, e.id AS id, e.status, e.probability AS p ORDER BY p DESC, id LIMIT $most"
)
_LOOSE = "e.status <> 'confirmed' OR e.relation = '' OR e.direction = 'both'"
_LEADING = {
    Towards.DEPENDENCIES: "(e.source = n.number AND e.direction <> 'backward') "
    "OR (e.target = n.number AND e.direction = 'backward')",
    Towards.DEPENDENTS: "(e.target = n.number AND e.direction <> 'backward') "
    "OR (e.source = n.number AND e.direction = 'backward')",
}


def onwards(types: Iterable[NodeType], towards: Towards | None) -> str:
    """Return the question for the edges one step further, to nodes of these types (at least one)."""
    leading = "" if towards is None else f"AND ({_LOOSE} OR {_LEADING[towards]}) "
    return (
        f"MATCH (n)-[e:EDGE]-(m:{':'.join(LABELS[type] for type in types)}) "
        f"WHERE {among('n.number', 'level')} AND e.probability >= $floor "
        f"AND {among('e.status', 'statuses', 'STRING')} {leading}"
        f"AND m.alive AND NOT {among('m.number', 'met')} "
        "HINT (n JOIN e) JOIN m "
        "RETURN m.number AS node, n.number AS source, e.id AS id, e.kind, e.status, e.probability AS p, "
        "e.relation ORDER BY p DESC, id, source LIMIT $most"
    )


NEAR = (
    "MATCH (n {number: $node})-[e:EDGE]-() WHERE e.open "
    "RETURN e.source, e.target, e.probability AS p, e.id AS id ORDER BY p DESC, id LIMIT $most"
)
DIRECT = (
    "MATCH (n {number: $node})-[e:EDGE]-() "
    f"WHERE e.open AND ({among('e.source', 'others')} OR {among('e.target', 'others')}) "
    "RETURN e.source, e.target, e.probability, e.id"
)
BETWEEN = (
    f"MATCH (x)-[f:EDGE]-(y) WHERE {among('x.number', 'near')} AND f.open "
    f"AND ({among('f.source', 'far')} OR {among('f.target', 'far')}) "
    "HINT (x JOIN f) JOIN y RETURN DISTINCT f.source, f.target, f.probability, f.id"
)
OVER_ONE = (
    "MATCH (a {number: $node})-[e:EDGE]-(x)-[f:EDGE]-(b {number: $goal}) WHERE e.open AND f.open "
    "HINT ((a JOIN e) JOIN x) JOIN (b JOIN f) "
    "RETURN e.id AS first, f.id AS second, e.probability * f.probability AS p "
    "ORDER BY p DESC, first, second LIMIT $most"
)
MIDDLE = (
    f"MATCH (x)-[f:EDGE]->(y) WHERE {among('x.number', 'one')} AND f.open AND {among('f.target', 'other')} "
    "HINT (x JOIN f) JOIN y RETURN f.source, f.target, f.probability"
)
LAST_TWO = (
    "MATCH (a {number: $hub})-[e:EDGE]-(x)-[f:EDGE]-(y) "
    f"WHERE {among('y.number', 'near')} AND e.open AND f.open "
    "HINT ((y JOIN f) JOIN x) JOIN (a JOIN e) "
    "RETURN e.source, e.target, e.probability, f.source, f.target, f.probability"
)
DEPENDENCIES = "MATCH (a)-[d:DEPENDS]->() WHERE d.relation = $relation RETURN d.source, d.target, d.edge"
LIVING = "MATCH (f:File) WHERE f.number > $after AND f.alive RETURN f.number AS n ORDER BY n LIMIT $most"
LINKED = (
    "MATCH (f:File)-[e:EDGE]-(m) WHERE f.number > $after AND f.number <= $last AND e.open "
    "HINT (f JOIN e) JOIN m RETURN DISTINCT f.number"
)
MEMBERS = "MATCH (n)-[m:MEMBER_OF]->(o:Module {id: $module}) RETURN m.node AS node ORDER BY node LIMIT $most"
MODULES_OF = (
    f"MATCH (n)-[m:MEMBER_OF]->(o:Module) WHERE {among('n.number', 'nodes')} AND m.level = $level "
    "HINT (n JOIN m) JOIN o RETURN m.node, min(m.module)"
)
OBSERVED = (
    f"MATCH (n)<-[t:TOUCHED|MENTIONS]-(o:Observation) WHERE {among('n.number', 'nodes')} "
    "HINT (n JOIN t) JOIN o WITH t.observation AS number, t.at AS at, count(DISTINCT t.node) AS held "
    "WHERE held = $wanted RETURN number, at ORDER BY at DESC, number DESC LIMIT $most"
)
COUNTS = (
    f"MATCH (n:{ANY}) RETURN count(*)",
    "MATCH ()-[e:EDGE]->() RETURN count(*)",
    "MATCH (o:Observation) RETURN count(*)",
    "MATCH (m:Module) RETURN count(*)",
)

# ---- changes -------------------------------------------------------------------------------------

LABELS_OF = f"MATCH (n:{ANY}) WHERE {among('n.number', 'nodes')} RETURN n.number, label(n)"
EDGES_BY_KEY = (
    f"MATCH (a)-[e:EDGE]->(b) WHERE {among('e.key', 'keys')} "
    "RETURN e.id, e.source, e.target, e.kind, e.status, e.probability, e.relation, e.direction"
)
EDGES_AT = (
    "MATCH (a {number: $source})-[e:EDGE]->(b {number: $target}) "
    "RETURN e.id, e.source, e.target, e.kind, e.status, e.probability, e.relation, e.direction"
)
SET_MARK = (
    "MATCH (m:Meta {key: 'mark'}) SET m.generation = $generation, m.change = $change, m.entries = $entries "
    "RETURN 1"
)
NEW_MARK = "CREATE (:Meta {key: 'mark', generation: $generation, change: $change, entries: $entries})"
SET_NODE = "MATCH (n:{label} {{number: $number}}) SET n.name = $name, n.alive = $alive RETURN 1"
NEW_NODE = "CREATE (:{label} {{number: $number, name: $name, alive: $alive}})"
SET_EDGE = (
    "MATCH (a:{one} {{number: $source}})-[e:EDGE]->(b:{other} {{number: $target}}) WHERE e.id = $id "
    "SET e.open = $open, e.kind = $kind, e.status = $status, e.probability = $probability, "
    "e.relation = $relation, e.direction = $direction RETURN 1"
)
NEW_EDGE = (
    "MATCH (a:{one} {{number: $source}}), (b:{other} {{number: $target}}) CREATE (a)-[:EDGE {{id: $id, "
    "key: $key, source: $source, target: $target, open: $open, kind: $kind, status: $status, "
    "probability: $probability, relation: $relation, direction: $direction}}]->(b)"
)
DROP_EDGE = (
    "MATCH (a:{one} {{number: $source}})-[e:EDGE]->(b:{other} {{number: $target}}) WHERE e.id = $id DELETE e"
)
NEW_ARC = (
    "MATCH (a:{one} {{number: $source}}), (b:{other} {{number: $target}}) CREATE (a)-[:DEPENDS "
    "{{edge: $edge, source: $source, target: $target, relation: $relation}}]->(b)"
)
DROP_ARC = (
    "MATCH (a:{one} {{number: $source}})-[d:DEPENDS]->(b:{other} {{number: $target}}) "
    "WHERE d.edge = $edge DELETE d"
)
PRESENT = f"MATCH (o:Observation) WHERE {among('o.number', 'numbers')} RETURN o.number"
# DETACH DELETE leaves relations behind that are still found from their other end (0.11.3).
DROP_OBSERVATION = (
    "MATCH (o:Observation {number: $number})-[t:TOUCHED]->(n) DELETE t",
    "MATCH (o:Observation {number: $number})-[t:MENTIONS]->(n) DELETE t",
    "MATCH (o:Observation {number: $number})-[t:IN_SESSION]->(s) DELETE t",
    "MATCH (o:Observation {number: $number}) DELETE o",
)
NEW_OBSERVATION = "CREATE (:Observation {number: $number, at: $at, title: $title})"
KNOWN_SESSION = "MATCH (s:Session {name: $name}) RETURN 1"
NEW_SESSION = "CREATE (:Session {name: $name})"
IN_SESSION = (
    "MATCH (o:Observation {number: $number}), (s:Session {name: $name}) CREATE (o)-[:IN_SESSION]->(s)"
)
SEEN = (
    "MATCH (o:Observation {{number: $number}}), (n:{label} {{number: $node}}) "
    "CREATE (o)-[:{table} {{observation: $number, at: $at, node: $node}}]->(n)"
)
ALL_MODULES = "MATCH (m:Module) RETURN m.id, m.label, m.level, m.parent"
ALL_MEMBERS = "MATCH (n)-[m:MEMBER_OF]->() RETURN m.node, m.module"
SET_MODULE = "MATCH (m:Module {id: $id}) SET m.label = $label, m.level = $level, m.parent = $parent RETURN 1"
NEW_MODULE = "CREATE (:Module {id: $id, label: $label, level: $level, parent: $parent})"
DROP_MODULE = "MATCH (m:Module {id: $id}) DELETE m"
NEW_MEMBER = (
    "MATCH (n:{label} {{number: $node}}), (m:Module {{id: $module}}) "
    "CREATE (n)-[:MEMBER_OF {{node: $node, module: $module, level: $level}}]->(m)"
)
DROP_MEMBER = "MATCH (n:{label} {{number: $node}})-[m:MEMBER_OF]->(o:Module {{id: $module}}) DELETE m"
