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

# ---- secrets and private paths ---------------------------------------------------------------------

_BESIDE: dict[str, dict[str, object]] = {}


def redact(text: str) -> tuple[str, dict[str, int]]:
    """Return the text with secrets as typed placeholders, and how many of each kind there were."""
    return _beside("secret_shapes")["redact"](text)  # type: ignore[no-any-return, operator]


def is_private(path: str, folder: str | None) -> bool:
    """Whether nothing may be told of this path; one that is not absolute lies in `folder`."""
    return _beside("private_paths")["is_private"](path, folder)  # type: ignore[no-any-return, operator]


def _beside(name: str) -> dict[str, object]:
    # What a file beside this one defines, read by its path at the first need: most hooks have none.
    if name not in _BESIDE:
        from _frozen_importlib_external import SourceFileLoader

        path = os.path.join(os.path.dirname(os.path.realpath(__file__)), name + ".py")
        found: dict[str, object] = {"__name__": name}
        exec(SourceFileLoader(name, path).get_code(name) or "", found)
        _BESIDE[name] = found
    return _BESIDE[name]


# ---- delivery: reduction, spool, service, start ----------------------------------------------------

_CONNECTED, _READ, _ANSWERED, _LAST = 0.1, 0.12, 0.18, 0.28  # seconds; the last three since the start
_MOST_READ, _MOST_SENT, _MOST_ANSWER, _MOST_SPOOL, _MOST_LOG = 8 << 20, 256 << 10, 64 << 10, 16 << 20, 1 << 20
_STARTING = 20  # seconds within which no second service is started
_EMPTY = {"claude-code": b"", "codex": b"", "cursor": b"{}"}


def reduced(raw: dict[str, object], counts: dict[str, int] | None = None) -> dict[str, object]:
    """Return what may leave of a client's raw hook event: fields of the allow-list, texts of 4 KiB at most.

    No output, no content of files; a patch keeps the lines that name files, a failed call is `"ok": false`,
    a file that was made `"created": true`, what a search found `found`. Secrets are replaced and counted by
    kind into `counts`, private paths left out. What was reduced before comes out as it is.
    """
    told = {} if counts is None else counts
    return _beside("event_reduction")["reduced"](raw, told, redact, is_private)  # type: ignore[no-any-return, operator]


def line(client: str, event: dict[str, object], id: str, at: float, redacted: dict[str, int]) -> bytes:
    """Return an event's line in the spool; it also begins one, so that a torn one before it does no harm."""
    entry = {"id": id, "at": round(at, 3), "client": client, "event": event, "redacted": redacted}
    return f"\n{_told(entry)}\n".encode()


