"""Which keys of the recipes' `.env` files say what, and which values only stand for one.

The keys are those of the public recipes and their forks: EXL3-2x and its forks (HEAD_IP, WORKER_IP, WORKER_USER,
WORKER_SSH), the native recipe (WORKER_IPS, WORKER_HOSTS, WORKER1_IP, SSH_IDENTITY, MODEL_DIR, DIST_PORT), coolbho3k
(WORKER_HOST, HEAD_FABRIC_IP, API_PORT), tonyd2wild (MASTER_ADDR, VLLM_HOST_IP, VLLM_PORT, HF_CACHE) and tsw2k
(NODES, RAIL_A_IPS, ENGRAM_CACHE_DIR). Names that people log in with come before addresses, and addresses of the
fabric last: those are often reachable from the other nodes only.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from typing import NamedTuple

from dsv41_tui.core.address import is_address
from dsv41_tui.core.envfile import EnvEntry, EnvFile
from dsv41_tui.core.proposal import Use


class NodeKey(NamedTuple):
    """A key that names nodes from `rank` on; a `#` in it stands for the rank."""

    key: str
    rank: int
    single: bool = False
    """One login target, never a list: a blank in it makes no second node."""


NODE_KEYS = (
    NodeKey("HEAD_SSH", 0, single=True),
    NodeKey("WORKER_SSH", 1, single=True),
    NodeKey("WORKER#_SSH", 1, single=True),
    NodeKey("NODES", 0),
    NodeKey("HEAD_HOST", 0, single=True),
    NodeKey("WORKER_HOST", 1),
    NodeKey("WORKER_HOSTS", 1),
    NodeKey("WORKER#_HOST", 1, single=True),
    NodeKey("WORKERS", 1),
    NodeKey("HEAD_IP", 0, single=True),
    NodeKey("WORKER_IP", 1),
    NodeKey("WORKER_IPS", 1),
    NodeKey("WORKER#_IP", 1, single=True),
    NodeKey("NODE_IPS", 0),
    NodeKey("MASTER_ADDR", 0, single=True),
    NodeKey("VLLM_HOST_IP", 0, single=True),
    NodeKey("WORKER_VLLM_HOST_IP", 1),
    NodeKey("HEAD_FABRIC_IP", 0, single=True),
    NodeKey("WORKER_FABRIC_IP", 1),
    NodeKey("RAIL_A_IPS", 0),
)
USERS = {"HEAD_USER": "head", "WORKER_USER": "worker", "SSH_USER": "all"}
SSH_PORTS = {"HEAD_SSH_PORT": "head", "WORKER_SSH_PORT": "worker", "SSH_PORT": "all"}
IDENTITIES = ("SSH_IDENTITY", "SSH_IDENTITY_FILE")
FACTS: dict[str, Use] = {
    "PORT": "api-port",
    "API_PORT": "api-port",
    "VLLM_PORT": "api-port",
    "MASTER_PORT": "rendezvous-port",
    "DIST_PORT": "rendezvous-port",
    "MODEL_HOST": "model-tree",
    "MODEL_DIR": "model-tree",
    "LOCAL_MODELS_DIR": "model-tree",
    "HF_CACHE": "model-tree",
    "ENGRAM_DIR": "engram-tree",
    "ENGRAM_CACHE_DIR": "engram-tree",
    "ENGRAM_SRC": "engram-slim-tree",
    "NFS_SERVER_IP": "nfs-server",
    "NFS_SERVER_IPS": "nfs-server",
    "NFS_SERVER_IP_1": "nfs-server",
    "READY_TIMEOUT": "ready-timeout",
    "VLLM_ENGINE_READY_TIMEOUT_S": "ready-timeout",
}
NODE_COUNT = "NNODES"

_PORT_USES = frozenset({"api-port", "rendezvous-port"})


def is_usable(use: Use, value: str) -> bool:
    """Whether a value can be what its key stands for: a port, a time in whole seconds, an address that is one."""
    if use in _PORT_USES:
        return re.fullmatch(r"[0-9]{1,5}", value) is not None and 1 <= int(value) <= 65535
    if use == "ready-timeout":
        return re.fullmatch(r"[0-9]{1,9}", value) is not None and int(value) > 0
    if use == "nfs-server":
        return all(is_address(word) or not re.fullmatch(r"[0-9.]+", word) for word in re.split(r"[\s,]+", value))
    return True


_STANDS_FOR = re.compile(
    r"[<>{}]|\b(?:your|change[-_ ]?me|todo|fixme|placeholder|replace[-_ ]?me|fill[-_ ]?in)\b|\byour[-_]"
    r"|(?:^|\.)example(?:\.(?:com|net|org))?$|(?:^|[.:])x+(?:[.:]|$)|\bxxx+",
    re.IGNORECASE,
)
_NAMING_WORDS = frozenset({"ip", "host", "hostname", "addr"})
_ROLE_WORDS = _NAMING_WORDS | {"head", "worker", "master", "node", "or", "my", "roce", "fabric", "cx7", "rdma", "lan"}
_NOBODY = frozenset({"user", "username", "youruser", "myuser"})
_DOCUMENTATION = tuple(
    ipaddress.ip_network(text) for text in ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32")
)


def stands_for_a_value(text: str) -> bool:
    """`<your ip>`, `192.168.x.x`, `head-roce-ip`, `user@...`: what an example file writes where a value belongs."""
    user, _, host = text.strip().rpartition("@")
    if _STANDS_FOR.search(text) or user.lower() in _NOBODY:
        return True
    words = re.split(r"[-_. ]", host.lower())
    if _ROLE_WORDS.issuperset(words) and _NAMING_WORDS.intersection(words):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return any(address in network for network in _DOCUMENTATION if network.version == address.version)


class Said(NamedTuple):
    """One word of one key that names the node of one rank."""

    rank: int
    key: str
    line: int
    text: str


def said_of_nodes(env: EnvFile) -> Iterator[Said]:
    """Every word of every readable key that names a node, in the order that counts."""
    for node_key in NODE_KEYS:
        for key, rank in _numbered(env, node_key):
            entry = env.get(key)
            if entry is None or entry.computed or entry.secret:
                continue
            for offset, word in enumerate(_words(entry, node_key.single)):
                yield Said(rank + offset, key, entry.line, word)


def _numbered(env: EnvFile, node_key: NodeKey) -> list[tuple[str, int]]:
    """`WORKER#_IP` as the keys of the file that fit it, with the rank that each carries."""
    if "#" not in node_key.key:
        return [(node_key.key, node_key.rank)]
    pattern = re.compile(re.escape(node_key.key).replace(r"\#", "([1-9][0-9]?)"))
    found = {entry.key: int(hit[1]) for entry in env.entries if (hit := pattern.fullmatch(entry.key))}
    return sorted(found.items(), key=lambda item: item[1])


def _words(entry: EnvEntry, single: bool) -> list[str]:
    """An array's words; else the value, which may be a list with commas or blanks. An empty value is one empty word."""
    if entry.items is not None:
        return [" ".join(entry.items)] if single else list(entry.items)
    value = (entry.value or "").strip()
    if single or stands_for_a_value(value):
        return [value]
    return re.split(r"[\s,]+", value)
