"""Owns the program that agent clients run at each hook: ask the service, print its answer, or spool.

It is not capture: what an event means is decided by the service. It is started as a file of its own with
`python -I -S`, so it uses the standard library only and imports as little as it can; the service loads this
module for the same reduction, secrets and spool lines. It always ends with status 0.
"""

import os
import sys
import time

if sys.platform != "win32":
    import _signal  # type: ignore[import-not-found]
    import fcntl

# ---- secrets and private paths ---------------------------------------------------------------------


def redact(text: str) -> tuple[str, dict[str, int]]:
    """Return the text with secrets as typed placeholders, and how many of each kind there were."""
    return text, {}


def is_private(path: str, folder: str | None) -> bool:
    """Whether nothing may be told of this path; one that is not absolute lies in `folder`."""
    return False


# ---- delivery: reduction, spool, service, start ----------------------------------------------------

_CONNECTED, _READ, _ANSWERED, _LAST = 0.1, 0.15, 0.21, 0.275  # seconds; the last three since the start
_MOST_READ, _MOST_SENT, _MOST_ANSWER = 8 << 20, 256 << 10, 64 << 10  # bytes
_MOST_SPOOL, _MOST_LOG, _MOST_TEXT, _MOST_PATHS = 16 << 20, 1 << 20, 4096, 50
_ROUGH, _MARGIN = 16_384, 1024  # how much is looked through for secrets; its end, where one may be cut off
_STARTING = 20  # seconds within which no second service is started
_EMPTY = {"claude-code": b"", "codex": b"", "cursor": b"{}"}

# What of an event may pass, and as what; all else, and any value of another type, is left out.
_FIELDS = {
    "name": "session_id conversation_id parent_conversation_id generation_id prompt_id turn_id tool_use_id "
    "tool_call_id agent_id agent_type subagent_id subagent_type hook_event_name source reason status "
    "final_status failure_type trigger tool_name permission_mode composer_mode model cwd transcript_path "
    "agent_transcript_path workspace_roots",
    "path": "file_path modified_files found",
    "text": "prompt last_assistant_message text summary task",
    "script": "command",
    "flag": "stop_hook_active is_interrupt is_background_agent is_parallel_worker ok created",
}
_INPUT_FIELDS = {
    "name": "subagent_type cwd workdir working_directory",
    "path": "file_path filePath notebook_path path paths old_path new_path target_file target_directory",
    "text": "description pattern glob glob_pattern include query",
    "script": "command cmd",
    "patch": "input patch",
}
_SPEAKING = frozenset(f"{_INPUT_FIELDS['path']} command cmd input patch".split())
_BEGIN, _END = "*** Begin Patch", "*** End Patch"
_FILE_LINES = ("*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: ")
_CLOSING = "\"'`)"
_BREAKS = str.maketrans(dict.fromkeys("\"'`;|&<>()=:,", " "))


class _Reduction:
    # One event's way through the allow-list: what was redacted, and whether a private path was met.
    def __init__(self, folder: str | None, counts: dict[str, int]) -> None:
        self.folder, self.counts, self.hidden = folder, counts, False

    def kept(self, raw: dict[str, object], fields: dict[str, str]) -> dict[str, object]:
        kept: dict[str, object] = {}
        for kind, names in fields.items():
            for name in names.split():
                value = raw.get(name)
                passed: object = value if kind == "flag" and isinstance(value, bool) else None
                if isinstance(value, str):
                    passed = self.passed(kind, value)
                elif isinstance(value, list):
                    texts = (self.passed(kind, item) for item in value[:_MOST_PATHS] if isinstance(item, str))
                    passed = [text for text in texts if text is not None] or None
                if passed is not None:
                    kept[name] = passed
        return kept

    def passed(self, kind: str, value: str) -> str | None:
        if kind == "flag" or (kind == "path" and self.is_hidden(value)):
            return None
        if kind in ("script", "patch"):
            value = self.bare(value, kind == "patch")[: _ROUGH + 1]
            words = [
                word for word in value.translate(_BREAKS).split() if not {".", "/", "\\"}.isdisjoint(word)
            ]
            for word in sorted(words[:200], key=len, reverse=True):
                value = value.replace(word, "[private]") if self.is_hidden(word) else value
        if kind not in ("name", "path"):
            clean, found = redact(value[:_ROUGH])
            for secret, number in found.items():
                self.counts[secret] = self.counts.get(secret, 0) + number
            value = clean if len(value) <= _ROUGH else clean[:-_MARGIN]
        # On a character, and without half surrogates, which no text in UTF-8 can hold.
        return value[:_MOST_TEXT].encode("utf-8", "replace")[:_MOST_TEXT].decode("utf-8", "ignore")

    def is_hidden(self, path: str) -> bool:
        hidden = is_private(path[:_MOST_TEXT], self.folder)
        self.hidden |= hidden
        return hidden

    def bare(self, script: str, only_patch: bool) -> str:
        # Without the bodies of here-documents, and of patches only the lines that name files.
        if _BEGIN + "\\n" in script:  # a patch quoted in another language
            script = script.replace("\\n", "\n")
        lines: list[str] = []
        ends: list[str] = []  # what ends the bodies we are in or before
        for line in script.split("\n"):
            before, begun, _ = line.partition(_BEGIN)
            if begun and not (ends and before):
                line = before + begun
                ends = [_END, *ends, *_body_ends(before)]
            elif not ends:
                ends = _body_ends(line)
            elif (rest := line.strip("\r\t")) == ends[0] or rest.startswith(
                tuple(ends[0] + s for s in _CLOSING)
            ):
                ends = ends[1:]
            elif not line.startswith(_FILE_LINES) or self.is_hidden(line.partition(": ")[2].strip()):
                continue
            lines.append(line)
        return "\n".join(
            line[line.index("*** ") :] if only_patch else line
            for line in lines
            if "*** " in line or not only_patch
        )


