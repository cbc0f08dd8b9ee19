"""Whole machines by QEMU's software emulation: systemd, kernel NFS, soft-RoCE, docker. `make test-vm` uses them."""
