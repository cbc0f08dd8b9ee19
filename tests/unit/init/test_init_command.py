"""`init --from PATH --no-connect` as a person and as a script calls it."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from dsv41_tui import paths
from dsv41_tui.__main__ import main
from dsv41_tui.core.messages import LANGUAGES
from dsv41_tui.parsers.envfile import parse_env
from dsv41_tui.runtime.configuration import load_config

DATA = Path(__file__).parents[2] / "data" / "env"


@pytest.fixture(autouse=True)
def english(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "C.UTF-8")


def call(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    code = main(["init", *argv])
    out, err = capsys.readouterr()
    return code, out, err


def test_a_file_gives_a_configuration_that_loads(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = call(capsys, "--from", str(DATA / "two-nodes.env"), "--no-connect")
    assert (code, err) == (0, "")
    path = paths.config_dir() / "dsv41.toml"
    assert [node.host for node in load_config(path).node] == ["192.168.7.11", "192.168.7.12"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for said in (
        "HEAD_IP = 192.168.7.11  (head, line 2)",
        "READY_TIMEOUT = 5400 s  (how long a start is waited for, line 12)",
        "MASTER_PORT = 29521  (port where the ranks meet, default)",
        "line 13: VLLM_API_KEY is set. It was neither shown nor stored.",
        "worker1  worker rank 1  ops@192.168.7.12",
        f"{path}: written.",
    ):
        assert said in out
    assert "sk-do-not-show" not in out + path.read_text()


def test_a_folder_means_its_env_and_a_relative_output(capsys: pytest.CaptureFixture[str]) -> None:
    Path("recipe").mkdir()
    Path("recipe/.env").write_text("HEAD_IP=127.0.0.1\nWORKER_IP=10.1.0.2\n")
    code, out, _ = call(capsys, "--from", "recipe", "--output", "own.toml", "--no-connect")
    assert code == 0 and "head rank 0  this machine" in out
    config = load_config(Path("own.toml"))
    assert config.node[0].local and config.recipe[0].path == str(Path("recipe").absolute())


def test_nothing_of_the_file_is_run(capsys: pytest.CaptureFixture[str]) -> None:
    Path(".env").write_text(
        "HEAD_IP=10.1.0.1\nA=$(touch pwned)\nB=`touch pwned`\ntouch pwned\nC=${X:=$(touch pwned)}\n"
        "WORKER_IP=10.1.0.2; touch pwned\nD=<(touch pwned)\n"
    )
    code, out, _ = call(capsys, "--from", ".env", "--output", "o.toml", "--no-connect")
    assert code == 0 and not Path("pwned").exists()
    assert "line 4: touch: runs something" in out and "WORKER_IP: computed" in out


def test_a_file_in_the_way_is_kept_and_the_difference_shown(capsys: pytest.CaptureFixture[str]) -> None:
    Path("o.toml").write_text("# mine\x1b[2J\n")
    argv = ("--from", str(DATA / "two-nodes.env"), "--output", "o.toml", "--no-connect")
    code, out, err = call(capsys, *argv)
    assert code == 2 and Path("o.toml").read_text() == "# mine\x1b[2J\n"
    assert "-# mine" in out and '+host = "192.168.7.11"' in out and "\x1b" not in out
    assert "o.toml: exists already and was not changed." in err and "$ mv o.toml o.toml.old" in err
    Path("o.toml").unlink()
    assert call(capsys, *argv)[0] == 0
    code, out, err = call(capsys, *argv)
    assert (code, err) == (0, "") and "says the same already" in out


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("--from", "ssh://spark1/home/me/.env"), "--from ssh://HOST/PATH is not there yet"),
        (("--from", ".env"), "Add --no-connect"),
        (("--no-connect",), "--from"),
        (("--from", "gone", "--no-connect"), "gone: no such file"),
        (("--from", "empty", "--no-connect"), "empty: names no node, so nothing was written"),
        (("--from", "folder", "--no-connect"), "folder: holds no .env. Files of that kind there: cluster.env"),
        (("--from", "pipe", "--no-connect"), "pipe: not a regular file"),
        (("--from", "binary", "--no-connect"), "binary: the env file holds NUL bytes"),
        (("--from", "a\0b", "--no-connect"), "cannot be read"),
        (("--from", "~nobody-here/.env", "--no-connect"), "~nobody-here/.env: no such file"),
        (("--from", "pipe/.env", "--no-connect"), "pipe/.env: cannot be read: Not a directory"),
    ],
)
def test_what_does_not_work_is_one_line_and_exit_2(
    capsys: pytest.CaptureFixture[str], argv: tuple[str, ...], said: str
) -> None:
    Path("empty").write_text("# nothing\n")
    Path("binary").write_bytes(b"HEAD_IP=\0\n")
    Path("folder").mkdir()
    Path("folder/cluster.env").write_text("")
    os.mkfifo("pipe")
    code, _, err = call(capsys, *argv)
    assert code == 2 and said in err and err.count("\n") == 1
    assert not (paths.config_dir() / "dsv41.toml").exists()


def test_json_is_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = call(
        capsys, "--from", str(DATA / "three-nodes.env"), "--output", "o.toml", "--no-connect", "--json"
    )
    document = json.loads(out)
    assert (code, err, document["schema"], document["output"]) == (0, "", 1, "o.toml")
    assert [node["name"] for node in document["nodes"]] == ["head", "spark2", "spark3"]
    assert {"key": "PORT", "use": "api-port", "value": "8888", "line": 13, "unit": None} in document["read"]
    assert "count" in [note["kind"] for note in document["open"]]


SECRETS = """\
HEAD_IP=10.9.0.1
WORKER_IP=10.9.0.2
VLLM_API_KEY=SECRET01
HF_TOKEN2=SECRET02 ; true
X=1 HF_TOKEN=SECRET03 cmd
NFS_SERVER_IP=$VLLM_API_KEY
HEAD_USER=$VLLM_API_KEY
SSH_IDENTITY=$VLLM_API_KEY
WORKER2_IP=$VLLM_API_KEY
WORKERS=(w1 "$VLLM_API_KEY")
INNER=$VLLM_API_KEY
HF_CACHE=/x/$INNER
ENGRAM_DIR=/x/${VLLM_API_KEY}
ENGRAM_DIR+=/SECRET04
ENGRAM_SRC=${UNSET_TOKEN:-SECRET05}
ENGRAM_CACHE_DIR=${A:-${B:-$VLLM_API_KEY}}
MODEL_DIR=https://u:SECRET15@h/x
LOCAL_MODELS_DIR=https://SECRETx5@h/x
MODEL_HOST=https://h/x?sig=SECRETx6
WORKER_SSH="ssh://bob:SECRET14@10.0.0.2"
HEAD_SSH="bob:SECRET/13 SECRET17@10.0.0.2"
if [ 1 ]; then HF_TOKEN=SECRET06; fi
HF_TOKEN SECRET16
HF_TOKEN: SECRET25
HF_TOKEN:SECRET26
HF_TOKEN = SECRET27
docker login -u x -p SECRET18
curl -H "Authorization: Bearer SECRET10" http://x
https://u:SECRET19@h/x
https://u:SECRET20@h/x=1
SSH_IDENTITY_FILE=-----BEGIN OPENSSH PRIVATE KEY SECRET21
b3BlbnNzaC1rZXktSECRET22
b3BlbnNz+SECRET23==
"$(cat SECRET24)"
unset "SECRET28 x"
PORT=$(echo SECRET29)
DIST_PORT='SECRET30
"""
BROKEN = "HEAD_IP=10.9.0.1\ndocker login -p 'SECRET31\nrest SECRET32\n"
PASTED = "HEAD_IP=10.9.0.1\nSSH_IDENTITY='-----BEGIN OPENSSH PRIVATE KEY-----\nSECRET33\n'\n"


@pytest.mark.parametrize("text", [SECRETS, BROKEN, PASTED])
@pytest.mark.parametrize("json_too", [False, True])
def test_no_secret_leaves_by_any_way(capsys: pytest.CaptureFixture[str], text: str, json_too: bool) -> None:
    Path(".env").write_text(text)
    argv = ["--from", ".env", "--output", "o.toml", "--no-connect", *(["--json"] if json_too else [])]
    code, out, err = call(capsys, *argv)
    assert (code, err) == (0, "") and "10.9.0.1" in out
    for place in (out, Path("o.toml").read_text(), repr(parse_env(text)), str(parse_env(text))):
        assert "SECRET" not in place
    Path("o.toml").write_text("# in the way\n")
    code, out, err = call(capsys, *argv)
    assert code == 2 and "SECRET" not in out + err


def test_what_is_not_usable_is_said_once_and_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    Path(".env").write_text(
        'HEAD_IP="a\nb"\nWORKER_IP=10.9.0.2\nWORKER2_IP=999.1.1.1\nMASTER_ADDR="c d"\nSSH_PORT=99999\nPORT=abc\n'
        "VLLM_PORT=99999999999999999999\nREADY_TIMEOUT=-5\nNFS_SERVER_IP=10.0.0.256\n"
    )
    code, out, _ = call(capsys, "--from", ".env", "--output", "o.toml", "--no-connect")
    assert code == 0 and [node.host for node in load_config(Path("o.toml")).node] == ["10.9.0.2"]
    written = " ".join(Path("o.toml").read_text().replace("\n#", "").split())
    for said in (
        "line 1: HEAD_IP = a b is no host, so it was left out.",
        "line 4: WORKER2_IP = 999.1.1.1 is no address, so it was left out.",
        "line 5: MASTER_ADDR = c d is no host, so it was left out.",
        "line 6: SSH_PORT: the value 99999 is not usable, so it was left out.",
        "line 7: PORT: the value abc is not usable, so it was left out.",
        "line 8: VLLM_PORT: the value 99999999999999999999 is not usable, so it was left out.",
        "line 9: READY_TIMEOUT: the value -5 is not usable, so it was left out.",
        "line 10: NFS_SERVER_IP: the value 10.0.0.256 is not usable, so it was left out.",
    ):
        assert out.count(said) == 1 and written.count(said) == 1


def test_what_is_secret_is_still_named(capsys: pytest.CaptureFixture[str]) -> None:
    Path(".env").write_text(SECRETS)
    _, out, _ = call(capsys, "--from", ".env", "--output", "o.toml", "--no-connect")
    for key in ("VLLM_API_KEY", "NFS_SERVER_IP", "HEAD_USER", "SSH_IDENTITY", "ENGRAM_DIR", "ENGRAM_SRC", "HF_CACHE"):
        assert f"{key} is set. It was neither shown nor stored." in out
    assert "line 27: docker: runs something" in out
    assert "MODEL_DIR = https://***@h/x" in out


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_note_has_its_words(capsys: pytest.CaptureFixture[str], language: str) -> None:
    Path(".env").write_text(
        "HEAD_IP=\nWORKER_IP=$(x)\nWORKER1_IP=<ip>\nWORKER2_IP=10.0.0.1\nWORKER3_IP=10.0.0.1\nWORKER4_IP=a;b\n"
        "WORKER5_IP='a/b'\nWORKERS=(w1)\nNODES = a\nHF_TOKEN=x\nsource x\nPORT=1\nPORT=2\nNNODES=9\nX=1\r\n"
    )
    code, out, _ = call(capsys, f"--language={language}", "--from", ".env", "--output", "o.toml", "--no-connect")
    assert code == 0 and "init." not in out
    load_config(Path("o.toml"))
