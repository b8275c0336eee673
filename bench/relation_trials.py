"""Owns cues that were tried for `inference.relations` and left out, for `bench.relations` to measure.

It is not what is proposed to anybody. Each failed to be right in three of four cases on the projects for
choosing, or there were too few pairs there to tell.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from inference import relations
from inference.relations import Name, family, is_named_after, place

_SPLIT = re.compile(r"[-_.]|(?<=[a-z0-9])(?=[A-Z])")
_PAGES = frozenset(["md", "rst", "adoc", "mdx", "txt"])
_DOCS = frozenset(["docs", "doc", "documentation"])
_LOCALE = re.compile(r"[a-z]{2}(?:[-_][a-z]{2,4})?")
_BARRELS = frozenset(["index.js", "index.ts", "index.tsx", "index.mjs"])
_MANIFESTS = {
    "package.json": "index.js index.ts main.js",
    "pyproject.toml": "__init__.py __main__.py",
    "setup.py": "__init__.py",
    "setup.cfg": "__init__.py",
}


def _code(name: Name) -> bool:
    return bool(family(name)) and not name.is_test


def _far(test: Name, subject: Name) -> bool:
    return is_named_after(test, subject)


def _deep(test: Name, subject: Name) -> bool:
    return is_named_after(test, subject) and not place(test)


def _package(test: Name, subject: Name) -> bool:
    return (
        test.is_test
        and _code(subject)
        and family(test) == family(subject)
        and subject.plain in ("init", "index", "mod", "__init__", "lib")
        and bool(subject.folders)
        and subject.folders[-1].replace("_", "").replace("-", "") == test.plain
    )


def _path(test: Name, subject: Name) -> bool:
    return (
        test.is_test
        and _code(subject)
        and family(test) == family(subject)
        and bool(subject.folders)
        and test.plain == re.sub(r"[-_.]", "", subject.folders[-1]) + subject.plain
    )


def _prefix(test: Name, subject: Name) -> bool:
    words, head = ([part.casefold() for part in _SPLIT.split(name.stem)] for name in (test, subject))
    return (
        test.is_test
        and _code(subject)
        and family(test) == family(subject)
        and len(words) > len(head)
        and words[: len(head)] == head
        and (not place(test) or place(test)[-1:] == place(subject)[-1:])
    )


def is_page(name: Name) -> bool:
    """Return whether a file is a page of documentation by its ending and folder."""
    return name.ending in _PAGES and (name.ending != "txt" or not _DOCS.isdisjoint(name.folders))


def _named_page(page: Name, module: Name) -> bool:
    return is_page(page) and _code(module) and page.plain == module.plain


def _mirrored_page(page: Name, module: Name) -> bool:
    return _named_page(page, module) and page.folders[-1:] == module.folders[-1:] != ()


def _package_page(page: Name, module: Name) -> bool:
    last = re.sub(r"[-_.]", "", module.folders[-1]) if module.folders else ""
    return is_page(page) and _code(module) and module.plain in ("init", "index", "mod") and page.plain == last


def _example(page: Name, example: Name) -> bool:
    return (
        is_page(page)
        and bool(family(example))
        and "docs_src" in example.folders
        and bool(example.folders)
        and re.sub(r"[-_.]", "", example.folders[-1]) == page.plain
    )


def _translation(one: Name, other: Name) -> bool:
    if not (is_page(one) and one.file == other.file and len(one.folders) == len(other.folders)):
        return False
    differing = [pair for pair in zip(one.folders, other.folders, strict=True) if pair[0] != pair[1]]
    return len(differing) == 1 and bool(_LOCALE.fullmatch(differing[0][0])) and differing[0][1] == "en"


def _stub(source: Name, stub: Name) -> bool:
    here = source.folders == stub.folders
    python = (
        stub.ending == "pyi" and source.ending in ("py", "pyx", "c", "cpp") and source.plain == stub.plain
    )
    script = (
        stub.file.endswith((".d.ts", ".d.mts", ".d.cts"))
        and source.ending in ("js", "mjs", "cjs")
        and (source.plain + "d" == stub.plain)
    )
    return here and (python or script)


def _barrel(barrel: Name, module: Name) -> bool:
    return barrel.file in _BARRELS and _code(module) and barrel.folders == module.folders


def _reexport(package: Name, module: Name) -> bool:
    return (
        package.file == "__init__.py"
        and module.ending == "py"
        and not module.is_test
        and package.folders == module.folders
    )


def _fixtures(test: Name, conftest: Name) -> bool:
    return (
        conftest.file == "conftest.py"
        and test.ending == "py"
        and test.is_test
        and test.file.startswith("test_")
        and test.folders == conftest.folders
    )


def _style(component: Name, sheet: Name) -> bool:
    return (
        sheet.ending in ("css", "scss", "sass", "less")
        and family(component) == "js"
        and component.folders == sheet.folders
        and sheet.plain in (component.plain, component.plain + "module", component.plain + "styles")
    )


def _suffixed(suffix: str) -> Callable[[Name, Name], bool]:
    def holds(one: Name, other: Name) -> bool:
        return (
            one.plain == other.plain + suffix
            and family(one) == family(other) != ""
            and one.folders == other.folders
        )

    return holds


def _measure(bench: Name, subject: Name) -> bool:
    in_folder = not {"bench", "benches", "benchmark", "benchmarks"}.isdisjoint(bench.folders)
    plain = re.sub(r"^bench(mark)?|bench(mark)?$", "", bench.plain)
    return (
        family(bench) == family(subject) != ""
        and (in_folder or plain != bench.plain)
        and plain == subject.plain != ""
        and _code(subject)
        and {"bench", "benches", "benchmark", "benchmarks"}.isdisjoint(subject.folders)
    )


def _entry(manifest: Name, entry: Name) -> bool:
    return (
        entry.file in _MANIFESTS.get(manifest.file, "").split()
        and entry.folders[: len(manifest.folders)] == manifest.folders
        and len(entry.folders) - len(manifest.folders) <= 2
        and not entry.is_test
    )


def _container(compose: Name, docker: Name) -> bool:
    return (
        compose.plain.startswith(("dockercompose", "compose"))
        and compose.ending in ("yml", "yaml")
        and docker.file == "Dockerfile"
        and compose.folders == docker.folders[: len(compose.folders)]
    )


def _settings(example: Name, settings: Name) -> bool:
    return example.file in (".env.example", ".env.sample", ".env") and settings.plain in (
        "settings",
        "config",
    )


def _changelog(log: Name, version: Name) -> bool:
    return log.plain in ("changelog", "changes", "history", "news") and version.plain in (
        "version",
        "pyproject",
        "package",
        "cargo",
        "setup",
    )


def _named_config(config: Name, subject: Name) -> bool:
    return (
        config.ending in ("yml", "yaml", "toml", "ini", "cfg", "json")
        and _code(subject)
        and config.plain == subject.plain
    )


TRIALS: tuple[tuple[str, str, Callable[[Name, Name], bool]], ...] = (
    ("test, subject in a deep folder", relations.TESTS, _deep),
    ("test, subject anywhere else", relations.TESTS, _far),
    ("test named after a package", relations.TESTS, _package),
    ("test named after folder and file, elsewhere", relations.TESTS, _path),
    ("test begins with the subject's name", relations.TESTS, _prefix),
    ("page beside a module", relations.DOCUMENTS, _mirrored_page),
    ("page named after a module", relations.DOCUMENTS, _named_page),
    ("page named after a package", relations.DOCUMENTS, _package_page),
    ("page with its example", relations.DOCUMENTS, _example),
    ("translation of a page", relations.DOCUMENTS, _translation),
    ("source of a type stub", relations.IMPLEMENTS, _stub),
    ("index re-exports a module", relations.DEPENDS_ON, _barrel),
    ("__init__ re-exports a module", relations.DEPENDS_ON, _reexport),
    ("test with its conftest", relations.DEPENDS_ON, _fixtures),
    ("component with its style", relations.DEPENDS_ON, _style),
    ("story of a component", relations.DOCUMENTS, _suffixed("stories")),
    ("benchmark of a module", relations.DEPENDS_ON, _measure),
    ("manifest with its entry", "configures", _entry),
    ("compose file with its Dockerfile", "configures", _container),
    ("example of settings", "configures", _settings),
    ("changelog with the version", relations.DOCUMENTS, _changelog),
    ("configuration named after code", "configures", _named_config),
)
