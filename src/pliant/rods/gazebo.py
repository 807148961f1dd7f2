"""Read a robot folder of the Gazebo simulator for continuum parallel robots (Gotelli et al., ARK 2022), without ROS.

Read are ``robot_config.yaml``, the two launch files that it names, the limb descriptions (URDF through xacro) that
these spawn and ``distal_plate.sdf.xacro``. Of xacro: arg, property, ``${expressions}``; of roslaunch: arg, include,
group, param, rosparam, node, ``$(arg)``, ``$(find)``, ``$(eval)``. Defaults are the simulator's: E = 200e9,
G = 80e9, r = 1 mm, L = 1, steel of 8000 kg/m^3.
"""

from __future__ import annotations

import ast
import math
import operator
import re
import shlex
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pliant.base.documents.files import exists, is_file, read_file
from pliant.base.documents.xml_tree import parse_xml
from pliant.base.documents.yaml_tree import parse_yaml, read_yaml
from pliant.base.errors import ModelError, nearest
from pliant.base.numerics import is_finite_number
from pliant.base.options import parse_number
from pliant.base.spatial import inverse, pose, rotation_from_rpy
from pliant.rods.description import BaseJoint, DistalJoint, Limb, Plate, RobotDescription, Rod, Round, planar_turn

Config = dict[str, Any]
"""A file of YAML."""
BASE_TYPES = {"prismatic": "prismatic", "revolute": "revolute", "continuous": "revolute", "fixed": "fixed"}
PLATE_TYPES = {
    "revolute": "revolute",
    "fixed": "fixed",
    "ball": "spherical",
    "universal": "universal",
    "prismatic": "prismatic",
}
_OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Mod: operator.mod,
}
MAX_TEXT = 10_000
"""Longest text that arguments and properties expand to; each may double the one before."""
MAX_POWER = 1e100
"""Largest integer of an expression; products of integers grow without an overflow."""
MAX_FILES = 100
"""Most launch files that are read; includes multiply."""
_FUNCTIONS = {
    name: getattr(math, name) for name in ("sin", "cos", "tan", "sqrt", "radians", "degrees", "atan2", "asin", "acos")
}


def _number(text: str, names: dict[str, str], where) -> float | str:
    """Evaluate an arithmetic expression of names, numbers and a few functions; nothing else."""

    def walk(node):
        if isinstance(node, ast.Expression):
            return walk(node.body)
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return node.value
        if isinstance(node, ast.Name):
            if node.id == "pi":
                return math.pi
            if node.id not in names:
                raise where(f"{node.id!r} is not defined in ${{{text}}}; {nearest(node.id, names)}")
            value = names[node.id]
            try:
                return float(value)
            except ValueError:
                return value
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            left, right = walk(node.left), walk(node.right)
            if isinstance(left, str) or isinstance(right, str):
                raise where(f"${{{text}}} computes with text")
            if isinstance(node.op, ast.Pow) and abs(right) > 64:
                raise where(f"the power in ${{{text}}} is out of range")
            result = _OPERATORS[type(node.op)](left, right)
            if isinstance(result, complex) or (isinstance(result, int) and abs(result) > MAX_POWER):
                raise where(f"${{{text}}} leaves the range of numbers")
            return result
        if isinstance(node, ast.UnaryOp) and type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](walk(node.operand))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS:
            return _FUNCTIONS[node.func.id](*(walk(a) for a in node.args))
        raise where(f"${{{text}}} is more than the arithmetic that is read here")

    if len(text) > 500:
        raise where("an expression is longer than 500 characters")
    try:
        return walk(ast.parse(text.strip(), mode="eval"))
    except (SyntaxError, ArithmeticError, ValueError, TypeError, RecursionError, MemoryError) as fault:
        raise where(f"${{{text}}} cannot be evaluated: {fault}") from None


