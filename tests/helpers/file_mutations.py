"""Structure-aware mutations of every format of file that pliant reads, and what reading them may cost.

Also a program, for long runs:

    python tests/helpers/file_mutations.py 100000 --seed 1
"""

from __future__ import annotations

import argparse
import copy
import io
import json
import random
import resource
import struct
import sys
import tempfile
import time
import traceback
import warnings
import xml.etree.ElementTree as ET
import zipfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import yaml

import pliant
from pliant.base.errors import PliantError
from pliant.cli.replay import _show_dump
from pliant.engine.identified import _read as read_identified
from pliant.feet.measured import read_trials, write_trials
from pliant.feet.trials import Trial, Trials
from pliant.formats.manager import read_manager
from pliant.franka.client.position_file import read_positions
from pliant.identification.measurements import read_measurement
from pliant.learn.policy import Policy
from pliant.papers.frame.curves import read_curve
from pliant.recording.recording import read_recording
from pliant.rods.loaders import load_description
from pliant.rods.tables import read_table
from pliant.ros.bags import read_bag
from pliant.simulation import read_commands, read_scenario
from pliant.yarp.formats.ini import read_ini

MAX_SECONDS = 5.0
MAX_GROWTH = 1 << 30
DATA = Path(__file__).parent.parent / "data"

NUMBERS = ["0", "-1", "1", "nan", "inf", "-inf", "1e308", "1e-320", "9" * 400, "2147483648", "-2147483649",
           "9223372036854775808", "1e12", "0x10", "1_000", "", " ", "0.5 0.5", "1e999", "true", "٣"]  # fmt: skip
TEXTS = ["", " ", "a", "../../etc/passwd", "/dev/zero", "é" * 30, "a/b", "x" * 5000, "%s%n", "{}", "\t", "world"]


def _value(chance: random.Random) -> str:
    return chance.choice(NUMBERS if chance.random() < 0.7 else TEXTS)


# ---------------------------------------------------------------------- one mutation of each kind of file
def mutate_xml(chance: random.Random, seed: bytes) -> bytes:
    root = ET.fromstring(seed)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        elements = list(root.iter())
        element, other = chance.choice(elements), chance.choice(elements)
        kind = chance.randrange(9)
        if kind <= 3 and element.attrib:
            element.set(chance.choice(list(element.attrib)), _value(chance))
        elif kind == 4 and element.attrib:
            del element.attrib[chance.choice(list(element.attrib))]
        elif kind == 5 and len(element):
            element.remove(chance.choice(list(element)))
        elif kind == 6:
            element.append(copy.deepcopy(other) if len(list(other.iter())) < 50 else ET.Element(other.tag))
        elif kind == 7 and other.attrib:
            name = chance.choice(list(other.attrib))
            element.set(name, other.get(name, ""))
        elif chance.random() < 0.5:
            element.tag = other.tag
        else:
            element.text = _value(chance)
    return ET.tostring(root)


def _tree(chance: random.Random, value: Any) -> Any:
    if isinstance(value, dict) and value and chance.random() < 0.85:
        key = chance.choice(list(value))
        out = dict(value)
        kind = chance.randrange(8)
        if kind == 0:
            del out[key]
        elif kind == 1:
            out[_value(chance)] = out.pop(key)
        else:
            out[key] = _tree(chance, value[key])
        return out
    if isinstance(value, list) and value and chance.random() < 0.85:
        i = chance.randrange(len(value))
        return [*value[:i], _tree(chance, value[i]), *value[i + chance.randrange(2) :]]
    return chance.choice([None, True, -1, 0, 1e308, float("nan"), float("inf"), 10**400, 2**63, "a", "", [], {}, [[1]],
                          {"a": {"a": 1}}, "1e-3", [None], -0.0, 10**12])  # fmt: skip


def mutate_yaml(chance: random.Random, seed: bytes) -> bytes:
    value = yaml.safe_load(seed)
    for _ in range(chance.choice((1, 1, 2, 3))):
        value = _tree(chance, value)
    return yaml.safe_dump(value, sort_keys=False).encode()


