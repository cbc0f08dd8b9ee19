"""The peer for the first frame: a bare Textual app with eight bordered widgets."""

from textual.app import App, ComposeResult
from textual.widgets import Static


class BareApp(App[None]):
    CSS = "Screen { layout: grid; grid-size: 2 4; } Static { border: round white; }"

    def compose(self) -> ComposeResult:
        for number in range(8):
            yield Static(f"widget-{number}")


if __name__ == "__main__":
    BareApp().run()
