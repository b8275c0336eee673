"""Owns the shipped ranking models: found, checked against their card, and run on one thread.

It is not the features that they are given (`inference.features`), what is made of their answers
(`inference.ranker`), nor their training (`python -m bench.train`). The library that runs them is imported
when a model is first asked for. Where there is none to use, the closed form ranks; why is said once.
"""

from __future__ import annotations

import hashlib
import logging
import os
import threading
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmem.ranking_card import (
    FILES,
    Card,
    Columns,
    UnusableModelError,
    file_of,
    read_card,
    read_model,
)
from inference.calibration import Curve
from inference.features import COLUMNS, TASK_COLUMNS

log = logging.getLogger(__name__)

FOLDER = Path(__file__).parent / "ranker"
"""Where the models are that came with this package."""
PRESENT = Columns(COLUMNS, TASK_COLUMNS)
"""The columns that the features have now."""
_TRIALS = 8
_QUIET = 4
"""The library's level at which only what ends the process is printed: everything else is raised, too."""
_INSTALL = "install it with `pip install onnxruntime`"
_INSTALL_ANEW = "install it anew with `pip install --force-reinstall onnxruntime`"
_NEEDED = (
    "ExecutionMode",
    "GraphOptimizationLevel",
    "InferenceSession",
    "SessionOptions",
    "disable_telemetry_events",
)
_UNIMPORTABLE = (
    ImportError,
    OSError,
    SyntaxError,
    ValueError,
    TypeError,
    AttributeError,
    NameError,
    RuntimeError,
    SystemError,
)
"""What a library damaged, half removed or built for another numpy raises when it is imported."""

Rows = NDArray[np.float32]
Scores = NDArray[np.float32]


class RankingModel:
    """Models that order candidates and say how likely each is, with and without a task's words.

    It is made by `load` only. Any thread may ask at any time; where the library fails at a question that is
    an UnusableModelError, and whoever asked tells `give_up`.
    """

    def __init__(self, card: Card, order: tuple[_Trees, _Trees], chance: tuple[_Trees, _Trees]) -> None:
        self.card = card
        self._order = order
        self._chance = chance

    @staticmethod
    def load(folder: Path | None = None, expected: Columns | None = None) -> RankingModel | None:
        """Return the models of a folder, by default those that came with the package, or None.

        They are loaded once for a process. None where they are switched off, missing, damaged, of another
        version or made for other columns, or can't be run here; a fault is logged once for a process.

        Args:
            folder: where the card and the models lie.
            expected: the columns that the features have, by default those that they have now.
        """
        return _LOADED.model(folder or FOLDER, expected or PRESENT)

    @property
    def digest(self) -> str:
        """What tells these models from others: the digest of the card's digests."""
        return hashlib.sha256("".join(self.card.digests[name] for name in FILES).encode()).hexdigest()[:16]

    def columns(self, with_task: bool) -> tuple[str, ...]:
        """Return the names of the columns that `order` and `chance` take, in their order."""
        return self.card.columns.names(with_task)

    def curve(self, with_task: bool) -> Curve:
        """Return how often what `chance` says came true, over many projects."""
        return self.card.curves[with_task]

    def order(self, rows: Rows, with_task: bool) -> Scores:
        """Return (n,): scores of (n, k) rows, the higher the earlier in the list; only their order counts."""
        return self._order[with_task].scores(rows)

    def chance(self, rows: Rows, with_task: bool) -> Scores:
        """Return (n,): for (n, k) rows, in 0..1, how likely each is right, before any calibration."""
        # The trees add up to the logarithm of the odds; in this form no exponential overflows.
        return np.asarray(np.exp(-np.logaddexp(0.0, -self._chance[with_task].scores(rows))), np.float32)


class _Trees:
    """One model's trees, ready to run.

    Raises:
        UnusableModelError: the library can't run them, or they answer otherwise than they should.
    """

    def __init__(self, library: ModuleType, name: str, content: bytes, columns: int) -> None:
        self._name = name
        faults = self._faults = _faults(library)
        try:
            self._session: Any = library.InferenceSession(
                content, _options(library), providers=["CPUExecutionProvider"]
            )
            inputs, outputs = self._session.get_inputs(), self._session.get_outputs()
            if len(inputs) != 1 or len(outputs) != 1 or list(inputs[0].shape[1:]) != [columns]:
                raise UnusableModelError(f"{name} does not take {columns} columns")
            self._input: str = inputs[0].name
            self._try(name, columns)
        except faults as error:
            raise _not_run(name, error) from error

    def _try(self, name: str, columns: int) -> None:
        """Ask a few made-up rows, so that a graph that answers nonsense is known before it is asked."""
        rows = np.linspace(-2.0, 20.0, _TRIALS * columns, dtype=np.float32).reshape(_TRIALS, columns)
        rows[0] = 0.0
        for count in (1, _TRIALS):
            found = self._session.run(None, {self._input: rows[:count]})[0]
            if not isinstance(found, np.ndarray) or found.dtype != np.float32 or found.size != count:
                raise UnusableModelError(f"{name} does not give one score for each row")
            if not np.isfinite(found).all():
                raise UnusableModelError(f"{name} gives scores that are no numbers")

    def scores(self, rows: Rows) -> Scores:
        """Return (n,) for (n, k) rows.

        Raises:
            UnusableModelError: the library can't run the trees for these rows.
        """
        if not len(rows):
            return np.zeros(0, np.float32)
        try:
            found = self._session.run(None, {self._input: np.ascontiguousarray(rows, np.float32)})[0]
            return np.asarray(found, np.float32).reshape(len(rows))
        except self._faults as error:
            raise _not_run(self._name, error) from error


