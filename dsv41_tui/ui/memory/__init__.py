"""Parts of the memory pane: each writes rows from a view, and knows nothing of widgets."""
