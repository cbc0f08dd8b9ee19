"""I/O with nodes: SSH connections, local processes, and the scripts that are fed to a node's shell."""