def _not_run(name: str, error: BaseException) -> UnusableModelError:
    lines = str(error).splitlines() or [type(error).__name__]
    return UnusableModelError(f"{name} can't be run ({lines[0][:200]})")


def _options(library: ModuleType) -> Any:
    """Return how to run: on the asking thread alone, and without a word to the terminal."""
    options = library.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.execution_mode = library.ExecutionMode.ORT_SEQUENTIAL
    options.graph_optimization_level = library.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.log_severity_level = _QUIET
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.inter_op.allow_spinning", "0")
    return options


def _faults(library: ModuleType) -> tuple[type[BaseException], ...]:
    """Return the kinds of fault that the library raises, which share no ancestor of their own."""
    state = getattr(getattr(library, "capi", None), "onnxruntime_pybind11_state", None)
    own = vars(state).values() if state is not None else ()
    kinds = [kind for kind in own if isinstance(kind, type) and issubclass(kind, Exception)]
    return (*kinds, ValueError, RuntimeError, TypeError, IndexError)


def _library() -> ModuleType:
    # It would tell its makers that it runs, and keep a file in the temporary folder for that, from the moment
    # it is imported; the call below comes too late for the first word.
    os.putenv("ORT_DISABLE_TELEMETRY", "1")
    try:
        import onnxruntime  # type: ignore[import-untyped]
    except _UNIMPORTABLE as error:
        raise UnusableModelError(f"onnxruntime can't be imported ({error})", _INSTALL) from error
    # A folder that an uninstallation left behind is imported without a word and holds nothing.
    absent = [name for name in _NEEDED if not hasattr(onnxruntime, name)]
    if absent:
        raise UnusableModelError(f"onnxruntime has no {absent[0]}", _INSTALL_ANEW)
    onnxruntime.disable_telemetry_events()
    library: ModuleType = onnxruntime
    return library


def open_model(folder: Path, expected: Columns) -> RankingModel:
    """Return the models of a folder, checked anew at each call.

    Raises:
        UnusableModelError: anything about them is not as it should be.
    """
    card = read_card(folder)
    if card.columns != expected:
        raise UnusableModelError("it was made for other columns than this GraphMem has")
    contents = {
        (role, with_task): read_model(folder, file_of(role, with_task), card)
        for role in ("order", "chance")
        for with_task in (False, True)
    }
    library = _library()
    trees = {
        key: _Trees(library, file_of(*key), content, len(expected.names(key[1])))
        for key, content in contents.items()
    }
    return RankingModel(
        card,
        (trees["order", False], trees["order", True]),
        (trees["chance", False], trees["chance", True]),
    )


class _Loaded:
    """What this process has loaded, why it could not, and whether it wants to."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[tuple[Path, Columns], RankingModel | str] = {}
        self._said = False
        self.wanted = True

    def model(self, folder: Path, expected: Columns) -> RankingModel | None:
        found = self._find(folder, expected) if self.wanted else None
        return found if isinstance(found, RankingModel) else None

    def reason(self, folder: Path, expected: Columns) -> str | None:
        if not self.wanted:
            return "The ranking model is switched off by the setting `ranker`, so the closed form ranks."
        found = self._find(folder, expected)
        return found if isinstance(found, str) else None

    def _find(self, folder: Path, expected: Columns) -> RankingModel | str:
        key = (folder, expected)
        # A reader of what is known takes no lock: entries are added, or change as a whole.
        found = self._known.get(key)
        if found is not None:
            return found
        with self._lock:
            if key not in self._known:
                self._known[key] = self._load(folder, expected)
            return self._known[key]

    def _load(self, folder: Path, expected: Columns) -> RankingModel | str:
        try:
            return open_model(folder, expected)
        except UnusableModelError as fault:
            return self._said_once(folder, fault)

    def give_up(self, model: RankingModel, fault: UnusableModelError) -> None:
        with self._lock:
            for key, known in self._known.items():
                if known is model:
                    self._known[key] = self._said_once(key[0], fault)

    def _said_once(self, folder: Path, fault: UnusableModelError) -> str:
        reason = (
            f"The ranking model in {folder} can't be used because {fault.cause}, so the closed form"
            f" ranks; {fault.remedy}."
        )
        if not self._said:
            log.warning(reason)
            self._said = True
        return reason


_LOADED = _Loaded()


def switch(on: bool) -> None:
    """Say for this process whether models are wanted; they are unless this was called with False."""
    _LOADED.wanted = on


def give_up(model: RankingModel, fault: UnusableModelError) -> None:
    """Do without models for the rest of this process, as these failed at a question; said once."""
    _LOADED.give_up(model, fault)


def is_wanted() -> bool:
    """Return whether this process wants models."""
    return _LOADED.wanted


def why_absent(folder: Path | None = None, expected: Columns | None = None) -> str | None:
    """Return why `load` gives no model, in one sentence with the remedy; None where it gives one."""
    return _LOADED.reason(folder or FOLDER, expected or PRESENT)
