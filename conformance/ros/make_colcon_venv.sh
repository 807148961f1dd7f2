#!/bin/sh
# Make a virtual environment with colcon, ament_cmake and rosidl of ROS 2 Jazzy, from PyPI; for tests only.
#
#     make_colcon_venv.sh FOLDER [PYTHON]
#
# PYTHON is 3.11. The wheels name folders of the machine on which they were made; those of this one take their place.
set -eu
folder=$1 python=${2:-python3}
sh "$(dirname "$0")/make_rclpy_venv.sh" jazzy "$folder" "$python"
ament() { for name; do echo "ros-jazzy-ament-cmake-$name"; done; }
rosidl() { for name; do echo "ros-jazzy-rosidl-$name"; done; }
# shellcheck disable=SC2046
"$folder/bin/python" -m pip install --quiet --disable-pip-version-check colcon-common-extensions \
    ros-jazzy-ament-cmake ros-jazzy-ament-package ros-jazzy-ament-index-python ros-jazzy-python-cmake-module \
    ros-jazzy-rpyutils ros-jazzy-gmock-vendor ros-jazzy-gtest-vendor ros-jazzy-fastrtps-cmake-module \
    ros-jazzy-domain-coordinator \
    $(ament core export-definitions export-dependencies export-include-directories export-interfaces export-libraries \
        export-link-flags export-targets gen-version-h gmock gtest include-directories libraries pytest python ros \
        target-dependencies test vendor-package version) \
    $(rosidl adapter cli cmake core-generators core-runtime default-generators default-runtime generator-c \
        generator-cpp generator-py generator-type-description parser pycommon runtime-c runtime-cpp typesupport-c \
        typesupport-cpp typesupport-fastrtps-c typesupport-fastrtps-cpp typesupport-interface \
        typesupport-introspection-c typesupport-introspection-cpp)
include=$("$folder/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["include"])')
packages=$("$folder/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
grep -rl /opt/python/cp311-cp311 "$folder/share" --include='*.cmake' | xargs -r sed -i \
    -e "s#/opt/python/cp311-cp311/include/python3.11#$include#g" \
    -e "s#/opt/python/cp311-cp311/lib/python3.11/site-packages#$packages#g"
