"""A robot as packages of ROS: their types are the bridge's, their files are what colcon, catkin and RViz read."""

import ast
import xml.etree.ElementTree as ET

import pytest

from pliant.base.documents.yaml_tree import parse_yaml
from pliant.base.errors import PliantError
from pliant.robots import build_robot
from pliant.robots.loading import load
from pliant.ros.package import describe_packages
from pliant.ros.package_types import STOCK, type_packages
from pliant.ros.wire import Registry, registry
from pliant.ros2_control.interface import control_of


@pytest.fixture(scope="module")
def packages():
    return describe_packages(build_robot("qbmove-2dof", {}), "qbmove-2dof")


def read_types(files, version):
    """Return a registry that has read the types of packages from their files alone."""
    own = {path.split("/")[0] for path in files}
    types = Registry(version)
    for path, data in files.items():
        parts, text = path.split("/"), data.decode()
        if (parts[1] == "ros1") != (version == 1) or parts[-2] not in ("msg", "srv"):
            continue
        name = f"{parts[0]}/{parts[-1].partition('.')[0]}"
        assert parts[0] in own
        if parts[-2] == "msg":
            types.add({name: text})
        else:
            first, _, second = text.partition("---\n")
            types.add_services({name: (first, second)})
        yield name, types


def test_hashes_of_the_exported_types_are_those_of_the_bridge(packages):
    found = {name: types.rihs01(name) for name, types in read_types(packages.files, 2)}
    assert {"viactors_plugins/StateInfo", "pliant_msgs/Step"} <= found.keys()
    assert found == {name: registry(2).rihs01(name) for name in found}


def test_sums_of_the_exported_types_are_those_of_the_bridge_on_ros_1(packages):
    found = {name: types.md5sum(name) for name, types in read_types(packages.files, 1)}
    assert {"viactors_plugins/state_info", "pliant_msgs/Step"} <= found.keys()
    assert found == {name: registry(1).md5sum(name) for name in found}


def test_every_type_that_no_distribution_has_can_be_exported():
    for version in (1, 2):
        known = registry(version)
        plain = [name for name in known if name.count("/") == 1]
        for package in type_packages({version: plain}):
            assert package.name not in STOCK
            files = {f"{package.name}/{path}": text.encode() for path, text in package.files().items()}
            for name, types in read_types(files, version):
                if version == 2:
                    assert types.rihs01(name) == known.rihs01(name)
                else:
                    assert types.md5sum(name) == known.md5sum(name)


def test_package_files_name_each_generation_and_what_it_needs(packages):
    for name in packages.packages:
        root = ET.fromstring(packages.files[f"{name}/package.xml"])
        assert root.findtext("name") == name
        builds = {e.get("condition"): e.text for e in root.findall("export/build_type")}
        assert builds == {"$ROS_VERSION != 2": "catkin", "$ROS_VERSION == 2": "ament_cmake"}
        assert f"project({name})" in packages.files[f"{name}/CMakeLists.txt"].decode()
    cmake = packages.files["pliant_msgs/CMakeLists.txt"].decode()
    assert 'rosidl_generate_interfaces(${PROJECT_NAME} "srv/Step.srv" DEPENDENCIES builtin_interfaces)' in cmake
    assert "add_service_files(DIRECTORY ros1/srv FILES Step.srv)" in cmake
    assert packages.files["pliant_msgs/srv/Step.srv"].endswith(b"builtin_interfaces/Time time\n")
    assert packages.files["pliant_msgs/ros1/srv/Step.srv"].endswith(b"\ntime time\n")


def test_launch_files_controllers_and_rviz_name_what_the_robot_has(packages):
    own = packages.packages[-1]
    launch = packages.files[f"{own}/launch/run.launch.py"].decode()
    ast.parse(launch)
    assert '"qbmove-2dof"' in launch
    ET.fromstring(packages.files[f"{own}/launch/run.launch"])
    settings = parse_yaml(packages.files[f"{own}/config/controllers.yaml"], "controllers.yaml").value
    assert settings["joint_trajectory_controller"]["ros__parameters"]["joints"] == ["joint_1", "joint_2"]
    assert settings["controller_manager"]["ros__parameters"]["update_rate"] == 1000
    assert "Value: /robot_description" in packages.files[f"{own}/rviz/robot.rviz"].decode()


def test_the_exported_urdf_is_run_by_pliant_with_the_topics_of_its_hardware(packages, tmp_path):
    packages.write(tmp_path)
    robot = load(tmp_path / packages.packages[-1] / "robot.urdf", package_paths=[tmp_path])
    assert list(robot.actuators) == ["joint_1", "joint_2"]
    (system,) = control_of(robot.interface).systems
    assert system.params["joint_commands_topic"].endswith("/hardware/joint_commands")


def test_a_robot_that_urdf_cannot_carry_is_described_for_viewers():
    made = describe_packages(build_robot("softfoot", {}), "softfoot")
    assert any("cannot be run" in note for note in made.notes)
    assert ET.fromstring(made.files[f"{made.packages[-1]}/robot.urdf"]).findall("link")


def test_files_that_hold_something_else_are_not_replaced_unasked(packages, tmp_path):
    packages.write(tmp_path)
    packages.write(tmp_path)
    (tmp_path / "pliant_msgs" / "package.xml").write_text("mine")
    with pytest.raises(PliantError, match="--overwrite replaces it"):
        packages.write(tmp_path)
    packages.write(tmp_path, overwrite=True)
    assert "pliant_msgs" in (tmp_path / "pliant_msgs" / "package.xml").read_text()


def test_the_command_writes_into_a_folder_and_needs_one(tmp_path, call):
    code, out, _ = call("export", "ros-package", "sea-1dof", tmp_path / "src")
    assert code == 0
    assert (tmp_path / "src" / "viactors_plugins" / "msg" / "StateInfo.msg").read_text().startswith("float32 q\n")
    assert "written: " in out
    code, _, err = call("export", "ros-package", "sea-1dof")
    assert code != 0
    assert "the output is missing" in err
