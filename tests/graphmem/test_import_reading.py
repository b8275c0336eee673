"""Reading imports of Python, JavaScript and TypeScript sources, and which file of the project each means."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphmem.errors import UnavailableError
from graphmem.imports import ImportGraph, Language, Unread, read_imports, walked
from graphmem.imports.source_files import LARGEST

Sources = Mapping[str, str | bytes]
Read = Callable[..., ImportGraph]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Write sources into a folder and read their imports; `more` are paths that are named without a file."""

    def run(sources: Sources, *more: str, **options: object) -> ImportGraph:
        root = tmp_path / "root"
        for path, content in sources.items():
            place = root / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_imports(root, [*sources, *more], **options)  # type: ignore[arg-type]

    return run


def imported(graph: ImportGraph, importer: str) -> set[str]:
    return {other for one, other in graph.pairs if one == importer}


# ---- Python ------------------------------------------------------------------------------------

SHOP = {
    "src/shop/__init__.py": "from .cart import Cart\nfrom shop.money import *\n__all__ = ['Cart']\n",
    "src/shop/cart.py": "class Cart: ...\n",
    "src/shop/money.py": "class Money: ...\nrate = 1\n",
    "src/shop/tax/__init__.py": "",
    "src/shop/tax/rules.py": "",
    "src/shop/tax/deep/__init__.py": "",
    "src/shop/stubs.pyi": "",
    "tests/test_cart.py": "",
    "setup.py": "",
}
NESTED = "def f():\n    if 1:\n        from shop.cart import (\n            Cart,\n        )\n"


@pytest.mark.parametrize(
    ("importer", "source", "expected"),
    [
        ("src/shop/cart.py", "from . import money", {"src/shop/money.py"}),
        ("src/shop/cart.py", "from .tax import rules as r", {"src/shop/tax/rules.py"}),
        ("src/shop/tax/rules.py", "from ..cart import Cart", {"src/shop/cart.py"}),
        ("src/shop/tax/rules.py", "from ...elsewhere import x", set()),
        ("src/shop/tax/rules.py", "from ........ import x", set()),
        ("src/shop/tax/rules.py", "import shop.tax.deep", {"src/shop/tax/deep/__init__.py"}),
        ("tests/test_cart.py", "import shop.cart as c, shop.money", "src/shop/cart.py src/shop/money.py"),
        ("tests/test_cart.py", "from shop.tax import *", {"src/shop/tax/__init__.py"}),
        ("tests/test_cart.py", "from shop import stubs", {"src/shop/stubs.pyi"}),
        ("tests/test_cart.py", NESTED, {"src/shop/cart.py"}),
        ("tests/test_cart.py", "if TYPE_CHECKING:\n    from shop.cart import Cart\n", {"src/shop/cart.py"}),
        ("tests/test_cart.py", "importlib.import_module('shop.cart')", {"src/shop/cart.py"}),
        ("tests/test_cart.py", "__import__('shop.cart')", {"src/shop/cart.py"}),
        ("tests/test_cart.py", "import_module(f'shop.{name}')", set()),
        ("tests/test_cart.py", "import_module(name)", set()),
        ("tests/test_cart.py", "import numpy, shopping, os.path", set()),
        ("tests/test_cart.py", "# import shop.cart\nx = 'import shop.cart'\n", set()),
    ],
)  # fmt: skip
def test_a_python_import_means_the_module_an_interpreter_would_find(
    read: Read, importer: str, source: str, expected: str | set[str]
) -> None:
    graph = read({**SHOP, importer: source})
    wanted = set(expected.split()) if isinstance(expected, str) else expected
    assert imported(graph, importer) == wanted


@pytest.mark.parametrize(
    ("source", "origin"),
    [
        ("from shop import Cart", "src/shop/cart.py"),
        ("from shop import Money", "src/shop/money.py"),
        ("import shop\nshop.Cart()", "src/shop/cart.py"),
        ("import shop as s\nprint(s.rate)", "src/shop/money.py"),
    ],
)
def test_a_name_that_a_package_passes_on_leads_to_where_it_is_defined(
    read: Read, source: str, origin: str
) -> None:
    graph = read({**SHOP, "tests/test_cart.py": source})
    assert imported(graph, "tests/test_cart.py") == {"src/shop/__init__.py", origin}


def test_packages_that_pass_names_on_in_a_circle_come_to_an_end(read: Read) -> None:
    circle = {
        "a/__init__.py": "from b import x\nfrom b import *",
        "b/__init__.py": "from a import x\nfrom a import *",
    }
    graph = read({**circle, "use.py": "from a import x, y"})
    assert imported(graph, "use.py") == {"a/__init__.py", "b/__init__.py"}


def test_a_package_of_a_name_of_the_standard_library_is_not_taken_for_it(read: Read) -> None:
    graph = read({"app/main.py": "import logging, types", "logging.py": "", "app/types.py": ""})
    assert graph.pairs == frozenset()
    assert graph.elsewhere == 2