def mutate_json(chance: random.Random, seed: bytes) -> bytes:
    value = json.loads(seed)
    for _ in range(chance.choice((1, 1, 2, 3))):
        value = _tree(chance, value)
    return json.dumps(value).encode()


def mutate_lines(chance: random.Random, seed: bytes) -> bytes:
    lines = seed.decode().splitlines()
    for _ in range(chance.choice((1, 1, 2, 4))):
        if not lines:
            break
        i = chance.randrange(len(lines))
        separator = "," if "," in lines[i] else " "
        cells = lines[i].split(separator)
        kind = chance.randrange(6)
        if kind <= 2:
            cells[chance.randrange(len(cells))] = _value(chance)
            lines[i] = separator.join(cells)
        elif kind == 3:
            lines[i] = separator.join(cells[:-1] if chance.random() < 0.5 else [*cells, cells[0]])
        elif kind == 4:
            lines.insert(i, chance.choice(lines))
        else:
            del lines[i]
    return ("\n".join(lines) + "\n").encode()


def mutate_bytes(chance: random.Random, seed: bytes) -> bytes:
    data = bytearray(seed)
    for _ in range(chance.choice((1, 1, 2, 5))):
        if len(data) < 9:
            break
        i = chance.randrange(len(data) - 8)
        kind = chance.randrange(5)
        if kind == 0:
            data[i] ^= 1 << chance.randrange(8)
        elif kind == 1:
            lie = chance.choice((0, 1, 0xFF, 0xFFFF, 2**31 - 1, 2**32 - 1, 2**40, 2**63))
            data[i : i + 8] = struct.pack("<Q", lie)
        elif kind == 2:
            data[i : i + 4] = struct.pack("<I", chance.choice((0, 1, 0x7FFFFFFF, 0xFFFFFFFF)))
        elif kind == 3:
            del data[i : i + chance.randrange(1, 200)]
        else:
            data[i:i] = data[i : i + chance.randrange(1, 200)]
    return bytes(data)


def npy_bytes(shape: str, dtype: str, body: bytes = b"") -> bytes:
    """Return an array whose header claims a shape and a type."""
    header = f"{{'descr': {dtype}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + body


def mutate_npz(chance: random.Random, seed: bytes) -> bytes:
    if chance.random() < 0.25:
        return mutate_bytes(chance, seed)
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(seed)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        names = old.namelist()
        target = chance.choice(names)
        for name in names:
            data = old.read(name)
            if name == target:
                kind = chance.randrange(7)
                if kind == 0:
                    continue
                if kind == 1:
                    data = mutate_bytes(chance, data)
                elif kind == 2:
                    shape = chance.choice(("(1000000000000,)", "()", "(-1,)", "(0,)", "(3, 2)", "('a',)", "(True,)"))
                    data = npy_bytes(shape, "'<f8'", bytes(48))
                elif kind == 3:
                    kinds = (
                        "'|O'",
                        "'<U3'",
                        "'<M8[s]'",
                        "'<c16'",
                        "'|b1'",
                        "'|V0'",
                        "[('a', '<f8')]",
                        "'<i8'",
                        "'|S0'",
                    )
                    data = npy_bytes("(3,)", chance.choice(kinds), bytes(48))
                elif kind == 4:
                    name = chance.choice(("a", "../x.npy", "time.npy", "é.npy", "time"))
                elif kind == 5:
                    array = chance.choice((np.array(1.0), np.array(["a"]), np.full(4, np.nan), np.ones((2, 2, 2))))
                    held = io.BytesIO()
                    np.save(held, array)
                    data = held.getvalue()
                else:
                    data = b"not an array"
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a name that occurs twice
                new.writestr(name, data)
    return out.getvalue()


# ---------------------------------------------------------------------- formats
@dataclass(frozen=True)
class Kind:
    """A format: a valid file of it, how it is mutated, and who reads it."""

    name: str
    seed: bytes
    mutate: Callable[[random.Random, bytes], bytes]
    read: Callable[[Path], Any]
    beside: dict[str, bytes] = field(default_factory=dict)


