"""Owns the look at the agents' settings: our hooks in them, what they need, and one test event fired through.

It mends nothing; each finding names the remedy. What GraphMem itself stands on is `api.doctor`'s.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import httpx

from api.client_settings import Client, Installed, Scope, installed, is_muted
from api.doctor import Check, Outcome
from api.hook_call import HookCall, call_hook
from api.installation import CLIENTS, is_present, settings_of, user_folder
from api.json_text import BrokenJsonError
from api.screen import size
from api.settings_codex import CODEX, Trust, trust
from api.settings_file import SettingsFile
from graphmem.errors import InvalidInputError
from graphmem.events import DRILL
from graphmem.home import Home

_AGAIN = "Run `graphmem init` again."
_SLOW_MS = 500.0
_LOG_TAIL = 4_096
_LARGE_SPOOL = 8 * 1024 * 1024
_TRUST_REMEDIES = {
    Trust.MISSING: "Start Codex and trust GraphMem's hooks at `/hooks`; until then it skips them.",
    Trust.HOOKS_OFF: "Take `hooks = false` out of `[features]` in Codex's config.toml.",
    Trust.PROJECT_UNTRUSTED: "Start Codex in the project once and trust it; until then it skips the hooks.",
    Trust.UNKNOWN: "Correct Codex's config.toml.",
}


def examine_clients(home: Home, root: Path) -> Iterator[Check]:
    """Look at each client's settings for the user and for the project at `root`; nothing is changed."""
    for client in CLIENTS.values():
        found = False
        for scope in Scope:
            file = settings_of(client, scope, root)
            for check in _settings(client, scope, file, root):
                found = True
                yield check
        if not found and is_present(client, root):
            words = f"it is here, without GraphMem's hooks: `graphmem init --client {client.name}` adds them"
            yield Check(client.name, Outcome.OK, words)
    yield from _spool(home)
    yield from _log(home)


def _settings(client: Client, scope: Scope, file: SettingsFile, root: Path) -> Iterator[Check]:
    name = f"{client.name} {scope}"
    try:
        content = file.read()
        text = "" if content is None else file.text(content)
        ours = installed(client, text)
        muted = bool(ours) and is_muted(client, text)
    except (BrokenJsonError, InvalidInputError, ValueError) as error:
        yield Check(name, Outcome.WARNING, f"{file.path} can't be read: {error}", "Correct that file.")
        return
    if not ours:
        return
    if muted:
        yield Check(
            name, Outcome.WARNING, f"{file.path} turns all hooks off", f"Take `{client.mute}` out of it."
        )
    missing = [event for event in client.matchers if event not in {one.event for one in ours}]
    if missing:
        finding = f"{file.path} lacks the hooks of {', '.join(missing)}"
        yield Check(name, Outcome.WARNING, finding, _AGAIN)
    for handler in _distinct(ours):
        yield _fired(name, client, handler, str(root))
    if client is CODEX:
        yield _trusted(name, file, root if scope is Scope.PROJECT else None, ours)


def _distinct(ours: list[Installed]) -> list[Installed]:
    """Return one handler of each kind; an event's matcher plays no part in how it runs."""
    kinds = {str(sorted(one.handler.items(), key=str)): one for one in reversed(ours)}
    by_run = {str(one.handler.get("command", one.handler.get("url"))): one for one in kinds.values()}
    return list(by_run.values())[::-1]


def _fired(name: str, client: Client, ours: Installed, folder: str) -> Check:
    """Fire the test event through what the settings say, as the client would."""
    match ours.handler:
        case {"command": str(command)}:
            lost = _lost_part(command)
            if lost is not None:
                return Check(name, Outcome.PROBLEM, lost, _AGAIN)
            event = client.probe(DRILL, folder, DRILL)
            # The first call may still read the interpreter from the disk.
            call_hook(command, event, folder)
            return _judged(name, client, call_hook(command, event, folder))
        case {"url": str(url), "headers": {"Authorization": str(bearer)}}:
            return _asked(name, client, url, bearer, folder)
    return Check(name, Outcome.PROBLEM, f"the hook of {ours.event} is incomplete", _AGAIN)


