"""Owns how a session's events become observations: one prompt's turn is one, cut where it grows or rests.

It is not the door (that is `graphmem.capture.intake`) nor the journal's business; it does no I/O and reads no
clock: what comes out is a function of the events and the moments given. Events are those of one session in
one project, each told once, in the order of arrival. Only that order counts; times say how long a part has
lasted or rested. A time far ahead can't be told from the right one here: who has the clock cuts it.
"""

from __future__ import annotations

from dataclasses import replace

from graphmem.events import Event, EventKind, Origin, Phase
from graphmem.instant import DAY
from graphmem.record import storable
from graphmem.speech.facts import LONGEST, statements
from graphmem.turns.drafts import Draft, draft, fitting, title
from graphmem.turns.event_paths import steps_of
from graphmem.turns.open_turn import OpenTurn, Part, Saying, Turn, decode, encode
from graphmem.turns.turn_files import Step

__all__ = ["Draft", "OpenTurn", "current", "decode", "due", "encode", "fed", "is_open", "without_work"]

MOST_FILES = 20
SILENCE = 30.0
LONGEST_PART = 15 * 60.0
LONGEST_TEXT = 4 * 1024
"""A prompt and an answer are cut to this many bytes, as the hook program does."""

_LATEST = 253_402_300_799.0  # the end of the year 9999
_KEPT = 30 * DAY  # a machine may sleep for days between a call and its end
_MOST_NUMBERS = 32
_NO_PROMPT = "#0"
_WORK = frozenset({EventKind.READ, EventKind.EDITED, EventKind.COMMAND_RUN})

_Taken = tuple[OpenTurn, list[Draft]]


def fed(turn: OpenTurn | None, event: Event) -> tuple[OpenTurn | None, list[Draft]]:
    """Take one event; return what is kept until the next one, and the drafts that are final with it.

    A draft may come a second time under its id: an answer that comes after a cut completes the last part.
    """
    at = _sound(event.at, turn.seen if turn else 0.0)
    state = turn or OpenTurn(event.client, event.session, at)
    state = _not_before(replace(state, cwd=event.cwd or state.cwd), at)
    state, drafts = _taken(state, event, at)
    is_blank = not (state.turn or state.former or state.numbers or state.prompts)
    return (None if is_blank else replace(state, seen=at)), drafts


def due(turn: OpenTurn, now: float) -> tuple[OpenTurn | None, list[Draft]]:
    """Finish what has rested or lasted too long at `now`; None where nothing of the session need be kept.

    After a month only the numbers are kept by which names of our own are told apart. To be asked only when no
    event from before `now` waits to be taken.
    """
    now = _sound(now, turn.seen)
    if now < turn.seen - SILENCE:  # the clock was put back: rest counts from here
        return replace(_not_before(turn, now), seen=now), []
    if turn.turn is not None and _is_over(turn.turn.part, turn.seen, now):
        return _cut(turn)
    if is_open(turn) or now - turn.seen < _KEPT:
        return turn, []
    rested = replace(_left(turn)[0], former=None)
    counts = rested.prompts or _NO_PROMPT in _numbers(rested)
    return (rested if counts else None), []


def is_open(turn: OpenTurn) -> bool:
    """Whether a part is being worked on that `due` will finish; else the session is only remembered."""
    return turn.turn is not None and not turn.turn.part.is_told and turn.turn.part.says_something


def current(turn: OpenTurn) -> Draft | None:
    """Return the part being worked on as it stands, provisional, once it holds an edit."""
    if turn.turn is None or turn.turn.part.is_told or not turn.turn.part.is_touched:
        return None
    kept, _ = fitting(turn.turn.intent, turn.turn.part)
    return draft(turn, turn.turn, replace(turn.turn.part, facts=kept), provisional=True)


def without_work(turn: OpenTurn) -> OpenTurn:
    """Return the session without what it is working on, as that was erased; what comes is the next part."""
    if turn.turn is None:
        return turn
    erased = replace(turn.turn, part=replace(turn.turn.part, is_told=True))
    return replace(_numbered(turn, erased), turn=None)


# ---- what each kind of event does ----------------------------------------------------------------