MJCF = b"""<mujoco><compiler angle="radian"/><option timestep="0.001"/><size nuserdata="3"/>
<default><default class="c"><geom size="0.1"/></default></default>
<asset><texture name="t" type="2d" builtin="flat" width="4" height="4"/><material name="m" texture="t"/>
<hfield name="h" nrow="3" ncol="3" size="1 1 1 1"/></asset>
<worldbody><replicate count="3" offset="0.1 0 0"><geom size="0.01"/></replicate><body name="b" pos="0 0 1">
<joint name="j" type="hinge" range="-1 1" limited="true"/><geom name="g" class="c" material="m" mass="1"/>
<site name="s"/><flexcomp name="f" type="grid" count="2 2 1" spacing=".1 .1 .1" dim="2"/></body></worldbody>
<actuator><motor name="a" joint="j" ctrlrange="-1 1"/></actuator><sensor><jointpos joint="j"/><user dim="3"/></sensor>
<keyframe><key qpos="0.1"/></keyframe></mujoco>"""
SDF = b"""<sdf version="1.7"><model name="m"><link name="a"><inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy>
<izz>1</izz><ixy>0</ixy><ixz>0</ixz><iyz>0</iyz></inertia></inertial><collision name="c"><pose>0 0 0 0 0 0</pose>
<geometry><box><size>1 1 1</size></box></geometry></collision></link><link name="b"><pose>0 0 1 0 0 0</pose><inertial>
<mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz><ixy>0</ixy><ixz>0</ixz><iyz>0</iyz></inertia></inertial>
</link><joint name="w" type="fixed"><parent>world</parent><child>a</child></joint>
<joint name="j" type="revolute"><parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz><limit>
<lower>-1</lower><upper>1</upper><effort>3</effort></limit></axis></joint></model></sdf>"""
MESHED = b"""<robot name="r"><link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0"
iyz="0"/></inertial><collision><geometry><mesh filename="m%s"/></geometry></collision></link></robot>"""
CSV = b"time,motor_1_position,motor_2_position,torque,position\n" + b"".join(
    b"%.3f,%.4f,0.1,%.4f,%.4f\n" % (i * 0.01, i * 0.02, i * 0.1, i * 0.03) for i in range(8)
)
SCENARIO = b"""events:
  - {event: set, at: 0.0, device: joint, values: {equilibrium_position: 0.5, stiffness_preset: 0.5}}
  - {event: external_torque, at: 1.0, device: joint, torque: -0.2, duration: 0.5}
  - {event: gains, at: 2.0, device: joint, gains: {motor: 1, kp: 60.0, kd: 4.5}}
  - {event: mode, at: 3.0, device: joint, mode: motor_torques}
  - {event: payload, at: 3.2, body: link_5, mass: 0.3, offset: [0.05, 0.0, 0.0], duration: 2.0}
  - {event: stop, at: 3.5}
"""
IDENTIFIED = (
    b'{"estimates": [{"name": "k", "value": 1.5}, {"name": "c", "value": 0.1}], "covariance": [[1, 0], [0, null]]}'
)
OBJ = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
STL = b"\0" * 80 + struct.pack("<I", 4) + b"".join(
    struct.pack("<12fH", 0, 0, 1, *map(float, a + b + c), 0)
    for a, b, c in (
        ((0, 0, 0), (0, 1, 0), (1, 0, 0)),
        ((0, 0, 0), (1, 0, 0), (0, 0, 1)),
        ((0, 0, 0), (0, 0, 1), (0, 1, 0)),
        ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    )
)  # fmt: skip


def _npz(**arrays: Any) -> bytes:
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


def _recorded() -> bytes:
    """Return what a recorder writes of a run."""
    from pliant.devices import make_devices
    from pliant.engine import MujocoEngine
    from pliant.simulation import Simulation

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.mcap"
        robot = pliant.load(DATA / "sea_joint.urdf")
        with Simulation(MujocoEngine(robot), make_devices(robot), pacer="free", recorder=path) as simulation:
            simulation.step(30)
        return path.read_bytes()


