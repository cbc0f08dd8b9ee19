"""First configurations for this machine and for named hosts: they load again, and wrong words are said one by one."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dsv41_tui.core.errors import ConfigError
from dsv41_tui.runtime import welcome
from dsv41_tui.runtime.configuration import ConfigExists, load_config, parse_config


def test_this_machine() -> None:
    (node,) = parse_config(welcome.config_for_this_machine(), "f").node
    assert node.local and node.role == "head" and node.rank == 0


@pytest.mark.parametrize("name", ["", "-x", "näme-1", "a b", "x" * 80, "spark1.lan"])
def test_this_machine_under_any_host_name(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: name)
    assert parse_config(welcome.config_for_this_machine(), "f").node[0].local


def test_hosts() -> None:
    config = parse_config(
        welcome.config_for_hosts(["spark1", "me@10.0.0.2:2222", "nas=nas1", "worker=[fd00::3]:22"]), "f"
    )
    assert [(node.name, node.role, node.rank, node.ssh, node.host, node.user, node.port) for node in config.node] == [
        ("spark1", "head", 0, "spark1", None, None, None),
        ("worker", "worker", 1, None, "10.0.0.2", "me", 2222),
        ("nas1", "nas", None, "nas1", None, None, None),
        ("worker-2", "worker", 2, None, "fd00::3", None, 22),
    ]


def test_a_head_can_be_named_last_and_localhost_is_here() -> None:
    config = parse_config(welcome.config_for_hosts([" localhost ", "", "head=a.lan", "a.other"]), "f")
    assert [(node.name, node.role, node.local) for node in config.node] == [
        ("localhost", "worker", True),
        ("a", "head", False),
        ("a-2", "worker", False),
    ]
    (node,) = parse_config(welcome.config_for_hosts(["me@localhost:2222"]), "f").node
    assert not node.local and (node.ssh, node.user, node.port) == ("localhost", "me", 2222)


def test_every_wrong_word_has_its_line() -> None:
    with pytest.raises(ConfigError) as caught:
        welcome.config_for_hosts(["ok", "-bad", "a:0", "-l@b", "boss=x", "nas="])
    lines = caught.value.message.splitlines()
    assert [line.split(":")[0] for line in lines] == ["-bad", "a", "-l@b", "boss=x", "nas="]
    assert "port" in lines[1] and "user" in lines[2] and "head, worker, nas" in lines[3]


@pytest.mark.parametrize("hosts", [[], [""], ["  "]])
def test_no_host(hosts: list[str]) -> None:
    with pytest.raises(ConfigError, match="No host was named"):
        welcome.config_for_hosts(hosts)


def test_the_same_machine_twice_and_two_heads() -> None:
    with pytest.raises(ConfigError, match="are the same machine"):
        welcome.config_for_hosts(["a", "a"])
    with pytest.raises(ConfigError, match="One head is allowed"):
        welcome.config_for_hosts(["head=a", "head=b"])


words = st.one_of(
    st.sampled_from(
        ["a", "a.b", "nas=a", "head=c", "me@a", "10.0.0.1", "localhost", "worker=x:22", "worker", "worker-2"]
    ),
    st.text(max_size=20),
)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(words, max_size=6))
def test_any_words_give_a_configuration_or_an_error(hosts: list[str]) -> None:
    try:
        text = welcome.config_for_hosts(hosts)
    except ConfigError as error:
        assert error.message
        return
    assert len(parse_config(text, "f").node) == len([host for host in hosts if host.strip()])


def test_writing_is_private_whole_and_never_over_a_file() -> None:
    path = welcome.default_path()
    text = welcome.config_for_hosts(["spark1"])
    welcome.write_config(text, path)
    assert path.read_text() == text and load_config(path).node[0].name == "spark1"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [item.name for item in path.parent.iterdir()] == [path.name], "no temporary file is left"
    with pytest.raises(ConfigExists) as same:
        welcome.write_config(text, path)
    assert same.value.diff == ""
    with pytest.raises(ConfigExists) as other:
        welcome.write_config(welcome.config_for_hosts(["spark2"]), path)
    assert '-name = "spark1"' in other.value.diff and '+name = "spark2"' in other.value.diff
    assert other.value.fix == (f"mv {path} {path}.old",)
    assert path.read_text() == text


def test_a_link_to_nowhere_is_not_replaced() -> None:
    Path("dsv41.toml").symlink_to("gone.toml")
    with pytest.raises(ConfigError):
        welcome.write_config(welcome.config_for_hosts(["a"]), Path("dsv41.toml"))
    assert Path("dsv41.toml").is_symlink()


def test_what_does_not_load_is_never_written() -> None:
    with pytest.raises(ConfigError, match="no \\[\\[node\\]\\]"):
        welcome.write_config("[cluster]\n", Path("x.toml"))
    assert not Path("x.toml").exists()


def test_a_place_that_cannot_be_written_is_one_line() -> None:
    Path("file").write_text("")
    with pytest.raises(ConfigError, match=r"file/x\.toml: cannot be written: .*another place"):
        welcome.write_config(welcome.config_for_hosts(["a"]), Path("file/x.toml"))


def test_the_names_of_this_machine_hold_its_loopback() -> None:
    assert "127.0.0.1" in welcome.local_names()
