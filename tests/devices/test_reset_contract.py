"""The rule of `Device.reset`: a reset returns everything that the run began with.

Every registered device of every wing gets random commands and requests; after a reset, the next second of the run, in
which it gets others, equals byte by byte that of a simulation that has just been made.
"""

import inspect

import mujoco
import numpy as np
import pytest
from native_actuators import continuum_robot

import pliant
from pliant.base.errors import DeviceError, PliantError
from pliant.devices import Board, CompliantJoint, make_devices
from pliant.devices.kinds import all_device_kinds
from pliant.engine import MujocoEngine
from pliant.engine.base import mujoco_state
from pliant.laws import CompliantActuator, QbMove
from pliant.model import Robot
from pliant.model.interface import Interface
from pliant.objects import World
from pliant.robots import build_robot
from pliant.simulation import Simulation

XML = """
<mujoco>
  <option timestep="0.002"/>
  <worldbody>
    <body name="arm"><joint name="shoulder" axis="0 1 0"/><geom name="link" size=".1" pos="0 0 -.3"/>
      <geom name="screen" type="box" size=".1 .01 .1" mass="0" contype="0" conaffinity="0"/></body>
  </worldbody>
</mujoco>
"""


def arm():
    return Robot(mujoco.MjSpec.from_string(XML))


def compliant_arm():
    return Robot(mujoco.MjSpec.from_string(XML), {"shoulder": CompliantActuator(QbMove())})


def with_objects():
    robot = arm()
    robot.devices.append(World(objects=3))
    return robot


def with_boards():
    from pliant.control_boards.description import add_control_boards

    return add_control_boards(compliant_arm(), {"arm": ["shoulder"]})


def described(module, kind, **options):
    def make():
        import importlib

        robot = arm()
        robot.devices.append(getattr(importlib.import_module(module), kind)(**options))
        return robot

    return make


def with_screen():
    from pliant.gazebo_yarp.textures import place_textures
    from pliant.yarp.model.services import VideoTexture, YarpInterface

    robot = arm()
    film = VideoTexture(name="film", link="arm", visual="screen", port="/screen", width=16, height=8)
    interface, notes = place_textures(robot.spec, YarpInterface(robot="r", devices=(film,)))
    assert not notes
    robot.interface = Interface(extensions={"yarp": interface})
    return robot


def with_sole():
    robot = pliant.load("softfoot")
    (kind,) = [kind for kind in all_device_kinds() if kind.__name__ == "Sole"]
    robot.devices.append(kind(name="device", body="attachment_cube"))
    return robot


def walking_biped():
    return build_robot("biped", {"controller": "walking", "walk_start": 0.1})


def sensor(name, **options):
    def make():
        robot = arm()
        (kind,) = [kind for kind in all_device_kinds() if kind.__name__ == name]
        robot.devices.append(kind(name="device", body="arm", **options))
        return robot

    return make


SERVICES = "pliant.yarp.model.services"
ROBOTS = {  # name of the description -> robots that have its device
    "CompliantJoint": (compliant_arm,),
    "NativeActuator": (lambda: Robot(mujoco.MjSpec.from_string(continuum_robot())),),
    "Camera": (sensor("Camera", width=16, height=12, rate=10.0),),
    "ForceTorque": (sensor("ForceTorque"),),
    "Imu": (sensor("Imu"),),
    "Laser": (sensor("Laser"),),
    "World": (with_objects,),
    "Sole": (with_sole,),
    "Press": (lambda: build_robot("softfoot", {"n_chains": 1}),),
    "FrankaArmDescription": (lambda: build_robot("franka"), lambda: build_robot("fr3", {"hand": "vacuum"})),
    "WalkingDescription": (walking_biped,),
    "ControlBoard": (with_boards,),
    "BaseState": (described(SERVICES, "BaseState", name="base", link="arm"),),
    "ExternalWrench": (described(SERVICES, "ExternalWrench", name="wrench", port="/wrench"),),
    "JointAngles": (described(SERVICES, "JointAngles", name="angles", joints=("shoulder",)),),
    "ContactLoadCells": (
        described(SERVICES, "ContactLoadCells", name="cells", link="arm", cells=("a",), positions=((0.0, 0.0, 0.0),)),
    ),
    "ModelPose": (described(SERVICES, "ModelPose", name="pose", period=0.02, link="arm", model="r"),),
    "VideoTexture": (with_screen,),
    "ParallelMechanism": (lambda: build_robot("2RR"),),
    "TendonMechanism": (lambda: build_robot("tdcr"),),
}
NAMES = sorted({kind.__name__ for kind in all_device_kinds()} | set(ROBOTS))
CASES = [(name, k) for name in NAMES for k in range(len(ROBOTS.get(name, ())) or 1)]