def test_packages_of_one_repository_find_each_other(read: Read) -> None:
    graph = read(
        {
            "packages/one/src/one/__init__.py": "from two import b",
            "packages/two/src/two/__init__.py": "",
            "packages/two/src/two/b.py": "",
        }
    )
    assert graph.pairs == {("packages/one/src/one/__init__.py", "packages/two/src/two/b.py")}


# ---- JavaScript and TypeScript -----------------------------------------------------------------

WEB = {
    "web/app.ts": "",
    "web/view.tsx": "",
    "web/old.js": "",
    "web/ui/index.ts": "",
    "web/data.json": "{}",
    "web/style.css": "",
    "lib/clock.ts": "",
    "packages/kit/package.json": '{"name": "@shop/kit", "main": "dist/gone.js"}',
    "packages/kit/src/index.ts": "",
    "packages/kit/src/button.ts": "",
    "tsconfig.json": """{ // comments and commas
        "extends": "./tsconfig.base",
        "compilerOptions": {"paths": {"@/*": ["./web/*"], "clock": ["lib/clock.ts"],},},
    }""",
    "tsconfig.base.json": '{"compilerOptions": {"baseUrl": "./lib"}}',
}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import a from './view'", "web/view.tsx"),
        ("import type {A} from './view.js'", "web/view.tsx"),
        ("export * from './ui'", "web/ui/index.ts"),
        ('export {a} from "./ui/index"', "web/ui/index.ts"),
        ("const a = require('./old')", "web/old.js"),
        ("import old = require('./old')", "web/old.js"),
        ("const a = await import('./old.js')", "web/old.js"),
        ("const a = import(`./old`)", "web/old.js"),
        ("let a: import('../lib/clock').Clock", "lib/clock.ts"),
        ("import data from './data.json'", "web/data.json"),
        ("import './style.css?inline'", "web/style.css"),
        ("import a from '@/view'", "web/view.tsx"),
        ("import a from 'clock'", "lib/clock.ts"),
        ("import a from '@shop/kit'", "packages/kit/src/index.ts"),
        ("import a from '@shop/kit/button'", "packages/kit/src/button.ts"),
        ("import a from 'react'", ""),
        ("import a from '/view'", ""),
        ("import a from '../../outside'", ""),
        ("import(`./${name}`)", ""),
        ("require(name); other('./old')", ""),
        ("// import './old'\nconst a = \"import './old'\"", ""),
    ],
)
def test_a_specifier_means_the_file_a_bundler_would_find(read: Read, source: str, expected: str) -> None:
    graph = read({**WEB, "web/app.ts": source})
    assert imported(graph, "web/app.ts") == set(expected.split())


def test_base_url_stands_for_a_folder_before_libraries(read: Read) -> None:
    config = '{"compilerOptions": {"baseUrl": "."}}'
    graph = read({"jsconfig.json": config, "src/a.jsx": "import 'src/b'", "src/b.mjs": "<no/>"})
    assert graph.pairs == {("src/a.jsx", "src/b.mjs")}


@pytest.mark.parametrize(
    "config",
    [
        *("{", "[]", '{"compilerOptions": 3}', '{"compilerOptions": {"paths": {"@/*": [1], "b": 2}}}'),
        *("{" * 5000, '{"extends": "./tsconfig.json"}', '{"extends": ["../../out", 7]}', '{"name": 3}'),
    ],
)
def test_a_configuration_that_says_nothing_usable_does_no_harm(read: Read, config: str) -> None:
    graph = read({"tsconfig.json": config, "package.json": config, "a.ts": "import './b'", "b.ts": ""})
    assert graph.pairs == {("a.ts", "b.ts")}


