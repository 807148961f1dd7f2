#!/bin/sh
# Make one virtual environment for each other FCI simulator on PyPI that benchmarks/franka_rivals.py measures.
#
#     make_franka_rivals.sh FOLDER [PYTHON]
#
# It takes about two minutes and 2 GB, and does nothing for an environment that works already. franka_drake is not on
# PyPI.
set -eu
folder=$1 python=${2:-python3}
for name in franky-sim franka-sim; do
    "$folder/$name/bin/python" -m pip show --quiet "$name" 2>/dev/null && continue
    "$python" -m venv "$folder/$name"
    "$folder/$name/bin/python" -m pip install --quiet --disable-pip-version-check --timeout 15 --retries 2 "$name"
done