def _taken(state: OpenTurn, event: Event, at: float) -> _Taken:
    match event.kind:
        case _ if event.agent and event.kind not in _WORK:  # its prompt and end are not the user's
            return _alive(state, at)
        case EventKind.PROMPT:
            return _prompted(state, event, at)
        case EventKind.TURN_ENDED:
            return _answered(state, event, at)
        case EventKind.SESSION_STARTED if event.origin is Origin.COMPACT:  # in the midst of a turn
            return _cut(state)
        case EventKind.SESSION_STARTED | EventKind.SESSION_ENDED:
            return _left(state)
        case EventKind.READ | EventKind.EDITED | EventKind.COMMAND_RUN if event.phase is Phase.DONE:
            return _worked(state, event, at)
        case _:
            return _alive(state, at)


def _prompted(state: OpenTurn, event: Event, at: float) -> _Taken:
    if not event.turn:
        state = replace(state, prompts=state.prompts + 1)
    key = event.turn or f"#{state.prompts}"
    state, drafts = _alive(state, at)
    turn = state.turn
    if turn is None or turn.key != key or turn.intent or turn.part.is_told:
        state, more = _left(state)
        drafts += more
        turn = _begun(state, key, at)
    intent = _text(event.text)
    branch = event.branch or turn.part.branch
    part = _with_facts(replace(turn.part, at=_later(turn.part.at, at), branch=branch), intent)
    return replace(state, turn=replace(turn, intent=intent, part=part)), drafts


def _worked(state: OpenTurn, event: Event, at: float) -> _Taken:
    state, drafts = _alive(state, at)
    steps = steps_of(event, state.cwd)
    if not steps:
        return state, drafts
    turn = state.turn
    if turn is None or not _is_of(turn, event, state):
        state, more = _left(state)
        drafts += more
        turn = _gone_on(state, event.turn or _NO_PROMPT, at)
    turn = _opened(turn, at)
    mine, *others = turn.part.files.portions(steps, MOST_FILES)
    turn = _with_steps(turn, mine, at, state.cwd, event.branch)
    for portion in others:
        turn, more = _told(state, turn)
        drafts += more
        turn = _with_steps(_opened(turn, at), portion, at, state.cwd, event.branch)
    return replace(state, turn=turn), drafts


def _answered(state: OpenTurn, event: Event, at: float) -> _Taken:
    """Finish the turn that ended; the one before where its answer comes late."""
    answer, key = _text(event.text), event.turn
    drafts: list[Draft] = []
    if not answer:  # nothing to complete with
        state, drafts = _alive(state, at)
    turn, former = state.turn, state.former
    if turn is not None and key in ("", turn.key):
        turn, more = _completed(state, turn, answer, at)
        return replace(state, turn=turn), drafts + more
    if former is not None and (key == former.key or not key):
        former, more = _completed(state, former, answer, at)
        return _numbered(replace(state, former=former), former), drafts + more
    if key in _numbers(state):  # over for long
        return state, drafts
    state, more = _left(state)
    turn, last = _completed(state, _begun(state, key or _NO_PROMPT, at), answer, at)
    return replace(state, turn=turn), drafts + more + last


def _alive(state: OpenTurn, at: float) -> _Taken:
    """Cut what has rested or lasted too long before this event; a part without anything begins with it."""
    turn = state.turn
    if turn is None or turn.part.is_told:
        return state, []
    part = turn.part
    if _is_over(part, state.seen, at):
        return _cut(state)
    if not part.says_something and (at - state.seen >= SILENCE or at - part.first >= LONGEST_PART):
        return replace(state, turn=replace(turn, part=replace(part, first=at))), []
    return state, []


# ---- turns ---------------------------------------------------------------------------------------


def _is_of(turn: Turn, event: Event, state: OpenTurn) -> bool:
    """Whether work belongs to the open turn; late work of a turn that is over joins it too."""
    return bool(event.agent) or event.turn in ("", turn.key) or event.turn in _numbers(state)


def _begun(state: OpenTurn, key: str, at: float) -> Turn:
    number = _numbers(state).get(key, 0)
    return Turn(key, Part(number, at, at), start=number)


def _gone_on(state: OpenTurn, key: str, at: float) -> Turn:
    """Return the turn of that name as it was left, or a new one: its prompt was not seen."""
    former = state.former
    return former if former is not None and former.key == key else _begun(state, key, at)


def _cut(state: OpenTurn) -> _Taken:
    """Tell the open part; the turn goes on."""
    if state.turn is None:
        return state, []
    turn, drafts = _told(state, state.turn)
    return replace(state, turn=turn), drafts


