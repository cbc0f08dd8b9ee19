"""The tests, as a package, so that they share `tests.bed`."""
