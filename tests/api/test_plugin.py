"""The Claude Code plugin as a folder, and the block in AGENTS.md: made if asked, gone without a trace."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.agents_block import BEGIN, END, HalfBlockError, with_block, without_block
from api.cli import program
from api.plugin_folder import SOURCE
from api.settings_claude_code import CLAUDE_CODE

CLAUDE = ("--client", "claude-code", "--no-import")
SKILL = "skills/graphmem/SKILL.md"
MANIFEST = ".claude-plugin/plugin.json"


@pytest.fixture
def plugin(desk: Any, tmp_path: Path) -> Path:
    folder = tmp_path / "made" / "plugin"
    desk.good("init", *CLAUDE, "--plugin", str(folder))
    return folder


def test_the_plugin_has_a_manifest_a_skill_and_hooks_with_this_machines_command(
    desk: Any, plugin: Path
) -> None:
    manifest = json.loads((plugin / MANIFEST).read_text())
    assert manifest["name"] == "graphmem"
    hooks = json.loads((plugin / "hooks" / "hooks.json").read_text())["hooks"]
    assert hooks.keys() == CLAUDE_CODE.matchers.keys()
    commands = {handler["command"] for (group,) in hooks.values() for handler in group["hooks"]}
    assert len(commands) == 1
    assert f"hook_program.py claude-code --home {desk.memory}" in commands.pop()
    assert not (desk.shop / ".claude").exists(), "the plugin's hooks take the place of those in the settings"


def test_the_skill_says_when_to_use_it_and_names_commands_that_exist(plugin: Path) -> None:
    text = (plugin / SKILL).read_text()
    head, _, body = text.removeprefix("---\n").partition("\n---\n")
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    assert fields["name"] == "graphmem"
    assert fields["description"].startswith("Use when ")
    assert len(fields["description"]) <= 1_024
    named = set(re.findall(r"`graphmem ([a-z]+)", body))
    assert {"impact", "depends", "search", "edges", "confirm"} <= named
    context = click.Context(program)
    assert all(program.get_command(context, name) for name in named)
    flags = re.findall(r"graphmem ([a-z]+) [^`]*(--[a-z]+)", body)
    for name, flag in flags:
        command = program.get_command(context, name)
        assert command is not None
        assert flag in {option for parameter in command.params for option in parameter.opts}


def test_a_second_run_writes_nothing_and_a_new_home_only_the_hooks(
    desk: Any, plugin: Path, tmp_path: Path
) -> None:
    assert desk.good("init", *CLAUDE, "--plugin", str(plugin))["plugin"]["written"] == []
    (plugin / "hooks" / "hooks.json").write_text("{}")
    again = desk.good("init", *CLAUDE, "--plugin", str(plugin))
    assert again["plugin"]["written"] == ["hooks/hooks.json"]


def test_uninstall_takes_the_plugin_away_with_the_folders_made_for_it(
    desk: Any, plugin: Path, tmp_path: Path
) -> None:
    assert desk.good("uninstall")["plugins"] == [str(plugin)]
    assert not (tmp_path / "made").exists()
    assert not (desk.memory / "installation.json").exists()


def test_what_somebody_changed_in_the_plugin_stays_and_is_named(desk: Any, plugin: Path) -> None:
    (plugin / SKILL).write_text("mine")
    (plugin / "notes.md").write_text("mine, too")
    assert desk.good("uninstall")["kept"] == [str(plugin / SKILL)]
    assert sorted(path.name for path in plugin.rglob("*") if path.is_file()) == ["SKILL.md", "notes.md"]


def test_a_folder_that_was_there_stays(desk: Any, tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    desk.good("init", *CLAUDE, "--plugin", str(folder))
    desk.good("uninstall")
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("kind", ["a file", "something else in it", "another plugin"])
def test_a_folder_that_is_not_ours_is_refused(desk: Any, tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "taken"
    if kind == "a file":
        folder.write_text("x")
    else:
        (folder / ".claude-plugin").mkdir(parents=True)
        name = '{"name": "other"}' if kind == "another plugin" else "[" * 99
        (folder / MANIFEST).write_text(name)
    before = desk.tree(tmp_path / "taken")
    status, _, err = desk("init", *CLAUDE, "--plugin", str(folder))
    assert (status, err.count("\n")) == (1, 1)
    assert str(folder) in err
    assert desk.tree(tmp_path / "taken") == before


def test_hooks_in_the_settings_beside_a_plugin_are_remarked_on(desk: Any, tmp_path: Path) -> None:
    desk.good("init", *CLAUDE)
    found = desk.good("init", *CLAUDE, "--plugin", str(tmp_path / "plugin"))
    (remark,) = [text for text in found["remarks"] if "run twice" in text]
    assert "graphmem uninstall --client claude-code --project-scope" in remark


def test_the_fixed_files_name_no_path_of_a_machine() -> None:
    fixed = [path for path in SOURCE.rglob("*") if path.is_file()]
    assert {path.relative_to(SOURCE).as_posix() for path in fixed} == {MANIFEST, SKILL}
    assert all("hook_program" not in path.read_text() for path in fixed)


# ---- AGENTS.md ---------------------------------------------------------------------------------------


@given(st.text(), st.sampled_from(["\n", "\r\n"]))
def test_the_block_goes_in_and_out_of_any_text_byte_for_byte(text: str, end: str) -> None:
    text = text.replace("\r", "").replace("\n", end)
    with_us = with_block(text)
    assert with_us.startswith(text)
    assert with_block(with_us) == with_us
    assert without_block(with_us) == text
    assert without_block(text) == text


def test_the_block_has_ten_lines_at_most_and_names_commands_that_exist() -> None:
    block = with_block("")
    assert len(block.splitlines()) <= 10
    named = re.findall(r"`graphmem ([a-z]+)", block)
    assert named
    assert all(program.get_command(click.Context(program), name) for name in named)


def test_what_is_written_around_the_block_later_stays() -> None:
    text = with_block("# Rules\n") + "\n## More\n"
    assert without_block(text) == "# Rules\n\n## More\n"


def test_an_older_block_is_replaced_where_it_stands() -> None:
    text = f"# Rules\n\n{BEGIN}\nolder\n{END}\n\n## More\n"
    assert with_block(text) == with_block("# Rules\n") + "\n## More\n"


@pytest.mark.parametrize("text", [f"a\n{BEGIN}\nb", f"a\n{END}\nb", f"{END}\n{BEGIN}"])
def test_half_a_block_is_refused(desk: Any, text: str) -> None:
    for change in (with_block, without_block):
        with pytest.raises(HalfBlockError):
            change(text)
    path = desk.put("AGENTS.md", text)
    for command in (("init", *CLAUDE, "--agents-md"), ("uninstall",)):
        status, _, err = desk(*command)
        assert (status, str(path) in err) == (1, True)
    assert path.read_text() == text


def test_the_block_is_made_only_if_asked_and_goes_again(desk: Any) -> None:
    path = desk.shop / "AGENTS.md"
    desk.good("init", *CLAUDE)
    assert not path.exists()
    assert desk.good("init", *CLAUDE, "--agents-md")["agents_md"]["written"]
    assert not desk.good("init", *CLAUDE, "--agents-md")["agents_md"]["written"]
    assert path.read_text() == with_block("")
    assert desk.good("uninstall")["agents_md"] == str(path)
    assert not path.exists()


def test_an_empty_file_of_rules_is_empty_again(desk: Any) -> None:
    path = desk.put("AGENTS.md", "")
    desk.good("init", *CLAUDE, "--agents-md")
    desk.good("uninstall")
    assert path.read_bytes() == b""