def expand_xacro(path: str | Path, arguments: dict[str, str] | None = None) -> ET.Element:
    """Return the XML of a xacro file with its args, properties and expressions put in.

    Raises:
        ModelError: no XML, an arg or a property that is not defined, a xacro tag that is not read here.
    """
    path = Path(path)
    root = parse_xml(read_file(path), path)
    args, properties = dict(arguments or {}), {}

    def where(message: str) -> ModelError:
        return ModelError(message, file=path)

    def short(text: str) -> str:
        if len(text) > MAX_TEXT:
            raise where(f"a text expands to more than {MAX_TEXT} characters")
        return text

    def text_of(text: str) -> str:
        for _ in range(20):  # args may hold args
            found = re.search(r"\$\(arg\s+([^)]+)\)", text)
            if found is None:
                break
            name = found.group(1).strip()
            if name not in args:
                raise where(f"xacro arg {name!r} has no value; {nearest(name, args)}")
            text = short(text[: found.start()] + str(args[name]) + text[found.end() :])
        else:
            raise where(f"the args in {text[:80]!r} refer to each other without end")
        if "$(" in text:
            raise where(f"{text!r}: only $(arg name) is read in xacro")

        def put(match) -> str:
            value = _number(match.group(1), properties, where)
            return value if isinstance(value, str) else repr(float(value))

        out = short(re.sub(r"\$\{([^}]*)\}", put, text))
        if "${" in out:
            raise where(f"{text!r}: the expression has no end")
        return out

    def walk(node: ET.Element) -> None:
        for child in list(node):
            if child.tag.startswith("xacro:"):
                name = child.tag.removeprefix("xacro:")
                key = child.get("name")
                if name not in ("arg", "property"):
                    raise where(f"xacro:{name} is not read here; must be xacro:arg or xacro:property")
                if key is None:
                    raise where(f"xacro:{name} has no name")
                if name == "arg":
                    args.setdefault(key, text_of(child.get("default", "")))
                else:
                    properties[key] = text_of(child.get("value", ""))
                node.remove(child)
                continue
            for key, value in child.attrib.items():
                child.set(key, text_of(value))
            if child.text:
                child.text = text_of(child.text)
            walk(child)

    walk(root)
    return root


@dataclass
class _Launched:
    """Requests of the launch files."""

    robot: str = ""
    limbs: dict[str, tuple[Path, dict[str, str], bool]] = field(default_factory=dict)
    plate: tuple[Path, dict[str, str]] | None = None
    spawn: dict[str, float] = field(default_factory=dict)
    underactuation: list[float] | None = None


