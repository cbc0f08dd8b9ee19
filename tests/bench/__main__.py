"""`python -m tests.bench [--quick]`: a table on standard error, one JSON document on standard output."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.bench import diagnose_cost, log_flood, log_reading, node_cost, panel_cost
from tests.bench.report import Row, document, table


def main() -> int:
    """Measure everything; 1 when a budget is exceeded."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="short windows: a look, not a measure")
    quick = parser.parse_args().quick
    window_s, rounds = (8.0, 3) if quick else (30.0, 9)
    rows: list[Row] = []
    left_out: list[str] = []
    with tempfile.TemporaryDirectory() as scratch:
        rows.append(panel_cost.first_frame(rounds))
        rows.append(panel_cost.live_data(rounds))
        rows += panel_cost.steady(2, window_s)
        rows += panel_cost.steady(64, window_s)
        rows.append(panel_cost.still(window_s, Path(scratch)))
        rows += log_flood.flood(window_s)
        rows += log_reading.reading(min(window_s, 30.0))
        rows += diagnose_cost.diagnose_cost(10 if quick else 50, 3)
        rows.append(diagnose_cost.linear(3))
        reason = node_cost.can_run()
        if reason is None:
            rows += node_cost.node_cost(Path(scratch) / "bed", max(window_s, 20.0))
        else:
            left_out.append(f"cost on a node: {reason}")
    sys.stderr.write(table(rows) + "\n" + "".join(f"left out: {line}\n" for line in left_out))
    sys.stdout.write(document(rows, left_out) + "\n")
    return 1 if any(row.within is False for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
