"""Owns what may leave of a hook event: an allow-list of fields, texts cut to size, scripts without bodies.

It is not the table of secrets, nor which paths are private: it is handed both. The hook program loads this
file by its path at the first need, so it uses the standard library only and imports nothing at its top.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Redact = Callable[[str], tuple[str, dict[str, int]]]
    IsPrivate = Callable[[str, str | None], bool]

_MOST_TEXT, _MOST_PATHS, _MOST_WORDS = 4096, 50, 200
_MOST_IN_ALL = 32_768  # bytes of text of one event; written as ASCII they are up to six times as many
_ROUGH, _MARGIN = 16_384, 1024  # how much is looked through for secrets; its end, where one may be cut off

# What of an event may pass, and as what; all else, and any value of another type, is left out.
_FIELDS = {
    "name": "session_id conversation_id parent_conversation_id generation_id prompt_id turn_id tool_use_id "
    "tool_call_id agent_id agent_type subagent_id subagent_type hook_event_name source reason status trigger "
    "tool_name permission_mode",
    "place": "cwd transcript_path agent_transcript_path workspace_roots",
    "path": "file_path modified_files found",
    "text": "prompt last_assistant_message text summary task",
    "script": "command",
    "flag": "stop_hook_active is_interrupt is_background_agent is_parallel_worker ok created",
}
_INPUT_FIELDS = {
    "name": "subagent_type",
    "place": "cwd workdir working_directory",
    "path": "file_path filePath notebook_path path paths old_path new_path target_file target_directory",
    "text": "description pattern glob glob_pattern include query",
    "script": "command cmd",
    "patch": "input patch",
}
_TELLING = frozenset(f"{_INPUT_FIELDS['path']} command cmd input patch".split())
_BEGIN, _END = "*** Begin Patch", "*** End Patch"
_FILE_LINES = ("*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: ")
_BREAKS = str.maketrans(dict.fromkeys("\"'`;|&<>()=:,", " "))


def reduced(
    raw: dict[str, object], counts: dict[str, int], redact: Redact, is_private: IsPrivate
) -> dict[str, object]:
    """Return what may leave of a raw hook event, as `graphmem.hook_program.reduced` describes it."""
    roots = raw.get("workspace_roots")
    folders = [raw.get("cwd"), *(roots if isinstance(roots, list) else ())]
    folder = next((folder for folder in folders if isinstance(folder, str) and folder), None)
    reduction = _Reduction(folder, counts, redact, is_private)
    kept = reduction.kept(raw, _FIELDS)
    given, told = raw.get("tool_input"), raw.get("tool_response", raw.get("tool_output"))
    inside = reduction.kept(given, _INPUT_FIELDS) if isinstance(given, dict) else {}
    if inside and not (reduction.has_hidden and _TELLING.isdisjoint(inside)):
        kept["tool_input"] = inside
    if _has_failed(raw, told):
        kept["ok"] = False
    if isinstance(told, dict):
        if told.get("type") == "create" or ("filePath" in told and told.get("originalFile", "") is None):
            kept["created"] = True
        kept |= reduction.kept({"found": told.get("filenames")}, {"path": "found"})
    return kept


class _Reduction:
    """One event's way through the allow-list: what was redacted, and whether a private path was met."""

    def __init__(
        self, folder: str | None, counts: dict[str, int], redact: Redact, is_private: IsPrivate
    ) -> None:
        self._folder, self._counts = folder, counts
        self._redact, self._is_private = redact, is_private
        self.has_hidden = False
        self._room = _MOST_IN_ALL

    def kept(self, raw: dict[str, object], fields: dict[str, str]) -> dict[str, object]:
        """Return those fields of `raw` that may pass, as they may pass."""
        kept: dict[str, object] = {}
        for kind, names in fields.items():
            for name in names.split():
                value = raw.get(name)
                items = value[:_MOST_PATHS] if isinstance(value, list) else [value]
                passed = [item for item in (self._passed(kind, item) for item in items) if item is not None]
                if passed:
                    kept[name] = passed if isinstance(value, list) else passed[0]
        return kept

    def _passed(self, kind: str, value: object) -> str | bool | None:
        if kind == "flag" or not isinstance(value, str) or self._room <= 0:
            return value if kind == "flag" and isinstance(value, bool) else None
        if (kind == "path" and self._is_hidden(value)) or (kind == "patch" and _BEGIN not in value):
            return None
        if kind == "patch":
            value = value[value.index(_BEGIN) : max(value.rfind(_END), 0) + len(_END)]
        if kind in ("script", "patch"):
            value = self._bare(value)[: _ROUGH + 1]
            for word in sorted({*value.translate(_BREAKS).split()}, key=len)[:-_MOST_WORDS:-1]:
                value = value.replace(word, "[private]") if self._is_hidden(word) else value
        if kind not in ("place", "path"):
            clean, found = self._redact(value[:_ROUGH])
            for secret, number in found.items():
                self._counts[secret] = self._counts.get(secret, 0) + number
            whole, value = value, clean if len(value) <= _ROUGH else clean[:-_MARGIN]
            if found and kind == "name":
                value = f"{_digest(whole)} {value}"  # still another than that of another session
        # Ending on a character, and without half surrogates, which no text in UTF-8 can hold.
        told = value[:_MOST_TEXT].encode("utf-8", "replace")[:_MOST_TEXT]
        self._room -= len(told)
        return told.decode("utf-8", "ignore")

    def _is_hidden(self, path: str) -> bool:
        hidden = self._is_private(path[:_MOST_TEXT], self._folder)
        self.has_hidden |= hidden
        return hidden

    def _bare(self, script: str) -> str:
        """Return a script without the bodies of here-documents, and of patches the lines that name files."""
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
            elif (rest := line.strip("\r\t")).startswith(ends[0]) and rest[len(ends[0]) :][:1] in "\"'`)":
                ends = ends[1:]
            elif not line.startswith(_FILE_LINES) or self._is_hidden(line.partition(": ")[2].strip()):
                continue
            lines.append(line)
        return "\n".join(lines)


def _digest(text: str) -> str:
    from binascii import crc32

    return f"{crc32(text.encode('utf-8', 'replace')):08x}"


def _body_ends(line: str) -> list[str]:
    """Return the words that end the here-documents a line of a script begins."""
    parts = line.replace("<<<", " ").split("<<")[1:]
    words = (part.lstrip("-~ \t\\'\"").translate(_BREAKS).split() for part in parts)
    return [word[0] for word in words if word and not word[0][0].isdigit()]


def _has_failed(raw: dict[str, object], told: object) -> bool:
    if isinstance(told, str) and told.startswith(("Exit code", "Process exited with code", '{"exitCode"')):
        code = told[:60].partition("ode")[2].lstrip('": -')[:1]
        return code.isdigit() and code != "0"
    facts = {**raw, **told} if isinstance(told, dict) else raw
    return (
        "Failure" in str(raw.get("hook_event_name"))
        or facts.get("success") is False
        or any(facts.get(name) is True for name in ("is_error", "isError", "interrupted"))
        or any(facts.get(name) not in (None, 0, "") for name in ("exit_code", "exitCode", "error"))
    )
