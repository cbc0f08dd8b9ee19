"""What is wrong, from the state alone: one file a subject, each with `check(state, limits, now)`."""
