"""The first screen without a configuration: demo, this machine, named hosts, or a recipe's `.env`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input

from dsv41_tui.core.messages import t
from dsv41_tui.ui.bindings import bindings
from dsv41_tui.ui.cells import MEASURE, safe, wrap
from dsv41_tui.ui.screens.live import LiveScreen
from dsv41_tui.ui.source import WelcomeActions
from dsv41_tui.ui.view import View
from dsv41_tui.ui.widgets.chrome import ViewRows

START = 4


@dataclass(frozen=True)
class Choice:
    """One way in; `asks` when it needs a line of text."""

    name: str
    asks: bool


CHOICES = (Choice("demo", False), Choice("machine", False), Choice("hosts", True), Choice("env", True))


class Choices(ViewRows, can_focus=True):
    """The list, what is chosen in it, and what came of it."""

    def __init__(self, view: View) -> None:
        super().__init__(view, id="choices")
        self.chosen = 0
        self.problem = ""
        self.busy = False

    def make(self, width: int, height: int) -> Sequence[Strip]:
        """All choices stay in sight: blank rows go first, then what is said is cut."""
        gap = [self._blank(width)]
        head = gap + self._text(width, 0, t("ui.welcome.intro"), "text") + gap
        said = self._said(width)
        choices = [self._choice(width, index, choice) for index, choice in enumerate(CHOICES)]
        count = sum(map(len, choices))
        between = gap if len(head) + len(said) + 1 + count + len(choices) <= height else []
        room = max(1, height - len(head) - count - len(between) * len(choices) - 1)
        if len(said) > room:
            more = self.view.line(width).put(self.view.ink.glyphs.ellipsis, "error").strip()
            said = [*said[: room - 1], more] if room > 1 else said[:1]
        rows = head + said + (gap if said else [])
        for choice in choices:
            rows += choice + between
        return rows

    def _said(self, width: int) -> list[Strip]:
        """That work is under way, or what is wrong."""
        glyphs = self.view.ink.glyphs
        if self.busy:
            return self._text(width, 0, f"{glyphs.busy} {t('ui.welcome.busy')}", "primary")
        lines = self.problem.split("\n") if self.problem else []
        return [row for line in lines for row in self._text(width, 0, f"{glyphs.error} {line}", "error")]

    def _blank(self, width: int) -> Strip:
        return self.view.line(width).strip()

    def _choice(self, width: int, index: int, choice: Choice) -> list[Strip]:
        here = index == self.chosen
        line = self.view.line(width, "panel" if here else "background").put(f" {index + 1} ", "primary+bold")
        line.to(START).put(t(f"ui.welcome.{choice.name}.title"), "primary+bold" if here else "text+bold")
        return [line.strip(), *self._text(width, START, t(f"ui.welcome.{choice.name}.text"), "text-muted")]

    def _text(self, width: int, start: int, text: str, style: str) -> list[Strip]:
        room = min(MEASURE, width - start)
        return [self.view.line(width).to(start).put(part, style).strip() for part in wrap(safe(text), room)]


class Ask(Vertical):
    """A label and a text field, for the choices that need one."""

    def __init__(self, choice: Choice) -> None:
        super().__init__()
        self.choice = choice
        self.closed = False

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield Input(placeholder=t(f"ui.welcome.{self.choice.name}.ask"), compact=True)

    def on_mount(self) -> None:
        for field in self.query(Input):
            field.focus()


class WelcomeScreen(LiveScreen):
    """Calls the actions it was given; a path goes on to the main screen, a text is shown as what is wrong."""

    BINDINGS = bindings("welcome")

    def __init__(self, view: View, actions: WelcomeActions) -> None:
        super().__init__(view)
        self._actions = actions

    def compose_body(self) -> Iterable[Widget]:
        yield Choices(self.view)

    @property
    def finding_rows(self) -> int:
        return 1

    def on_mount(self) -> None:
        self.choices.focus()

    @property
    def choices(self) -> Choices:
        return self.query_one(Choices)

    def paint_body(self, view: View) -> None:
        self.choices.show(view)

    def action_row(self, by: int) -> None:
        choices = self.choices
        choices.chosen = (choices.chosen + by) % len(CHOICES)
        choices.renew()

    def action_pick(self, number: int) -> None:
        self.choices.chosen = number - 1
        self.action_choose()

    def action_choose(self) -> None:
        choices = self.choices
        if choices.busy:
            return
        choices.problem = ""
        choice = CHOICES[choices.chosen]
        choices.renew()
        if choice.asks:
            self._ask(choice)
        else:
            self._start(self._actions.demo if choice.name == "demo" else self._actions.this_machine)

    def _ask(self, choice: Choice) -> None:
        """Removing takes a moment, so an old field can still stand beside the new one."""
        if not (self.complete and self.is_attached):
            return
        self._remove_asks()
        self.panel.typing.begin()
        self.mount(Ask(choice), after=self.choices)

    def _close_ask(self) -> None:
        self._remove_asks()
        self.choices.focus()

    def _remove_asks(self) -> None:
        for ask in self.query(Ask):
            ask.closed = True
            ask.remove()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        text = event.value.strip()
        ask = next((ask for ask in self.query(Ask) if not ask.closed), None)
        if not text or ask is None or self.choices.busy:
            return
        if ask.choice.name == "hosts":
            self._start(lambda: self._actions.hosts(text.replace(",", " ").split()))
        else:
            self._start(lambda: self._actions.env_file(text))

    def _start(self, action: Callable[[], Awaitable[Path | str]]) -> None:
        self.choices.busy = True
        self.choices.renew()
        self.run_worker(self._run(action), group="welcome", exclusive=True)

    async def _run(self, action: Callable[[], Awaitable[Path | str]]) -> None:
        result = await action()
        self.choices.busy = False
        if isinstance(result, Path):
            self.panel.opening.go_on(result)
            return
        self.choices.problem = result
        self.choices.renew()

    def action_back(self) -> None:
        self._close_ask()
        self.choices.problem = ""
        self.choices.renew()
