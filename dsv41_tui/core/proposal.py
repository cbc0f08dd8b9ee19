"""A configuration that is not written yet: nodes with where each fact came from, and what was left open."""

from __future__ import annotations

from typing import Literal

from dsv41_tui.core.value import Value

NoteKind = Literal[
    "placeholder",  # a value that only stands for one; not taken
    "shipped",  # the value of the author's own kit; taken, to be checked
    "empty",
    "computed",  # only running the file could tell
    "error",  # a line that assigns nothing
    "not-a-host",
    "not-an-address",
    "unusable",  # a port, a time or a key file that is none; left out
    "also",  # a second key names the same rank; the first of the order counts
    "same-machine",
    "duplicate",  # assigned more than once; the last one counts
    "carriage-return",
    "command",  # a line that runs something when sourced
    "secret",  # set; neither shown nor stored
    "count",  # the file says how many nodes there are, and names another number
    "no-head",
    "head-view",  # addresses are those that the head uses, and this machine is not the head
]
Use = Literal[
    "head", "worker", "user", "ssh-port", "identity", "api-port", "rendezvous-port", "model-tree", "engram-tree",
    "engram-slim-tree", "nfs-server", "ready-timeout",
]  # fmt: skip


class Taken(Value):
    """One fact that was read, and from where; `line` None means that the recipe's default stands in."""

    key: str
    use: Use
    value: str
    line: int | None = None
    unit: str | None = None


class Note(Value):
    """One thing the reader has to know; `detail` completes it where the kind needs it."""

    kind: NoteKind
    key: str = ""
    line: int | None = None
    value: str = ""
    detail: str = ""


class NodeProposal(Value):
    """One node to be; the fields are those of the configuration."""

    name: str
    role: Literal["head", "worker", "nas"]
    rank: int | None = None
    local: bool = False
    ssh: str | None = None
    host: str | None = None
    user: str | None = None
    port: int | None = None
    identity_file: str | None = None
    key: str = ""
    """The key that names it; empty when a person did."""
    line: int | None = None
    shipped: bool = False
    """Rests on a value of the author's own kit."""

    @property
    def target(self) -> str:
        """Where it is, as people write it: `me@10.0.0.2:2222`; empty for this machine."""
        place = self.ssh or self.host or ""
        if self.port is not None:
            place = f"[{place}]:{self.port}" if ":" in place else f"{place}:{self.port}"
        return f"{self.user}@{place}" if self.user else place


class ConfigProposal(Value):
    """Everything that a written file will say, and everything that was said on the way."""

    cluster: str = "cluster"
    recipe: str
    nodes: tuple[NodeProposal, ...] = ()
    nas_hint: str | None = None
    """An NFS server that is none of the nodes' addresses; proposed in a comment only, since it can be the head."""
    recipe_path: str | None = None
    """The recipe's folder on the head, where that is known."""
    env_path: str | None = None
    """The file itself, where it is not the `.env` of that folder."""
    taken: tuple[Taken, ...] = ()
    notes: tuple[Note, ...] = ()
