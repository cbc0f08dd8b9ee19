#!/bin/sh
# not-on-gb10.sh WHAT: refuse on a GB10. WHAT fills memory and page cache, and a serving model has 2-8 GiB to spare.
# DSV41_HOST_ROOT is a prefix of the files that are read, for the test of this script.
set -eu

root=${DSV41_HOST_ROOT:-}
names='GB10|DGX[ _]Spark|GX10|ThinkStation PGX|ZGX Nano|EdgeXpert|AI TOP ATOM|Veriton GN100'

machine() {
    cat "$root/sys/class/dmi/id/product_name" "$root/proc/device-tree/model" 2>/dev/null | tr '\0' '\n'
    [ -n "$root" ] || { command -v nvidia-smi >/dev/null 2>&1 && timeout 10 nvidia-smi -L 2>/dev/null; } || true
}

if found=$(machine | grep -iE -m 1 "$names"); then
    echo "$1 does not run on a GB10 ($found): it fills memory that a serving model needs. Run it on another machine." >&2
    exit 1
fi
