"""Parts of the NFS pane: each writes rows from a view, and knows nothing of widgets."""
