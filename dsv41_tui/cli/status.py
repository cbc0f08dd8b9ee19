"""`status` and `check`: look until everything is known, at most 20 s, and print it."""

from __future__ import annotations

import sys

from dsv41_tui.cli.arguments import Globals
from dsv41_tui.cli.document import check_document, json_text, status_document
from dsv41_tui.cli.open import opened
from dsv41_tui.cli.people import check_lines, status_lines
from dsv41_tui.core.health import verdict
from dsv41_tui.runtime.observe import observe
from dsv41_tui.runtime.store import Store

FINE, WRONG, USAGE, UNREAD = 0, 1, 2, 3
"""Exit codes of the contract."""


async def report(verb: str, flags: Globals, as_json: bool) -> int:
    """Observe and print; the exit code says whether something is wrong, or could not be read."""
    async with opened(flags) as cluster:
        try:
            await observe(cluster)
            store = cluster.store
            judged = verdict(store.state, store.findings, store.now())
            _print(verb, store, judged, as_json)
            if verb == "status":  # `check` has a finding for each
                sys.stderr.write("".join(f"dsv41-tui: {note}\n" for note in store.state.book_notes))
            return {"ok": FINE, "warn": FINE, "error": WRONG, "unknown": UNREAD}[judged]
        finally:
            await cluster.stop()


def _print(verb: str, store: Store, judged: str, as_json: bool) -> None:
    if as_json and verb == "status":
        document = status_document(store.state, store.now(), store.wall())
    elif as_json:
        document = check_document(judged, store.findings, store.wall())
    else:
        lines = status_lines(store.state, store.now()) if verb == "status" else check_lines(judged, store.findings)
        sys.stdout.write("\n".join(lines) + "\n")
        return
    sys.stdout.write(json_text(document, sys.stdout.encoding, indent=2) + "\n")
