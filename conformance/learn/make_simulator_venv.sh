#!/bin/sh
# Make a virtual environment with another simulator, in which the adapters of the laws run; for tests only.
#
#     make_simulator_venv.sh mjlab|newton|playground FOLDER [PYTHON]
#
# PYTHON is 3.11 to 3.13. It takes one to five minutes, for mjlab most of it for PyTorch, and does nothing where FOLDER
# works already. pliant is not installed there: its laws are imported from this source, and need NumPy and Warp alone.
set -eu
simulator=$1 folder=$2 python=${3:-python3}
case $simulator in
mjlab) packages="mjlab==1.6.0 torch==2.13.0" modules="mjlab.scene, torch" ;;
newton) packages="newton[sim]==1.8.0" modules="newton.actuators, mujoco_warp" ;;
playground) packages="playground==0.2.0" modules="mujoco.mjx, jax, warp" ;;
*)
    echo "simulator is '$simulator'; must be mjlab, newton or playground" >&2
    exit 2
    ;;
esac
if [ -x "$folder/bin/python" ] && "$folder/bin/python" -c "import $modules" >/dev/null 2>&1; then
    exit 0
fi
"$python" -m venv "$folder"
# shellcheck disable=SC2086 -- the packages are words
"$folder/bin/python" -m pip install --quiet --disable-pip-version-check --timeout 15 --retries 2 $packages
"$folder/bin/python" -c "import $modules" >/dev/null
