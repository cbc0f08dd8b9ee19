"""The panel against a real vLLM of two ranks (`make test-engine`)."""
