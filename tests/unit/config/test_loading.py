"""The configuration is found in order, loads whole, and every fault is one line that names file, key and remedy."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dsv41_tui import paths
from dsv41_tui.config import Config
from dsv41_tui.core.errors import ConfigError
from dsv41_tui.runtime.config_file import find_config
from dsv41_tui.runtime.configuration import MAX_BYTES, check_choice, load_config, parse_config

FULL = """
[cluster]
name = "lab"
recipe = "exl3-2x"
theme = "paper"
language = "zh-Hant"
read_only = true

[[node]]
name = "spark1"
role = "head"
rank = 0
local = true

[[node]]
name = "spark2"
rank = 1
host = "fe80::1%eth0"
user = "me"
port = 2222
identity_file = "~/.ssh/id_ed25519"
proxy_jump = "me@bastion:2200,spark1"

[[node]]
name = "主機3"
ssh = "spark-03.lan"
user = "LAB\\\\me"

[[node]]
name = "nas1"
role = "nas"
host = "192.168.1.5"

[nas]
server = "192.168.1.5"
link_mbit = 10000

[thresholds]
available_warn_gib = 4
available_error_gib = 0.5

[[recipe]]
name = "exl3-2x"
path = "/home/me/recipe"

[keys]
restart = "ctrl+r,R"
quit = "q"
"""
ONE = '[[node]]\nname = "a"\nhost = "10.0.0.1"\n'


def errors(text: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        parse_config(text, "dsv41.toml")
    return caught.value.message.splitlines()


def test_every_field_loads() -> None:
    config = parse_config(FULL, "dsv41.toml")
    assert [node.name for node in config.node] == ["spark1", "spark2", "主機3", "nas1"]
    assert config.node[1].port == 2222 and config.node[2].user == "LAB\\me"
    assert config.thresholds.available_warn_gib == 4
    assert config.cluster.read_only and config.nas is not None and config.keys["restart"] == "ctrl+r,R"


def test_windows_files_load() -> None:
    Path("dsv41.toml").write_bytes(b"\xef\xbb\xbf" + ONE.replace("\n", "\r\n").encode())
    assert load_config(Path("dsv41.toml")).node[0].host == "10.0.0.1"


def test_order_of_places() -> None:
    assert find_config() is None
    xdg = paths.config_dir() / "dsv41.toml"
    xdg.parent.mkdir(parents=True)
    xdg.write_text(ONE)
    assert find_config() == xdg
    Path("dsv41.toml").write_text(ONE)
    assert find_config() == Path("dsv41.toml")
    assert find_config("other.toml") == Path("other.toml")


def test_a_dangling_default_is_an_error_and_no_welcome() -> None:
    xdg = paths.config_dir() / "dsv41.toml"
    xdg.parent.mkdir(parents=True)
    xdg.symlink_to("nowhere.toml")
    found = find_config()
    assert found == xdg
    with pytest.raises(ConfigError, match="no such file"):
        load_config(found)


def test_a_file_that_anybody_could_have_written_is_not_taken_by_itself() -> None:
    here = Path("dsv41.toml")
    here.write_text(ONE)
    here.chmod(0o666)
    with pytest.raises(ConfigError, match=r"dsv41\.toml.*--config"):
        find_config()
    assert load_config(find_config("dsv41.toml") or Path()).node[0].name == "a"


def test_a_file_of_another_user_is_not_taken_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("dsv41.toml").write_text(ONE)
    if os.geteuid() == 0:
        os.chown("dsv41.toml", 12345, 12345)
    else:  # only root can give a file away: be somebody else
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
    with pytest.raises(ConfigError, match=r"dsv41\.toml.*--config"):
        find_config()


def test_what_is_not_a_readable_file() -> None:
    cases: dict[str, str] = {"gone.toml": "no such file", "folder": "not a regular file", "pipe": "not a regular file"}
    Path("folder").mkdir()
    os.mkfifo("pipe")
    for name, said in cases.items():
        with pytest.raises(ConfigError, match=f"{name}: {said}"):
            load_config(Path(name))


def test_a_file_without_permission() -> None:
    Path("shut.toml").write_text(ONE)
    Path("shut.toml").chmod(0)
    ours = os.geteuid()
    if ours == 0:  # root reads everything
        os.seteuid(65534)
    try:
        with pytest.raises(ConfigError, match=r"shut\.toml: cannot be read: Permission denied"):
            load_config(Path("shut.toml"))
    finally:
        os.seteuid(ours)


def test_not_utf8_names_the_line() -> None:
    Path("latin.toml").write_bytes(b'[cluster]\nname = "caf\xe9"\n')
    with pytest.raises(ConfigError, match=r"latin\.toml: line 2 is not UTF-8"):
        load_config(Path("latin.toml"))


def test_a_huge_file_is_refused() -> None:
    Path("big.toml").write_bytes(b"#" * (MAX_BYTES + 1))
    with pytest.raises(ConfigError, match="larger than 1024 KiB"):
        load_config(Path("big.toml"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a = ", "line 1, column 5: not valid TOML"),
        ("[cluster]\nname = 'x", "line 2, column 10: not valid TOML"),
        ("a = 1\na = 2\n", "line 2, column 6: not valid TOML: Cannot overwrite a value"),
        ("a = " + "[" * 20_000, "nested more than 16 deep"),
        ("a = " + "1" * 5_000, "not valid TOML"),
    ],
)
def test_syntax(text: str, said: str) -> None:
    (line,) = errors(text)
    assert line.startswith("dsv41.toml: ") and said in line


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (ONE + "port = 70000", "node.a.port = 70000: allowed is a whole number from 1 to 65535."),
        (ONE + 'port = "22"', 'node.a.port = "22": allowed is a whole number from 1 to 65535.'),
        (ONE + "rank = -1", "node.a.rank = -1: allowed is a whole number from 0 up."),
        (ONE + "user = 7", "node.a.user = 7: allowed is text in quotes."),
        (ONE + 'local = "no"', 'node.a.local = "no": allowed is true or false.'),
        (ONE + 'role = "boss"', 'node.a.role = "boss": allowed is one of "head", "worker", "nas".'),
        (ONE + "prot = 22", 'node.a.prot: unknown key, the nearest is "port"'),
        (ONE + "zzz = 22", "node.a.zzz: unknown key. Known here: name, role"),
        ("[nodes]\n" + ONE, 'nodes: unknown key, the nearest is "node"'),
        ('[node]\nname = "a"', "node = a table: allowed is tables headed [[node]]"),
        ("node = [3]", "node.#1 = 3: allowed is a table headed [node]"),
        ("cluster = 3\n" + ONE, "cluster = 3: allowed is a table headed [cluster]."),
        (ONE + "[cluster]\nname = 2026-09-30", "cluster.name = 2026-09-30: allowed is text in quotes."),
        (ONE + "[nas]\nlink_mbit = 0", "nas.server is missing"),
        (ONE + "[nas]\nlink_mbit = 0", "nas.link_mbit = 0: allowed is a whole number above 0."),
        (ONE + "[thresholds]\navailable_warn_gib = inf", "available_warn_gib = inf: allowed is a number from 0 up."),
        (ONE + "[thresholds]\npsi_warn_percent = nan", "psi_warn_percent = nan: allowed is a number from 0 to 100."),
        (ONE + "[keys]\nquit = 1", "keys.quit = 1: allowed is text in quotes."),
        ('[[node]]\nhost = "x"', "node.#1.name is missing"),
        ("", "node: there is no [[node]] table."),
    ],
)
def test_types_and_keys(text: str, said: str) -> None:
    lines = errors(text)
    assert any(line.startswith(f"dsv41.toml: {said}") or said in line for line in lines), lines


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (ONE + ONE.replace("10.0.0.1", "10.0.0.2"), "node.a: [[node]] number 1 and number 2 have this name"),
        (ONE + 'ssh = "b"', "node.a: ssh and host exclude each other"),
        (ONE + "local = true", "node.a: local = true and host exclude each other"),
        ('[[node]]\nname = "a"\nlocal = true\nssh = "b"', "node.a: local = true and ssh exclude each other"),
        ('[[node]]\nname = "a"', "node.a: no place is given"),
        ('[[node]]\nname = "a"\nlocal = false', "node.a: no place is given"),
        (ONE + ONE.replace('"a"', '"b"'), "node.a and node.b are the same machine"),
        (ONE + 'role = "head"\n' + '[[node]]\nname = "b"\nssh = "b"\nrole = "head"', "node.a, node.b: all have role"),
        (ONE + 'rank = 1\n[[node]]\nname = "b"\nssh = "b"\nrank = 1', "node.a and node.b both have rank = 1"),
        (ONE + 'role = "nas"\nrank = 1', "node.a.rank: a NAS carries no rank"),
        ('[[node]]\nname = "a b"\nssh = "x"', 'node.#1.name = "a b": allowed is 1 to 40 letters'),
        ('[[node]]\nname = "-a"\nssh = "x"', 'node.#1.name = "-a": allowed is'),
        ('[[node]]\nname = "a"\nssh = "-oProxyCommand=sh"', 'node.a.ssh = "-oProxyCommand=sh": allowed is'),
        ('[[node]]\nname = "a"\nhost = "me@x"', 'node.a.host = "me@x": allowed is'),
        ('[[node]]\nname = "a"\nhost = "10.0.0.1:22"', 'node.a.host = "10.0.0.1:22": allowed is'),
        (ONE + 'user = "-l"', 'node.a.user = "-l": allowed is'),
        (ONE + 'proxy_jump = "a, b"', 'node.a.proxy_jump = "a, b": allowed is'),
        (ONE + 'identity_file = "~nobody-here/id"', 'node.a.identity_file = "~nobody-here/id": allowed is a path'),
        (ONE + 'root = "tmp"', 'node.a.root = "tmp": allowed is an absolute folder'),
        (ONE + 'root = "/a b"', 'node.a.root = "/a b": allowed is an absolute folder of letters'),
        (ONE + 'root = "/a*"', 'node.a.root = "/a*": allowed is an absolute folder of letters'),
        (ONE + '[nas]\nserver = "a b"', 'nas.server = "a b": allowed is'),
        (ONE + "[thresholds]\navailable_warn_gib = 1\navailable_error_gib = 2", "available_error_gib = 2 is above"),
        (ONE + '[keys]\nquit = "q"\nstop = "x,q"', 'keys.quit and keys.stop both have "q"'),
        (ONE + '[keys]\nquit = "q,"', 'keys.quit = "q,": allowed is a key'),
        (ONE + '[keys]\nquit = ""', 'keys.quit = "": allowed is a key'),
    ],
)
def test_rules_between_keys(text: str, said: str) -> None:
    (line,) = errors(text)
    assert line.startswith("dsv41.toml: ") and said in line


def test_all_faults_at_once_each_once() -> None:
    text = ONE + 'port = 0\nprot = 1\n[[node]]\nname = "a"\nrole = "x"\n[keys]\nq = "a"\nr = "a"\n'
    lines = errors(text)
    assert len(lines) == len(set(lines)) == 6
    assert all(line.startswith("dsv41.toml: ") for line in lines)
    for part in ("port = 0", "prot", 'role = "x"', "this name", "no place", "keys.q and keys.r"):
        assert sum(part in line for line in lines) >= 1, part


def test_secrets_are_refused_and_never_repeated() -> None:
    text = ONE + 'password = "hunter2"\nidentity_file = "-----BEGIN OPENSSH PRIVATE KEY-----\\nb3BlbnNzaA"\nuser = 1\n'
    lines = errors(text + '[cluster]\nlanguage = "-----BEGIN PRIVATE KEY-----hunter2"')
    assert sum("secrets do not belong" in line for line in lines) == 3
    assert "hunter2" not in "".join(lines) and "b3Blb" not in "".join(lines)


def test_hostile_text_cannot_act_on_a_terminal() -> None:
    lines = errors(ONE + '"a\\u001b]0;x\\u0007\\nb" = 1\nuser = "\\u001b[2J\\u202e"\n')
    assert len(lines) == 2
    assert not any(ord(character) < 32 or character == "\u202e" for line in lines for character in line)


def test_check_choice_names_the_nearest() -> None:
    check_choice(None, "cluster.theme", "ink", ["ink", "paper"])
    with pytest.raises(ConfigError, match=r'^x.toml: cluster.theme = "pater": .* "ink", "paper".*nearest is "paper"'):
        check_choice(Path("x.toml"), "cluster.theme", "pater", ["ink", "paper"])


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, len(FULL)), st.integers(0, 30), st.text(max_size=12))
def test_a_damaged_file_gives_a_configuration_or_a_config_error(start: int, length: int, inserted: str) -> None:
    text = FULL[:start] + inserted + FULL[start + length :]
    try:
        assert isinstance(parse_config(text, "dsv41.toml"), Config)
    except ConfigError as error:
        assert error.message and all(line.startswith("dsv41.toml: ") for line in error.message.splitlines())


toml_values = st.recursive(
    st.one_of(st.booleans(), st.integers(-9, 99999), st.floats(), st.text(max_size=8), st.dates()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.sampled_from([*Config.model_fields, "other"]), toml_values, max_size=5))
def test_any_tables_are_judged_without_a_crash(raw: dict[str, object]) -> None:
    from dsv41_tui.runtime.config_rules import rule_errors

    assert all(isinstance(line, str) and "\n" not in line for line in rule_errors(raw))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.dictionaries(st.sampled_from(["name", "ssh", "host", "local", "rank", "role", "x"]), toml_values)),
    toml_values,
)
def test_any_nodes_are_judged_without_a_crash(nodes: list[dict[str, object]], nas: object) -> None:
    import pydantic

    from dsv41_tui.runtime.config_errors import model_errors
    from dsv41_tui.runtime.config_rules import rule_errors

    raw = {"node": nodes, "nas": nas, "keys": nas, "thresholds": nas}
    assert all(isinstance(line, str) for line in rule_errors(raw))
    try:
        Config.model_validate(raw, strict=True)
    except pydantic.ValidationError as error:
        assert all("\n" not in line and line for line in model_errors(error, raw))


@pytest.mark.parametrize(
    "text",
    [
        "[" + ".".join("a" * 990) + "]\n",
        "x = " + "[" * 900 + "]" * 900,
        "x = " + "[" * 200_000,
        "x = " + "{a = " * 40 + "1" + "}" * 40,
        ".".join("a" * 200_000) + " = 1",
        "[a]\n" + ".".join(['"a"'] * 100_000) + " = 1",
        "[node" + ".node" * 20 + "]\n",
    ],
    ids=["header", "lists", "open-lists", "inline-tables", "dotted-key", "quoted-dotted-key", "a-little"],
)
def test_a_deeply_nested_file_is_one_line(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_config(text, "f.toml")
    assert caught.value.message.startswith("f.toml: tables or lists are nested") and "\n" not in caught.value.message