class _Launch:
    """Reads launch files as far as the simulator needs them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.out = _Launched()
        self.depth = 0
        self.files = 0

    def package(self, name: str, path: Path) -> Path:
        for parent in self.folder.resolve().parents:
            if parent.name == name:
                return parent
            if exists(parent / name):
                return parent / name
        raise ModelError(f"package {name!r} is not in a folder above {self.folder}", file=path, field=name)

    def text(self, value: str, args: dict[str, str], path: Path) -> str:
        def arg(match) -> str:
            name = match.group(1).strip()
            if name not in args:
                raise ModelError(f"launch arg {name!r} has no value; {nearest(name, args)}", file=path, field=name)
            return args[name]

        def find(match) -> str:
            name = match.group(1).strip()
            return name if name == "xacro" else str(self.package(name, path))

        def evaluate(match) -> str:
            inner = re.fullmatch(r"\s*arg\(['\"](\w+)['\"]\)\s*", match.group(1))
            if inner is None:
                raise ModelError(f"$(eval {match.group(1)}) is not supported", file=path)
            return arg(inner)

        value = re.sub(r"\$\(eval ((?:[^()]|\([^()]*\))*)\)", evaluate, value)
        value = re.sub(r"\$\(arg ([^)]*)\)", arg, value)
        value = re.sub(r"\$\(find ([^)]*)\)", find, value)
        if len(value) > MAX_TEXT:
            raise ModelError(f"a text expands to more than {MAX_TEXT} characters", file=path)
        return value

    def words(self, value: str, args: dict[str, str], path: Path) -> list[str]:
        try:
            return shlex.split(self.text(value, args, path))
        except ValueError as fault:
            raise ModelError(f"{value[:80]!r} is no command line: {fault}", file=path) from None

    def read(self, path: Path, given: dict[str, str]) -> None:
        self.depth += 1
        self.files += 1
        if self.depth > 20:
            raise ModelError("launch files include each other in a circle", file=path)
        if self.files > MAX_FILES:
            raise ModelError(f"more than {MAX_FILES} launch files are included", file=path)
        root = parse_xml(read_file(path), path)
        self.walk(root, dict(given), path, "", set(given))
        self.depth -= 1

    def walk(self, node: ET.Element, args: dict[str, str], path: Path, space: str, fixed: set[str]) -> None:
        for child in node:
            if not isinstance(child.tag, str):
                continue
            if "if" in child.attrib and self.text(child.get("if"), args, path).lower() not in ("true", "1"):
                continue
            if "unless" in child.attrib and self.text(child.get("unless"), args, path).lower() in ("true", "1"):
                continue
            name = child.get("name", "")
            if child.tag == "arg":
                if name not in fixed:
                    value = child.get("value", child.get("default"))
                    if value is not None:
                        args[name] = self.text(value, args, path)
            elif child.tag == "group":
                inner = self.text(child.get("ns", ""), args, path)
                self.walk(child, dict(args), path, f"{space}/{inner}".strip("/"), fixed)
            elif child.tag == "include":
                inner = {
                    a.get("name", ""): self.text(a.get("value", a.get("default", "")), args, path)
                    for a in child
                    if a.tag == "arg"
                }
                self.read(Path(self.text(child.get("file", ""), args, path)), inner)
            elif child.tag == "param":
                self.param(name, child, args, path, space)
            elif child.tag == "rosparam" and child.text and "underactuation" in child.text:
                data = parse_yaml(child.text.encode(), path).value
                self.out.underactuation = data.get("underactuation_vector") if isinstance(data, dict) else None
            elif child.tag == "node" and child.get("type") == "spawn_model":
                words = self.words(child.get("args", ""), args, path)
                if "-sdf" in words:
                    for key in ("x", "y", "z", "R", "P", "Y"):
                        if f"-{key}" in words[:-1]:
                            value = words[words.index(f"-{key}") + 1]
                            try:
                                self.out.spawn[key] = float(value)
                            except ValueError:
                                raise ModelError(
                                    f"spawn argument -{key} is not a number: {value!r}", file=path
                                ) from None

    def param(self, name: str, node: ET.Element, args: dict[str, str], path: Path, space: str) -> None:
        if name == "robot_name":
            self.out.robot = self.text(node.get("value", ""), args, path)
        if name == "is_extendible" and space in self.out.limbs:
            file, given, _ = self.out.limbs[space]
            self.out.limbs[space] = (file, given, True)
        if name != "robot_description":
            return
        words = self.words(node.get("command", ""), args, path)
        if len(words) < 2 or not words[0].endswith("xacro"):
            raise ModelError(f"robot_description is not made by xacro: {words}", file=path, field=name)
        given = dict(word.split(":=", 1) for word in words[2:] if ":=" in word)
        file = Path(words[1])
        if not is_file(file):
            raise ModelError(f"the xacro file {file} does not exist", file=path, field=name)
        if space:
            self.out.limbs[space] = (file, given, False)
        else:
            self.out.plate = (file, given)


def _numbers(text: str | None, count: int, file: Path, what: str) -> np.ndarray:
    try:
        out = np.array([float(v) for v in (text or "").split()])
    except ValueError:
        raise ModelError(f"{what}: {text!r} does not contain numbers only", file=file, field=what) from None
    if len(out) != count or not np.all(np.isfinite(out)):
        raise ModelError(f"{what} needs {count} finite numbers, found {text!r}", file=file, field=what)
    return out


def _plain(values: object, file: Path, what: str) -> list[float]:
    if not isinstance(values, list) or not all(is_finite_number(v) for v in values):
        raise ModelError(f"{what} is {str(values)[:80]}; must be a list of finite numbers", file=file, field=what)
    return [float(v) for v in values]


def _six(text: str | None, file: Path, what: str) -> np.ndarray:
    v = _numbers(text if text else "0 0 0 0 0 0", 6, file, what)
    return pose(v[:3], rotation_from_rpy(v[3:]))


def _origin(joint: ET.Element, file: Path, what: str) -> np.ndarray:
    o = joint.find("origin")
    if o is None:
        return np.eye(4)
    return pose(
        _numbers(o.get("xyz", "0 0 0"), 3, file, what),
        rotation_from_rpy(_numbers(o.get("rpy", "0 0 0"), 3, file, what)),
    )


def _flat(X: np.ndarray) -> np.ndarray:
    out = X.copy()
    out[2, 3] = 0.0
    return out


class _Plate:
    """The model of the distal plate: its links and joints, and where they are.

    Raises:
        ModelError: the file has no model.
    """

    def __init__(self, file: Path, args: dict[str, str], planar: bool) -> None:
        self.file, self.planar = file, planar
        model = expand_xacro(file, args).find("model")
        if model is None:
            raise ModelError("there is no <model>", file=file, field="model")
        self.links = {link.get("name"): link for link in model.findall("link")}
        self.joints = {joint.get("name"): joint for joint in model.findall("joint")}
        self.X = self.link_pose("distal_plate")
        self.bodies = [("distal_plate", np.zeros(3))]

    def link_pose(self, name: str) -> np.ndarray:
        """Return the pose of a link, shape (4, 4)."""
        if name not in self.links:
            raise ModelError(f"there is no link {name!r}; {nearest(name, self.links)}", file=self.file, field=name)
        X = _six(self.links[name].findtext("pose"), self.file, f"pose of {name}")
        return _flat(X) if self.planar else X

    def joint_of(self, i: int, turn: np.ndarray) -> DistalJoint:
        """Return the joint of limb i, counted from 1; its two links become bodies of the plate."""
        body, tip, name = f"limb{i}_joint_body", f"limb{i}_attach_point", f"limb{i}_joint"
        X_body, X_tip = self.link_pose(body), self.link_pose(tip)
        if name not in self.joints:
            raise ModelError(f"there is no joint {name!r}; {nearest(name, self.joints)}", file=self.file)
        joint = self.joints[name]
        kind = joint.get("type", "")
        if kind not in PLATE_TYPES:
            raise ModelError(f"plate joint type {kind!r} is not known; {nearest(kind, PLATE_TYPES)}", file=self.file)
        X_joint = X_body @ _six(joint.findtext("pose"), self.file, f"pose of {name}")
        free = joint.find("axis/xyz")
        a = _numbers(free.text if free is not None else "0 0 1", 3, self.file, f"axis of {name}")
        if joint.findtext("axis/use_parent_model_frame", "false").strip() in ("true", "1"):
            a = X_joint[:3, :3].T @ a
        self.bodies += [(link, (inverse(self.X) @ X)[:3, 3]) for link, X in ((body, X_body), (tip, X_tip))]
        return DistalJoint(
            kind=PLATE_TYPES[kind],
            axis=tuple(a),
            pose=inverse(self.X) @ X_joint,
            attach=inverse(X_joint) @ X_tip @ turn,
        )

    def mass_and_center(self) -> tuple[float, np.ndarray]:
        """Return mass [kg] and centre of mass of all bodies in the axes of the plate, shape (3,) [m]."""
        masses = np.array(
            [
                float(_numbers(self.links[name].findtext("inertial/mass"), 1, self.file, f"mass of {name}")[0])
                for name, _ in self.bodies
            ]
        )
        com = sum(m * p for m, (_, p) in zip(masses, self.bodies)) / masses.sum() if masses.sum() > 0 else np.zeros(3)
        return float(masses.sum()), com


def read_gazebo_folder(folder: str | Path) -> RobotDescription:
    """Read the robot of a folder that holds ``robot_config.yaml``.

    Planar robots are told by the package of the launch files (its name holds "planar"). A planar robot with two
    actuators controls x and y as in the original.

    Raises:
        ModelError: with the file at fault.
    """
    folder = Path(folder)
    config_file = folder / "robot_config.yaml"
    config = _read_config(folder, config_file)
    planar = "planar" in str(config["launching"].get("package_name", ""))
    out, model = _read_launch_files(folder, config, config_file)
    rod = _read_rod(config.get("rod") or {}, config_file)
    plate = _Plate(*model, planar)
    order = sorted(out.limbs, key=lambda name: int(re.sub(r"\D", "", name) or 0))
    limbs = tuple(_read_limb(name, *out.limbs[name], rod, i, plate) for i, name in enumerate(order, start=1))
    mass, com = plate.mass_and_center()
    at = np.array([out.spawn.get(key, 0.0) for key in ("x", "y", "z")])
    home = pose(at, rotation_from_rpy([out.spawn.get(key, 0.0) for key in ("R", "P", "Y")]))
    actuated = sum(len(limb.joints) for limb in limbs)
    controlled = None
    if planar and actuated == 2:
        controlled = ("x", "y")
    elif out.underactuation is not None and actuated < 6 and not planar:
        names = ("x", "y", "z", "rx", "ry", "rz")
        controlled = tuple(f for f, use in zip(names, out.underactuation) if use)
    return RobotDescription(
        name=folder.name,
        limbs=limbs,
        plate=Plate(mass=0.0 if planar else mass, com=(0.0, 0.0, 0.0) if planar else tuple(com)),
        planar=planar,
        gravity=(0.0, 0.0, 0.0) if planar else (0.0, 0.0, -9.81),
        home=_flat(home) if planar else home,
        home_joints=_home_joints(config, len(limbs), actuated, planar, config_file),
        controlled=controlled,
        configurations=_configurations(config, len(limbs), planar, config_file),
        file=str(config_file),
    )


def _read_config(folder: Path, file: Path) -> Config:
    """Return the content of ``robot_config.yaml``, in which a list of launch files is known to be."""
    if not is_file(file):
        raise ModelError("there is no robot_config.yaml in this folder", file=folder, field="robot_config.yaml")
    config = read_yaml(file).value
    if not isinstance(config, dict) or not isinstance(config.get("launching"), dict):
        raise ModelError("launching: {package_name, launch_files} is missing", file=file, field="launching")
    files = config["launching"].get("launch_files")
    if not isinstance(files, list) or not files:
        raise ModelError("launching.launch_files names no launch file", file=file, field="launch_files")
    return config


def _read_launch_files(folder: Path, config: Config, file: Path) -> tuple[_Launched, tuple[Path, dict[str, str]]]:
    """Return what the launch files ask for, and the file of the plate with its arguments."""
    launch = _Launch(folder)
    for name in config["launching"]["launch_files"]:
        path = folder / (name if str(name).endswith(".launch") else f"{name}.launch")
        if not is_file(path):
            raise ModelError(f"launch file {name!r} does not exist", file=file, field="launch_files")
        launch.read(path, {})
    out = launch.out
    if out.plate is None:
        raise ModelError("no launch file describes the distal plate", file=file, field="launch_files")
    count = config.get("number_of_limbs", len(out.limbs))
    if count != len(out.limbs):
        raise ModelError(
            f"number_of_limbs is {count}, but the launch files spawn {len(out.limbs)} limbs",
            file=file,
            field="number_of_limbs",
        )
    return out, out.plate


def _read_rod(data: Config, file: Path) -> Rod:
    """Return the rod of all limbs."""
    if not isinstance(data, dict):
        raise ModelError(f"rod is {data!r}; must be a mapping", file=file, field="rod")

    def value(key: str, default: float) -> float:
        raw = data.get(key, default)
        try:
            return float(raw)
        except (TypeError, ValueError):
            raise ModelError(f"rod.{key} is not a number: {raw!r}", file=file, field=f"rod.{key}") from None

    return Rod(
        length=value("L", 1.0),
        section=Round(radius=value("radius", 1e-3)),
        young_modulus=value("E", 200e9),
        shear_modulus=value("G", 80e9),
    )


def _read_limb(name: str, file: Path, args: dict[str, str], extensible: bool, rod: Rod, i: int, plate: _Plate) -> Limb:
    """Return limb i, counted from 1, of its URDF and of the model of the plate."""
    parts = {joint.get("name"): joint for joint in expand_xacro(file, args).findall("joint")}
    for needed in ("base_joint", "fix_rod_to_joint"):
        if needed not in parts:
            raise ModelError(f"there is no joint {needed!r}; {nearest(needed, parts)}", file=file, field=needed)
    base = parts["base_joint"]
    kind = base.get("type", "")
    if kind not in BASE_TYPES:
        raise ModelError(f"base joint type {kind!r} is not known; {nearest(kind, BASE_TYPES)}", file=file, field="type")
    kind = "extension" if extensible else BASE_TYPES[kind]
    axis, limit = base.find("axis"), base.find("limit")
    direction = _numbers(axis.get("xyz") if axis is not None else "1 0 0", 3, file, "axis")
    limits = None
    if limit is not None and kind == "prismatic":
        limits = (parse_number(limit.get("lower", "-inf"), "lower"), parse_number(limit.get("upper", "inf"), "upper"))
    X_base, X_attach = _origin(base, file, "origin"), _origin(parts["fix_rod_to_joint"], file, "origin")
    turn = planar_turn() if plate.planar else np.eye(4)
    return Limb(
        name=name,
        rod=rod,
        base=_flat(X_base) if plate.planar else X_base,
        joints=() if kind == "fixed" else (BaseJoint(kind=kind, axis=tuple(direction), limits=limits),),
        attach=(_flat(X_attach) if plate.planar else X_attach) @ turn,
        distal=plate.joint_of(i, turn),
    )


def _home_joints(config: Config, limbs: int, actuated: int, planar: bool, file: Path) -> tuple[float, ...] | None:
    """Return the joint values of the initial guess, its last numbers; None where it has none."""
    guess = config.get("initial_guess")
    if guess is None:
        return None
    size = (4 if planar else 7) * limbs
    if not isinstance(guess, list) or len(guess) != size:
        raise ModelError(f"initial_guess needs {size} numbers", file=file, field="initial_guess")
    joints = tuple(_plain(guess, file, "initial_guess")[-limbs:])
    return joints if actuated == limbs else None


def _configurations(config: Config, limbs: int, planar: bool, file: Path) -> dict[str, dict[str, tuple[float, ...]]]:
    """Return the configurations that the file stores: joint values and pose."""
    tail = 3 if planar else 6
    found = {}
    vectors = config.get("user_parameters_vectors") or {}
    if not isinstance(vectors, dict) or not all(isinstance(one, dict) for one in vectors.values()):
        field = "user_parameters_vectors"
        raise ModelError(f"{field} must be mappings by name", file=file, field=field)
    for name, one in vectors.items():
        p = _plain(one.get("parameters", []), file, f"user_parameters_vectors.{name}")
        if len(p) == (4 if planar else 7) * limbs + tail:
            found[str(name)] = {"q": tuple(p[-tail - limbs : -tail]), "pose": tuple(p[-tail:])}
    return found