def made(name, k):
    if name not in ROBOTS:
        pytest.fail(
            f"the device of {name} is under no reset test; add to ROBOTS in {__file__} a line {name!r}: (function that "
            "returns a robot with this device,)"
        )
    robot = ROBOTS[name][k]()
    devices = make_devices(robot)
    if name == "TendonMechanism":  # random torques on single spools break its tendons, which ends a run
        devices = [device for device in devices if not isinstance(device, CompliantJoint)]
    simulation = Simulation(MujocoEngine(robot, check=False, guard=False), devices, pacer="free", seed=7)
    simulation.start()
    return simulation


def number_in(rng, info):
    low, high = max(info.low, -1.0), min(info.high, 1.0)
    if low >= high:
        low, high = info.low, min(info.high, info.low + 1.0)
    return rng.uniform(low, high, info.shape or None)


def arguments(rng, device, signature):
    """Return random arguments of a request, by the names and types of its parameters."""
    words = ["sphere", "arm", "box1", "sphere1", "sphere_1", *device.commands, *getattr(device, "joints", ())]
    found = {}
    for name, parameter in signature.parameters.items():
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL) or name == "answered":
            continue
        kind, default = str(parameter.annotation), parameter.default
        count = len(default) if isinstance(default, tuple | list) else int(rng.choice([3, 6, 7, 9, 16]))
        if "bool" in kind and "tuple" not in kind:
            found[name] = bool(rng.integers(2))
        elif name.startswith(("K_", "lower_", "upper_", "load", "mass")) and "tuple" in kind:
            count = 7 if "torque" in name or name == "K_theta" else 6
            found[name] = tuple((11.0 + (5.0 if "upper" in name else 0.0) + rng.uniform(size=count)).tolist())
        elif name in ("NE_T_EE", "EE_T_K"):
            found[name] = (*np.eye(4).reshape(-1)[:12].tolist(), *rng.uniform(-0.1, 0.1, 3).tolist(), 1.0)
        elif name in ("F_x_Cload", "force", "torque", "position", "I_load") and kind != "float":
            found[name] = tuple((0.01 * rng.uniform(0, 1, 9 if name == "I_load" else 3)).tolist())
            if name == "I_load":
                found[name] = tuple(np.diag(found[name][:3]).reshape(-1).tolist())
        elif name == "guiding_mode":
            found[name] = tuple(bool(b) for b in rng.integers(0, 2, 6))
        elif name == "pixels":
            found[name] = rng.integers(0, 255, (8, 16, 3), dtype=np.uint8)
        elif "str" in kind:
            found[name] = str(rng.choice(words))
        elif "Sequence" in kind or "tuple" in kind:
            found[name] = tuple(rng.uniform(0.01, 0.3, count).tolist())
        elif "int" in kind and "float" not in kind:
            found[name] = int(rng.integers(0, 4))
        else:
            found[name] = float(rng.uniform(0.01, 1.0))
        if default is not inspect.Parameter.empty and rng.random() < 0.2:
            del found[name]
    return found


