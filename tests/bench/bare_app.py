"""The peer: a bare Textual app with eight bordered widgets that change each second."""

from textual.app import App, ComposeResult
from textual.widgets import Static


class BareApp(App[None]):
    CSS = "Screen { layout: grid; grid-size: 2 4; } Static { border: round white; }"

    def compose(self) -> ComposeResult:
        for number in range(8):
            yield Static(f"widget-{number}")

    def on_mount(self) -> None:
        self.seconds = 0
        self.set_interval(1.0, self.second)

    def second(self) -> None:
        self.seconds += 1
        for widget in self.query(Static):
            widget.update(f"second {self.seconds}")


if __name__ == "__main__":
    BareApp().run()