def _lost_part(command: str) -> str | None:
    """Return what of a hook's command is no longer there."""
    try:
        interpreter, *rest = shlex.split(command)
    except ValueError:
        return f"the hook's command can't be read: {command}"
    if shutil.which(interpreter) is None:
        return f"the interpreter {interpreter} of the hook is gone"
    program = next((part for part in rest if part.endswith(".py")), "")
    return None if os.path.isfile(program) else f"the hook program {program} is gone"


def _judged(name: str, client: Client, call: HookCall) -> Check:
    took = f"{call.took:.0f} ms"
    remedy = "See the hook's log in the home's folder `logs`, and `graphmem hook` to try it out."
    if call.status is None:
        return Check(name, Outcome.PROBLEM, "the test event got no answer within 5 s", remedy)
    if call.status != 0:
        return Check(name, Outcome.PROBLEM, f"the hook ended with status {call.status} ({took})", remedy)
    if call.errors:
        first = call.errors.strip().splitlines()[-1:]
        return Check(name, Outcome.PROBLEM, f"the hook wrote to standard error: {''.join(first)}", remedy)
    complaint = client.complaint(call.answer)
    if complaint is not None:
        return Check(name, Outcome.PROBLEM, f"{client.title} would not take its answer: {complaint}", remedy)
    if call.took > _SLOW_MS:
        return Check(name, Outcome.WARNING, f"a test event took {took}", "Agents wait for it at each call.")
    return Check(name, Outcome.OK, f"a test event went through in {took}")


def _asked(name: str, client: Client, url: str, bearer: str, folder: str) -> Check:
    try:
        answer = httpx.post(
            url,
            json=client.probe(DRILL, folder, DRILL),
            headers={"Authorization": bearer},
            timeout=5.0,
            trust_env=False,
        )
    except httpx.HTTPError as error:
        remedy = "Start it with `graphmem serve --detach`, or run `graphmem init` without --http."
        return Check(name, Outcome.WARNING, f"the service does not answer at {url} ({error})", remedy)
    if answer.is_error:
        finding = f"the service answers with status {answer.status_code} at {url}"
        return Check(name, Outcome.PROBLEM, finding, "Run `graphmem init --http --user-scope` again.")
    call = HookCall(0, answer.text, "", answer.elapsed.total_seconds() * 1000)
    return _judged(name, client, call)


def _trusted(name: str, file: SettingsFile, project: Path | None, ours: list[Installed]) -> Check:
    found = trust(user_folder(CODEX) / "config.toml", file.path, project, ours)
    if found is Trust.GIVEN:
        words = f"{found}; if it asks again, trust them again at `/hooks`"
        return Check(f"{name} trust", Outcome.OK, words)
    return Check(f"{name} trust", Outcome.WARNING, found, _TRUST_REMEDIES[found])


def _spool(home: Home) -> Iterator[Check]:
    try:
        held = (home.spool_folder / "events.jsonl").stat().st_size
    except OSError:
        return
    if held > _LARGE_SPOOL:
        remedy = "Start the service, which takes them in: `graphmem serve --detach`. 16 MiB is the most."
        yield Check("spool", Outcome.WARNING, f"{size(held)} of events wait", remedy)
    else:
        yield Check("spool", Outcome.OK, f"{size(held)} of events wait for the service" if held else "empty")


def _log(home: Home) -> Iterator[Check]:
    try:
        with (home.logs_folder / "hook.log").open("rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - _LOG_TAIL))
            lines = log.read().decode("utf-8", "replace").strip().splitlines()
    except OSError:
        return
    if lines:
        yield Check("hook log", Outcome.OK, f"last line: {lines[-1]}")