def board_call(rng, device):
    """Return a random call of a function of a control board."""
    from pliant.control_boards import controllers, modes, references, stiffness

    functions = [
        f
        for module in (controllers, modes, references, stiffness)
        for f in vars(module).values()
        if inspect.isfunction(f) and next(iter(inspect.signature(f).parameters), "") == "board" and f.__name__[0] != "_"
    ]
    function = functions[int(rng.integers(len(functions)))]
    words = ["position", "velocity", "torque", "current", "mixed", "pwm", "compliant", "stiff", "kp", "ki", "limit"]
    given = {}
    for name, parameter in list(inspect.signature(function).parameters.items())[1:]:
        if parameter.kind is parameter.VAR_KEYWORD:
            continue
        if name in ("axes", "motors"):
            given[name] = None
        elif name in ("axis",):
            given[name] = 0
        elif "str" in str(parameter.annotation):
            given[name] = str(rng.choice(words))
        elif "bool" in str(parameter.annotation):
            given[name] = bool(rng.integers(2))
        elif "float" in str(parameter.annotation):
            given[name] = float(rng.uniform(0.0, 0.5))
        else:
            given[name] = rng.uniform(0.0, 0.5, 1).tolist()
    return {"function": lambda board: function(board, **given)}


def drive(simulation, rng, steps):
    """Step with random commands and requests; return the bytes of all samples and of the state, and what was done."""
    seen, asked, done = [], [], 0
    for step in range(steps):
        for device in simulation.devices.values() if step % 10 == 0 else ():
            for mode in device.inbox.accepted:
                values = {field: number_in(rng, info) for field, info in device.commands[mode].items()}
                try:
                    device.inbox.put(values, mode=mode)
                    done += 1
                except DeviceError:
                    pass
            names = sorted(device.requests)
            for name in rng.permutation(names)[:3] if names else ():
                signature = device._requests[str(name)][1]
                given = board_call(rng, device) if name == "call" else arguments(rng, device, signature)
                try:
                    future = device.request(str(name), **given)
                except DeviceError:
                    continue
                asked.append(future)
        simulation.step(1)
        seen += [b"ok" if f.done() and f.exception() is None else b"" for f in asked]
        asked.clear()
        for name in sorted(simulation.devices):
            try:
                sample = simulation.sample(name)
            except PliantError:  # it has not measured yet
                continue
            seen += [np.asarray(value, dtype=float).tobytes() for value in sample.values.values()]
        seen.append(simulation.engine.port("state/qpos").tobytes())
    return seen, done + seen.count(b"ok")


def changed_in_model(simulation, other):
    """Return the arrays of the compiled models that differ: masses, geometries, textures, actuator parameters, ..."""
    one, two = (mujoco_state(s.engine, "test").model for s in (simulation, other))
    arrays = [name for name in dir(one) if name[0] != "_" and isinstance(getattr(one, name), np.ndarray)]
    assert len(arrays) > 300
    return [name for name in arrays if getattr(one, name).tobytes() != getattr(two, name).tobytes()]


@pytest.mark.parametrize(("name", "k"), CASES, ids=[f"{name}-{k}" for name, k in CASES])
def test_after_a_reset_a_run_is_that_of_a_new_simulation(name, k):
    try:
        used, fresh = made(name, k), made(name, k)
    except PliantError as missing:
        if "graphics" in str(missing) or "is not installed" in str(missing):
            pytest.skip(str(missing))
        raise
    with used, fresh:
        devices = list(used.devices.values())
        _, done = drive(used, np.random.default_rng(1), 300)
        if any(device.requests or device.commands for device in devices):
            assert done > 10
        used.reset()
        assert not changed_in_model(used, fresh)
        steps = round(1.0 / used.engine.dt)
        second, _ = drive(used, np.random.default_rng(2), steps)
        wanted, _ = drive(fresh, np.random.default_rng(2), steps)
        different = [i for i, (a, b) in enumerate(zip(second, wanted, strict=True)) if a != b]
        assert not different, f"the runs differ at {len(different)} of {len(wanted)} values, first at {different[0]}"


def test_the_table_has_no_device_that_does_not_exist():
    kinds = {kind.__name__ for kind in all_device_kinds()} | {"CompliantJoint", "NativeActuator"}
    assert set(ROBOTS) <= kinds, "remove the others from ROBOTS"
    assert {type(device) for device in make_devices(compliant_arm())} == {CompliantJoint, Board}
