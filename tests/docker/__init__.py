"""The panel against a real docker engine."""
