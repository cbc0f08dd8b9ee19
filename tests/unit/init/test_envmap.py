"""What the recipes' `.env` files say of nodes and logins: every form, every placeholder, and what cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dsv41_tui.core.config_text import config_text
from dsv41_tui.core.envkeys import FACTS, IDENTITIES, NODE_KEYS, SSH_PORTS, USERS, stands_for_a_value
from dsv41_tui.core.envmap import proposal, recipe_for
from dsv41_tui.core.proposal import ConfigProposal, Note
from dsv41_tui.parsers.envfile import parse_env
from dsv41_tui.runtime.configuration import parse_config
from dsv41_tui.runtime.recipes import load_recipes

DATA = Path(__file__).parents[2] / "data" / "env"
RECIPE = load_recipes()["exl3-2x"]
KNOWN = {"HOME": "~", "USER": "me"}


def read(text: str, local: set[str] | None = None, env_path: str | None = None) -> ConfigProposal:
    return proposal(parse_env(text, KNOWN), RECIPE, local=local or set(), env_path=env_path)


def targets(found: ConfigProposal) -> list[tuple[str, str, int | None, str]]:
    return [(node.name, node.role, node.rank, "local" if node.local else node.target) for node in found.nodes]


def notes(found: ConfigProposal, kind: str) -> list[Note]:
    return [note for note in found.notes if note.kind == kind]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("HEAD_IP=10.1.0.1\nWORKER_IP=10.1.0.2", [("head", "10.1.0.1"), ("worker1", "10.1.0.2")]),
        ("HEAD_IP=10.1.0.1\nWORKER_IP=10.1.0.2\nWORKER_USER=u", [("head", "10.1.0.1"), ("worker1", "u@10.1.0.2")]),
        ("WORKER_USER=u\nWORKER_SSH=v@10.1.0.2:2222", [("worker1", "v@10.1.0.2:2222")]),
        ("WORKER_SSH=v@[fd00::2]:22", [("worker1", "v@[fd00::2]:22")]),
        ("WORKER_IP=10.1.0.2\nWORKER_SSH=${WORKER_USER:-$USER}@$WORKER_IP", [("worker1", "me@10.1.0.2")]),
        ("NODES=(spark-01 spark-02\n spark-03.lan)", [("spark-01", "spark-01"), ("spark-02", "spark-02"),
                                                       ("spark-03", "spark-03.lan")]),
        ("NODES=(a b)\nRAIL_A_IPS=(10.77.1.1 10.77.1.2)", [("a", "a"), ("b", "b")]),
        ("HEAD_HOST=h1\nWORKER_HOST=u@w1.lan", [("h1", "h1"), ("w1", "u@w1.lan")]),
        ('HEAD_IP=10.1.0.1\nWORKER_IPS="10.1.0.2 10.1.0.3"', [("head", "10.1.0.1"), ("worker1", "10.1.0.2"),
                                                             ("worker2", "10.1.0.3")]),
        ("WORKER_IPS=10.1.0.2,10.1.0.3", [("worker1", "10.1.0.2"), ("worker2", "10.1.0.3")]),
        ('WORKER_IPS="10.1.0.2 10.1.0.3"\nWORKER_HOSTS="spark2 spark3"', [("spark2", "spark2"), ("spark3", "spark3")]),
        ("NODE_IPS=(10.1.0.1 10.1.0.2)", [("head", "10.1.0.1"), ("worker1", "10.1.0.2")]),
        ("MASTER_ADDR=10.1.0.1\nWORKER_VLLM_HOST_IP=10.1.0.2", [("head", "10.1.0.1"), ("worker1", "10.1.0.2")]),
        ("HEAD_FABRIC_IP=10.1.0.1\nWORKER_FABRIC_IP=10.1.0.2", [("head", "10.1.0.1"), ("worker1", "10.1.0.2")]),
        ("WORKER_IP=10.1.0.2\nWORKER_SSH_PORT=2200\nWORKER_USER=u", [("worker1", "u@10.1.0.2:2200")]),
        ("SSH_USER=u\nSSH_PORT=2200\nHEAD_IP=10.1.0.1", [("head", "u@10.1.0.1:2200")]),
        ("export HEAD_IP='10.1.0.1'  # the head", [("head", "10.1.0.1")]),
        ("HEAD_IP=10.1.0.1\r\nWORKER_IP=10.1.0.2\r\n", [("head", "10.1.0.1"), ("worker1", "10.1.0.2")]),
    ],
)  # fmt: skip
def test_forms(text: str, expected: list[tuple[str, str]]) -> None:
    found = read(text)
    assert [(node.name, node.target) for node in found.nodes] == expected
    parse_config(config_text(found), "f")


def test_a_two_node_file() -> None:
    found = read((DATA / "two-nodes.env").read_text())
    assert targets(found) == [("head", "head", 0, "192.168.7.11"), ("worker1", "worker", 1, "ops@192.168.7.12")]
    taken = {(fact.use, fact.key): (fact.value, fact.line, fact.unit) for fact in found.taken}
    assert taken["head", "HEAD_IP"] == ("192.168.7.11", 2, None)
    assert taken["user", "WORKER_USER"] == ("ops", 4, None)
    assert taken["model-tree", "MODEL_HOST"] == ("~/models/exl3", 7, None)
    assert taken["engram-tree", "ENGRAM_DIR"] == ("/srv/engram", 8, None)
    assert taken["api-port", "PORT"] == ("8889", 10, None)
    assert taken["ready-timeout", "READY_TIMEOUT"] == ("5400", 12, "s")
    assert taken["rendezvous-port", "MASTER_PORT"] == ("29521", None, None), "the recipe's default, from no line"
    assert found.nas_hint == "10.0.22.1"
    assert [note.kind for note in found.notes] == ["secret", "head-view"]
    assert "sk-do-not-show" not in repr(found) + found.model_dump_json() + config_text(found)


def test_a_three_node_file_whose_count_does_not_fit() -> None:
    found = read((DATA / "three-nodes.env").read_text())
    assert targets(found) == [
        ("head", "head", 0, "192.168.7.11"),
        ("spark2", "worker", 1, "ops@spark2"),
        ("spark3", "worker", 2, "ops@spark3.lan"),
    ]
    (count,) = notes(found, "count")
    assert (count.key, count.line, count.value, count.detail) == ("NNODES", 14, "4", "3")
    assert [(note.key, note.detail) for note in notes(found, "also")] == [
        ("WORKER1_IP", "WORKER1_HOST"),
        ("WORKER2_IP", "WORKER2_HOST"),
    ]
    assert all(node.identity_file is None for node in found.nodes), "the key file is the head's, and we are not there"


def test_the_demo_file_with_all_its_traps() -> None:
    found = read((DATA / "env-style-demo.env").read_bytes().decode())
    assert [node.target for node in found.nodes] == ["spark-01", "spark-02"]
    assert [note.key for note in notes(found, "computed")] == ["DANGER"]
    assert [note.key for note in notes(found, "error")] == ["K"]
    assert len(notes(found, "carriage-return")) == 1


class TestThisMachine:
    TEXT = (DATA / "three-nodes.env").read_text()

    def test_the_head(self) -> None:
        found = read(self.TEXT, {"192.168.7.11", "boxa"}, "/home/ops/recipe/.env")
        assert targets(found)[0] == ("head", "head", 0, "local")
        assert found.recipe_path == "/home/ops/recipe" and found.env_path is None
        assert [node.identity_file for node in found.nodes] == [None, "~/.ssh/id_cluster", "~/.ssh/id_cluster"]
        assert not notes(found, "head-view")
        config = parse_config(config_text(found), "f")
        assert config.node[0].local and config.recipe[0].path == "/home/ops/recipe"

    def test_the_head_with_a_file_of_another_name(self) -> None:
        found = read(self.TEXT, {"192.168.7.11"}, "/home/ops/recipe/cluster.env")
        assert parse_config(config_text(found), "f").recipe[0].env == "/home/ops/recipe/cluster.env"

    def test_a_worker_by_its_second_address(self) -> None:
        found = read(self.TEXT, {"192.168.7.12"}, "/home/ops/recipe/.env")
        assert targets(found)[1] == ("spark2", "worker", 1, "local")
        assert found.recipe_path is None, "the recipe's folder is the head's"
        assert notes(found, "head-view")

    def test_by_name_and_only_once(self) -> None:
        found = read("NODES=(boxa BOXA)", {"boxa"})
        assert [node.local for node in found.nodes] == [True, False]

    @pytest.mark.parametrize("address", ["127.0.0.1", "localhost", "::1"])
    def test_loopback(self, address: str) -> None:
        assert read(f"HEAD_IP={address}\nWORKER_IP=10.1.0.2").nodes[0].local

    def test_no_nas_where_the_server_is_here(self) -> None:
        assert read("HEAD_IP=10.1.0.1\nNFS_SERVER_IP=10.0.22.1", {"10.0.22.1"}).nas_hint is None
        assert read("HEAD_IP=10.1.0.1\nNFS_SERVER_IP=10.1.0.1").nas_hint is None


@pytest.mark.parametrize(
    "value",
    [
        "<your ip>", "<HEAD_IP>", "YOUR_IP", "your-head-ip", "changeme", "CHANGE_ME", "192.168.x.x", "x.x.x.x",
        "10.0.0.X", "head-roce-ip", "worker-host-or-roce-ip", "head_ip", "TODO", "user@spark-worker.lan",
        "192.0.2.10", "host.example.com", "{{ ip }}",
    ],
)  # fmt: skip
def test_placeholders_are_left_out_and_said(value: str) -> None:
    assert stands_for_a_value(value)
    found = read(f"HEAD_IP='{value}'\nWORKER_IP=10.1.0.2\n")
    assert [node.rank for node in found.nodes] == [1]
    (note,) = notes(found, "placeholder")
    assert (note.key, note.line, note.value) == ("HEAD_IP", 1, value)
    assert notes(found, "no-head")


@pytest.mark.parametrize(
    "value", ["10.0.0.1", "spark1", "spark-head", "host1", "gx10-ip2", "me@spark2", "head", "xavier", "node-a.lan"]
)
def test_real_values_are_no_placeholders(value: str) -> None:
    assert not stands_for_a_value(value)


def test_the_author_s_kit_is_taken_and_said() -> None:
    found = read("HEAD_IP=10.0.0.1\nWORKER_IP=10.0.0.2\nWORKER_USER=zurih\n")
    assert [node.target for node in found.nodes] == ["10.0.0.1", "zurih@10.0.0.2"]
    assert all(node.shipped for node in found.nodes)
    assert [(note.key, note.line) for note in notes(found, "shipped")] == [
        ("WORKER_USER", 3),
        ("HEAD_IP", 1),
        ("WORKER_IP", 2),
    ]
    assert config_text(found).count("# This is the value of the recipe author's own kit") == 2


def test_the_author_s_kit_gives_way_to_any_other_value() -> None:
    found = read("HEAD_IP=10.0.0.1\nMASTER_ADDR=10.9.0.1\n")
    assert [(node.target, node.shipped) for node in found.nodes] == [("10.9.0.1", False)]


def test_what_names_no_node_is_said() -> None:
    text = (
        "HEAD_IP=\nWORKER_IP=$(hostname -I)\nWORKER2_IP='-oProxyCommand=x'\nWORKER3_SSH='ssh -p 2 u@h'\n"
        "NODES = a\nWORKERS=(10.1.0.9)\nWORKER9_IP=10.1.0.9\nHF_TOKEN=hf_x\nsource other.env\n"
        "PORT=1\nPORT=2\n"
    )
    found = read(text)
    by_kind = {note.kind: (note.key, note.line) for note in found.notes}
    assert by_kind["empty"] == ("HEAD_IP", 1)
    assert by_kind["computed"] == ("WORKER_IP", 2)
    assert {note.key for note in notes(found, "not-a-host")} == {"WORKER2_IP", "WORKER3_SSH"}
    assert by_kind["error"] == ("NODES", 5)
    assert by_kind["same-machine"] == ("WORKER9_IP", 7)
    assert by_kind["secret"] == ("HF_TOKEN", 8)
    assert by_kind["duplicate"] == ("PORT", 11)
    assert by_kind["command"] == ("", 9)
    assert [fact.value for fact in found.taken if fact.key == "PORT"] == ["2"]
    assert [node.target for node in found.nodes] == ["10.1.0.9"]


def test_a_secret_is_never_repeated_even_if_computed_or_wrong() -> None:
    found = read("A_TOKEN=$(cat s3cret)\nB_PASSWORD = s3cret\nC_SECRET=(s3cret)\nD_API_KEY=\n")
    assert [note.key for note in notes(found, "secret")] == ["A_TOKEN", "B_PASSWORD", "C_SECRET"]
    assert "s3cret" not in found.model_dump_json()


def test_recipe_for_takes_the_one_whose_keys_are_used() -> None:
    other = RECIPE.model_copy(update={"id": "other", "env": ()})
    env = parse_env("HEAD_CX7_IF=a\n")
    assert recipe_for(env, {"other": other, "exl3-2x": RECIPE}, "other").id == "exl3-2x"
    assert recipe_for(parse_env("A=1"), {"exl3-2x": RECIPE, "other": other}, "other").id == "other"


keys = st.sampled_from(
    [key.key.replace("#", "7") for key in NODE_KEYS] + [*USERS, *SSH_PORTS, *IDENTITIES, *FACTS, "NNODES", "HF_TOKEN"]
)
words = st.one_of(
    st.sampled_from(["10.1.0.1", "10.1.0.2", "spark1", "Spark1.lan", "me@spark1:22", "fd00::1", "127.0.0.1", "zurih"]),
    st.text(max_size=20),
    st.from_regex(r"[A-Za-z0-9_.@:-]{1,60}", fullmatch=True),
)
lines = st.tuples(keys, words, st.sampled_from(["{}={}", "{}='{}'", '{}="{}"', "{}=({} x9)", "{}={},10.8.0.1"]))


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(lines, max_size=8), st.sets(st.sampled_from(["10.1.0.1", "spark1", "fd00::1"])), st.text(max_size=20))
def test_whatever_the_file_says_the_configuration_loads(
    file: list[tuple[str, str, str]], local: set[str], folder: str
) -> None:
    text = "\n".join(form.format(key, word) for key, word, form in file)
    path = "/" + folder if folder.isprintable() else None
    found = read(text.replace("\0", ""), local, path)
    if not found.nodes:
        return
    config = parse_config(config_text(found), "f")
    assert [node.name for node in config.node] == [node.name for node in found.nodes]
    for node, wanted in zip(config.node, found.nodes, strict=True):
        for field in ("role", "rank", "local", "ssh", "host", "user", "port", "identity_file"):
            assert getattr(node, field) == getattr(wanted, field)
