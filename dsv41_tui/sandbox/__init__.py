"""The embedded cluster on loopback that the demo and the tests share."""
