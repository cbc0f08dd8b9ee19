from __future__ import annotations

from collections.abc import Iterator

import pytest

from dsv41_tui.runtime.language import load_language


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    load_language("en")
    yield
    load_language("en")
