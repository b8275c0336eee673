"""The figures of cues: what counts as right in a source tree, and which trees chose and which report."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.relation_truth import Tree
from bench.relations import is_for_report, judged

FILES = {
    "shop/__init__.py": "",
    "shop/token.py": "def renewed_token(days):\n    return days\n",
    "shop/session.py": "from shop.token import renewed_token\n\ndef open_session():\n    renewed_token(3)\n",
    "shop/idle.py": "def waiting_room():\n    return 1\n",
    "tests/test_token.py": "from shop import (\n    token,\n)\n\ndef test_it():\n    assert token\n",
    "tests/test_session.py": "import shop\n\ndef test_it():\n    shop.open_session()\n",
    "tests/test_idle.py": "def test_nothing():\n    assert True\n",
    "web/menu.ts": "export const openMenu = () => 1;\n",
    "web/menu.test.ts": "import { openMenu } from './menu';\nit('opens the menu', () => openMenu());\n",
    "web/__snapshots__/menu.test.ts.snap": "exports[`opens the menu 1`] = `1`;\n",
    "web/package.json": '{"name": "web", "dependencies": {"left-pad": "1", "right-pad": "2"}}',
    "web/package-lock.json": '{"packages": {"node_modules/left-pad": {}, "node_modules/right-pad": {}}}',
    "core/heap.h": "int heap_size(void);\n",
    "core/heap.c": '#include "heap.h"\nint heap_size(void) { return 1; }\n',
    "core/lib.rs": "mod heap;\n",
    "core/heap.rs": "pub fn grow() {}\n",
    "api/order.proto": "message OrderPlaced { string order_number = 1; }\n",
    "api/order_pb2.py": "# source: api/order.proto\nOrderPlaced = None\n",
    "logo.png": "\0\0",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small tree of several languages; one test speaks of nothing."""
    for path, text in FILES.items():
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return tmp_path


def test_a_cue_is_right_when_the_file_that_depends_speaks_of_the_other(tree: Path) -> None:
    tallies = judged(tree)
    flat = tallies["test of a flat package"]
    assert (flat.pairs, flat.right, flat.directed, flat.trees) == (3, 2, 2, 1)
    beside = tallies["test beside its subject"]
    assert (beside.pairs, beside.right, beside.directed) == (1, 1, 1)
    for cue in ("snapshot of a test", "source of a header", "lock file of a manifest"):
        assert tallies[cue][:3] == (1, 1, 1), cue
    assert tallies["generated from another file"][:3] == (1, 1, 1)
    assert tallies["crate root with its module"][:3] == (1, 1, 1)


def test_what_a_file_says_of_another_is_read_from_its_text(tree: Path) -> None:
    files = Tree(tree, 100)
    assert files.imports("tests/test_token.py", "shop/token.py")
    assert not files.imports("tests/test_session.py", "shop/session.py")
    assert files.refers("tests/test_session.py", "shop/session.py")
    assert not files.refers("tests/test_idle.py", "shop/idle.py")
    assert files.leaning("shop/session.py", "shop/token.py") > files.leaning(
        "shop/token.py", "shop/session.py"
    )
    assert files.text("logo.png") == ""


def test_the_projects_of_the_eight_choose_no_cue() -> None:
    assert is_for_report("py-flask")
    assert is_for_report("rust-ripgrep")
    assert not is_for_report("eslint")
