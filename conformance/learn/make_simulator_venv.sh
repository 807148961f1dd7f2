#!/bin/sh
# Make a virtual environment with another simulator, in which the adapters of the laws run; for tests only.
#
#     make_simulator_venv.sh mjlab|newton|playground|isaaclab FOLDER [PYTHON]
#
# PYTHON is 3.11 to 3.13. It takes one to five minutes, for mjlab most of it for PyTorch, and does nothing where FOLDER
# works already. Of Isaac Lab only the Python source is taken, without its physics and what that needs. pliant is not
# installed there: its laws are imported from this source, and need NumPy and Warp alone.
set -eu
simulator=$1 folder=$2 python=${3:-python3} source=
case $simulator in
mjlab) packages="mjlab==1.6.0 torch==2.13.0" modules="mjlab.scene, torch" ;;
newton) packages="newton[sim]==1.8.0" modules="newton.actuators, mujoco_warp" ;;
playground) packages="playground==0.2.0" modules="mujoco.mjx, jax, warp" ;;
isaaclab)
    packages="torch==2.13.0 mujoco==3.11.0 warp-lang==1.19.0 lazy_loader==0.4" source="isaaclab==3.0.0"
    modules="isaaclab.actuators, mujoco, warp"
    ;;
*)
    echo "simulator is '$simulator'; must be mjlab, newton, playground or isaaclab" >&2
    exit 2
    ;;
esac
if [ -x "$folder/bin/python" ] && "$folder/bin/python" -c "import $modules" >/dev/null 2>&1; then
    exit 0
fi
"$python" -m venv "$folder"
# shellcheck disable=SC2086 -- the packages are words
"$folder/bin/python" -m pip install --quiet --disable-pip-version-check --timeout 15 --retries 2 $packages
if [ "$source" ]; then
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --ignore-requires-python "$source"
fi
"$folder/bin/python" -c "import $modules" >/dev/null
