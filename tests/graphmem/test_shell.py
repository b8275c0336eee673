"""What a shell command says about files, and what it does not say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.commands.shell import ShellReading, read_command
from graphmem.events import FileChange, FileEdit

CHANGED, ADDED, DELETED, MOVED = (
    FileChange.MODIFIED,
    FileChange.ADDED,
    FileChange.DELETED,
    FileChange.MOVED,
)
PATCH = "*** Begin Patch\n*** Update File: src/a.py\n*** Move to: src/b.py\n@@\n-don't\n+do\n*** End Patch"
DIFF = "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-rm y.py\n+z"


def edits(command: str) -> list[tuple[str, FileChange] | tuple[str, FileChange, str]]:
    return [
        (edit.path, edit.change) if edit.former is None else (edit.path, edit.change, edit.former)
        for edit in read_command(command, "/home/dev/shop").edits
    ]


def reads(command: str) -> list[str]:
    return list(read_command(command, "/home/dev/shop").reads)


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("git mv src/refresh.py src/renewal.py", [("src/renewal.py", MOVED, "src/refresh.py")]),
        ("git -C sub mv -f a.py b.py", [("sub/b.py", MOVED, "sub/a.py")]),
        ("git -c user.name=x mv a.py lib/", [("lib/a.py", MOVED, "a.py")]),
        ("git mv a.py b.py lib", [("lib/a.py", MOVED, "a.py"), ("lib/b.py", MOVED, "b.py")]),
        ("mv a.py b.py", [("b.py", MOVED, "a.py")]),
        ("mv -f -- 'a b.py' ./c.py", [("c.py", MOVED, "a b.py")]),
        ("mv src/a.py lib", [("lib/a.py", MOVED, "src/a.py")]),
        ("mv run.sh bin/run", [("bin/run", MOVED, "run.sh")]),
        ("mv src/a.py ..", [("../a.py", MOVED, "src/a.py")]),
        ("mv -t lib a.py b.py", [("lib/a.py", MOVED, "a.py"), ("lib/b.py", MOVED, "b.py")]),
        ("mv --target-directory=lib a.py", [("lib/a.py", MOVED, "a.py")]),
        ("mv a.py $WHERE b.py lib/", [("lib/a.py", MOVED, "a.py"), ("lib/b.py", MOVED, "b.py")]),
        ("rm src/session.py", [("src/session.py", DELETED)]),
        ("rm -f a.py LICENSE-old", [("a.py", DELETED), ("LICENSE-old", DELETED)]),
        ("rm -rf build dist/x.whl", [("dist/x.whl", DELETED)]),
        ("git rm -q a.py 'b c.py'", [("a.py", DELETED), ("b c.py", DELETED)]),
        ("unlink a.py", [("a.py", DELETED)]),
        ("cp a.py b.py", [("b.py", ADDED)]),
        ("cp one two", [("two", ADDED)]),
        ("cp -r a.txt lib/", [("lib/a.txt", ADDED)]),
        ("git mv a.py \\\n b.py", [("b.py", MOVED, "a.py")]),
        ("sed -i 1d x.py", [("x.py", CHANGED)]),
        ("cp -p a.py b.py lib/", [("lib/a.py", ADDED), ("lib/b.py", ADDED)]),
        ("install -m 644 a.conf etc/app.conf", [("etc/app.conf", ADDED)]),
        ("touch a.py src/__init__.py", [("a.py", ADDED), ("src/__init__.py", ADDED)]),
        ("sed -i s/3600/900/ src/token.py", [("src/token.py", CHANGED)]),
        ("sed -Ei.bak 's/a/b/' x.py y.py", [("x.py", CHANGED), ("y.py", CHANGED)]),
        ("sed -i '' -e 's/a/b/' x.py", [("x.py", CHANGED)]),
        ("sed -i .bak s/a/b/g x.py", [("x.py", CHANGED)]),
        ("sed --in-place -f fix.sed x.py", [("x.py", CHANGED)]),
        ("perl -pi -e 's/a/b/' x.c y.c", [("x.c", CHANGED), ("y.c", CHANGED)]),
        ("perl -0777 -i.bak -pe 's/a/b/' x.c", [("x.c", CHANGED)]),
        ("ruby -pi -e 'gsub(1, 2)' x.rb", [("x.rb", CHANGED)]),
        ("echo x > a.txt", [("a.txt", CHANGED)]),
        ("echo x >> 'notes 1.md' 2>&1", [("notes 1.md", CHANGED)]),
        ("make >| build.log 2> err.log", [("build.log", CHANGED), ("err.log", CHANGED)]),
        ("make &> all.log", [("all.log", CHANGED)]),
        ("make | tee -a out.log other.log", [("out.log", CHANGED), ("other.log", CHANGED)]),
        ("truncate -s 0 a.log", [("a.log", CHANGED)]),
        ("patch -p1 src/a.c fix.diff", [("src/a.c", CHANGED)]),
        (f"patch -p1 <<'EOF'\n{DIFF}\nEOF\nrm z.py", [("x.py", CHANGED), ("z.py", DELETED)]),
        (f"git apply - <<-EOF\n{DIFF}\nEOF", [("x.py", CHANGED)]),
        (f"apply_patch <<'EOF'\n{PATCH}\nEOF", [("src/b.py", MOVED, "src/a.py")]),
        (f"apply_patch \"$(cat <<'EOF'\n{PATCH}\nEOF\n)\"", [("src/b.py", MOVED, "src/a.py")]),
        (f"cd sub && apply_patch <<EOF\n{PATCH}\nEOF", [("sub/src/b.py", MOVED, "sub/src/a.py")]),
        (f"python3 - <<'EOF'\nrun('''{PATCH}''')\nEOF", [("src/b.py", MOVED, "src/a.py")]),
        (f'bash -lc "apply_patch <<EOF\n{PATCH}\nEOF"', [("src/b.py", MOVED, "src/a.py")]),
        ("prettier --write src/a.ts src", [("src/a.ts", CHANGED)]),
        ("npx --yes prettier -w a.css", [("a.css", CHANGED)]),
        ("pnpm exec eslint --fix --config e.json a.js", [("a.js", CHANGED)]),
        ("black -l 100 a.py", [("a.py", CHANGED)]),
        ("python3.12 -m black a.py", [("a.py", CHANGED)]),
        ("poetry run ruff format a.py", [("a.py", CHANGED)]),
        ("ruff check --fix a.py", [("a.py", CHANGED)]),
        ("gofmt -w main.go", [("main.go", CHANGED)]),
        ("rustfmt src/main.rs", [("src/main.rs", CHANGED)]),
    ],
)
def test_each_way_to_change_a_file_is_told(command: str, told: list[tuple[object, ...]]) -> None:
    assert edits(command) == told


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("cat src/token.py Makefile", ["src/token.py", "Makefile"]),
        ("cat -n bin/run", ["bin/run"]),
        ("head -n 5 a.py", ["a.py"]),
        ("head -20 a.py", ["a.py"]),
        ("tail -n +3 a.log", ["a.log"]),
        ("nl -ba src/a.py | sed -n '1,40p'", ["src/a.py"]),
        ("sed -n '1,40p' src/a.py", ["src/a.py"]),
        ("bat --style plain a.py", ["a.py"]),
        ("less +10 a.py", ["a.py"]),
        ("wc -l a.py b.py", ["a.py", "b.py"]),
        ("cat < a.txt", ["a.txt"]),
        ("awk -F: '{print $1}' a.csv x=1", ["a.csv"]),
        ("jq .name package.json", ["package.json"]),
        ("grep -n issue src/a.py src", ["src/a.py"]),
        ("grep -e one -e two a.py", ["a.py"]),
        ("rg -n 'TTL|ttl' src/a.py --glob '*.py'", ["src/a.py"]),
        ("diff -u a.py b.py", ["a.py", "b.py"]),
        ("git show HEAD~2:src/a.py", ["src/a.py"]),
        ("git diff main -- src/a.py src", ["src/a.py"]),
        ("git blame -L 1,5 src/a.py", ["src/a.py"]),
        ("python tools/run.py --fast x.py", ["tools/run.py"]),
        ("node --import tsx scripts/build.mjs", ["scripts/build.mjs"]),
        ("bash scripts/run.sh", ["scripts/run.sh"]),
        ("perl -ne 'print' a.txt", ["a.txt"]),
        ("ruby tools/run.rb x.rb", ["tools/run.rb"]),
        ("deno run tools/run.ts", ["tools/run.ts"]),
        ('bash -lc \'bash -c "sh -c \\"cat a.py\\""\'', ["a.py"]),
        ("cat <<< a.txt b.py", ["b.py"]),
        ("cat < a.txt >&2 2>&1 <&-", ["a.txt"]),
        ("a=1 b+=2 cat a.py", ["a.py"]),
        ("/usr/bin/cat a.py", ["a.py"]),
        ("sudo -u dev env A=1 B=$C cat a.py", ["a.py"]),
        ("time -p timeout -k 5 10 nice -n 3 cat a.py", ["a.py"]),
        ("bash -lc 'cd lib && cat a.ts'", ["lib/a.ts"]),
        ("sh <<EOF\ncat a.py\nEOF", ["a.py"]),
        ("if [ -f a.py ]; then cat a.py; else cat b.py; fi", ["a.py", "b.py"]),
        ("while true; do cat a.py; done", ["a.py"]),
        ("(cd lib && cat a.py) && cat b.py", ["lib/a.py", "b.py"]),
        ("cd lib; cat a.py ../b.py /abs/c.py", ["lib/a.py", "b.py", "/abs/c.py"]),
        ("pushd lib >/dev/null; cat a.py; popd; cat b.py", ["lib/a.py", "b.py"]),
        ("cd /srv/app && cat a.py", ["/srv/app/a.py"]),
        ("cat ./src/../a.py a.py", ["a.py"]),
        ("cat 'C:\\shop\\a.py'", ["C:\\shop\\a.py"]),
        ("cat 'app/[id]/page.tsx'", ["app/[id]/page.tsx"]),
        ("cat \\\n  a.py", ["a.py"]),
        ("cat a.py # and not b.py", ["a.py"]),
        ("cat 模块/用户.py", ["模块/用户.py"]),
    ],
)
def test_each_way_to_read_a_file_is_told(command: str, told: list[str]) -> None:
    assert reads(command) == told


@pytest.mark.parametrize(
    "command",
    [
        "",
        "ls -la src",
        "grep -rn issue src | head",
        "rg -l issue src/a.py",
        "cat $FILE *.py src/{a,b}.py ~/x.py `which x`.py $(ls).py",
        "cat https://example.org/a.py",
        "cat -",
        "echo x > /dev/null 2>&1",
        "echo 'a > b.py' \"c > d.py\"",
        "[[ a.py > b.py ]] && (( 1 > 0 ))",
        "echo $((3 > 2)) ${A:-x > y.py}",
        "git commit -m 'mv a.py b.py; cat c.py'",
        "git commit -F - <<'EOF'\nrm a.py\ncat b.py > c.py\nEOF",
        "git rm --cached a.py",
        "git mv -n a.py b.py",
        "git rm -r src",
        "git checkout -- a.py",
        "git apply --check <<EOF\n" + DIFF + "\nEOF",
        "rm -rf src build",
        "mv src lib",
        "mv *.py lib/",
        "mv a.py $TARGET",
        "mv *.py b.py",
        "mv -t $DIR a.py b.py",
        'git -C "$ROOT" mv a.py b.py',
        "git -C",
        "git -C sub",
        "mv a.py 'b?.py'",
        "cat '/srv/a\\b.py' 'src\\a.py'",
        "cp -r src lib",
        "install -d a.dir b.dir",
        "sed s/a/b/",
        "black --check a.py",
        "prettier a.ts",
        "ruff check a.py",
        "gofmt main.go",
        "find . -name '*.py' -exec sed -i s/a/b/ {} +",
        "xargs rm < list.txt",
        "ssh host 'rm a.py'",
        "curl -o a.html https://example.org/",
        'python -c \'open("a.py", "w")\'',
        "python -m pytest tests/test_a.py",
        "cat <(sort a.py)",
        'cd "$ROOT" && cat a.py && echo > b.py',
        "cd - && cat a.py",
        "cd $ROOT && cd src && cat a.py",
        "cd a b && cat a.py",
        "perl -e 'print' a.txt",
        "ruby -e 1 a.rb",
        "mv -T a.py $X",
        "mv a.py",
        "echo a.py | cat",
        "cat /dev/stdin /proc/self/status",
        "cat " + "a" * 2_000 + ".py",
        "git",
        "git -C",
        "sed -n",
        "cd && rm a.py",
        "popd; cat a.py",
        "for a.py in x; do :; done",
        "$EDITOR a.py",
        "# rm a.py",
    ],
)
def test_what_names_no_file_for_certain_gives_nothing(command: str) -> None:
    assert read_command(command, "/home/dev/shop") == ShellReading()


def test_a_here_document_that_was_left_out_does_no_harm() -> None:
    assert edits("cat > a.py <<'EOF'\nEOF\nrm b.py") == [("a.py", CHANGED), ("b.py", DELETED)]
    assert edits("cat > a.py <<'EOF'\nrm b.py") == [("a.py", CHANGED)]


def test_two_here_documents_of_one_line_go_to_their_commands() -> None:
    command = f"cat > a.py <<A; apply_patch <<B | cat b.py\nrm x.py\nA\n{PATCH}\nB\ncat c.py"
    assert edits(command) == [("a.py", CHANGED), ("src/b.py", MOVED, "src/a.py")]
    assert reads(command) == ["b.py", "c.py"]


def test_after_a_command_the_folder_may_be_where_it_led() -> None:
    command = "cd web/app && cat a.ts ../b.ts /srv/c.ts && git mv d.ts e.ts"
    before = read_command(command, "/home/dev/shop")
    assert before.reads == ("web/app/a.ts", "web/b.ts", "/srv/c.ts")
    assert read_command(command, "/home/dev/shop", is_over=True) == before
    after = read_command(command, "/home/dev/shop/web/app", is_over=True)
    assert after.reads == ("a.ts", "../b.ts", "/srv/c.ts")
    assert after.edits == (FileEdit("e.ts", MOVED, "d.ts"),)
    in_subshell = read_command("(cd web && cat a.ts)", "/home/dev/shop/web", is_over=True)
    assert in_subshell.reads == ("web/a.ts",)


def test_a_file_is_told_once_however_often_it_is_named() -> None:
    reading = read_command("cat a.py; cat a.py > b.py; cat ./a.py > b.py", None)
    assert reading == ShellReading(("a.py",), (FileEdit("b.py"),))


@pytest.mark.parametrize(
    "unit",
    [
        *("$(", "'", '"', "`", "(", "<", "<<a ", "\\", "${", "$('", "*", "[[ ", "{", "-", "\n", "<<A\n"),
        *("sudo ", "cd x;", "pushd a;", "a=1 ", "a.b/", "cat a.py;", "mv a.py b/ ", "bash -c 'bash -c \""),
        "--a=b ",
    ],
)
def test_long_hostile_commands_come_to_an_end(unit: str) -> None:
    command = "cat first.py; " + unit * (65_536 // len(unit))
    assert "first.py" in read_command(command, None).reads


def test_what_lies_behind_64_kib_is_not_looked_at() -> None:
    assert reads("cat a.py;" + " " * 65_536 + "cat b.py") == ["a.py"]


PARTS = (
    """cat mv rm sed -i git cd a.py b/ 'q' "d" $X > >> < << <<EOF EOF | || && ; & ( ) { } [[ ]] do # \\ `"""
)
SHELL = st.lists(st.sampled_from([*PARTS.split(), "\n"]))


@given(SHELL.map(" ".join) | SHELL.map("".join))
def test_any_mixture_of_shell_words_is_read_without_an_error(command: str) -> None:
    reading = read_command(command, "/home/dev/shop", is_over=True)
    assert "" not in reading.reads
    assert all(edit.path and edit.former != "" for edit in reading.edits)


@given(st.text(), st.none() | st.text())
def test_any_text_is_read_without_an_error(command: str, cwd: str | None) -> None:
    reading = read_command(command, cwd, is_over=True)
    assert len(set(reading.reads)) == len(reading.reads)
