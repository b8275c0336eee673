"""Which files a patch touches: the agents' form, git's and the plain one; whole, reduced, quoted, broken."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.commands.patches import read_patch
from graphmem.events import FileChange, FileEdit

CHANGED, ADDED, DELETED, MOVED = (
    FileChange.MODIFIED,
    FileChange.ADDED,
    FileChange.DELETED,
    FileChange.MOVED,
)
AGENT_PATCH = """*** Begin Patch
*** Update File: src/auth/token.py
@@
-ACCESS_TTL = 3600
+ACCESS_TTL = 900
*** Add File: docs/名 前.md
+*** Update File: not/a/header.py
*** Delete File: old.py
*** Update File: a.py
*** Move to: b.py
@@
-*** Delete File: nor/this.py
*** End Patch
"""
AGENT_FILES = (
    FileEdit("src/auth/token.py"),
    FileEdit("docs/名 前.md", ADDED),
    FileEdit("old.py", DELETED),
    FileEdit("b.py", MOVED, "a.py"),
)
GIT_PATCH = r"""diff --git a/src/x.py b/src/x.py
index 3be9c81..a2ac9a4 100644
--- a/src/x.py
+++ b/src/x.py
@@ -1,3 +1,3 @@
 kept
--- a/looks/like.py
+++ b/a/header.py
 kept
diff --git a/new.py b/new.py
new file mode 100644
--- /dev/null
+++ b/new.py
@@ -0,0 +1 @@
+x
diff --git a/gone.py b/gone.py
deleted file mode 100644
--- a/gone.py
+++ /dev/null
@@ -1 +0,0 @@
-x
diff --git a/old name.py b/new name.py
similarity index 90%
rename from old name.py
rename to new name.py
--- a/old name.py
+++ b/new name.py
@@ -1 +1 @@
-x
+y
diff --git a/picture.png b/picture.png
new file mode 100644
Binary files /dev/null and b/picture.png differ
diff --git a/old.png b/old.png
deleted file mode 100644
Binary files a/old.png and /dev/null differ
diff --git a/tool.sh b/tool.sh
old mode 100644
new mode 100755
diff --git a/x.py b/copy.py
copy from x.py
copy to copy.py
diff --git "a/caf\303\251.py" "b/caf\303\251.py"
--- "a/caf\303\251.py"
+++ "b/caf\303\251.py"
@@ -1 +1 @@
-x
+y
"""
GIT_FILES = (
    FileEdit("src/x.py"),
    FileEdit("new.py", ADDED),
    FileEdit("gone.py", DELETED),
    FileEdit("new name.py", MOVED, "old name.py"),
    FileEdit("picture.png", ADDED),
    FileEdit("old.png", DELETED),
    FileEdit("tool.sh"),
    FileEdit("copy.py", ADDED),
    FileEdit("café.py"),
)
PLAIN_PATCH = """--- src/x.py\t2026-05-01 12:00:00
+++ src/x.py\t2026-05-01 12:01:00
@@ -1,2 +1,2 @@
--- old.sql
+-- new.sql
 kept
--- /dev/null
+++ src/y.py
@@ -0,0 +1,1 @@
+y
"""


@pytest.mark.parametrize(
    ("text", "files"),
    [
        (AGENT_PATCH, AGENT_FILES),
        (GIT_PATCH, GIT_FILES),
        (PLAIN_PATCH, (FileEdit("src/x.py"), FileEdit("src/y.py", ADDED))),
    ],
    ids=["agent", "git", "plain"],
)
def test_each_file_of_a_patch_is_told_with_what_is_done_to_it(text: str, files: tuple[FileEdit, ...]) -> None:
    assert read_patch(text) == files
    assert read_patch(text.replace("\n", "\r\n")) == files


def test_a_patch_reduced_to_its_header_lines_reads_the_same() -> None:
    reduced = "\n".join(line for line in AGENT_PATCH.splitlines() if line.startswith("*** "))
    assert read_patch(reduced) == AGENT_FILES
    headers = [line for line in GIT_PATCH.splitlines() if not line.startswith((" ", "+x", "+y", "-x"))]
    headers = [line for line in headers if "looks" not in line and "a/header" not in line]
    assert read_patch("\n".join(headers)) == GIT_FILES


@pytest.mark.parametrize("quote", ['"', "'", "`"])
def test_a_patch_in_a_string_of_a_script_reads_the_same(quote: str) -> None:
    quoted = AGENT_PATCH.replace("\n", "\\n")
    assert read_patch(f"await tools.apply_patch({quote}{quoted}{quote});") == AGENT_FILES
    assert read_patch(f"await tools.apply_patch({quote}{AGENT_PATCH}{quote});") == AGENT_FILES


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no patch at all",
        "*** Begin Patch\n*** End Patch\n",
        "*** Update File:\n*** Move to: b.py\n",
        "*** Update File: folder/\n",
        "*** Update File: a\x00b.py\n",
        "*** Update File: " + "x" * 2_000,
        "--- a/only-the-first-line.py\n",
        "--- /dev/null\n+++ /dev/null\n",
        "---\ntitle: front matter\n---\n",
        "diff --git\nrename from\n",
    ],
)
def test_what_names_no_file_gives_nothing(text: str) -> None:
    assert read_patch(text) == ()


def test_a_move_to_the_same_name_is_a_change_of_lines() -> None:
    assert read_patch("*** Update File: a.py\n*** Move to: a.py\n") == (FileEdit("a.py"),)


def test_a_file_that_comes_twice_is_told_once() -> None:
    assert read_patch("*** Update File: a.py\n*** Update File: a.py\n") == (FileEdit("a.py"),)


@given(st.lists(st.sampled_from([*AGENT_PATCH.splitlines(), *GIT_PATCH.splitlines(), "@@ -9 +9 @@"])))
def test_any_order_of_patch_lines_is_read_without_an_error(lines: list[str]) -> None:
    edits = read_patch("\n".join(lines))
    assert len(set(edits)) == len(edits)
    assert all((edit.change is MOVED) == (edit.former is not None) for edit in edits)


@given(st.text())
def test_any_text_is_read_without_an_error(text: str) -> None:
    assert all(edit.path for edit in read_patch(text))