def append(spool_file: str, line: bytes, until: float | None = None, most: int = _MOST_SPOOL) -> bool:
    """Append a line in one write while no reader takes lines away; False if it was locked till then, or full.

    `until` is of the monotonic clock, a tenth of a second from now if left out. Full is a file over `most`
    bytes.

    Raises:
        OSError: the file can't be written to.
    """
    until = time.monotonic() + 0.1 if until is None else until
    with open(_opened(spool_file), "ab", 0) as spool:
        while not _locked(spool.fileno()):
            if time.monotonic() >= until:
                return False
            time.sleep(0.002)
        return os.fstat(spool.fileno()).st_size <= most and spool.write(line) == len(line)


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
        import fcntl  # not at the top, where a fault of it would be on the agent's screen

        try:
            fcntl.flock(file, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def _content(path: str, if_locked: bool = False) -> bytes:
    # Nothing where there is no such file, or where it should be locked by another process and is not.
    try:
        with open(path, "rb", 0) as file:
            return b"" if if_locked and _locked(file.fileno()) else file.read(4096)
    except OSError:
        return b""


def _log(home: str, client: str, sentence: str) -> None:
    # One line on what failed, nothing of the event; where that can't be, nothing happens.
    path, at = home + "/logs/hook.log", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    try:
        with open(_opened(path), "ab", 0) as log:
            log.write(f"{at} {client}: {sentence}\n".encode())
            if log.tell() > _MOST_LOG:
                os.replace(path, path + ".1")
    except OSError:
        return


# What `json` is built on, as that takes as long as the interpreter's start, mostly for `re`. Alone it has no
# error of its own to raise, and says so by SystemError.
_UNREADABLE = (ValueError, StopIteration, RecursionError, SystemError)
_PARSING = dict.fromkeys(("object_hook", "object_pairs_hook", "array_hook")) | {"strict": True}
_PARSING |= {"parse_float": float, "parse_int": int, "parse_constant": float}


def _parsed(raw: bytes) -> dict[str, object]:
    text = raw.removeprefix(b"\xef\xbb\xbf").decode().strip(" \t\r\n")
    try:
        from _json import make_scanner

        value, end = make_scanner(type("_", (), _PARSING))(text, 0) if text else (None, 0)  # type: ignore[arg-type]
    except (ImportError, AttributeError, TypeError):  # an interpreter that is built in another way
        import json

        value, end = json.loads(text), len(text)
    if end != len(text) or not isinstance(value, dict):
        raise ValueError
    return value


def _told(value: object) -> str:
    try:
        from _json import encode_basestring_ascii as quoted
        from _json import make_encoder

        return "".join(make_encoder(None, str, quoted, None, ":", ",", False, False, True)(value, 0))
    except (ImportError, TypeError):
        import json

        return json.dumps(value, separators=(",", ":"))


def _number(text: bytes, name: bytes) -> int:
    digits = text.partition(name)[2].lstrip(b'": -')[:9]
    return int(digits[: len(digits) - len(digits.lstrip(b"0123456789"))] or b"0")


def _ask(home: str, client: str, body: bytes, more: str, until: float) -> bytes | None:
    # The answer of the service that holds the home, None where there is none. Its record counts only while it
    # holds the lock: the port of one that is gone may be a stranger's, who must not get the token.
    record, lock = _content(home + "/service.json"), _content(home + "/lock", True)
    port, pid = _number(record, b'"port"'), _number(record, b'"pid"')
    if not 0 < port < 65_536 or (sys.platform != "win32" and _number(lock, b'"pid"') != pid):
        return None
    import _socket  # `socket` takes as long as the start of the interpreter

    token = _content(home + "/token").decode().strip()
    head = (
        f"POST /hooks/{client} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n{more}"
    )
    head += f"Connection: close\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    link = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    link.settimeout(_CONNECTED)
    link.connect(("127.0.0.1", port))
    link.sendall(head.encode() + body)
    answer, chunk, lacking = b"", b" ", 1
    while chunk and lacking > 0 and len(answer) <= _MOST_ANSWER:
        link.settimeout(max(until - time.monotonic(), 0.001))
        answer += (chunk := link.recv(65_536))
        top, ended, said = answer.partition(b"\r\n\r\n")
        lacking = _number(top.lower(), b"content-length") - len(said) if ended else 1
    if not answer.startswith(b"HTTP/") or answer[8:13] != b" 200 " or lacking > 0:
        raise ValueError
    return said if _parsed(said) else b""


def _read(until: float) -> tuple[bytes, bool]:
    # What the client sends, nothing if that is over the limit, and whether it came to an end. All is read, as
    # a client may show that its pipe broke. An alarm ends whatever hangs, also a file on a dead disk.
    chunks, size = [b""], 0
    if sys.platform != "win32":
        os.set_blocking(0, True)
        _signal.setitimer(_signal.ITIMER_REAL, max(until - time.monotonic(), 0.001))
    try:
        while chunk := os.read(0, 65_536):
            size += len(chunk)
            chunks = [*chunks, chunk] if size <= _MOST_READ else []
    except KeyboardInterrupt:
        return b"".join(chunks), False
    return b"".join(chunks), True


def _start(home: str, python: str) -> None:
    # The service, in the background, as `api.lifecycle` starts it; `subprocess` would take too long.
    if sys.platform == "win32" or _content(home + "/lock", True):
        return
    stamp = os.open(home + "/spool/starting", os.O_RDWR | os.O_CREAT, 0o600)
    is_ours, told = _locked(stamp, True), os.fstat(stamp)
    if not is_ours or (told.st_size and abs(time.time() - told.st_mtime) < _STARTING):
        return
    os.pwrite(stamp, b"1", 0)
    root = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    void = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in range(3)]
    os.chdir(home)
    os.closerange(3, 1024)  # what the client left open would stay open as long as the service runs
    settings, command = {"GRAPHMEM_HOME": home, "PYTHONPATH": path}, [python, "-P", "-m", "api.service"]
    os.posix_spawn(python, command, {**os.environ, **settings}, file_actions=void, setsid=True)


