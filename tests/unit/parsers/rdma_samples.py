"""Samples of HCAs as the files that a frame of the collector gives."""

from __future__ import annotations

from parser_samples import sample


def gb10() -> dict[str, str]:
    """Two functions of one ConnectX-7; lines `PATH: VALUE`, EINVAL where a read fails."""
    files: dict[str, str] = {}
    for line in sample("rdma/gb10-ib-sysfs.txt").splitlines():
        path, _, value = line.partition(": ")
        if not path.startswith("/sys") or value == "EINVAL":
            continue
        if path.endswith("/device/net/"):
            files[f"{path}{value}/flags"] = "0x1043\n"
            path, value = f"{path}{value}/mtu", "9000"
        files[path] = f"{value}\n"
    return files


def rxe() -> dict[str, str]:
    """Software RoCE of a virtual machine; lines `./FILE: VALUE`."""
    pairs = (line.partition(": ") for line in sample("rdma/vm-sys-class-infiniband-rxe0.txt").splitlines())
    return {path.replace("./", "/sys/class/infiniband/rxe0/", 1): f"{value}\n" for path, _, value in pairs}


def admin_down() -> list[dict[str, str]]:
    """The same port before, while and after its interface was set down."""
    moments: list[dict[str, str]] = []
    for line in sample("rdma/vm-fault-netdev-admin-down.txt").splitlines():
        if line.startswith("== "):
            moments.append({})
        name, divider, value = line.partition(": ")
        if divider and not name.startswith(("\t", "cat", "[")) and (name in KNOWN or "/" in name):
            moments[-1][f"/sys/class/infiniband/rxe0/ports/1/{name}"] = f"{value}\n"
    return moments


KNOWN = ("state", "phys_state", "rate", "link_layer")
