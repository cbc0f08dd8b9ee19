"""Logs of all nodes: followed, recorded, and looked through for what they say of the cluster's state."""
