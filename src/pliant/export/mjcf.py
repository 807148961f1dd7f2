"""A robot as MuJoCo's MJCF."""

from __future__ import annotations

import contextlib
import math
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco

from pliant.base.errors import ModelError
from pliant.engine.abi import library
from pliant.export.comparison import describe_difference
from pliant.export.native import replace_actuators
from pliant.export.written import RobotExport
from pliant.model.description import key_frames
from pliant.model.interface import ModelPart
from pliant.model.robot import Robot
from pliant.model.sensors import SensorDescription
from pliant.model.wanted import check_robot
from pliant.ros2_control.geometry import MESH_FOLDER

DIGITS = 15
"""Significant digits of the numbers in the file; MuJoCo's own default of 6 changes masses by up to 1e-6."""
_PRECISION = threading.Lock()  # the number of digits belongs to the process


@dataclass(frozen=True, slots=True, kw_only=True)
class MjcfExport(RobotExport):
    """A robot as MJCF, in memory, with the meshes that no file holds as MuJoCo reads them (those of a URDF)."""

    warnings: tuple[str, ...] = ()
    """What the file needs to move as the robot does in pliant; the text has these sentences as a comment."""


def describe_mjcf(robot: Robot, *, native: bool = False, fit: bool = False) -> MjcfExport:
    """Return a robot as MJCF, with its compliant actuators as user actuators and the key frame "rest".

    Plain MuJoCo applies no force of a user actuator. A program that loads the file calls `pliant.engine.install` with
    the model before the first step; the file says so. Meshes and textures stay where the robot's own file has them;
    meshes of a URDF, which has names and formats that MuJoCo lacks, come with the export.

    Args:
        robot: the robot.
        native: whether the compliant actuators become tendons, joints and actuators of MuJoCo, with which the file
            moves without pliant.
        fit: whether, with ``native``, what MuJoCo has approximately only is written, with the error that
            `pliant.export.comparison` measures; a spring that it lacks becomes a cubic spline at its preset.

    Raises:
        ModelError: MuJoCo refuses the robot, or it holds what no file can, such as rods that are a flex, or
            with ``native`` an actuator has a block that MuJoCo lacks, or without ``fit`` has approximately only.
    """
    check_robot(robot, "describe_mjcf", compiled=False)
    if fit and not native:
        raise ModelError("describe_mjcf: fit needs native=True", field="fit")
    model, spec = robot.compile(), robot.assemble()
    for key, k in key_frames(spec, model):
        key.qpos, key.qvel = model.key_qpos[k], model.key_qvel[k]
        key.act, key.ctrl = model.key_act[k], model.key_ctrl[k]
    for part in robot.devices:
        if isinstance(part, ModelPart):
            part.export(spec, model)
    try:
        said = replace_actuators(robot, spec, model, fit) if native else _needed_callbacks(robot)
        _complete_inertials(spec)
        if native and said:
            said = [*said, *describe_difference(robot, spec.compile())]
        meshes, missing = _locate_files(spec)
        warnings = [*said, *missing]
        with _all_digits():
            text = _with_options(spec.to_xml(), spec.option)
    except (ValueError, RuntimeError) as error:
        raise ModelError(f"MuJoCo cannot write the model: {' '.join(str(error).split())}") from error
    # Two hyphens would end the comment.
    comment = "".join(f"<!-- warning: {warning.replace('--', '- -')} -->\n" for warning in warnings)
    notes = _reduced_sensors(robot, model)
    return MjcfExport(text=comment + text, warnings=tuple(warnings), meshes=meshes, notes=tuple(notes))


def _complete_inertials(spec: mujoco.MjSpec) -> None:
    """Name the centre of mass of every body with an inertia of its own: MuJoCo writes no inertia without it."""
    model = spec.compile()
    for body in spec.bodies:
        if body.id and math.isnan(body.ipos[0]) and (body.explicitinertial or body.mass > 0.0):
            body.explicitinertial = True
            body.ipos, body.iquat = model.body_ipos[body.id], model.body_iquat[body.id]
            body.mass, body.inertia = model.body_mass[body.id], model.body_inertia[body.id]


