"""The project itself: locks, packaging, layers, what is tracked, the tools behind make."""
