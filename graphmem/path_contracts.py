"""Owns the connection points that the paths of files name: routes kept as folders, tables of migrations.

It is not about texts (`graphmem.endpoints`, `graphmem.mentions`). Only layouts that frameworks prescribe are
read; any other folder called `api` is a folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from graphmem.endpoints import Endpoint, normalised
from graphmem.mentions import Kind, Mention
from graphmem.tables import is_table_name

_ROUTE_FILE = re.compile(r"(?:^|/)app((?:/[^/]+){1,12})/route\.(?:tsx?|jsx?|mjs)$")
_PAGE_FILE = re.compile(r"(?:^|/)pages(/api(?:/[^/]+){1,12})\.(?:tsx?|jsx?|mjs)$")
_PARAMETER = re.compile(r"\[{1,2}(?:\.\.\.)?(\w{1,40})\]{1,2}")
_GROUP = re.compile(r"/\([^/()]*\)")
_MIGRATION = re.compile(
    r"(?:^|/)migrat\w{1,8}/(?:[^/]+/)*\d{1,20}[^/]{0,40}?_(?:create|drop|alter|rename)_(?:table_)?([a-z]\w{1,60}?)(?:_table)?\.\w{1,5}$"
    r"|(?:^|/)db/migrate/\d{1,20}_(?:create|drop)_([a-z]\w{1,60})\.rb$"
)


def path_contracts(paths: Iterable[str]) -> Iterator[Endpoint | Mention]:
    """Yield the endpoints and tables that these paths name."""
    for path in paths:
        if "/api/" in path and (found := _ROUTE_FILE.search(path) or _PAGE_FILE.search(path)):
            route = _PARAMETER.sub(r"{\1}", _GROUP.sub("", found[1])).removesuffix("/index")
            if route.startswith("/api/") and "/_" not in route and not set("[]()@") & set(route):
                yield Endpoint("", normalised(route), 0, 0)
        elif "igrat" in path and (found := _MIGRATION.search(path)):
            table = found[1] or found[2]
            if is_table_name(table):
                yield Mention(Kind.TABLE, table, 0, 0)
