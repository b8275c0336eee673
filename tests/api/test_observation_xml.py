"""claude-mem's XML observations through HTTP: read like any other, and hostile ones refused at once."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import httpx
import pytest


@pytest.fixture
def project(service: Any, tmp_path: Path) -> str:
    return str(service.project(tmp_path / "from-xml"))


XML = """<?xml version="1.0" encoding="UTF-8"?>
<observation>
  <type>bugfix</type>
  <title>Fix &lt;JWT&gt; refresh &amp; more 修复</title>
  <subtitle>Tokens lived too long</subtitle>
  <facts><fact>TTL is 900</fact><fact><![CDATA[a < b]]></fact></facts>
  <narrative>The clock was local.</narrative>
  <concepts><concept>gotcha</concept></concepts>
  <files_read><file>src/a.ts</file></files_read>
  <files_modified><file>src/b.ts</file><file>src/模块.ts</file></files_modified>
</observation>"""


@pytest.mark.parametrize("kind", ["application/xml", "text/xml; charset=utf-8"])
def test_an_xml_observation_is_stored_like_any_other(service: Any, project: str, kind: str) -> None:
    answer = service.client.post(
        f"{project}/observations?wait=visible", content=XML.encode(), headers={"Content-Type": kind}
    )
    assert answer.status_code == 201
    found = service.client.get(f"{project}/observations/{answer.json()['ids'][0]}").json()
    assert found["title"] == "Fix <JWT> refresh & more 修复"
    assert found["narrative"] == "Tokens lived too long\nThe clock was local."
    assert [fact["text"] for fact in found["facts"]] == ["TTL is 900", "a < b"]
    assert found["files_read"] == ["src/a.ts"]
    assert found["files_modified"] == ["src/b.ts", "src/模块.ts"]
    assert (found["type"], found["source"]) == ("bugfix", "claude-mem")


BOMB = (
    '<!DOCTYPE lolz [<!ENTITY a "lol">'
    + "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9))
    + "]><observation><title>&j;</title></observation>"
)


@pytest.mark.parametrize(
    "body",
    [
        BOMB,
        '<!DOCTYPE o [<!ENTITY x SYSTEM "file:///etc/passwd">]><observation><title>&x;</title></observation>',
        '<!DOCTYPE o SYSTEM "http://evil.example/o.dtd"><observation><title>x</title></observation>',
        '<!DOCTYPE o [<!ENTITY % p SYSTEM "file:///etc/passwd"> %p;]><observation/>',
        "<observation><title>&undefined;</title></observation>",
        "<observation><title>x</observation>",
        "<observation>",
        "",
        "no xml",
        "<other><title>x</title></other>",
        "<observation><title>x</title></observation><observation/>",
        "<observations><other/></observations>",
        "<a>" * 5_000,
        "<observation>" + "<facts>" * 50 + "</facts>" * 50 + "</observation>",
        "<observation>" + "<a/>" * 300_000 + "</observation>",
        '<?xml version="1.0" encoding="no-such-encoding"?><observation><title>x</title></observation>',
    ],
)
def test_hostile_or_broken_xml_is_a_400_at_once(service: Any, project: str, body: str) -> None:
    began = time.monotonic()
    answer = service.client.post(
        f"{project}/observations", content=body.encode(), headers={"Content-Type": "application/xml"}
    )
    assert answer.status_code == 400
    assert "/etc/passwd" not in answer.text
    assert "root:" not in answer.text
    assert time.monotonic() - began < 10


def test_xml_that_says_nothing_is_a_422_and_a_batch_is_read_as_one(service: Any, project: str) -> None:
    def send_xml(body: str) -> httpx.Response:
        answer: httpx.Response = service.client.post(
            f"{project}/observations", content=body.encode(), headers={"Content-Type": "application/xml"}
        )
        return answer

    assert send_xml("<observation/>").status_code == 422
    batch = send_xml("<observations><observation><title>a</title></observation><observation/></observations>")
    assert batch.status_code == 201
    assert batch.json()["accepted"] == 1
    assert [item["index"] for item in batch.json()["rejected"]] == [1]
