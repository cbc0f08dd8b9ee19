"""envfile: shell words without a shell, with bash as the judge of what they mean."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from parser_samples import cuts, flips, sample, survives

from dsv41_tui.core.envfile import EnvEntry, EnvFile
from dsv41_tui.core.errors import ParseError
from dsv41_tui.parsers.envfile import parse_env

KNOWN = {"HOME": "/home/dsv", "USER": "dsv"}
DEMO = sample("env/env-style-demo.env")


def only(text: str) -> EnvEntry:
    (entry,) = parse_env(text, KNOWN).entries
    return entry


def values(text: str) -> dict[str, str | tuple[str, ...] | None]:
    """What each key comes to."""
    found = parse_env(text, KNOWN)
    entries = {entry.key: found.get(entry.key) for entry in found.entries}
    return {key: entry.value if entry.items is None else entry.items for key, entry in entries.items() if entry}


def test_the_demo_file() -> None:
    found = parse_env(DEMO, KNOWN)
    assert values(DEMO) == {
        "WORKER_HOST": "spark-02",
        "A": "double /home/dsv/x",
        "B": "single ${HOME}/x",
        "C": "unquoted space",
        "D": "a#b",
        "E": "",
        "F": "exported",
        "HF_CACHE": "/home/dsv/.cache/huggingface",
        "PORT": "8888",
        "NODES": ("spark-01", "spark-02"),
        "RAIL_A_IPS": ("10.77.1.11", "10.77.1.12"),
        "LEVER_ENV": "NCCL_BUFFSIZE=1048576 NCCL_PROTO=^LL128",
        "JSON": '{"method":"dspark","num_speculative_tokens":5}',
        "DANGER": None,
        "G": 'quote " inside',
        "H": "it's",
        "I": "more",
        "GMU": "0.80",
        "CRLF": "windows",
    }
    danger = found.get("DANGER")
    assert danger is not None
    assert (danger.computed, danger.reason) == (True, "runs a command")
    assert danger.raw == "$(touch /srv/w/t/env/pwned; echo x)"
    (spaced,) = found.errors
    assert (spaced.key, spaced.line, spaced.raw, spaced.value) == ("K", 20, "spaced", None)
    assert [entry.key for entry in found.entries if entry.carriage_return] == ["CRLF"]
    assert [entry.line for entry in found.entries[:4]] == [2, 3, 4, 5]
    assert found.get("RAIL_A_IPS").line == 12  # type: ignore[union-attr]
    assert found.get("LEVER_ENV").line == 14  # type: ignore[union-attr]
    assert found.get("K") is None
    assert not found.commands
    assert not any(entry.duplicate for entry in found.entries)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("A=x y", None),
        ('A="x y"', "x y"),
        ("A='x y'", "x y"),
        ("A=x # c", "x"),
        ("A=x# c=1", "x#"),
        ("A=x#c", "x#c"),
        ("A=", ""),
        ("A=''", ""),
        ("A=   # empty", ""),
        ("  A=indented", "indented"),
        ("export A=x", "x"),
        ("export A='x y' # c", "x y"),
        ("declare -x A=x", "x"),
        ("readonly A=x", "x"),
        ("A='it'\"'\"'s'", "it's"),
        ("A=a'b'\"c\"d", "abcd"),
        (r"A=a\ b\#c\'", "a b#c'"),
        (r'A="a\b\"c\\d\$e\`f"', r'a\b"c\d$e`f'),
        ("A='a\\b$c`d'", "a\\b$c`d"),
        ("A=one\\\ntwo", "onetwo"),
        ('A="one\\\ntwo"', "onetwo"),
        ("A='one\ntwo'", "one\ntwo"),
        ("A=x \\\n\nB=y", "x"),
        ("A=$HOME/x", "/home/dsv/x"),
        ("A=${USER}x", "dsvx"),
        ("A=$USER-x", "dsv-x"),
        ("A='$HOME'", "$HOME"),
        ("A=~/x", "/home/dsv/x"),
        ("A=~", "/home/dsv"),
        ("A=/x:~/y", "/x:/home/dsv/y"),
        ("A=x~/y", "x~/y"),
        ("A='~/x'", "~/x"),
        ('A="~/x"', "~/x"),
        ('A=""~', "~"),
        (r"A=\:~", ":~"),
        ("A=\\\n~", "/home/dsv"),
        ("A=~:~", "/home/dsv:/home/dsv"),
        ("A=$", "$"),
        ("A=a$ # c", "a$"),
        ('A="$"', "$"),
        ("A=100%", "100%"),
        ("A=a=b", "a=b"),
        ("A=*.txt", "*.txt"),
        ("A={a,b}", "{a,b}"),
        ("A=[1]", "[1]"),
        ("A=^LL128", "^LL128"),
        ("A=!x", "!x"),
        ("A=${X:-8888}", "8888"),
        ("A=${X-8888}", "8888"),
        ("A=${X:-}", ""),
        ("A=${X:-a b}", "a b"),
        ('A="${X:-a b}"', "a b"),
        ("A=${X:-'a}b'}", "a}b"),
        ("A=\"${X:-'a'}\"", "'a'"),
        ('A=${X:-"a b"}c', "a bc"),
        ('A="${X:-"a"}"', "a"),
        ('A="${X:-a\\}b}"', "a}b"),
        ("A=${X:-${Y:-$HOME}}/z", "/home/dsv/z"),
        ("A=${HOME:-x}", "/home/dsv"),
        ("A=x;", None),
        ("A=x B=y", "x"),
    ],
)
def test_values(text: str, value: str | None) -> None:
    assert parse_env(text, KNOWN).value("A") == value


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("A=$(date)", "runs a command"),
        ("A=`date`", "runs a command"),
        ('A="x $(date) y"', "runs a command"),
        ('A="`date`"', "runs a command"),
        ("A=$(echo $(date) ')' \")\" \\) )x", "runs a command"),
        ("A=$(\n date\n)", "runs a command"),
        ("A=$((1+2))", "calculates"),
        ("A=$[1+2]", "calculates"),
        ("A=${HOME/x/y}", "uses a form of ${ } that is not read"),
        ("A=${#HOME}", "uses a form of ${ } that is not read"),
        ("A=${!HOME}", "uses a form of ${ } that is not read"),
        ("A=${HOME%/*}", "uses a form of ${ } that is not read"),
        ("A=${X:+y}", "uses a form of ${ } that is not read"),
        ("A=${X?y}", "uses a form of ${ } that is not read"),
        ("A=${N[0]}", "uses a form of ${ } that is not read"),
        ("A=$1", "uses an argument of the script"),
        ("A=$?", "uses an argument of the script"),
        ("A=$'a\\'b'", "uses $' quotes"),
        ('A=$"a"', 'uses $" quotes'),
        ("A=~root/x", "uses the home of another user"),
        ("A=$NOWHERE", "uses NOWHERE, which this file does not set"),
        ("A=1; touch pwned", "has ; on its line"),
        ("A=1 | cat", "has | on its line"),
        ("A=1 && B=2", "has && on its line"),
        ("A=1 &", "has & on its line"),
        ("A=x > y", "has > on its line"),
        ("A=<(date)", "has <( on its line"),
        ("A=a(b", "stands inside ("),
        ("A=$HO\\\nME", "breaks a line inside of a name"),
        ("A=$\\\nHOME", "breaks a line inside of a name"),
        ("A[0]=x", "sets one element of an array"),
        ("A=(*.txt)", "holds a pattern"),
        ("A=(x{1,2})", "holds a pattern"),
        ("A=($(date))", "runs a command"),
        ("A=($EMPTY)", "uses EMPTY, which this file does not set"),
        ("A=(a | b)", "holds |"),
        ("declare -i A=1+1", "is declared with flags"),
    ],
)
def test_what_only_a_shell_could_tell_is_computed(text: str, reason: str) -> None:
    entry = parse_env(text, KNOWN).get("A")
    assert entry is not None
    assert (entry.computed, entry.reason, entry.value, entry.items) == (True, reason, None, None)
    assert entry.raw and entry.raw in text


@pytest.mark.parametrize(
    "text",
    [
        "if true; then\n  A=1\nfi\n",
        "if true; then A=1; fi\n",
        "if true\nthen A=1\nelse\nA=2\nfi\n",
        "while false; do\nA=1\ndone\n",
        "for x in 1 2; do\n  for y in 3; do :; done\n  A=$x\ndone\n",
        "case x in\n  a|b) A=1 ;;\n  (c) A=2 ;;\nesac\n",
        "f() {\n  A=1\n}\n",
        "function f {\n  A=1\n}\n",
        "( A=1\n)\n",
        "{\nA=1\n}\n",
        "[ -n x ] &&\nA=1\n",
    ],
)
def test_blocks_make_their_keys_computed_and_end(text: str) -> None:
    found = parse_env("C=0\n" + text + "B=after\n")
    assert found.get("A").computed  # type: ignore[union-attr]
    assert (found.value("C"), found.value("B")) == ("0", "after")


def test_a_word_that_only_looks_like_a_block_opens_none() -> None:
    assert values("echo if { (\n") == {}
    assert values("A=if\nB=2\necho {\nC=3\n") == {"A": "if", "B": "2", "C": "3"}


@pytest.mark.parametrize(
    ("text", "key", "reason"),
    [
        ("K = v", "K", "blanks around ="),
        ("K =v", "K", "blanks around ="),
        ("K= v", "K", "a blank without quotes"),
        ("K=hello world", "K", "a blank without quotes"),
        ("export K = v", "K", "blanks around ="),
        ("MY-KEY=1", "MY-KEY", "not a name"),
        ("1K=1", "1K", "not a name"),
        ("\ufeffK=1", "K", "a byte order mark"),
        ("K='open\nL=1", "K", "a ' is not closed"),
        ('K="open\nL=1', "K", 'a " is missing'),
        ("K=(a b\nL=1", "K", "an array is not closed"),
        ("K=${X:-a\nL=1", "K", "a ${ is not closed"),
        ("K=$(date\nL=1", "K", "a ) is missing"),
    ],
)
def test_lines_that_assign_nothing_are_errors_with_their_reason(text: str, key: str, reason: str) -> None:
    found = parse_env("C=0\n" + text + "\n", KNOWN)
    (error,) = found.errors
    assert (error.key, error.line, error.value, error.computed) == (key, 2, None, False)
    assert error.reason is not None and error.reason.startswith(reason)
    assert found.get(key) is None
    assert found.value("C") == "0"


def test_an_error_does_not_hide_an_earlier_value() -> None:
    assert values("K=1\nK = 2\n") == {"K": "1"}


def test_the_later_assignment_wins_and_both_are_marked() -> None:
    found = parse_env("A=1\nB=2\nA=3\n")
    assert [(entry.key, entry.value, entry.duplicate) for entry in found.entries] == [
        ("A", "1", True),
        ("B", "2", False),
        ("A", "3", True),
    ]
    assert found.value("A") == "3"


def test_a_later_computed_assignment_hides_the_earlier_value() -> None:
    assert values("A=1\nA=$(date)\nB=$A\n") == {"A": None, "B": None}
    assert parse_env("A=$(date)\nB=$A\n").get("B").reason == "uses A, which is computed"  # type: ignore[union-attr]


def test_values_come_from_earlier_lines_only() -> None:
    assert values("A=1\nB=$A$A\nA=2\nC=${A}\n") == {"A": "2", "B": "11", "C": "2"}
    assert values("B=$A\nA=1\n") == {"A": "1", "B": None}
    assert values("A=\nB=${A:-x}\nC=${A-x}\n") == {"A": "", "B": "x", "C": ""}
    assert values("HOME=/else\nA=$HOME\n")["A"] == "/else"


def test_known_names_alone_are_expanded() -> None:
    assert parse_env("A=$USER").get("A").computed  # type: ignore[union-attr]
    assert parse_env("A=$USER", {"USER": "x"}).value("A") == "x"


def test_appending() -> None:
    assert values("A=x\nA+=y\nB+=z\n") == {"A": "xy", "B": "z"}
    assert values("N=(a)\nN+=(b c)\n") == {"N": ("a", "b", "c")}
    assert values("N=a\nN+=(b)\n") == {"N": ("a", "b")}
    assert values("A=$(date)\nA+=y\n") == {"A": None}
    for text in ("N=(a)\nN+=b\n", "N=(a)\nN=b\n"):
        assert parse_env(text).get("N").reason == "sets one element of an array"  # type: ignore[union-attr]


def test_arrays() -> None:
    text = "N=(a 'b c' # two\n  \"$HOME/x\" d\\ e\n\n)  # end\nM=()\nB=after"
    assert values(text) == {"N": ("a", "b c", "/home/dsv/x", "d e"), "M": (), "B": "after"}
    assert values("S='a b'\nN=($S)\nM=(\"$S\")\n") == {"S": "a b", "N": None, "M": ("a b",)}
    assert parse_env("N=(a)\nB=$N\n").get("B").reason == "uses N, which is an array"  # type: ignore[union-attr]


def test_unset() -> None:
    assert values("A=1\nunset A\nB=${A:-2}\n") == {"A": None, "B": "2"}
    assert values("unset HOME\nA=~/x\n")["A"] is None
    assert values("A=1\nif x; then\nunset A\nfi\nB=${A:-2}\n")["B"] is None


def test_assign_by_default_is_computed() -> None:
    found = parse_env('x=1\n: "${PORT:=8888}"\nB=${C=1}\n')
    assert found.get("PORT").computed  # type: ignore[union-attr]
    assert found.get("PORT").line == 2  # type: ignore[union-attr]
    assert found.get("C").computed  # type: ignore[union-attr]


def test_commands_are_noted_and_not_followed() -> None:
    found = parse_env("set -a\n. ./common.env # base\nsource other.env\n[ -f x ] && . x\nA=1\ntrue\nexport A\n")
    assert [(command.line, command.text) for command in found.commands] == [
        (2, "."),
        (3, "source"),
        (4, "["),
        (4, "."),
    ]
    assert found.value("A") == "1"


def test_a_here_document_is_no_assignment() -> None:
    assert values("cat <<EOF\nA=1\nEOF\nB=2\ncat <<-'X'\n\tC=1\n\tX\nD=4\n") == {"B": "2", "D": "4"}


def test_comments() -> None:
    assert values("#A=1\n  # B=2\nC=3 #D=4\nE='#' # $( `\n#'\nF=1\n") == {"C": "3", "E": "#", "F": "1"}


def test_carriage_returns_are_told_where_they_reach_the_value() -> None:
    found = parse_env("A=1\r\nB=2 # c\r\nC='x'\r\nD=4\nE=\"a\r\nb\"\nF=5\r")
    assert [(entry.key, entry.value, entry.carriage_return) for entry in found.entries] == [
        ("A", "1", True),
        ("B", "2", False),
        ("C", "x", True),
        ("D", "4", False),
        ("E", "a\nb", True),
        ("F", "5", True),
    ]


@pytest.mark.parametrize(
    "key",
    [
        "HF_TOKEN",
        "VLLM_API_KEY",
        "API_KEY",
        "APIKEY",
        "MY_SECRET_X",
        "DB_PASSWORD",
        "hf_token",
        "KEY",
        "API_KEY_2",
        "HF_TOKEN_WRITE",
    ],
)
def test_secrets_are_known_by_name(key: str) -> None:
    entry = only(f"{key}=hunter2")
    assert entry.secret
    assert "hunter2" not in repr(entry)
    assert "hunter2" not in str(parse_env(f"{key}=hunter2"))


@pytest.mark.parametrize("key", ["MAX_NUM_BATCHED_TOKENS", "DSPARK_TOKENS", "LONG_PREFILL_TOKEN_THRESHOLD", "HEAD_IP"])
def test_token_counts_are_no_secrets(key: str) -> None:
    assert not only(f"{key}=1").secret


@pytest.mark.parametrize("text", ["HF_TOKEN_WRITE= hunter2", "HF_TOKEN_WRITE=$(cat hunter2)", "HF_TOKEN= hunter2"])
def test_a_secret_that_is_an_error_or_computed_stays_one(text: str) -> None:
    entry = only(text)
    assert entry.secret
    assert "hunter2" in entry.raw
    assert "hunter2" not in repr(entry)


def test_what_is_no_env_file() -> None:
    for text in ("A=1\0", "A" * (1 << 21)):
        with pytest.raises(ParseError, match="env file"):
            parse_env(text)
    assert parse_env("") == EnvFile()


# bash is the judge. Only generated words reach it: no command, no redirection.

BASH = shutil.which("bash")
PLAIN = st.text(st.characters(codec="ascii", min_codepoint=32, max_codepoint=126, exclude_characters="'"), max_size=8)


def _in_double_quotes(text: str) -> str:
    return '"' + "".join("\\" + char if char in '"\\$`' else char for char in text) + '"'


def _with_backslashes(text: str) -> str:
    return "".join("\\" + char if not char.isalnum() else char for char in text)


PIECE = st.one_of(
    PLAIN.map(lambda text: f"'{text}'"),
    PLAIN.map(_in_double_quotes),
    PLAIN.map(_with_backslashes),
    st.sampled_from(
        ["x", "$A", "${B}", '"$C"', "${A:-y}", "${D:-z w}", "${E-'q r'}", "~", ":~/", "#", "\\\n", '"${F:-"$A"}"']
    ),
)
WORD = st.lists(PIECE, max_size=5).map("".join)
NAME = st.sampled_from("ABCDEF")
LINE = st.one_of(
    st.tuples(NAME, st.sampled_from(["=", "+="]), WORD).map("".join),
    st.tuples(st.just("export "), NAME, st.just("="), WORD, st.sampled_from(["", " # c", "  "])).map("".join),
    st.tuples(NAME, st.just("="), WORD, st.just(" "), NAME, st.just("="), WORD).map("".join),
    st.tuples(NAME, st.just("=(a b "), PLAIN.map(_in_double_quotes), st.just(" # c\n d)")).map("".join),
    st.tuples(st.just("unset "), NAME).map("".join),
    PLAIN.map(lambda text: "# " + text),
)


def by_bash(path: Path) -> dict[str, str | tuple[str, ...]]:
    """What bash makes of the file: per name a count of words, then the words, all ended by NUL."""
    assert BASH is not None, "bash is needed"
    script = (
        '. "$1"; for n in A B C D E F; do if declare -p $n >/dev/null 2>&1; then declare -n r=$n; '
        "[[ $(declare -p $n) =~ ^declare\\ -[A-Za-z]*a ]] && k=a || k=s; "
        "printf '%s\\0' $n $k ${#r[@]} \"${r[@]}\"; unset -n r; fi; done"
    )
    done = subprocess.run(
        [BASH, "--noprofile", "--norc", "-c", script, "bash", str(path)],
        capture_output=True,
        env={"HOME": "/home/dsv", "PATH": "/nowhere", "LC_ALL": "C"},
        timeout=20,
        check=True,
    )
    fields = iter(done.stdout.decode().split("\0")[:-1])
    found: dict[str, str | tuple[str, ...]] = {}
    for name in fields:
        kind, count = next(fields), int(next(fields))
        words = tuple(next(fields) for _ in range(count))
        found[name] = words if kind == "a" else words[0]
    return found


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(LINE, min_size=1, max_size=8))
def test_bash_agrees(tmp_path: Path, lines: list[str]) -> None:
    text = "\n".join(lines) + "\n"
    path = tmp_path / "judged.env"
    path.write_text(text)
    judged = by_bash(path)
    for key, value in values(text).items():
        if value is not None:
            assert judged[key] == value, text


QUOTED = st.text(st.characters(codec="utf-8", exclude_characters="\r\0"))


@given(st.dictionaries(st.from_regex(r"\A[A-Z_][A-Z0-9_]{0,8}\Z"), QUOTED, max_size=8))
def test_single_quotes_round_trip(wanted: dict[str, str]) -> None:
    text = "".join("{}='{}'\n".format(key, value.replace("'", "'\\''")) for key, value in wanted.items())
    found = parse_env(text)
    assert {entry.key: entry.value for entry in found.entries} == wanted
    assert not found.commands


@settings(max_examples=400)
@given(st.text(st.sampled_from("AB=+ \t\n'\"\\$`{}()[]:-~#;&|<>ifdoneesac/*?\r")))
def test_hostile_env_files(text: str) -> None:
    assert survives(parse_env, iter([text])) == 0


def test_cut_and_flipped_demo() -> None:
    assert survives(parse_env, cuts(DEMO)) == 0
    survives(parse_env, flips(DEMO, 2000))


@pytest.mark.parametrize(
    "piece", ["${A:-", '"${A:-', "$(", "`", "(", "{ ", "'", "\\", "A=1 ", "$((", '"', "<<X ", "~:"]
)
def test_deep_and_long_files_are_survived(piece: str) -> None:
    assert survives(parse_env, iter(["A=" + piece * 20_000, piece * 20_000, "A=(" + piece * 5_000])) == 0
