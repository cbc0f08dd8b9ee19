"""Headless front ends over `runtime`; none of them loads Textual."""
