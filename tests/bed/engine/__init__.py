"""A real vLLM on CPU as two ranks, each in a container of its own engine on a node of its own."""