# ---- bad inputs --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "content", "reason"),
    [
        ("bad.py", "def f(:\n", Unread.UNPARSABLE),
        ("bad.ts", "import from from {", Unread.UNPARSABLE),
        ("bad.js", "const = ;", Unread.UNPARSABLE),
        ("bad.py", b"import a\0\n", Unread.BINARY),
        ("bad.py", "# -*- latin-1 -*-\nx = 'é'\n".encode("latin-1"), Unread.NOT_UTF8),
        ("bad.py", b"\xff\xfei\0m\0", Unread.BINARY),
        ("bad.py", b"x = 1\n" * (LARGEST // 6 + 1), Unread.TOO_LARGE),
        ("node_modules/x/bad.js", "import './a'", Unread.LEFT_OUT),
        ("api_pb2.py", "import a", Unread.LEFT_OUT),
        ("own/bad.py", "import a", Unread.LEFT_OUT),
    ],
)
def test_a_file_that_cannot_be_read_is_counted_and_stops_nothing(
    read: Read, path: str, content: str | bytes, reason: Unread
) -> None:
    graph = read({path: content, "a.py": "import b", "b.py": ""}, ignore=("own",))
    assert graph.unread == {path: reason}
    assert graph.pairs == {("a.py", "b.py")}
    assert graph.seen("a.py", path) is None


@pytest.mark.parametrize("path", ["../out.py", "/etc/out.py", "a/../../out.py", "", "gone.py", "nul\0.py"])
def test_a_path_outside_the_root_or_without_a_file_is_not_read(read: Read, path: str, tmp_path: Path) -> None:
    (tmp_path / "out.py").write_text("import b")
    graph = read({"b.py": ""}, path)
    assert set(graph.read) == {"b.py"}
    assert graph.pairs == frozenset()


def test_no_link_is_followed_and_loops_end(read: Read, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.py").write_text("import b")
    root = tmp_path / "root"
    root.mkdir()
    (root / "away").symlink_to(outside)
    (root / "loop").symlink_to(root)
    (root / "link.py").symlink_to(outside / "secret.py")
    (root / "self.py").symlink_to(root / "self.py")
    named = ("away/secret.py", "link.py", "self.py")
    graph = read({"b.py": ""}, *named)
    assert graph.unread == {"away/secret.py": Unread.OUTSIDE, "link.py": Unread.LINK, "self.py": Unread.LINK}
    assert graph.pairs == frozenset()
    assert [path for path in walked(root) if "/" in path] == []


def test_what_is_no_plain_file_is_not_opened(read: Read, tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    os.mkfifo(root / "pipe.py")
    (root / "folder.py").mkdir()
    with socket.socket(socket.AF_UNIX) as listener:
        here = os.getcwd()
        os.chdir(root)
        try:
            listener.bind("socket.py")
        finally:
            os.chdir(here)
        graph = read({"b.py": ""}, "pipe.py", "folder.py", "socket.py")
    assert set(graph.unread.values()) == {Unread.REFUSED}
    assert len(graph.unread) == 3


def test_a_byte_order_mark_is_no_fault(read: Read) -> None:
    graph = read({"a.py": b"\xef\xbb\xbfimport b\n", "b.py": "", "ünï/c.py": "from b import 名"})
    assert graph.pairs == {("a.py", "b.py"), ("ünï/c.py", "b.py")}


def test_deep_nesting_is_read_or_refused_but_never_fatal(read: Read) -> None:
    deep = "(" * 20_000 + ")" * 20_000
    graph = read({"deep.py": f"import b\nx = {deep}\n", "deep.js": f"require('./b'); x = {deep}", "b.py": ""})
    assert set(graph.read) | set(graph.unread) == {"deep.py", "deep.js", "b.py"}


def test_a_reading_whose_time_is_over_keeps_what_it_has(read: Read) -> None:
    asked = iter([False, True])
    told: list[tuple[int, int]] = []
    graph = read(
        {"a.py": "import b", "b.py": "", "c.py": "import b"},
        over=lambda: next(asked),
        progress=lambda done, total: told.append((done, total)),
    )
    assert graph.pairs == {("a.py", "b.py")}
    assert graph.unread == {"b.py": Unread.LATE, "c.py": Unread.LATE}
    assert not graph.complete
    assert told[-1] == (3, 3)


def test_unknown_is_not_false(read: Read) -> None:
    graph = read({"a.py": "import b", "b.py": "", "c.py": "", "d.md": "", "e.ts": "import './d.md'"})
    assert graph.seen("a.py", "b.py") is graph.seen("b.py", "a.py") is True
    assert graph.seen("a.py", "c.py") is False
    assert graph.seen("a.py", "d.md") is None
    assert graph.seen("e.ts", "d.md") is True
    assert graph.read == {
        **dict.fromkeys(["a.py", "b.py", "c.py"], Language.PYTHON),
        "e.ts": Language.TYPESCRIPT,
    }


def test_a_grammar_that_is_not_installed_is_told_with_the_remedy(
    read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tree_sitter_python", None)
    monkeypatch.delitem(sys.modules, "graphmem.imports.python_reader", raising=False)
    with pytest.raises(UnavailableError, match=r"python.*tree_sitter_python is missing.*pip install"):
        read({"a.py": ""})


PIECES = st.sampled_from(
    [
        *("import a", "from . import b", "from ..c import (", ")", "\n", "    ", "'", '"""', "\\", "{", "}"),
        *("import x from './b'", "require('./a')", "`", "export", "名", "\u2028", "#", "/*", "import(", "*"),
    ]
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(PIECES, max_size=12).map("".join), st.sampled_from(["py", "pyi", "js", "ts", "tsx"]))
def test_any_text_is_read_or_counted(read: Read, text: str, ending: str) -> None:
    name = f"x.{ending}"
    graph = read({name: text, "a.py": "", "b.js": ""})
    assert (name in graph.read) != (name in graph.unread)
    assert all(one != other for one, other in graph.pairs)
