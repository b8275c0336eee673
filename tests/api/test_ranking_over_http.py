"""Promise: what the evaluation measures is what `/impact` answers, to the last candidate."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

from graphmem.evaluation import RecallPredictor, lines_of, read_source
from graphmem.instant import from_iso
from inference.replay import Context

FOLDERS = ("auth", "cart", "pay")
LINES = 80
ASKED = "2026-04-01T00:00:00Z"


def history(folder: Path) -> Path:
    """Write a history with strong and weak pairs, a rename, a deletion and three authors."""
    rows: list[dict[str, Any]] = []
    for number in range(LINES):
        area = FOLDERS[number % 3]
        names = [f"src/{area}/core.py", f"src/{area}/view_{number % 4}.py", f"tests/test_{area}.py"]
        if number % 5 == 0:
            names.append("README.md")
        files = [{"path": name, "status": "M"} for name in names]
        if number == 40:
            files.append({"path": "src/cart/basket.py", "old_path": "src/cart/view_1.py", "status": "R"})
        if number == 60:
            files.append({"path": "src/pay/view_2.py", "status": "D"})
        rows.append(
            {
                "id": f"line-{number}",
                "ts": f"2026-{1 + number // 28:02}-{1 + number % 28:02}T10:00:00Z",
                "ats": "2026-01-01T10:00:00Z",
                "author": f"a{number % 3}",
                "session": f"s{number // 2}",
                "title": f"change {area} {number % 7}",
                "files": list({file["path"]: file for file in files}.values()),
            }
        )
    path = folder / "history.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    return path


def test_the_evaluated_predictor_and_the_route_give_the_same_files_and_probabilities(
    service: Any, tmp_path: Path
) -> None:
    source = history(tmp_path)
    observations = read_source("jsonl", str(source))
    lines = lines_of(observations)
    base = service.project(tmp_path / "ranked-shop")
    imported = service.client.post(f"{base}/imports", json={"source": "jsonl", "location": str(source)})
    assert json.loads(imported.text.splitlines()[-1])["report"]["accepted"] == LINES
    context = Context(from_iso(ASKED), lines[-1].session, lines[-1].actor)
    with closing(RecallPredictor(observations)) as predictor:
        for line in lines:
            predictor.observe(line)
        for path in ("src/auth/core.py", "tests/test_cart.py", "src/cart/view_1.py", "README.md"):
            asked = {"path": path, "actor": context.actor, "as_of": ASKED, "limit": "50"}
            found = service.client.get(f"{base}/impact", params=asked).json()["affected"]
            expected = predictor.predict(path, context)
            assert len(found) > 3
            assert [entry["path"] for entry in found] == [name for name, _ in expected]
            # The route rounds to four digits.
            assert [entry["probability"] for entry in found] == [round(chance, 4) for _, chance in expected]
