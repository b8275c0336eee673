"""Owns which files the usual programs of a shell read, write, move and remove, told from their arguments.

It is not the shell's grammar (`shell_words`) nor where relative paths lead (`shell`). It
looks at no disk. Precision comes first: where a call can mean two things the rule that was chosen stands at
its function, and what no rule names gives nothing, such as globs, folders and unknown programs.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from graphmem.commands.patches import read_patch
from graphmem.commands.shell_arguments import (
    Arguments,
    arguments,
    file_names,
    is_file_name,
    is_path,
    joined,
    paths,
    stem,
)
from graphmem.commands.shell_words import Command, Word
from graphmem.events import FileChange, FileEdit

_EXPANDED = frozenset("$`*?[{~")
"""What a folder given as an option must not hold, as an option's value does not say whether it expands."""

_Work = Iterator[str | FileEdit]
"""What a program does: a path is read, an edit is made."""


def work_of(name: str, words: Sequence[Word], command: Command) -> _Work:
    """Yield what the program `name` does with the arguments `words`; nothing for a program not known here."""
    program = _PROGRAMS.get(name)
    if program is not None:
        yield from program(words, command)
    if name in _READERS:
        yield from paths(command.read)


@dataclass(frozen=True, slots=True)
class _Reader:
    """A program that prints the files among its operands, after `skipped` that are something else.

    A letter or name in `scripts` gives what is otherwise the first operand. With `is_strict` an operand may
    be a folder as well, so only what looks like a file counts; with one of `silent` nothing is printed.
    """

    valued: str = ""
    long: frozenset[str] = frozenset()
    skipped: int = 0
    scripts: tuple[str, ...] = ()
    is_strict: bool = False
    silent: tuple[str, ...] = ()

    def __call__(self, words: Sequence[Word], command: Command) -> _Work:
        given = arguments(words, self.valued, self.long)
        if given.has(*self.silent):
            return
        skipped = 0 if given.has(*self.scripts) else self.skipped
        operands = [word for word in given.operands[skipped:] if not word.text.startswith("+")]
        yield from (file_names if self.is_strict else paths)(operands)


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SEARCHES = _Reader(
    "efmABCdDgtTjrME",
    _names(
        "regexp file max-count context after-context before-context include exclude exclude-dir glob iglob "
        "type type-not type-add max-depth replace threads sort sortr encoding max-columns color colors"
    ),
    skipped=1,
    scripts=("-e", "-f", "--regexp", "--file"),
    is_strict=True,
    silent=(
        "-l",
        "-L",
        "-q",
        "-c",
        "--files",
        "--files-with-matches",
        "--files-without-match",
        "--count",
        "--quiet",
    ),
)
_READERS: dict[str, _Reader] = {
    "cat": _Reader(),
    "tac": _Reader(),
    "head": _Reader("nc", _names("lines bytes")),
    "tail": _Reader("ncs", _names("lines bytes pid sleep-interval max-unchanged-stats")),
    "less": _Reader("bhjkopPtTxyz"),
    "more": _Reader("n"),
    "bat": _Reader(
        "rlmH", _names("line-range language style theme paging highlight-line map-syntax tabs wrap")
    ),
    "nl": _Reader("bdfhilnsvw"),
    "wc": _Reader(),
    "sort": _Reader("ktoST", _names("key field-separator output")),
    "uniq": _Reader("fsw"),
    "cut": _Reader("bcdf", _names("bytes characters delimiter fields output-delimiter")),
    "xxd": _Reader("cglosR"),
    "hexdump": _Reader("efns"),
    "od": _Reader("AjNtw"),
    "strings": _Reader("net"),
    "jq": _Reader(
        "fL", _names("indent tab arg argjson slurpfile rawfile from-file"), 1, ("-f", "--from-file")
    ),
    "awk": _Reader("Fvf", _names("field-separator assign file"), 1, ("-f", "--file"), is_strict=True),
    "grep": _SEARCHES,
    "rg": _SEARCHES,
    "diff": _Reader("UCWIxXF", _names("unified context exclude label width"), is_strict=True),
    "cmp": _Reader("in", is_strict=True),
}
_READERS |= {"batcat": _READERS["bat"], "egrep": _SEARCHES, "fgrep": _SEARCHES}
_READERS |= {"gawk": _READERS["awk"], "mawk": _READERS["awk"]}


