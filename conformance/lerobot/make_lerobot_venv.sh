#!/bin/sh
# Make a virtual environment with LeRobot, pliant and its plugin packages; for tests only.
#
#     make_lerobot_venv.sh FOLDER [PYTHON [VERSION]]
#
# Python 3.11 takes LeRobot 0.4.4, Python 3.12 newer versions. PyTorch of the package index brings libraries for GPUs: 8 GB, five minutes.
set -eu
folder=$1 python=${2:-python3} version=${3:-}
here=$(cd "$(dirname "$0")/../.." && pwd)
if [ -x "$folder/bin/lerobot-record" ]; then
    exit 0
fi
"$python" -m venv "$folder"
if "$python" -c 'import sys; sys.exit(sys.version_info >= (3, 12))'; then
    wanted="lerobot==${version:-0.4.4}"
else
    wanted="lerobot[core_scripts,training]${version:+==$version}"
fi
PLIANT_PRECOMPILE=none "$folder/bin/python" -m pip install --quiet --disable-pip-version-check "$wanted" pylibfranka \
    -e "$here" -e "$here/packaging/lerobot_robot_pliant" -e "$here/packaging/lerobot_teleoperator_pliant"
