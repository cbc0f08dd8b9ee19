"""Parts of the RDMA pane: each writes rows from a view, and knows nothing of widgets."""
