"""Budgets of the design, each measured as a ratio to a floor or a peer of the same run; `make bench`."""
