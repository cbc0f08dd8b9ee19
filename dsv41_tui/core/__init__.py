"""Pure values and pure functions: the standard library and pydantic, no I/O, no clock, no framework."""