def _moved(words: Sequence[Word], command: Command) -> _Work:
    """`mv`: every source that looks like a file is moved to the target, or into it.

    The target is a folder if it ends with `/`, if there are several sources, or if it has no suffix while the
    one source has one and is not named like it (`mv a.py lib` yes, `mv run.sh run` no). A folder that is
    moved cannot name the files in it, so it gives nothing.
    """
    given = arguments(words, "tS", ("target-directory", "suffix"))
    for source, target in _pairs(given):
        if is_file_name(source) and source != target:
            yield FileEdit(target, FileChange.MOVED, source)


def _copied(words: Sequence[Word], command: Command) -> _Work:
    """`cp` and `install`: each target is told as added, as the disk is not asked whether it was there."""
    given = arguments(words, "tSmog", ("target-directory", "suffix", "mode", "owner", "group"))
    if given.has("-d", "--directory") and command.words[0].text == "install":
        return
    for source, target in _pairs(given):
        if is_file_name(source) or not given.has("-r", "-R", "-a", "--recursive", "--archive"):
            yield FileEdit(target, FileChange.ADDED)


def _pairs(given: Arguments) -> Iterator[tuple[str, str]]:
    """Yield each source with the path it comes to; nothing where either cannot be told."""
    sources, folder = list(given.operands), given.options.get("-t", given.options.get("--target-directory"))
    if folder is None and len(sources) >= 2:
        target = sources.pop()
        if not target.is_plain:
            return
        folder = target.text
        alone = sources[0].text
        is_folder = folder.endswith("/") or folder in (".", "..") or folder.endswith("/..")
        is_taken_for_one = is_file_name(alone) and not is_file_name(folder) and stem(alone) != stem(folder)
        if len(sources) == 1 and not is_folder and (not is_taken_for_one or given.has("-T")):
            if sources[0].is_plain and is_path(alone) and is_path(folder):
                yield alone, folder
            return
    if folder and _EXPANDED.isdisjoint(folder):
        for source in paths(sources):
            yield source, posixpath.join(folder, posixpath.basename(source))


def _removed(words: Sequence[Word], command: Command) -> _Work:
    """`rm`: with `-r` only what looks like a file, as a folder's name cannot name the files in it."""
    given = arguments(words)
    is_recursive = given.has("-r", "-R", "--recursive")
    for path in (file_names if is_recursive else paths)(given.operands):
        yield FileEdit(path, FileChange.DELETED)


def _touched(words: Sequence[Word], command: Command) -> _Work:
    """`touch`: told as added; a file that was there only gets another time."""
    for path in paths(arguments(words, "drt", ("date", "reference", "time")).operands):
        yield FileEdit(path, FileChange.ADDED)


def _stream_edited(words: Sequence[Word], command: Command) -> _Work:
    """`sed`: its files are changed with `-i`, else read; BSD's suffix, a word of its own, is no file."""
    given = arguments(words, "efl", ("expression", "file", "line-length"), attached="i")
    operands = given.operands
    is_in_place = given.has("-i", "--in-place")
    if is_in_place and operands and (operands[0].text == "" or _is_suffix(operands[0].text)):
        operands = operands[1:]
    files = operands if given.has("-e", "-f", "--expression", "--file") else operands[1:]
    yield from map(FileEdit, paths(files)) if is_in_place else paths(files)


def _is_suffix(text: str) -> bool:
    return text.startswith(".") and text[1:].isalnum()