def _commanded() -> bytes:
    """Return a bag of ROS 2 with commands."""
    from pliant.recording.mcap import McapWriter
    from pliant.recording.record_file import MESSAGE
    from pliant.recording.recorder import MESSAGE_HEAD

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.mcap"
        writer = McapWriter(path)
        schema = writer.add_schema("std_msgs/msg/Float64", "ros2msg", "float64 data\n")
        channel = writer.add_channel(schema, "/arm/elbow/equilibrium_position", "cdr", {})
        for i in range(20):
            body = b"\0\1\0\0" + struct.pack("<d", 0.1 * i)
            head = MESSAGE_HEAD.pack(MESSAGE, MESSAGE_HEAD.size - 9 + len(body), channel, i, i, i)
            writer.append(channel, i, head + body)
        writer.close()
        return path.read_bytes()


def _policy() -> bytes:
    policy = Policy(
        robot="sea-1dof",
        observations=("joint/position", "input/goal"), commands=("joint/equilibrium_position",), period=0.01,
        low=np.array([-1.0]), high=np.array([1.0]), mean=np.zeros(2), scale=np.ones(2), joints=("joint",),
        layers=((np.ones((3, 2)), np.zeros(3)), (np.ones((1, 3)), np.zeros(1))),
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        return policy.save(Path(folder) / "p.npz").read_bytes()


def _trials() -> bytes:
    trials = Trials(trials=(Trial(20.0, 0.005, 1), Trial(20.0, 0.01, 1)), force=np.full((2, 3), 7.0),
                    pitch=np.full((2, 6), 0.01))  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        write_trials(path, trials)
        return path.read_bytes()


def kinds() -> list[Kind]:
    """Return every format with a valid file."""
    times = np.arange(8) * 0.01
    columns = {"time": times, "motor_1_position": times, "motor_2_position": times, "torque": times, "position": times}
    dump = {"time": times, "qpos": np.zeros((8, 2)), "qvel": np.zeros((8, 2)), "joints": np.array(["a", "b"])}
    rods = (Path(pliant.__file__).parent / "rods" / "catalogue" / "3RR.yaml").read_bytes()
    urdf = [(DATA / f"{name}_joint.urdf").read_bytes() for name in ("qbmove", "sea", "awas_ii")]
    robot = f"model: {DATA / 'sea_joint.urdf'}\noption: {{timestep: 0.001}}\n".encode()
    return [
        *[Kind(f"arm{i}.urdf", seed, mutate_xml, pliant.load) for i, seed in enumerate(urdf)],
        Kind("arm.xml", MJCF, mutate_xml, pliant.load),
        Kind("arm.sdf", SDF, mutate_xml, pliant.load),
        Kind("bytes.urdf", urdf[0], mutate_bytes, pliant.load),
        Kind("robot.yaml", robot, mutate_yaml, pliant.load),
        Kind("rods.yaml", rods, mutate_yaml, load_description),
        Kind("rods.json", json.dumps(yaml.safe_load(rods)).encode(), mutate_json, load_description),
        Kind("obj.urdf", MESHED % b".obj", lambda _, seed: seed, pliant.load, {"m.obj": OBJ}),
        Kind("stl.urdf", MESHED % b".stl", lambda _, seed: seed, pliant.load, {"m.stl": STL}),
        Kind(
            "manager.yaml", (DATA / "manager.yaml").read_bytes(), mutate_yaml, lambda p: read_manager(p, ["joint"], {})
        ),
        Kind("board.ini", b"[a]\nx 1 2\ny (1 2 3)\n[b]\nz 1\n", mutate_lines, read_ini),
        Kind("events.yaml", SCENARIO, mutate_yaml, read_scenario),
        Kind("steps.csv", b"time,motors/position\n0,1\n0.1,2\n0.2,3\n", mutate_lines, read_commands),
        Kind("steps.yaml", b"time: [0, 0.1]\nmotors/position: [1, 2]\n", mutate_yaml, read_commands),
        Kind("steps.json", b'{"time": [0, 0.1], "motors/position": [1, 2]}', mutate_json, read_commands),
        Kind("steps.npz", _npz(time=times, **{"motors/position": times}), mutate_npz, read_commands),
        Kind("data.csv", CSV, mutate_lines, read_measurement),
        Kind("data.npz", _npz(**columns), mutate_npz, read_measurement),
        Kind("dump.npz", _npz(**dump), mutate_npz, lambda p: _show_dump(p, True, None)),  # type: ignore[arg-type]
        Kind("policy.npz", _policy(), mutate_npz, Policy.load),
        Kind("fit.json", IDENTIFIED, mutate_json, read_identified),
        Kind("poses.csv", b"q1,q2\n1,2\n3,4\n", mutate_lines, lambda p: read_table(p, [2])),
        Kind("curve.csv", b"time,torque\n0,1\n1,2\n", mutate_lines, read_curve),
        Kind("home.pos", b"#PANDA\nR: 1 2 3 4 5 6 7\n", mutate_lines, read_positions),
        Kind("trials.csv", _trials(), mutate_lines, lambda p: read_trials(p, count=2)),
        Kind("run.mcap", _recorded(), mutate_bytes, read_recording),
        Kind("bag.mcap", _commanded(), mutate_bytes, read_bag),
    ]


@dataclass
class Found:
    """What some mutations did."""

    cases: int = 0
    refused: int = 0
    faults: list[str] = field(default_factory=list)
    slowest: float = 0.0
    grown: int = 0


def try_one(kind: Kind, seed: str, folder: Path, found: Found) -> None:
    """Read one mutated file; note anything but a PliantError, and what takes too long."""
    chance = random.Random(seed)
    path = folder / kind.name
    path.write_bytes(kind.mutate(chance, kind.seed))
    for name, data in kind.beside.items():
        mutate = mutate_lines if name.endswith(".obj") and chance.random() < 0.7 else mutate_bytes
        (folder / name).write_bytes(mutate(chance, data))
    found.cases += 1
    began = time.perf_counter()
    stdout, sys.stdout = sys.stdout, io.StringIO()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            kind.read(path)
    except PliantError:
        found.refused += 1
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        lines = traceback.extract_tb(error.__traceback__)
        places = [f"{Path(f.filename).name}:{f.lineno}" for f in lines[-2:]]
        found.faults.append(f"{seed}: {type(error).__name__}: {str(error)[:150]} at {' '.join(places)}")
    finally:
        sys.stdout = stdout
    took = time.perf_counter() - began
    found.slowest = max(found.slowest, took)
    if took > MAX_SECONDS:
        found.faults.append(f"{seed}: took {took:.1f} s")


def fuzz_files(count: int, seed: int, only: str = "") -> Found:
    """Read mutated files, the same number of each format."""
    found = Found()
    chosen = [kind for kind in kinds() if kind.name == only or not only]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with tempfile.TemporaryDirectory() as folder:
        for i in range(-(-count // len(chosen))):
            for kind in chosen:
                try_one(kind, f"{kind.name}-{seed}-{i}", Path(folder), found)
    found.grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    if found.grown > MAX_GROWTH:
        found.faults.append(f"memory grew by {found.grown} bytes")
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    mujoco.set_mju_user_warning(lambda _: None)
    result = fuzz_files(given.count, given.seed, given.only)
    print(f"{result.cases} files, {result.refused} refused, slowest {result.slowest:.2f} s, {result.grown >> 20} MB")
    places = Counter(fault.rsplit(" at ", 1)[-1] for fault in result.faults)
    seen: set[str] = set()
    for fault in result.faults:
        place = fault.rsplit(" at ", 1)[-1]
        if place not in seen:
            seen.add(place)
            print(f"{places[place]} x {fault}")
