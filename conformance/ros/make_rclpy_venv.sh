#!/bin/sh
# Make a virtual environment with real rclpy nodes of a distribution of ROS 2, from PyPI; for tests only.
#
#     make_rclpy_venv.sh DISTRO FOLDER [PYTHON]
#
# DISTRO is jazzy or kilted; PYTHON is 3.10 to 3.13. It takes about half a minute and does nothing where FOLDER works already.
set -eu
distro=$1 folder=$2 python=${3:-python3}
if [ -x "$folder/bin/python" ] && "$folder/bin/python" -c 'import rclpy, sensor_msgs.msg, std_srvs.srv' 2>/dev/null; then
    exit 0
fi
"$python" -m venv "$folder"
"$folder/bin/python" -m pip install --quiet --disable-pip-version-check --timeout 15 --retries 2 \
    "ros-$distro-rclpy" "ros-$distro-rmw-fastrtps-cpp" "ros-$distro-common-interfaces"
"$folder/bin/python" -c 'import rclpy, sensor_msgs.msg, std_srvs.srv'
