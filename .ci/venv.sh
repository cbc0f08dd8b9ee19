#!/bin/sh
# venv.sh FOLDER runtime|dev: make the virtual environment FOLDER from the hashed lock, then put this checkout in it.
#
# FOLDER/made-from holds what it was made from; with that unchanged there is nothing to do. A folder without that
# file is somebody else's and is left alone. PYTHON names an interpreter; DSV41_NO_UV=1 takes pip where uv is installed.
set -eu

venv=$1 kind=$2
case $kind in
runtime) lock=requirements.lock ;;
dev) lock=requirements-dev.lock ;;
*) echo "venv.sh: the second word is runtime or dev, not $kind" >&2; exit 2 ;;
esac
cd "$(dirname "$0")/.."

say() { echo "venv: $*" >&2; }
die() { say "$*"; exit 1; }

# made_from KIND LOCK: the line of an environment that is up to date. The project's own metadata counts: it makes the commands.
made_from() { echo "$1 $(cat "$2" pyproject.toml | cksum) $PWD"; }

if [ -e "$venv" ]; then
    [ -f "$venv/made-from" ] || die "$venv was not made by this Makefile, so it is left alone. Move it away, or name another folder: make VENV=.venv-make ..."
    have=$(cat "$venv/made-from")
    if [ -x "$venv/bin/python" ]; then
        # The development lock holds the runtime lock.
        [ "$have" = "$(made_from dev requirements-dev.lock)" ] && exit 0
        [ "$have" = "$(made_from "$kind" $lock)" ] && exit 0
    fi
fi

find_python() {
    for candidate in ${PYTHON:-python3.13 python3.12 python3.11 python3}; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
            command -v "$candidate"
            return
        fi
    done
    die "Python 3.11 or later is needed; not found as: ${PYTHON:-python3.13 python3.12 python3.11 python3}. Install one, or name it: make PYTHON=/path/to/python3.12 ..."
}

# An interpreter of another environment would not outlive it: take the one behind it.
found=$(find_python)
python=$("$found" -c 'import os, sys; print(os.path.realpath(sys.executable))')

if [ -e "$venv" ]; then
    say "$venv is out of date; making it anew"
    rm -rf "$venv"
fi
mkdir -p "$venv"
echo unfinished >"$venv/made-from"
if [ -z "${DSV41_NO_UV:-}" ] && command -v uv >/dev/null 2>&1; then
    say "making $venv with uv and $("$python" --version)"
    uv venv --quiet --allow-existing --python "$python" "$venv"
    uv pip install --quiet --python "$venv/bin/python" --require-hashes -r $lock
    uv pip install --quiet --python "$venv/bin/python" --no-deps --no-build-isolation -e .
else
    say "making $venv with pip and $("$python" --version); this takes up to a minute"
    "$python" -m venv "$venv" >/dev/null || die "python3 -m venv failed; on Debian and Ubuntu: apt-get install python3-venv"
    "$venv/bin/python" -m pip install -qq --disable-pip-version-check --require-hashes -r $lock
    "$venv/bin/python" -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation -e .
fi
made_from "$kind" $lock >"$venv/made-from"
