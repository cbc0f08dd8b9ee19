"""What counts as a hit, and when it is decided; the same in one batch and line by line."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsv41_tui.core.book import HELD, Scanner
from dsv41_tui.core.book_lookup import choose_keys
from dsv41_tui.core.book_pattern import PIECE, SHARED, Pattern, nameless, needle, template
from dsv41_tui.core.book_tally import FIRST_LINES, times_in
from tests.unit.failures.failure_builders import book, counts, of, rule, scanned

FILL = ("nothing of interest",)


@pytest.fixture(params=(1, 3, 1000))
def batch(request: pytest.FixtureRequest) -> int:
    return int(request.param)


def test_a_line_counts_upper_and_lower_case_alike_with_its_number(batch: int) -> None:
    report = scanned(book(rule("disk", r"disk \d+ failed")), "ok", "DISK 12 Failed", "disk x failed", batch=batch)
    (tally,) = report.tallies
    assert (tally.count, tally.first[0].number, tally.first[0].text) == (1, 2, "DISK 12 Failed")
    assert report.lines == 3


def test_digits_decide_where_a_pattern_asks_for_them(batch: int) -> None:
    lines = ["status=12 failed", "status=13 failed", "status=12 failed"]
    assert counts(scanned(book(rule("cq", r"status=12 failed")), *lines, batch=batch)) == {"cq": 2}


def test_unless_takes_a_line_away(batch: int) -> None:
    known = book(rule("disk", r"disk failed", unless=(r"\binfo\b",)))
    assert counts(scanned(known, "INFO disk failed", "WARN disk failed", batch=batch)) == {"disk": 1}


@pytest.mark.parametrize("order", [("disk failed", *FILL, "link down"), ("link down", *FILL, "disk failed")])
def test_near_looks_before_and_after(order: tuple[str, ...], batch: int) -> None:
    near = book(rule("disk", "disk failed", near=("link down",), span_lines=2))
    unless = book(rule("disk", "disk failed", unless_near=("link down",), span_lines=2))
    assert counts(scanned(near, *order, batch=batch)) == {"disk": 1}
    assert counts(scanned(unless, *order, batch=batch)) == {}
    far = (order[0], *FILL * 2, order[2])
    assert counts(scanned(near, *far, batch=batch)) == {}
    assert counts(scanned(unless, *far, batch=batch)) == {"disk": 1}


def test_near_counts_the_line_itself_and_unless_near_does_not() -> None:
    assert counts(scanned(book(rule("disk", "disk failed", near=("failed",))), "disk failed")) == {"disk": 1}
    alone = book(rule("disk", "disk failed", unless_near=("disk failed",)))
    assert counts(scanned(alone, "disk failed")) == {"disk": 1}
    assert counts(scanned(alone, "disk failed", "disk failed")) == {}
    assert counts(scanned(alone, "disk failed (x16 within one second)")) == {}


def test_near_looks_at_seconds_where_lines_carry_times(batch: int) -> None:
    known = book(rule("disk", "disk failed", near=("link down",), span_s=10))
    for apart, expected in ((9.0, {"disk": 1}), (11.0, {})):
        assert counts(scanned(known, "link down", "disk failed", at=[0.0, apart], batch=batch)) == expected
        assert counts(scanned(known, "disk failed", "link down", at=[0.0, apart], batch=batch)) == expected


def test_near_is_of_the_same_source() -> None:
    scanner = Scanner(book(rule("disk", "disk failed", near=("link down",))))
    scanner.feed(["link down"], "one")
    scanner.feed(["disk failed"], "two")
    assert counts(scanner.close()) == {}


def test_so_many_lines_within_so_long(batch: int) -> None:
    known = book(rule("nv", "no_memory", count=3, within_s=1.0))
    lines = ["no_memory"] * 3
    assert counts(scanned(known, *lines, batch=batch)) == {"nv": 3}
    assert counts(scanned(known, *lines, at=[0.0, 0.4, 0.9], batch=batch)) == {"nv": 3}
    assert counts(scanned(known, *lines, at=[0.0, 50.0, 100.0], batch=batch)) == {}
    assert counts(scanned(known, *lines[:2], batch=batch)) == {}
    assert counts(scanned(known, "no_memory (x16 within one second)")) == {"nv": 16}


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("NV_ERR (x16 within one second)", 16), ("failed (x3)", 3), ("failed ×3", 3), ("repeated 5 times: [x]", 5),
        ("0x12 failed", 1), ("failed", 1), ("x86 kernel", 1), ("Gen5 x4 link", 1),
    ],
)  # fmt: skip
def test_lines_that_say_how_many_they_are(text: str, times: int) -> None:
    assert times_in(text) == times


def test_a_harmless_rule_takes_its_lines_from_others(batch: int) -> None:
    known = book(rule("disk", "disk failed"), rule("fine", "disk failed to sleep", severity="none"))
    report = scanned(known, "disk failed to sleep", "disk failed", "disk failed to sleep", batch=batch)
    assert counts(report) == {"disk": 1, "fine": 2}


def test_a_harmless_rule_that_readings_decide_is_kept_beside_the_lines() -> None:
    known = book(rule("disk", "disk failed"), rule("fine", "disk failed", severity="none", needs="ready"))
    loud = [tally for tally in scanned(known, "disk failed").tallies if tally.rule == "disk"]
    assert [tally.silencers for tally in loud] == [{"fine"}]


def test_a_line_can_say_that_it_is_over(batch: int) -> None:
    known = book(rule("nfs", "not responding", clears_on=("server ok",)))
    over = scanned(known, "nas not responding", "server OK", batch=batch)
    again = scanned(known, "nas not responding", "server OK", "nas not responding", batch=batch)
    assert [tally.over for tally in (*over.tallies, *again.tallies)] == [True, False]


def test_what_is_over_before_it_is_decided_is_over(batch: int) -> None:
    known = book(rule("link", "link down", clears_on=("link up",), unless_near=("booting",)))
    (tally,) = scanned(known, "link down", "link up", batch=batch).tallies
    assert tally.over


def test_rules_of_the_kernel_do_not_read_the_engine() -> None:
    known = book(rule("oom", "out of memory", log="kernel"))
    for place, expected in (("any", {"oom": 1}), ("kernel", {"oom": 1}), ("engine", {})):
        scanner = Scanner(known)
        scanner.feed(["out of memory"], place=place)  # type: ignore[arg-type]
        assert counts(scanner.close()) == expected


def test_what_conditions_ask_for_is_seen_in_the_log_and_beside_it() -> None:
    known = book(rule("disk", cause=(of("a", confirmed_by=("seen /link down/", "not seen /fan (?:off|dead)/")),)))
    scanner = Scanner(known)
    scanner.look(["The fan off"])
    scanner.feed(["x", "Link down at last", "link down again"])
    report = scanner.close()
    assert report.signals == {"link down": "Link down at last", "fan (?:off|dead)": "The fan off"}
    assert scanner.signals_for("disk") == report.signals and scanner.signals_for("other") == {}
    assert report.tallies == ()


def test_hits_come_when_they_are_decided() -> None:
    scanner = Scanner(
        book(
            rule("now", "disk failed"),
            rule("later", "fan failed", near=("link down",)),
            rule("many", "bus failed", count=2),
            rule("calm", "arm failed", unless_near=("booting",)),
        )
    )
    assert [hit.rule for hit in scanner.feed(["disk failed", "fan failed"], at=[1.0, 1.0])] == ["now"]
    assert [(hit.rule, hit.number) for hit in scanner.feed(["link down"], first_number=3, at=[2.0])] == [("later", 2)]
    assert scanner.feed(["bus failed", "arm failed"], at=[3.0, 3.0]) == []
    assert [(hit.rule, hit.times) for hit in scanner.feed(["bus failed"], at=[3.1])] == [("many", 2)]
    assert scanner.expire(3.4) == []
    assert [hit.rule for hit in scanner.expire(3.6)] == ["calm"]


def test_what_waits_and_what_is_kept_is_bounded() -> None:
    scanner = Scanner(book(rule("disk", "disk failed", near=("link down",), span_lines=2000)))
    for _ in range(20):
        scanner.feed(["disk failed"] * 1000)
        assert sum(len(stream.held) for stream in scanner._sources.values()) <= HELD
    scanner.feed(["link down"])
    (tally,) = scanner.close().tallies
    assert len(tally.first) == FIRST_LINES


def test_a_long_line_is_searched_round_its_needles() -> None:
    known = book(rule("disk", r"disk .{0,20}failed"))
    padding = "x " * PIECE
    for line in (f"{padding}disk 7 FAILED{padding}", f"disk failed{padding}", f"{padding}disk failed"):
        assert counts(scanned(known, line)) == {"disk": 1}
    assert counts(scanned(known, f"disk {padding} failed")) == {}


def test_a_hit_behind_thousands_of_false_places_is_found() -> None:
    known = book(rule("disk", r"disk .{0,20}failed"), rule("fan", r"(?:a|the) fan .{0,20}failed"))
    assert counts(scanned(known, f"{'disk disk the fan ' * 20_000}disk x failed, the fan failed")) == {
        "disk": 1,
        "fan": 1,
    }
    assert counts(scanned(known, "disk disk the fan " * 20_000)) == {}


@given(st.integers(0, 3 * PIECE), st.integers(0, SHARED // 2))
def test_a_match_is_found_wherever_a_long_line_is_cut(before: int, gap: int) -> None:
    pattern = Pattern(rf"(?:disk|fan)\b.{{0,{SHARED // 2}}} failed\b")
    choose_keys([pattern])
    filled = f"{'=' * before} disk {'-' * max(0, gap - 1)} failed {'=' * PIECE}"
    assert pattern.search(filled)
    assert not pattern.search(filled.replace(" failed ", " failedly "))


def test_no_piece_of_a_long_line_is_searched_twice_over() -> None:
    """Places of a needle without a match cost no more than the text that stands round them."""
    pattern = Pattern(r"(?:disk|fan) .{0,20}failed")
    choose_keys([pattern])
    pattern.search("")
    compiled = re.compile(pattern.text, re.IGNORECASE)
    searched: list[int] = []

    class Counted:
        def search(self, text: str, start: int, end: int) -> re.Match[str] | None:
            searched.append(min(end, len(text)) - start)
            return compiled.search(text, start, end)

    pattern._regex = Counted()  # type: ignore[assignment]
    line = "disk failure failer " * 50_000
    assert not pattern.search(line)
    assert sum(searched) < 3 * len(line)


names = st.text(alphabet="0123456789abcdef", min_size=7, max_size=34)
parts = st.one_of(names, st.sampled_from(["-", "0x", " ", "_", "x", "edac", "failed", ":", "gid", "--", "dead bee"]))


@given(st.lists(parts, max_size=9).map("".join), st.integers(0, 60), st.integers(1, 30))
def test_what_is_left_of_a_literal_is_left_of_each_line(line: str, start: int, size: int) -> None:
    left = needle(line[start : start + size])
    assert template(left) in nameless(line)


def test_lines_with_line_ends_in_them_keep_their_numbers() -> None:
    report = scanned(book(rule("disk")), "a\nb", "disk failed", batch=2)
    assert report.tallies[0].first[0].number == 2


words = st.sampled_from(
    ["disk", "FAILED", "failed", "12", "7", "link", "down", "status=12", "status=13", "x", "é", "中"]
)
lines = st.lists(st.lists(words, max_size=6).map(" ".join), max_size=12)
RULES = (
    rule("a", "disk failed"), rule("b", r"link \w+ \d+"), rule("c", "status=12"), rule("d", "link .{0,9}(?:down|disk)"),
    rule("e", r"(?:disk|link) down"),
)  # fmt: skip


@given(lines, st.integers(1, 5))
def test_needles_hide_nothing(texts: list[str], size: int) -> None:
    """The same hits as by trying each pattern on each line, however lines are batched and repeated."""
    report = scanned(book(*RULES), *texts, *texts, batch=size)
    for known in RULES:
        (pattern,) = known.match.any
        expected = 2 * sum(re.search(pattern, text, re.IGNORECASE) is not None for text in texts)
        assert counts(report).get(known.id, 0) == expected


def test_a_scan_of_noise_forgets_and_still_finds() -> None:
    """More templates than are kept: what was known is dropped, nothing is lost."""
    chance = random.Random(7)
    scanner = Scanner(book(rule("disk")))
    letters = "abcdefghijklmnop"
    for number in range(30):
        noise = ["".join(chance.choices(letters, k=12)) for _ in range(2500)]
        scanner.feed([*noise, f"disk failed {noise[0]}"], first_number=number * 2501 + 1)
    assert counts(scanner.close()) == {"disk": 30}
