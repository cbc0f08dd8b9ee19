"""Whose value it is: this system's or that of what it is compared with, the link or a spare port beside it."""

from __future__ import annotations

import pytest

from dsv41_tui.core.facts import Facts
from dsv41_tui.parsers.pasted import parse_pasted

READ: tuple[tuple[str, Facts], ...] = (
    ("quant is EXL3 2.2 bpw. Another build with 3.5 bpw never does that.", {"bits_per_weight": 2.2}),
    ("we serve 2.0bpw; the 3.0 bpw one is fine", {"bits_per_weight": 2.0}),
    ("speculation off: unchanged", {"spec_off_cures": False}),
    ("MTP disabled, still mixed", {"spec_off_cures": False}),
    ("the same without speculative decoding", {"spec_off_cures": False}),
    ("SPEC=none, same seed and same prompts: clean", {"spec_off_cures": True}),
    ("without drafting the answers are correct", {"spec_off_cures": True}),
    ("12 x 12 gives 145", {"sum_wrong": True}),
    ('asked 17*19, it answered "a red boat"', {"sum_wrong": True}),
    ("6 times 7 returned 42", {"sum_wrong": False}),
    ("8+5 gives 13 on both", {"sum_wrong": False}),
    ("only enp1s0f0np0 has a cable; the other port is DOWN", {"cross_rail_broken": True}),
    ("mlx5_0 ACTIVE, mlx5_1 DOWN", {"cross_rail_broken": True}),
    ("only the first is UP", {"cross_rail_broken": True}),
    ("the port is DOWN on the worker", {"port_state": "DOWN"}),
    ("$ ls -1 /srv/weights\nQwen3-8B", {"path_lists": True}),
    ("kubectl: ok; ls /srv/weights: Qwen3-8B", {"path_lists": True}),
    ("findmnt /w: box:/export nfs4", {"nfs_mounted": True}),
    ("the mount is in place", {"nfs_mounted": True}),
    ("htop shows restic backup 12 GiB, sshd 0.1 GiB", {"other_process_bytes": 12 * 2**30}),
    ("ps aux --sort -rss: VLLM::Worker 88 GiB, duplicity 6.5 GiB", {"other_process_bytes": 6.5 * 2**30}),
    ("HostConfig.Memory is 0", {"memory_limit": float("inf")}),
    ("rpcinfo -T tcp store nfs hangs", {"server_ping": False}),
)
UNREAD = (
    ("the 4.0 bpw build does not do it", "bits_per_weight"),
    ("hf download org/model-2.9bpw", "bits_per_weight"),
    ("the smoke test asks 17*19", "sum_wrong"),
    ("with speculation off, same weights and same prompts", "spec_off_cures"),
    ("only roce0 is cabled, the second port is DOWN", "port_state"),
    ("ls /srv/weights\nls: cannot access '/srv/weights': No such file or directory", "path_lists"),
    ("ls /srv/weights is empty", "path_lists"),
    ("$ ls /srv\nweights  scratch", "path_lists"),
    ("top: Mem total 121 GiB, 80 GiB used", "other_process_bytes"),
)


@pytest.mark.parametrize(("text", "facts"), READ, ids=[text[:40] for text, _ in READ])
def test_read(text: str, facts: Facts) -> None:
    found = parse_pasted(text)
    assert {name: found.get(name) for name in facts} == facts


@pytest.mark.parametrize(("text", "absent"), UNREAD, ids=[text[:40] for text, _ in UNREAD])
def test_not_read(text: str, absent: str) -> None:
    assert absent not in parse_pasted(text)
