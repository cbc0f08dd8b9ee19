"""Part of the panel; see `ui`."""