def _body_ends(line: str) -> list[str]:
    # The words that end the here-documents a line of a script begins.
    words = []
    for part in line.replace("<<<", " ").split("<<")[1:]:
        word = part.lstrip("-~").lstrip()
        if word[:1] in ("'", '"'):
            words.append(word[1:].partition(word[0])[0])
        elif (word := word.lstrip("\\"))[:1].isalpha() or word[:1] == "_":
            words.append(word.translate(_BREAKS).split()[0])
    return [word for word in words if word]


def reduced(raw: dict[str, object], counts: dict[str, int] | None = None) -> dict[str, object]:
    """Return what may leave of a client's raw hook event: fields of the allow-list, texts of 4 KiB at most.

    No output and no content of files passes; a patch keeps the lines that name files, a failed call is
    `"ok": false`, a file that was made `"created": true`, files a search found are `found`. Secrets are
    replaced and counted by kind into `counts`, private paths left out; an event about nothing else keeps its
    common fields. What was reduced before comes out as it is.
    """
    roots = raw.get("workspace_roots")
    folders = [raw.get("cwd"), *(roots if isinstance(roots, list) else ())]
    folder = next((folder for folder in folders if isinstance(folder, str) and folder), None)
    reduction = _Reduction(folder, {} if counts is None else counts)
    kept = reduction.kept(raw, _FIELDS)
    given, told = raw.get("tool_input"), raw.get("tool_response", raw.get("tool_output"))
    if isinstance(given, dict):
        inside = reduction.kept(given, _INPUT_FIELDS)
        if inside and not (reduction.hidden and _SPEAKING.isdisjoint(inside)):
            kept["tool_input"] = inside
    if _has_failed(raw, told):
        kept["ok"] = False
    if isinstance(told, dict):
        if told.get("type") == "create" or ("filePath" in told and told.get("originalFile", "") is None):
            kept["created"] = True
        kept |= reduction.kept({"found": told.get("filenames")}, {"path": "found"})
    return kept


def _has_failed(raw: dict[str, object], told: object) -> bool:
    if isinstance(told, str):
        is_code = told.startswith(("Exit code", "Process exited with code", '{"exitCode"'))
        return told.startswith("<tool_use_error>") or (is_code and _number(told[:60].encode(), b"ode") != 0)
    return "Failure" in str(raw.get("hook_event_name")) or any(
        facts.get("success") is False
        or any(facts.get(name) is True for name in ("is_error", "isError", "interrupted"))
        or any(facts.get(name) not in (None, 0, "") for name in ("exit_code", "exitCode", "error"))
        for facts in (raw, told)
        if isinstance(facts, dict)
    )


def line(client: str, event: dict[str, object], id: str, at: float, redacted: dict[str, int]) -> bytes:
    """Return an event's line in the spool; it also begins one, so that a torn one before it does no harm."""
    entry = {"id": id, "at": round(at, 3), "client": client, "event": event, "redacted": redacted}
    return b"\n" + _told(entry) + b"\n"


def append(spool_file: str, line: bytes, until: float | None = None) -> bool:
    """Append a line in one write while no reader takes lines away; False if that was not to be had.

    `until` is of the monotonic clock, a tenth of a second from now if left out. A file over 16 MiB takes no
    more.

    Raises:
        OSError: the file can't be written to.
    """
    until = time.monotonic() + 0.1 if until is None else until
    spool = _opened(spool_file)
    try:
        while not _locked(spool):
            if time.monotonic() >= until:
                return False
            time.sleep(0.002)
        return os.fstat(spool).st_size <= _MOST_SPOOL and os.write(spool, line) == len(line)
    finally:
        os.close(spool)


