"""The panel's own verdict on real machines with kernels, NFS and power plugs of their own."""
