"""A proposed configuration as the text of a commented TOML file. It always loads again; `tests/unit/init` proves it."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator

from dsv41_tui.core.messages import t
from dsv41_tui.core.proposal import ConfigProposal, NodeProposal, Note
from dsv41_tui.core.text import clean_line

_WIDTH = 100


def toml_value(value: str | int | bool) -> str:
    """One value as TOML writes it. A JSON string is a TOML basic string, but for DEL, which TOML wants escaped."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def config_text(proposal: ConfigProposal) -> str:
    """The whole file, ending in a line feed."""
    lines = [
        *_comment(t("init.file.head")),
        "",
        *_notes(proposal.notes),
        *_cluster(proposal),
        *(line for node in proposal.nodes for line in _node(node)),
        *_nas(proposal.nas_hint),
        *_recipe(proposal),
        *_comment(t("init.file.thresholds")),
        "# [thresholds]",
        "# available_warn_gib = 3.0",
        "# available_error_gib = 1.5",
        "",
        *_comment(t("init.file.keys")),
        "# [keys]",
        '# refresh = "f5"',
    ]
    return "\n".join(lines) + "\n"


def _comment(text: str) -> Iterator[str]:
    """Comment lines of a text, wrapped; nothing in it can end the comment."""
    for line in textwrap.wrap(clean_line(text, 600), _WIDTH, break_on_hyphens=False, break_long_words=False):
        yield f"# {line}"


def note_text(note: Note) -> str:
    """One note as one line."""
    text = t(f"init.note.{note.kind}", key=note.key, value=note.value, detail=note.detail)
    return text if note.line is None else t("init.at_line", line=note.line, text=text)


def _notes(notes: tuple[Note, ...]) -> Iterator[str]:
    """What was left open, where the file is read again: the panel writes it without showing them."""
    if not notes:
        return
    yield from _comment(t("init.file.open"))
    for note in notes:
        yield from _comment(f"- {note_text(note)}")
    yield ""


def _cluster(proposal: ConfigProposal) -> Iterator[str]:
    yield "[cluster]"
    yield f"name = {toml_value(proposal.cluster)}"
    yield f"recipe = {toml_value(proposal.recipe)}"
    yield from _comment(t("init.file.cluster"))
    yield '# theme = "ink"'
    yield '# language = "en"'
    yield "# read_only = true"
    yield ""


def _node(node: NodeProposal) -> Iterator[str]:
    if node.line is not None:
        yield from _comment(f"{node.key}, {t('init.line', line=node.line)}")
    if node.shipped:
        yield from _comment(t("init.file.shipped"))
    yield "[[node]]"
    yield f"name = {toml_value(node.name)}"
    yield f"role = {toml_value(node.role)}"
    if node.rank is not None:
        yield f"rank = {node.rank}"
    if node.local:
        yield "local = true"
    for key in ("ssh", "host", "user", "port", "identity_file"):
        value = getattr(node, key)
        if value is not None:
            yield f"{key} = {toml_value(value)}"
    yield ""


def _nas(server: str | None) -> Iterator[str]:
    yield from _comment(t("init.file.nas") if server is None else t("init.file.nas_hint", server=server))
    yield "# [nas]"
    yield f"# server = {toml_value(server or 'nas1')}"
    yield "# link_mbit = 10000"
    yield ""


def _recipe(proposal: ConfigProposal) -> Iterator[str]:
    yield from _comment(t("init.file.recipe"))
    prefix = "" if proposal.recipe_path else "# "
    yield f"{prefix}[[recipe]]"
    yield f"{prefix}name = {toml_value(proposal.recipe)}"
    yield f"{prefix}path = {toml_value(proposal.recipe_path or '/home/me/recipe')}"
    if proposal.env_path:
        yield f"env = {toml_value(proposal.env_path)}"
    yield ""