def _left(state: OpenTurn) -> _Taken:
    """Tell the open part; the turn is over."""
    if state.turn is None:
        return state, []
    turn, drafts = _told(state, state.turn)
    return _numbered(replace(state, turn=None, former=turn), turn), drafts


def _numbers(state: OpenTurn) -> dict[str, int]:
    return dict(state.numbers)


def _numbered(state: OpenTurn, turn: Turn) -> OpenTurn:
    """Remember the next part's number of a turn that is over; a name of our own never comes again."""
    if turn.key.startswith("#") and turn.key != _NO_PROMPT:
        return state
    others = [entry for entry in state.numbers if entry[0] != turn.key]
    entry = (turn.key, turn.part.number + turn.part.is_told)
    return replace(state, numbers=(*others, entry)[-_MOST_NUMBERS:])


# ---- parts ---------------------------------------------------------------------------------------


def _opened(turn: Turn, at: float) -> Turn:
    if not turn.part.is_told:
        return turn
    return replace(turn, part=Part(turn.part.number + 1, at, at, branch=turn.part.branch))


def _is_over(part: Part, seen: float, at: float) -> bool:
    """Whether a part is to be cut; without files there is nothing yet that a rest could separate."""
    if part.is_told or not part.says_something:
        return False
    has_worked = bool(part.files.count) or part.is_touched
    return at - part.first >= LONGEST_PART or (has_worked and at - seen >= SILENCE)


def _with_steps(turn: Turn, steps: list[Step], at: float, cwd: str, branch: str) -> Turn:
    if not steps:
        return turn
    part = turn.part
    part = replace(
        part,
        files=part.files.after(steps),
        at=_later(part.at, at),
        cwd=part.cwd or cwd,
        branch=branch or part.branch,
        is_touched=part.is_touched or any(not isinstance(step, str) for step in steps),
    )
    return replace(turn, part=part)


def _with_facts(part: Part, text: str) -> Part:
    known = {fact.text for fact in part.facts}
    found = {
        (words := fact.text[:LONGEST]): Saying(
            words, fact.kind.value, fact.state.value if fact.state else None, fact.scope.value
        )
        for fact in statements(text)
    }
    return replace(part, facts=(*part.facts, *(found[words] for words in found if words not in known)))


def _completed(state: OpenTurn, turn: Turn, answer: str, at: float) -> tuple[Turn, list[Draft]]:
    """Tell the last part with the answer, anew if it was told without it."""
    part = turn.part
    if part.is_told and answer in ("", part.answer):
        return turn, []
    part = replace(part, answer=answer or part.answer, at=_later(part.at, at), is_told=False)
    known = "" if part.number == turn.start else turn.title
    return _told(state, replace(turn, title=known, part=_with_facts(part, answer)))


def _told(state: OpenTurn, turn: Turn) -> tuple[Turn, list[Draft]]:
    """Tell the open part as final; facts that do not fit go into parts of their own."""
    part = turn.part
    if part.is_told or not part.says_something:
        return turn, []
    turn = replace(turn, title=turn.title or title(turn, part))
    kept, rest = fitting(turn.intent, part)
    part = replace(part, facts=kept, is_told=True)
    drafts = [draft(state, turn, part, provisional=False)]
    while rest:
        part = Part(part.number + 1, part.at, part.at, branch=part.branch)
        kept, rest = fitting(turn.intent, replace(part, facts=rest))
        part = replace(part, facts=kept, is_told=True)
        drafts.append(draft(state, turn, part, provisional=False))
    return replace(turn, part=part), drafts


# ---- time ----------------------------------------------------------------------------------------


def _sound(at: float, known: float) -> float:
    """Return the time, or the one known before where it is none."""
    return float(at) if 0 <= at <= _LATEST else known


def _later(known: float, at: float) -> float:
    """Return the later time; one that lies a day ahead of what comes after it was wrong."""
    return max(known, at) if known - at <= DAY else at


def _not_before(state: OpenTurn, at: float) -> OpenTurn:
    """Let the open part begin no later than now, where the clock was put back."""
    turn = state.turn
    if turn is None or turn.part.first <= at:
        return state
    return replace(state, turn=replace(turn, part=replace(turn.part, first=at)))


def _text(text: str) -> str:
    return storable(text[:LONGEST_TEXT]).encode()[:LONGEST_TEXT].decode(errors="ignore")