def _with_options(text: str, option: Any) -> str:
    """Name the time step and the integrator also where they are MuJoCo's own, as pliant has other defaults."""
    if "<option" not in text:
        text = text.replace("  <worldbody", "  <option/>\n\n  <worldbody", 1)
    before, _, after = text.partition("<option")
    attributes = after.partition(">")[0]
    name = mujoco.mjtIntegrator(int(option.integrator)).name.removeprefix("mjINT_")
    values = {"timestep": repr(float(option.timestep)), "integrator": {"EULER": "Euler"}.get(name, name.lower())}
    missing = "".join(f' {key}="{value}"' for key, value in values.items() if f"{key}=" not in attributes)
    return f"{before}<option{missing}{after}"


def _needed_callbacks(robot: Robot) -> list[str]:
    joints = list(robot.actuators)
    if not joints:
        return []
    shown = ", ".join(map(repr, joints[:6])) + (f", ... ({len(joints)} in all)" if len(joints) > 6 else "")
    return [
        f"the compliant actuators ({shown}) are user actuators of pliant, to which plain MuJoCo applies no torque: a "
        "program calls pliant.engine.install(model) after it has loaded this file and before the first step"
    ]


def _reduced_sensors(robot: Robot, model: mujoco.MjModel) -> list[str]:
    """Say of which sensors the file has MuJoCo's part only, and which it lacks."""
    names = [model.sensor(i).name for i in range(model.nsensor)] + [model.camera(i).name for i in range(model.ncam)]
    kept: list[str] = []
    lost: list[str] = []
    for sensor in robot.devices:
        if isinstance(sensor, SensorDescription):
            (kept if any(name.startswith(f"{sensor.name}/") for name in names) else lost).append(repr(sensor.name))
    said = []
    if kept:
        said.append(
            f"the sensors {', '.join(kept)} are MuJoCo's in this file: without the rate, noise and delay of pliant"
        )
    if lost:
        said.append(f"the sensors {', '.join(lost)} are left out: they are devices of pliant, which MuJoCo lacks")
    return said


def _locate_files(spec: mujoco.MjSpec) -> tuple[dict[str, bytes], list[str]]:
    """Give all assets the path of their file; return what comes with the export and what is missing."""
    base, missing = Path(spec.modelfiledir or "."), []
    kinds: tuple[tuple[Any, str], ...] = (
        (spec.meshes, spec.compiler.meshdir),
        (spec.hfields, spec.compiler.meshdir),
        (spec.textures, spec.compiler.texturedir),
        (spec.skins, spec.compiler.meshdir),
    )
    located: list[tuple[Any, str]] = []
    carried: dict[str, bytes] = {}
    for elements, folder in kinds:
        for element in elements:
            if not element.file:
                continue
            file = (base / folder / element.file).absolute()
            names = (f"{folder}/{element.file}", element.file, Path(element.file).name)  # where MuJoCo looks
            asset = next((name for name in names if name in spec.assets), None)
            if asset is not None:
                path = "/".join((MESH_FOLDER, *(part for part in Path(asset).parts if part not in ("..", "/"))))
                carried[path] = spec.assets[asset]
                located.append((element, path))
            elif file.is_file():
                located.append((element, str(file)))
            else:
                missing.append(element.file)
    if missing:
        names = ", ".join(map(repr, missing[:6])) + (f", ... ({len(missing)} in all)" if len(missing) > 6 else "")
        where = f" in the folder {spec.compiler.meshdir!r}" if spec.compiler.meshdir else ""
        return {}, [f"the files {names} are not part of the MJCF: copy them{where} beside it"]
    spec.compiler.meshdir = spec.compiler.texturedir = ""
    for element, path in located:
        element.file = path
    return carried, []


@contextlib.contextmanager
def _all_digits() -> Iterator[None]:
    """Let MuJoCo write numbers with `DIGITS` digits, where its library has the function for it."""
    shared = library()
    try:
        read, write = shared._mjPRIVATE__get_xml_precision, shared._mjPRIVATE__set_xml_precision
    except AttributeError:
        yield
        return
    with _PRECISION:
        before = read()
        write(DIGITS)
        try:
            yield
        finally:
            write(before)
