"""Owns what of one project is open: journal, follower, graph, vectors, what was read of its code, names.

It is not the project (that is `project`), which opens these at the first use and may close them in between.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from graphmem.capture.intake import Intake
from graphmem.code_store import CodeStore
from graphmem.curator import Curation, Curator
from graphmem.embedding.filling import Filling, ProjectVectors
from graphmem.errors import StorageError
from graphmem.follower import Follower
from graphmem.journal import Journal
from graphmem.model import Observation, Rejection
from graphmem.redaction import redacted
from graphmem.registry import Registry
from graphmem.workspace import Workspace

JOURNAL = "journal.db"
_DERIVED = "derived.db"


@dataclass(frozen=True, slots=True)
class Opened:
    """The open files of one project."""

    journal: Journal
    follower: Follower
    workspace: Workspace
    curator: Curator
    code: CodeStore
    vectors: ProjectVectors

    @classmethod
    def open(cls, folder: Path, curation: Curation, registry: Registry, filling: Filling) -> Opened:
        """Open, and make where they are missing, the files of the project that `curation` names.

        `filling` sees to its vectors.

        Raises:
            StorageError: newer version, damage, disk full, not writable.
        """
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as fault:
            raise StorageError(
                f"The folder {folder} can't be made ({fault.strerror}); check permissions and free space."
            ) from fault
        journal = Journal(folder / JOURNAL)
        try:
            follower = Follower(journal, folder / _DERIVED)
        except BaseException:
            journal.close()
            raise
        workspace = Workspace(curation.project, registry, journal, follower)
        curator = Curator(journal, follower, folder, curation)
        vectors = filling.add(folder, journal, follower)
        return cls(journal, follower, workspace, curator, CodeStore(folder), vectors)

    def judge(
        self, items: Sequence[Mapping[str, object] | Observation], now: float
    ) -> tuple[list[Observation], list[Rejection]]:
        """Pass items from outside through the intake at that moment (epoch seconds), and leave secrets out.

        What was left out of observations that are new is counted.
        """
        with self.workspace.reading() as resolver:
            taken, rejected = Intake(resolver.resolve, now, self.workspace.remember).accept_all(items)
        kept, left_out = [], Counter[str]()
        for observation, counts in map(redacted, taken):
            kept.append(observation)
            if counts and not self.journal.holds(observation.id):
                left_out += counts
        if left_out:
            self.journal.captured.add_redactions(left_out)
        return kept, rejected

    def close(self) -> None:
        """Close everything."""
        with ExitStack() as last:
            last.callback(self.journal.close)
            last.callback(self.code.close)
            last.callback(self.follower.close)
            last.callback(self.curator.close)
            last.callback(self.vectors.close)
