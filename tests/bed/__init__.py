"""Real parts to test against: OpenSSH servers on loopback, machines by user-mode Linux, wires that delay or swallow."""
