"""init and uninstall, as a user types them: what is written, what is refused, and that no trace is left."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

FILES = {
    "claude-code": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "cursor": ".cursor/hooks.json",
}
EVERY = [word for client in FILES for word in ("--client", client)]
SETTINGS = '{\n    // mine\n\t"model": "opus",\n\t"hooks": {"Stop": [{"hooks": []}],},\n}\n'
BEFORE = [None, "", "{}", SETTINGS, SETTINGS.replace("\n", "\r\n"), '\ufeff{"a":1}']


# ---- what is written ---------------------------------------------------------------------------------


def test_init_writes_every_clients_file_and_imports_the_history(desk: Any) -> None:
    found = desk.good("init", *EVERY)
    assert [item["action"] for item in found["files"]] == ["new file"] * 3
    assert (found["import"]["accepted"], found["project"]) == (1, "shop")
    for client, name in FILES.items():
        settings = json.loads((desk.shop / name).read_text())
        command = found["commands"][client]
        assert command.endswith(f" {client} --home {desk.memory}")
        assert f"hook_program.py {client}" in command
        assert json.dumps(settings).count(json.dumps(command)) == len(settings["hooks"])


def test_a_second_run_changes_nothing_and_says_so(desk: Any) -> None:
    desk.put(FILES["claude-code"], SETTINGS)
    desk.good("init", *EVERY)
    before = desk.tree(desk.user, desk.shop, desk.memory)
    again = desk.good("init", *EVERY)
    assert {item["action"] for item in again["files"]} == {"unchanged"}
    assert again["import"] is None
    assert desk.tree(desk.user, desk.shop, desk.memory) == before
    assert "Nothing to do" in desk("init", *EVERY)[1]


@pytest.mark.parametrize("columns", [60, 80])
def test_the_names_of_events_stay_whole_on_a_narrow_screen(
    desk: Any, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    out = desk("init", "--client", "claude-code", "--agents-md")[1]
    words = out.replace(",", " ").split()
    assert {"SessionStart", "UserPromptSubmit", "PostToolUseFailure", "AGENTS.md"} <= set(words)
    assert "Check it with: graphmem doctor" in out
    assert "AGENTS.md: removed" in desk("uninstall")[1]


@pytest.mark.parametrize("scope", ["--project-scope", "--user-scope"])
@pytest.mark.parametrize(
    "content", [None, "", "{}", SETTINGS, SETTINGS.replace("\n", "\r\n"), '\ufeff{"a":1}']
)
def test_init_twice_and_uninstall_leave_no_trace(desk: Any, scope: str, content: str | None) -> None:
    place = desk.shop if scope == "--project-scope" else desk.user
    if content is not None:
        for name in FILES.values():
            (place / name).parent.mkdir()
            (place / name).write_bytes(content.encode())
            (place / name).chmod(0o640)
    else:
        (place / ".claude").mkdir()
    before = desk.everything()
    desk.good("init", scope, *EVERY, "--agents-md")
    assert desk.everything() != before
    desk.good("init", scope, *EVERY, "--agents-md")
    taken = desk.good("uninstall")
    assert desk.everything() == before
    assert not (desk.memory / "installation.json").exists()
    assert len(taken["files"]) == 3
    assert desk.good("uninstall")["files"] == []


def test_what_a_user_changes_after_init_stays(desk: Any) -> None:
    for name in FILES.values():
        desk.put(name, '{\n  "theme": "dark"\n}\n')
    desk.good("init", *EVERY)
    for name in FILES.values():
        text = (desk.shop / name).read_text()
        desk.put(name, text.replace('"theme": "dark"', '"theme": "light", // better\n  "new":   [1,2]'))
    taken = desk.good("uninstall")
    assert {item["action"] for item in taken["files"]} == {"entries taken out"}
    for name in FILES.values():
        kept = (desk.shop / name).read_text()
        assert kept == '{\n  "theme": "light", // better\n  "new":   [1,2]\n}\n'
        assert not list((desk.shop / name).parent.glob("*.graphmem-backup"))


def test_a_file_that_init_made_stays_if_somebody_else_uses_it_since(desk: Any) -> None:
    desk.good("init", "--client", "cursor")
    path = desk.shop / FILES["cursor"]
    settings = json.loads(path.read_text())
    settings["hooks"]["stop"].insert(0, {"command": "say done"})
    path.write_text(json.dumps(settings))
    desk.good("uninstall")
    assert json.loads(path.read_text()) == {"version": 1, "hooks": {"stop": [{"command": "say done"}]}}


def test_edits_between_two_inits_come_back_with_the_backup(desk: Any, tmp_path: Path) -> None:
    path = desk.put(FILES["claude-code"], '{\n  "a": 1\n}\n')
    desk.good("init", "--client", "claude-code")
    path.write_text(path.read_text().replace('"a": 1', '"a": 2'))
    moved = desk.good("init", "--client", "claude-code", "--home", str(tmp_path / "moved"))
    assert moved["files"][0]["action"] == "entries updated"
    assert str(tmp_path / "moved") in path.read_text()
    assert str(desk.memory) not in path.read_text()
    desk.good("uninstall", "--home", str(tmp_path / "moved"))
    assert path.read_text() == '{\n  "a": 2\n}\n'


def test_the_note_in_the_home_may_be_lost(desk: Any) -> None:
    path = desk.put(FILES["claude-code"], SETTINGS)
    desk.good("init", *EVERY)
    (desk.memory / "installation.json").write_text("no JSON")
    desk.good("uninstall")
    assert path.read_bytes() == SETTINGS.encode()
    assert not (desk.shop / FILES["codex"]).exists()


def test_only_the_named_client_and_scope_are_undone(desk: Any) -> None:
    desk.good("init", *EVERY)
    desk.good("init", "--user-scope", "--client", "codex")
    desk.good("uninstall", "--client", "codex", "--project-scope")
    assert not (desk.shop / FILES["codex"]).exists()
    assert (desk.user / FILES["codex"]).exists()
    assert (desk.shop / FILES["cursor"]).exists()


def test_the_users_folders_may_be_named_by_the_clients_own_variables(
    desk: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "c c"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "x"))
    found = desk.good("init", "--user-scope", *EVERY)
    assert [item["path"] for item in found["files"]] == [
        str(tmp_path / "c c" / "settings.json"),
        str(tmp_path / "x" / "hooks.json"),
        str(desk.user / ".cursor" / "hooks.json"),
    ]
    desk.good("uninstall")
    assert not (tmp_path / "c c").exists()


def test_only_a_home_that_a_hook_would_not_find_by_itself_stands_in_the_command(
    desk: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def command() -> str:
        found = desk.good("init", "--client", "codex", "--user-scope", "--no-import")
        return str(found["commands"]["codex"])

    monkeypatch.delenv("GRAPHMEM_HOME")
    assert command().endswith("hook_program.py codex")
    monkeypatch.setenv("XDG_DATA_HOME", str(desk.user / "data"))
    assert command().endswith(f" codex --home {desk.user / 'data' / 'graphmem'}")
    desk.good("uninstall")
    assert not (desk.user / ".codex").exists()


def test_a_file_that_was_deleted_and_made_again_goes_with_its_folder(desk: Any) -> None:
    desk.good("init", "--client", "codex", "--no-import")
    (desk.shop / FILES["codex"]).unlink()
    desk.good("init", "--client", "codex", "--no-import")
    desk.good("uninstall")
    assert not (desk.shop / ".codex").exists()


# ---- who is found ------------------------------------------------------------------------------------


def test_clients_are_found_by_their_folder_or_their_program(desk: Any, tmp_path: Path) -> None:
    (desk.user / ".codex").mkdir()
    program = tmp_path / "tools" / "cursor"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert [item["client"] for item in desk.good("init")["files"]] == ["codex", "cursor"]


def test_without_a_client_one_must_be_named(desk: Any) -> None:
    before = desk.everything()
    status, _, err = desk("init")
    assert (status, err.count("\n")) == (1, 1)
    assert "--client" in err
    assert desk.everything() == before
    assert not desk.memory.exists()


def test_a_folder_without_a_repository_is_said_and_goes_on(
    desk: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    monkeypatch.chdir(folder)
    found = desk.good("init", "--client", "codex")
    assert (found["project"], found["import"]) == ("plain", None)
    assert any("no git repository" in remark for remark in found["remarks"])
    assert (folder / FILES["codex"]).exists()
    assert desk.good("init", "--user-scope", "--client", "codex")["project"] is None


def test_a_repository_without_commits_is_said_and_goes_on(
    desk: Any, git_repository: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(git_repository("young").path)
    found = desk.good("init", "--client", "codex")
    assert (found["project"], found["import"]) == ("young", None)
    assert any("no commits yet" in remark for remark in found["remarks"])


def test_the_history_can_be_left_out_and_taken_later(desk: Any) -> None:
    assert desk.good("init", "--client", "codex", "--no-import")["import"] is None
    assert desk.good("init", "--client", "codex")["import"]["accepted"] == 1


def test_in_a_folder_of_the_repository_the_settings_are_those_of_its_root(
    desk: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (desk.shop / "src").mkdir()
    monkeypatch.chdir(desk.shop / "src")
    assert desk.good("init", "--client", "codex")["files"][0]["path"] == str(desk.shop / FILES["codex"])


def test_the_home_folder_is_no_project(desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(desk.user)
    status, _, err = desk("init", "--client", "codex")
    assert status == 1
    assert "--user-scope" in err
    assert list(desk.user.iterdir()) == []


# ---- what is refused ---------------------------------------------------------------------------------

BAD = {
    "broken": (b'{"hooks": ', "not JSON"),
    "cut": (b'{"hooks": {}', "not JSON"),
    "a list": (b"[]", "not an object"),
    "hooks that are none": (b'{"hooks": 7}', "`hooks` is not an object"),
    "entries that are none": (b'{"hooks": {"Stop": 1, "stop": 1}}', "not a list"),
    "not UTF-8": b"\xff\xfe{\x00}\x00",
    "huge": b" " * (16 * 1024 * 1024 + 1),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_file_that_cannot_be_changed_leaves_all_as_they_are(desk: Any, kind: str) -> None:
    content, words = BAD[kind] if isinstance(BAD[kind], tuple) else (BAD[kind], "cursor")
    desk.put(FILES["cursor"], content)
    before = desk.everything()
    status, out, err = desk("init", *EVERY, "--agents-md")
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert str(words) in err
    assert str(desk.shop / FILES["cursor"]) in err
    assert desk.everything() == before


def test_a_folder_in_the_files_place_and_a_file_in_the_folders_are_refused(desk: Any) -> None:
    (desk.shop / FILES["cursor"]).mkdir(parents=True)
    assert "is not a file" in desk("init", "--client", "cursor")[2]
    desk.put(".codex", "a file")
    assert "is not a folder" in desk("init", "--client", "codex")[2]


@pytest.mark.parametrize("command", ["init", "uninstall"])
def test_a_read_only_file_is_refused_with_the_remedy(desk: Any, command: str) -> None:
    path = desk.put(FILES["claude-code"], "{}")
    if command == "uninstall":
        desk.good("init", "--client", "claude-code")
    path.chmod(0o444)
    before = desk.everything()
    status, _, err = desk(command, "--client", "claude-code")
    assert status == 1
    assert "chmod u+w" in err
    assert desk.everything() == before


def test_settings_that_somebody_broke_since_are_left_alone_by_uninstall(desk: Any) -> None:
    desk.good("init", *EVERY)
    path = desk.shop / FILES["codex"]
    path.write_text(path.read_text() + "}")
    before = desk.everything()
    status, _, err = desk("uninstall")
    assert status == 1
    assert str(path) in err
    assert desk.everything() == before


@pytest.mark.parametrize(
    "arguments",
    [
        ("--user-scope", "--project-scope"),
        ("--client", "emacs"),
        ("--http",),
        ("--http", "--project-scope"),
    ],
)
def test_wrong_use_is_status_two_and_writes_nothing(desk: Any, arguments: tuple[str, ...]) -> None:
    before = desk.everything()
    status, _, err = desk("init", *arguments)
    assert (status, err.count("\n")) == (2, 1)
    assert desk.everything() == before


# ---- links, modes, sizes -----------------------------------------------------------------------------


def test_a_link_is_written_through_and_stays_a_link(desk: Any, tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    target = tmp_path / "dotfiles" / "claude.json"
    target.write_text(SETTINGS)
    link = desk.shop / FILES["claude-code"]
    link.parent.mkdir()
    link.symlink_to(target)
    before = [desk.everything(), desk.tree(tmp_path / "dotfiles")]
    desk.good("init", "--client", "claude-code")
    assert link.is_symlink()
    assert "hook_program.py" in target.read_text()
    assert [path.name for path in target.parent.iterdir()] == ["claude.json"]
    desk.good("uninstall")
    assert [desk.everything(), desk.tree(tmp_path / "dotfiles")] == before


def test_a_link_that_leads_nowhere_leads_nowhere_again(desk: Any, tmp_path: Path) -> None:
    link = desk.shop / FILES["codex"]
    link.parent.mkdir()
    link.symlink_to(tmp_path / "later.json")
    before = desk.everything()
    desk.good("init", "--client", "codex")
    assert (tmp_path / "later.json").exists()
    desk.good("uninstall")
    assert not (tmp_path / "later.json").exists()
    assert desk.everything() == before


def test_a_files_mode_is_kept_and_its_backup_is_no_more_open(desk: Any) -> None:
    path = desk.put(FILES["claude-code"], "{}")
    path.chmod(0o600)
    desk.good("init", "--client", "claude-code")
    backup = path.with_name(path.name + ".graphmem-backup")
    assert [found.stat().st_mode & 0o777 for found in (path, backup)] == [0o600, 0o600]
    assert backup.read_text() == "{}"


def test_a_large_file_is_changed_like_any_other(desk: Any) -> None:
    content = json.dumps({"many": [{"n": n, "text": "x" * 80} for n in range(18_000)]}, indent=1)
    path = desk.put(FILES["claude-code"], content)
    assert path.stat().st_size > 2_000_000
    desk.good("init", "--client", "claude-code")
    assert "hook_program.py" in path.read_text()[2_000_000:]
    path.write_text(path.read_text().replace('"n": 17999', '"n": 0'))
    desk.good("uninstall")
    assert path.read_text() == content.replace('"n": 17999', '"n": 0')


# ---- hooks by HTTP -----------------------------------------------------------------------------------


def test_http_hooks_hold_the_token_in_a_file_of_the_user_alone(desk: Any) -> None:
    desk.good("init", "--http", "--user-scope", "--client", "claude-code", "--port", "7999")
    path = desk.user / FILES["claude-code"]
    token = (desk.memory / "token").read_text().strip()
    assert path.stat().st_mode & 0o777 == 0o600
    (handler,) = json.loads(path.read_text())["hooks"]["PreToolUse"][0]["hooks"]
    assert handler["url"] == "http://127.0.0.1:7999/hooks/claude-code"
    assert handler["headers"] == {"Authorization": f"Bearer {token}"}


def test_a_token_is_not_put_where_others_may_read_it(desk: Any) -> None:
    path = desk.user / FILES["claude-code"]
    path.parent.mkdir()
    path.write_text("{}")
    path.chmod(0o644)
    status, _, err = desk("init", "--http", "--user-scope", "--client", "claude-code")
    assert status == 1
    assert "chmod 600" in err
    assert path.read_text() == "{}"
