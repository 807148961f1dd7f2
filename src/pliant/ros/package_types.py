"""The message and service types of a robot as packages of ROS: the files that colcon and catkin build.

A package has the definitions of ROS 2 in ``msg`` and ``srv``, those of ROS 1 in ``ros1``, where ``time`` is a primitive
and a type name may begin with a small letter. One ``package.xml`` and one ``CMakeLists.txt`` serve both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pliant.ros.wire.types import Registry, definition, registry

STOCK = frozenset(
    (
        "action_msgs", "actionlib_msgs", "builtin_interfaces", "control_msgs", "controller_manager_msgs",
        "diagnostic_msgs", "dynamic_reconfigure", "geometry_msgs", "lifecycle_msgs", "nav_msgs", "rcl_interfaces",
        "rmw_dds_common", "rosgraph_msgs", "sensor_msgs", "service_msgs", "std_msgs", "std_srvs", "tf2_msgs",
        "trajectory_msgs", "type_description_interfaces", "unique_identifier_msgs", "visualization_msgs",
        "franka_msgs",
    )
)  # fmt: skip
"""Packages that distributions of ROS, or the makers of robots, have."""
VERSION = "0.0.1"


@dataclass(slots=True)
class TypePackage:
    """A package of message and service types."""

    name: str
    """Its name, which is part of the names of its types."""
    texts: dict[tuple[int, str], str] = field(default_factory=dict)
    """(generation of ROS, file below the folder of that generation) -> definition."""
    needs: dict[int, set[str]] = field(default_factory=lambda: {1: set(), 2: set()})
    """Generation of ROS -> packages with types that are used."""

    def files(self) -> dict[str, str]:
        """Return the files of the package, by path."""
        found = {(f"ros1/{file}" if version == 1 else file): text for (version, file), text in self.texts.items()}
        found["package.xml"] = package_xml(
            self.name,
            f"Message and service types of pliant below the name {self.name}.",
            {version: sorted(names) for version, names in self.needs.items()},
            generates=True,
        )
        found["CMakeLists.txt"] = self._cmake()
        return found

    def _cmake(self) -> str:
        def names(version: int, folder: str) -> list[str]:
            return sorted(f.partition("/")[2] for v, f in self.texts if v == version and f.startswith(f"{folder}/"))

        lines = ["cmake_minimum_required(VERSION 3.8)", f"project({self.name})", ""]
        needs = sorted(self.needs[1])
        lines += [
            'if(NOT "$ENV{ROS_VERSION}" STREQUAL "2")',
            f"  find_package(catkin REQUIRED COMPONENTS {' '.join(['message_generation', *needs])})",
        ]
        for folder, command in (("msg", "add_message_files"), ("srv", "add_service_files")):
            if names(1, folder):
                lines.append(f"  {command}(DIRECTORY ros1/{folder} FILES {' '.join(names(1, folder))})")
        lines += [
            f"  generate_messages({'DEPENDENCIES ' + ' '.join(needs) if needs else ''})",
            f"  catkin_package(CATKIN_DEPENDS {' '.join(['message_runtime', *needs])})",
            "else()",
            "  find_package(ament_cmake REQUIRED)",
            "  find_package(rosidl_default_generators REQUIRED)",
        ]
        needs = sorted(self.needs[2])
        lines += [f"  find_package({name} REQUIRED)" for name in needs]
        files = [f'"{folder}/{name}"' for folder in ("msg", "srv") for name in names(2, folder)]
        more = f" DEPENDENCIES {' '.join(needs)}" if needs else ""
        lines += [
            f"  rosidl_generate_interfaces(${{PROJECT_NAME}} {' '.join(files)}{more})",
            "  ament_export_dependencies(rosidl_default_runtime)",
            "  ament_package()",
            "endif()",
        ]
        return "\n".join(lines) + "\n"


def package_xml(name: str, text: str, needs: Mapping[int, Iterable[str]], *, generates: bool = False) -> str:
    """Return a ``package.xml`` of format 3, which holds for ROS 1 and ROS 2.

    Args:
        name: name of the package.
        text: what it is.
        needs: generation of ROS -> packages that it depends on.
        generates: whether it has message or service types.
    """
    lines = [
        '<?xml version="1.0"?>',
        '<package format="3">',
        f"  <name>{name}</name>",
        f"  <version>{VERSION}</version>",
        f"  <description>{text}</description>",
        '  <maintainer email="nobody@example.org">nobody</maintainer>',
        "  <license>Apache-2.0</license>",
        '  <buildtool_depend condition="$ROS_VERSION != 2">catkin</buildtool_depend>',
        '  <buildtool_depend condition="$ROS_VERSION == 2">ament_cmake</buildtool_depend>',
    ]
    if generates:
        lines += [
            '  <build_depend condition="$ROS_VERSION != 2">message_generation</build_depend>',
            '  <exec_depend condition="$ROS_VERSION != 2">message_runtime</exec_depend>',
            '  <buildtool_depend condition="$ROS_VERSION == 2">rosidl_default_generators</buildtool_depend>',
            '  <exec_depend condition="$ROS_VERSION == 2">rosidl_default_runtime</exec_depend>',
            '  <member_of_group condition="$ROS_VERSION == 2">rosidl_interface_packages</member_of_group>',
        ]
    kind = "depend" if generates else "exec_depend"
    for version in (1, 2):
        lines += [f'  <{kind} condition="$ROS_VERSION == {version}">{name}</{kind}>' for name in needs[version]]
    lines += [
        "  <export>",
        '    <build_type condition="$ROS_VERSION != 2">catkin</build_type>',
        '    <build_type condition="$ROS_VERSION == 2">ament_cmake</build_type>',
        "  </export>",
        "</package>",
    ]
    return "\n".join(lines) + "\n"


def type_packages(types: Mapping[int, Iterable[str]]) -> list[TypePackage]:
    """Return the packages of the types that no distribution has, with the types inside them.

    Args:
        types: generation of ROS -> names of message and service types that are used.
    """
    found: dict[str, TypePackage] = {}
    for version, names in types.items():
        known = registry(version)
        for name in sorted(set(names)):
            _add(found, known, name)
    return [found[name] for name in sorted(found)]


def _add(found: dict[str, TypePackage], known: Registry, name: str) -> None:
    package, _, kind = name.partition("/")
    if package in STOCK:
        return
    made = found.setdefault(package, TypePackage(package))
    service = None if name in known else known.service(name)
    folder, parts = ("msg", [known.message(name)]) if service is None else ("srv", [service.request, service.response])
    place = (known.version, f"{folder}/{kind}.{folder}")
    if place in made.texts:
        return
    made.texts[place] = "---\n".join(definition(part, known.version) for part in parts)
    for part in parts:
        for item in part.fields:
            if item.base in ("time", "duration"):
                if known.version == 2:
                    made.needs[2].add("builtin_interfaces")
            elif not item.primitive:
                if not item.base.startswith(f"{package}/"):
                    made.needs[known.version].add(item.base.partition("/")[0])
                _add(found, known, item.base)
