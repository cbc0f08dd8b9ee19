"""`status` and `check` on the sandbox cluster, as a script calls them."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

pytestmark = pytest.mark.sandbox

CAUSES = {
    "healthy": ("ok", 0, set()),
    "nas-down": ("error", 1, {"nfs-not-responding"}),
    "rank-dead": ("error", 1, {"engine-rank-gone"}),
}


def call(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dsv41_tui", *words], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("scenario", sorted(CAUSES))
def test_check_names_the_cause(scenario: str) -> None:
    verdict, code, ids = CAUSES[scenario]
    done = call(f"--demo={scenario}", "check", "--json")
    assert done.stderr == ""
    document: dict[str, Any] = json.loads(done.stdout)
    assert (document["schema"], document["verdict"], done.returncode) == (1, verdict, code)
    assert {found["id"] for found in document["findings"] if found["severity"] == "error"} >= ids
    for found in document["findings"]:
        assert found["evidence"], found["id"]
        assert found["fix"]["text"], found["id"]


def test_status_is_the_contract() -> None:
    done = call("status", "--json", "--demo")
    assert (done.returncode, done.stderr) == (0, "")
    document: dict[str, Any] = json.loads(done.stdout)
    assert set(document) >= {"schema", "taken_at", "nodes", "service"}
    head, worker, nas = document["nodes"]
    assert (head["role"], worker["role"], nas["role"]) == ("head", "worker", "nas")
    for node in document["nodes"]:
        assert node["reachable"] is True
        memory = node["memory"]
        assert memory["read"] == "ok" and memory["age_s"] < 5
        assert all(isinstance(memory[key], int) for key in ("total", "free", "available", "cached", "low_free"))
        assert node["observer"]["sessions"] == 1
        assert node["link"]["logins"] == 1
    mount = worker["nfs"][0]
    assert set(mount) >= {"mount", "source", "version", "hard", "asked", "got", "read_bytes_per_s", "rtt_ms", "retrans"}
    assert mount["got"] == {"rsize": 1048576, "wsize": 1048576, "nconnect": 8}
    assert mount["state"] in ("fine", "idle")
    assert nas["nas"]["nfsd_threads"] > 0


def test_people_read_the_same() -> None:
    done = call("--demo=nas-down", "check")
    assert done.returncode == 1
    assert "rpcinfo" in done.stdout
    assert "\x1b" not in done.stdout


def test_an_unknown_scenario_names_those_there_are() -> None:
    done = call("--demo=nosuch", "status")
    assert (done.returncode, done.stdout) == (2, "")
    assert "healthy" in done.stderr and done.stderr.count("\n") == 1
