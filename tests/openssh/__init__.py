"""The panel against real OpenSSH servers on loopback."""