def _scripted(words: Sequence[Word], command: Command) -> _Work:
    """`perl`, `ruby`: with `-e` the operands are files, changed with `-i`; else the first is the script."""
    given = arguments(words, "eEI", attached="i0lFMmrW")
    if not given.has("-e", "-E"):
        yield from file_names(given.operands[:1])
    elif given.has("-i"):
        yield from map(FileEdit, paths(given.operands))
    elif given.has("-n", "-p"):
        yield from paths(given.operands)


def _interpreted(words: Sequence[Word], command: Command) -> _Work:
    """An interpreter reads the script it runs; a script that holds an agent's patch applies it.

    Of a script that was reduced nothing is left but the patch's header lines.
    """
    given = arguments(
        words, "cemprWXQI", ("eval", "print", "require", "import", "loader", "env-file", "test-name")
    )
    inline = ("-c", "-e", "-p", "--eval", "--print", "-m")
    if not given.has(*inline):
        operands = given.operands[1:] if given.operands[:1] == (Word("run", True),) else given.operands
        yield from file_names(operands[:1])
    for text in (*command.bodies, *(given.options[name] for name in inline if name in given.options)):
        if "*** Begin Patch" in text or text.startswith("*** "):
            yield from read_patch(text)


def _patched(words: Sequence[Word], command: Command) -> _Work:
    """`patch`: the file named, and those of a patch given in the command itself."""
    given = arguments(words, "pdiorBYzFVDg", ("strip", "directory", "input", "output", "reject-file", "fuzz"))
    yield from map(FileEdit, paths(given.operands[:1]))
    for text in command.bodies:
        yield from read_patch(text)


def _agent_patched(words: Sequence[Word], command: Command) -> _Work:
    """`apply_patch`: the patch is an argument or comes in a here-document."""
    for text in (*command.bodies, *(word.text for word in words)):
        yield from read_patch(text)


def _written(words: Sequence[Word], command: Command) -> _Work:
    yield from map(FileEdit, paths(arguments(words, "sr", ("size", "reference")).operands))


@dataclass(frozen=True, slots=True)
class _Formatter:
    """A program that rewrites the files it is given: with one of `needed`, if any, and none of `barred`."""

    needed: tuple[str, ...] = ()
    barred: tuple[str, ...] = ()
    command: str = ""

    def __call__(self, words: Sequence[Word], command: Command) -> _Work:
        given = arguments(words, "cl", _FORMATTER_VALUES)
        operands = given.operands
        if self.command:
            if operands[:1] != (Word(self.command, True),):
                return
            operands = operands[1:]
        if (not self.needed or given.has(*self.needed)) and not given.has(*self.barred):
            yield from map(FileEdit, file_names(operands))


_FORMATTER_VALUES = _names(
    "config config-file config-path parser plugin ignore-path ignore-pattern line-length target-version "
    "edition style log-level rule ext format select ignore profile settings-path exclude include rev"
)
_BARRED = ("--check", "--diff", "--dry-run")
_FORMATTERS: dict[str, tuple[_Formatter, ...]] = {
    "black": (_Formatter(barred=_BARRED),),
    "isort": (_Formatter(barred=(*_BARRED, "--check-only", "-c")),),
    "ruff": (_Formatter(barred=_BARRED, command="format"), _Formatter(("--fix",), ("--diff",), "check")),
    "autopep8": (_Formatter(("-i", "--in-place")),),
    "yapf": (_Formatter(("-i", "--in-place")),),
    "gofmt": (_Formatter(("-w",)),),
    "goimports": (_Formatter(("-w",)),),
    "shfmt": (_Formatter(("-w", "--write")),),
    "clang-format": (_Formatter(("-i",)),),
    "rustfmt": (_Formatter(barred=_BARRED),),
    "prettier": (_Formatter(("--write", "-w")),),
    "eslint": (_Formatter(("--fix",)),),
    "stylelint": (_Formatter(("--fix",)),),
    "biome": (
        _Formatter(("--write",), command="format"),
        _Formatter(("--write", "--apply"), command="check"),
    ),
    "rubocop": (_Formatter(("-a", "-A", "--autocorrect", "--autocorrect-all")),),
}