def _opened(path: str) -> int:
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
    try:
        return os.open(path, flags, 0o600)
    except FileNotFoundError:
        for folder in (os.path.dirname(os.path.dirname(path)), os.path.dirname(path)):
            os.makedirs(folder, 0o700, exist_ok=True)
        return os.open(path, flags, 0o600)


def _locked(file: int, alone: bool = False) -> bool:
    if sys.platform != "win32":  # where there are no such locks, all is free
        try:
            fcntl.flock(file, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


# What `json` is built on: `json` itself takes as long as the start of the interpreter, mostly for `re`.
class _Parsing:
    strict, object_hook, object_pairs_hook, array_hook = True, None, None, None
    parse_float, parse_int, parse_constant = float, int, float


def _parsed(raw: bytes) -> object:
    text = raw.removeprefix(b"\xef\xbb\xbf").decode().strip(" \t\r\n")
    try:
        from _json import make_scanner

        value, end = make_scanner(_Parsing)(text, 0)  # type: ignore[arg-type]
        if end == len(text):
            return value
    except (ImportError, AttributeError, TypeError, StopIteration):
        pass
    import json

    return json.loads(text)


def _told(value: object) -> bytes:
    try:
        from _json import encode_basestring_ascii, make_encoder

        encode = make_encoder(None, str, encode_basestring_ascii, None, ":", ",", False, False, True)
        return "".join(encode(value, 0)).encode()
    except (ImportError, TypeError):
        import json

        return json.dumps(value, separators=(",", ":")).encode()


def _number(text: bytes, name: bytes) -> int:
    rest = text.partition(name)[2].lstrip(b'": -')
    digits = rest[: len(rest) - len(rest.lstrip(b"0123456789"))]
    return int(digits) if 0 < len(digits) < 10 else 0


def _content(path: str, if_locked: bool = False) -> bytes:
    # Nothing where there is no such file, or where no other process holds a lock on it.
    try:
        file = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        return b"" if if_locked and _locked(file) else os.read(file, 4096)
    finally:
        os.close(file)


def _log(home: str, client: str, sentence: str) -> None:
    # One line on what failed, nothing of the event; where that can't be, nothing happens.
    path = home + "/logs/hook.log"
    try:
        log = _opened(path)
        os.write(log, f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {client}: {sentence}\n".encode())
        if os.fstat(log).st_size > _MOST_LOG:
            os.replace(path, path + ".1")
    except OSError:
        return


def _ask(home: str, client: str, body: bytes, more: str, until: float) -> bytes | None:
    # The answer of the service that holds the home, None where there is none. Its record counts only while it
    # holds the lock: the port of one that is gone may be a stranger's, who must not get the token.
    record, lock = _content(home + "/service.json"), _content(home + "/lock", sys.platform != "win32")
    port, pid = _number(record, b'"port"'), _number(record, b'"pid"')
    if not port or (sys.platform != "win32" and _number(lock, b'"pid"') != pid):
        return None
    import _socket  # `socket` takes as long as the start of the interpreter

    head = f"POST /hooks/{client} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n"
    head += (
        "Authorization: Bearer "
        + _content(home + "/token").decode().strip()
        + f"\r\n{more}Content-Length: {len(body)}\r\n\r\n"
    )
    link = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    link.settimeout(_CONNECTED)
    link.connect(("127.0.0.1", port))
    link.settimeout(max(until - time.monotonic(), 0.001))
    link.sendall(head.encode() + body)
    answer, chunk, lacking = b"", b" ", 1
    while chunk and lacking > 0 and len(answer) <= _MOST_ANSWER:
        link.settimeout(max(until - time.monotonic(), 0.001))
        answer += (chunk := link.recv(65_536))
        top, ended, said = answer.partition(b"\r\n\r\n")
        lacking = _number(top.lower(), b"content-length") - len(said) if ended else 1
    if not answer.startswith(b"HTTP/") or answer[8:13] != b" 200 " or lacking > 0:
        raise OSError("the service gave no answer, or one of another status than 200")
    if not isinstance(found := _parsed(said), dict):
        raise ValueError
    return said if found else b""


class _Expired(BaseException):
    """The time a hook may take is over."""


def _expire(*_: object) -> None:
    raise _Expired


def _alarm(at: float) -> None:
    # Unlike a limit for each call, it ends whatever hangs: a pipe nobody closes, a dead disk.
    if sys.platform != "win32":
        _signal.setitimer(_signal.ITIMER_REAL, max(at - time.monotonic(), 0.001))


def _read(until: float) -> tuple[bytes, bool]:
    # What the client sends, a bit over the limit at most, and whether it came to an end.
    chunks, size, is_whole = [], 0, False
    _alarm(until)
    try:
        while chunk := os.read(0, 65_536):
            size += len(chunk)
            if (
                size - len(chunk) <= _MOST_READ
            ):  # the rest is read as well: a client may show that its pipe broke
                chunks.append(chunk)
        is_whole = True
    except _Expired:
        pass
    return b"".join(chunks), is_whole


def _start(home: str, python: str) -> None:
    # The service, in the background, as `api.lifecycle` starts it; `subprocess` would take too long.
    if sys.platform == "win32" or _content(home + "/lock", True):
        return
    stamp = os.open(home + "/spool/starting", os.O_RDWR | os.O_CREAT, 0o600)
    told = os.fstat(stamp)
    if _locked(stamp, True) and not (told.st_size and abs(time.time() - told.st_mtime) < _STARTING):
        os.pwrite(stamp, b"1", 0)
        root = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
        path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
        if os.fork() == 0:
            try:
                os.setsid()
                void = os.open(os.devnull, os.O_RDWR)
                for stream in range(3):
                    os.dup2(void, stream)
                os.closerange(3, 1024)
                os.chdir(home)
                environment = {**os.environ, "GRAPHMEM_HOME": home, "PYTHONPATH": path}
                os.execve(python, [python, "-P", "-m", "api.service"], environment)
            finally:
                os._exit(127)
    os.close(stamp)


def _default_home() -> str:
    if sys.platform == "win32":
        data = os.environ.get("LOCALAPPDATA", "")
    elif not os.path.isabs(data := os.environ.get("XDG_DATA_HOME", "").strip()):
        data = "~/Library/Application Support" if sys.platform == "darwin" else "~/.local/share"
    return os.path.join(data, "graphmem")


def _event(raw: bytes, counts: dict[str, int]) -> dict[str, object]:
    found = _parsed(raw)
    if not isinstance(found, dict):
        raise ValueError
    return reduced(found, counts)


def _delivered(client: str, home: str, python: str, begun: float) -> bytes:
    # The service's answer; the event goes to the spool where that did not take it.
    raw, is_whole = _read(begun + _READ)
    _alarm(begun + _LAST)
    id, at, is_away = os.urandom(16).hex(), time.time(), False
    counts: dict[str, int] = {}
    more = f"X-GraphMem-Event: {id}\r\nX-GraphMem-At: {at:.3f}\r\n"
    try:
        if not raw or len(raw) > _MOST_READ:
            raise ValueError
        event = None if is_whole and len(raw) <= _MOST_SENT else _event(raw, counts)
        if event is not None:
            more += f"X-GraphMem-Reduced: 1\r\nX-GraphMem-Redacted: {_told(counts).decode()}\r\n"
        if is_whole:
            try:
                answer = _ask(home, client, raw if event is None else _told(event), more, begun + _ANSWERED)
                if answer is not None:
                    return answer
                is_away = True
            except (OSError, ValueError, RecursionError):
                _log(
                    home, client, "the service gave no answer that can be used in time, the event is spooled"
                )
        event = _event(raw, counts) if event is None else event
    except (ValueError, RecursionError):
        _log(home, client, "the event was empty, cut, too large or not a JSON object, and is left out")
        return b""
    if not append(home + "/spool/events.jsonl", line(client, event, id, at, counts), begun + _LAST - 0.02):
        _log(home, client, "the spool was full or locked, the event is left out")
    if is_away and event.get("hook_event_name") in ("SessionStart", "sessionStart", "session_start"):
        _start(home, python)
    return b""


def main(argv: list[str]) -> int:
    """Run one hook: `CLIENT [--home DIR] [--python PATH]`, its event on standard input; always 0."""
    begun, client = time.monotonic(), argv[0] if argv else ""
    options = dict(zip(argv[1::2], argv[2::2], strict=False))
    answer = empty = _EMPTY.get(client, b"")
    home = options.get("--home") or os.environ.get("GRAPHMEM_HOME") or _default_home()
    home = os.path.abspath(os.path.expanduser(home))
    try:
        if sys.platform != "win32":
            _signal.signal(_signal.SIGALRM, _expire)
            _signal.pthread_sigmask(_signal.SIG_UNBLOCK, (_signal.SIGALRM,))
        if os.environ.get("GRAPHMEM_DISABLED", "").lower() in ("1", "true", "yes"):
            return 0
        if client in _EMPTY:
            answer = _delivered(client, home, options.get("--python") or sys.executable, begun) or empty
        else:
            _log(home, "hook", "the client is not known")
    except BaseException as fault:
        _log(home, client, f"it ended early ({type(fault).__name__})")
    finally:
        if sys.platform != "win32":
            _signal.setitimer(_signal.ITIMER_REAL, 0)
        os.write(1, answer)
    return 0


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    finally:
        os._exit(0)  # whatever happened, and without the time an orderly end takes
