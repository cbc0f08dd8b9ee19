"""Textual: the panel's screens, panes and widgets. Paints `ClusterState`, asks `runtime`, never talks to a node."""