def _formatted(name: str) -> Callable[[Sequence[Word], Command], _Work]:
    def work(words: Sequence[Word], command: Command) -> _Work:
        for formatter in _FORMATTERS[name]:
            yield from formatter(words, command)

    return work


def _git(words: Sequence[Word], command: Command) -> _Work:
    """`git`: moves, removals, patches, and what it prints of named files.

    `REV:path` is told as it stands: git counts it from the repository's root, which is where agents work.
    What puts a file back (`checkout`, `restore`, `reset`) is not told, as no work remains of it.
    """
    at = 0
    folder = ""
    while at < len(words) and words[at].text.startswith("-"):
        if words[at].text == "-C" and at + 1 < len(words):
            if not words[at + 1].is_plain:
                return
            folder = posixpath.join(folder, words[at + 1].text)
        at += 2 if words[at].text in ("-C", "-c", "--git-dir", "--work-tree") else 1
    if at >= len(words):
        return
    subcommand = _GIT.get(words[at].text)
    if subcommand is not None:
        for done in subcommand(words[at + 1 :], command):
            yield below(folder, done) if folder else done


def below(folder: str, done: str | FileEdit) -> str | FileEdit:
    """Return what was done, its relative paths led on from `folder`."""
    if isinstance(done, str):
        return joined(folder, done)
    former = None if done.former is None else joined(folder, done.former)
    return FileEdit(joined(folder, done.path), done.change, former)


def _git_moved(words: Sequence[Word], command: Command) -> _Work:
    if not arguments(words).has("-n", "--dry-run"):
        yield from _moved(words, command)


def _git_removed(words: Sequence[Word], command: Command) -> _Work:
    if not arguments(words).has("-n", "--dry-run", "--cached"):
        yield from _removed(words, command)


def _git_shown(words: Sequence[Word], command: Command) -> _Work:
    for word in words:
        revision, sign, path = word.text.partition(":")
        if sign and revision and word.is_plain and not revision.startswith("-") and is_file_name(path):
            yield path.removeprefix("./")
    yield from _git_compared(words, command)


def _git_compared(words: Sequence[Word], command: Command) -> _Work:
    if Word("--", True) in words:
        yield from file_names(words[words.index(Word("--", True)) + 1 :])


def _git_blamed(words: Sequence[Word], command: Command) -> _Work:
    yield from file_names(arguments(words, "LSC").operands[-1:])


def _git_patched(words: Sequence[Word], command: Command) -> _Work:
    if not arguments(words).has("--check", "--stat", "--numstat", "--summary"):
        for text in command.bodies:
            yield from read_patch(text)


_GIT: dict[str, Callable[[Sequence[Word], Command], _Work]] = {
    "mv": _git_moved,
    "rm": _git_removed,
    "show": _git_shown,
    "cat-file": _git_shown,
    "diff": _git_compared,
    "blame": _git_blamed,
    "apply": _git_patched,
    "am": _git_patched,
    "grep": _SEARCHES,
}
_PROGRAMS: dict[str, Callable[[Sequence[Word], Command], _Work]] = {
    **_READERS,
    **{name: _formatted(name) for name in _FORMATTERS},
    **dict.fromkeys(("python", "python3", "node", "deno", "bun", "tsx", "ts-node", "php"), _interpreted),
    **dict.fromkeys(("bash", "sh", "zsh", "dash"), _interpreted),
    **dict.fromkeys(("perl", "ruby"), _scripted),
    **dict.fromkeys(("apply_patch", "applypatch"), _agent_patched),
    **dict.fromkeys(("cp", "install"), _copied),
    **dict.fromkeys(("tee", "truncate"), _written),
    **dict.fromkeys(("rm", "unlink"), _removed),
    "mv": _moved,
    "touch": _touched,
    "sed": _stream_edited,
    "patch": _patched,
    "git": _git,
}
