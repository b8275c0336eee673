"""Owns the service's plain pages: the first one, and the routes rendered from the OpenAPI document.

It is not the review page to come. Each page is whole in itself: no script, nothing loaded from anywhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from typing import Any

from starlette.responses import HTMLResponse

_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
code, pre { font: 14px/1.4 ui-monospace, monospace; }
pre { overflow-x: auto; padding: .6rem; border: 1px solid #8884; border-radius: .3rem; }
summary { cursor: pointer; padding: .3rem 0; }
summary b { display: inline-block; min-width: 4.5rem; }
details { border-bottom: 1px solid #8884; }
details > :not(summary) { margin-left: 1.2rem; }
table { border-collapse: collapse; } td, th { text-align: left; padding: .15rem .8rem .15rem 0; }
td { vertical-align: top; }
"""


def _page(title: str, body: str) -> HTMLResponse:
    return HTMLResponse(
        f'<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width"><title>{escape(title)}</title>'
        f"<style>{_STYLE}</style></head><body><h1>{escape(title)}</h1>{body}</body></html>",
        headers=_HEADERS,
    )


def first_page(version: str) -> HTMLResponse:
    """Return the page at `/`: where to go."""
    return _page(
        "GraphMem",
        f"<p>The service is running, version {escape(version)}.</p><ul>"
        '<li><a href="/docs">The routes</a>, and <a href="/openapi.json">the same as OpenAPI</a></li>'
        '<li><a href="/v1/projects">The projects</a></li>'
        '<li><a href="/metrics">Counters for Prometheus</a></li></ul>'
        "<p>On the command line: <code>graphmem --help</code>.</p>",
    )


def routes_page(document: dict[str, Any]) -> HTMLResponse:
    """Return the page at `/docs`: every route of the OpenAPI `document`, and every shape."""
    parts = [f"<p>{escape(document['info'].get('description', ''))}</p><h2>Routes</h2>"]
    for path, methods in document["paths"].items():
        parts.extend(_route(path, method, operation) for method, operation in methods.items())
    parts.append("<h2>Shapes</h2>")
    for name, schema in sorted(document.get("components", {}).get("schemas", {}).items()):
        text = escape(json.dumps(schema, indent=2, ensure_ascii=False))
        parts.append(
            f'<details id="{escape(name)}"><summary>{escape(name)}</summary><pre>{text}</pre></details>'
        )
    return _page(f"GraphMem {document['info']['version']}: routes", "".join(parts))


def _route(path: str, method: str, operation: dict[str, Any]) -> str:
    rows = "".join(
        f"<tr><td><code>{escape(item['name'])}</code></td><td>{escape(item['in'])}"
        f"{', required' if item.get('required') else ''}</td>"
        f"<td>{escape(item.get('description', ''))}</td></tr>"
        for item in operation.get("parameters", [])
    )
    bodies = ", ".join(
        f"{escape(kind)}: {_schema(content)}"
        for kind, content in operation.get("requestBody", {}).get("content", {}).items()
    )
    answers = "".join(
        f"<tr><td>{escape(status)}</td><td>{escape(answer.get('description', ''))}</td>"
        f"<td>{', '.join(_schema(content) for content in answer.get('content', {}).values())}</td></tr>"
        for status, answer in operation["responses"].items()
    )
    return (
        f"<details><summary><b>{escape(method.upper())}</b> <code>{escape(path)}</code> "
        f"{escape(operation.get('summary', ''))}</summary><p>{escape(operation.get('description', ''))}</p>"
        + (f"<table>{rows}</table>" if rows else "")
        + (f"<p>Body: {bodies}</p>" if bodies else "")
        + f"<table>{answers}</table></details>"
    )


def _schema(content: dict[str, Any]) -> str:
    names = list(_references(content.get("schema", {})))
    return " or ".join(f'<a href="#{escape(name)}">{escape(name)}</a>' for name in names)


def _references(schema: dict[str, Any]) -> Iterator[str]:
    if "$ref" in schema:
        yield schema["$ref"].rpartition("/")[2]
    for choice in schema.get("anyOf", []):
        yield from _references(choice)
    if "items" in schema:
        yield from _references(schema["items"])
