"""Whole Linux machines as ordinary processes: user-mode Linux, each with its own kernel, NFS, sshd and power plug."""