def _default_home() -> str:
    data = os.environ.get("LOCALAPPDATA" if sys.platform == "win32" else "XDG_DATA_HOME", "")
    if not os.path.isabs(data):
        data = "~/Library/Application Support" if sys.platform == "darwin" else "~/.local/share"
    return os.path.join(data, "graphmem")


def _delivered(client: str, home: str, python: str, begun: float) -> bytes:
    # The service's answer; the event goes to the spool where that did not take it.
    raw, is_whole = _read(begun + _READ)
    if sys.platform != "win32":
        _signal.setitimer(_signal.ITIMER_REAL, max(begun + _LAST - time.monotonic(), 0.001))
    id, at, is_away = os.urandom(16).hex(), time.time(), False
    counts: dict[str, int] = {}
    more = f"X-GraphMem-Event: {id}\r\nX-GraphMem-At: {at:.3f}\r\n"
    try:
        event = None if raw and is_whole and len(raw) <= _MOST_SENT else reduced(_parsed(raw), counts)
        if event is not None:
            more += f"X-GraphMem-Reduced: 1\r\nX-GraphMem-Redacted: {_told(counts)}\r\n"
        if is_whole:
            try:
                body = raw if event is None else _told(event).encode()
                if (answer := _ask(home, client, body, more, begun + _ANSWERED)) is not None:
                    return answer
                is_away = True
            except (OSError, *_UNREADABLE):
                _log(home, client, "the service gave no answer of use in time, the event goes to the spool")
        event = reduced(_parsed(raw), counts) if event is None else event
    except _UNREADABLE:
        _log(home, client, "the event was empty, cut, too large or no JSON object, and is left out")
        return b""
    if not append(home + "/spool/events.jsonl", line(client, event, id, at, counts), begun + _LAST - 0.02):
        _log(home, client, "the spool was full or locked, the event is left out")
    if is_away and event.get("hook_event_name") in ("SessionStart", "sessionStart", "session_start"):
        _start(home, python)
    return b""


def main(argv: list[str]) -> int:
    """Run one hook, `CLIENT [--home DIR] [--python PATH]`, in a process of its own; always 0."""
    begun, client, home = time.monotonic(), argv[0] if argv else "", os.devnull
    answer, options = _EMPTY.get(client, b""), dict(zip(argv[1::2], argv[2::2], strict=False))
    if client in _EMPTY and any(name.startswith("CURSOR_") for name in os.environ):
        answer = _EMPTY["cursor"]  # it runs another client's hooks too, and refuses a call for want of JSON
    try:
        while os.open(os.devnull, os.O_RDWR) < 3:
            continue  # a stream the client closed: the answer would go to the next file opened
        if os.environ.get("GRAPHMEM_DISABLED", "").lower() in ("1", "true", "yes"):
            return 0
        named = options.get("--home") or os.environ.get("GRAPHMEM_HOME") or _default_home()
        if (named := os.path.expanduser(named)).startswith("~"):
            return 0  # nobody's home: "~" would be made in the agent's folder
        home = os.path.abspath(named)
        if sys.platform != "win32":
            _signal.signal(_signal.SIGALRM, _signal.default_int_handler)  # it raises KeyboardInterrupt
            _signal.pthread_sigmask(_signal.SIG_UNBLOCK, (_signal.SIGALRM,))
        if client in _EMPTY:
            answer = _delivered(client, home, options.get("--python") or sys.executable, begun) or answer
        else:
            _log(home, "hook", "the client is not known")
    except BaseException as fault:
        _log(home, client, f"it ended early ({type(fault).__name__})")
    finally:
        try:
            if sys.platform != "win32":
                _signal.setitimer(_signal.ITIMER_REAL, 0)
        finally:  # the alarm may come even now
            os.write(1, answer)
    return 0


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    finally:
        os._exit(0)  # whatever happened, and without the time an orderly end takes
