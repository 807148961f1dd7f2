"""Joint impedance control with gravity compensation through the ports of YARP, and the control board's interfaces."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pliant.base.numerics import GRAVITY, Array
from pliant.base.options import option
from pliant.base.spatial import rotation_from_rpy
from pliant.experiments.base import Context, Figure, Result, Statement, Table, Target, experiment
from pliant.experiments.films import Film, film_of_tracks
from pliant.experiments.panels import BESIDE, Band, Line, Panel, draw, lines
from pliant.experiments.trace import Recorder, Trace
from pliant.papers.yarp_clock import PAPER
from pliant.simulation.pose_track import PoseTrack
from pliant.walking.robots.biped import PARTS as JOINTS_OF
from pliant.walking.robots.biped.parameters import JOINTS, LINKS, OFFSETS, REST
from pliant.yarp.program import PARTS, TIMEOUT_S, Board, World, biped, serve

if TYPE_CHECKING:
    from pliant.walking.control.tree import KinematicTree
    from pliant.yarp.wire.joints import JointState

PART = "left_arm"
HAND = "l_hand"
TIMESTEP = 0.002
"""Step of the physics [s].  # assumed"""
POSE = (-0.9, 0.5, 0.2, -1.2)
"""Pose of the arm in which gravity loads every joint but the yaw much [rad].  # assumed"""
SPEED_LIMIT = math.radians(30.0)
"""Largest speed that the boards allow in the second move [rad/s].  # assumed"""
FORCE = (0.0, 0.0, -15.0)
"""Push on the hand, world axes [N].  # assumed"""
CYCLE = 5
"""Steps between two cycles of the program that compensates gravity."""
TORQUES = (0.3, -0.2, 0.1, -0.15)
"""Torques that the torque mode is asked for, beyond those that hold the arm [N m].  # assumed"""
MIXED = (("torq", "stif"), ("pos", "comp"), ("posd", "stif"), ("pos", "stif"))
"""Control and interaction mode of each joint of a board with different controllers."""
LAG = 1
"""Steps from a state to the torque that it causes: a state has what the board measured before the torque it gave."""


PLUGINS = {
    "controlboard": "yarpDeviceName arm_device\njointNames elbow\n[WRAPPER]\ndevice controlBoard_nws_yarp\n"
    "name /sim/arm\nperiod 10\n",
    "forcetorque": "device analogServer\nname /sim/arm/analog:o\nperiod 10\n",
    "imu": "[WRAPPER]\ndevice inertial\nname /sim/inertial\nperiod 10\n",
}
"""Plugin of gazebo-yarp-plugins -> its configuration."""
INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
TAG = """<plugin name="p" filename="libgazebo_yarp_{0}.so">
  <yarpConfigurationFile>{0}.ini</yarpConfigurationFile></plugin>"""
DESCRIPTION = f"""<robot name="arm">
<link name="base">{INERTIAL}</link><link name="forearm">{INERTIAL}</link>
<joint name="elbow" type="revolute"><parent link="base"/><child link="forearm"/><axis xyz="0 1 0"/>
  <limit lower="-1" upper="1" effort="50" velocity="9"/></joint>
<gazebo>{TAG.format("controlboard")}</gazebo>
<gazebo reference="elbow"><sensor name="ft" type="force_torque">{TAG.format("forcetorque")}</sensor></gazebo>
<gazebo reference="forearm"><sensor name="imu" type="imu">{TAG.format("imu")}</sensor></gazebo>
</robot>
"""
"""A forearm with the three plugins of the paper."""


@dataclass(frozen=True, slots=True, kw_only=True)
class YarpImpedanceOptions:
    """Parameters that the paper does not state."""

    stiffness: float = option(40.0, unit="N m/rad", low=1.0, high=200.0, source="assumed")
    """Joint stiffness P_d of the impedance."""
    damping: float = option(3.0, unit="N m s/rad", low=0.1, high=20.0, source="assumed")
    """Joint damping D_d of the impedance."""
    speed: float = option(1.0, unit="rad/s", low=0.02, high=3.0, source="assumed")
    """Speed of the move in position mode."""


class GravityModel:
    """The program's model of the robot: torques that hold the arm against gravity.

    It knows the links' masses, and takes the orientation of the waist from the inertial unit and the arm's joints from
    its board; the other joints are taken to be where they rest.
    """

    def __init__(self) -> None:
        from pliant.walking.model import kinematic_tree

        names = tuple(JOINTS)
        self.tree: KinematicTree = kinematic_tree(biped(timestep=TIMESTEP).compile(), "waist", names)
        self.q = np.array([REST[name] for name in names])
        self.rows = {part: [names.index(name) for name in JOINTS_OF[part]] for part in PARTS}

    def torques(self, angles: Array, arm: Array) -> Array:
        """Return the holding torques of the arm [N m].

        Args:
            angles: roll, pitch and yaw of the waist [rad].
            arm: positions of the arm's joints [rad].
        """
        self.q[self.rows[PART]] = arm
        self.tree.observe(rotation_from_rpy(angles), np.zeros(3), self.q, np.zeros(len(self.q)))
        return GRAVITY * self.tree.hold[self.rows[PART]]


@dataclass(slots=True, kw_only=True)
class Interfaces:
    """Observations of a program in position, position direct, torque and impedance control."""

    position: Array
    """References during the move, one row per step [rad]."""
    start: Array
    """Positions at its start [rad]."""
    speed: float
    """Speed asked for [rad/s]."""
    limited: float
    """Largest speed of the references under the limit [rad/s]."""
    done: tuple[int, int]
    """Steps until the move was told done, and steps that distance over speed gives."""
    direct: float
    """Largest difference of the references from what was streamed, one step later [rad]."""
    torque: float
    """Largest difference of the measured torques from what was asked for [N m]."""
    impedance: float
    """Largest difference of the measured torques from equation 1 [N m]."""
    largest: float
    """Largest torque during that [N m]."""
    switches: dict[str, tuple[bool, float]]
    """Mode -> whether it was read back, and the largest motion of a joint in the 20 ms after the switch [rad]."""
    mixed: int
    """Joints that had the mode that was asked for, when each of them was asked for another."""
    mixed_torque: float
    """Largest difference of the torque of the joint in torque mode from what was asked for then [N m]."""


@dataclass(slots=True, kw_only=True)
class Push:
    """The arm in impedance control while its hand is pushed."""

    label: str
    """Label in the figure."""
    trace: Trace
    """Time in impedance control [s], positions q [rad] and measured torques tau [N m], one row per cycle."""
    target: Array
    """Equilibrium positions q_d [rad]."""
    gravity: Array
    """Torques against gravity by the program's model, at the last cycle before the push [N m]."""
    sag: Array
    """q - q_d before the push [rad]."""
    pushed: Array
    """q - q_d at the end of the push [rad]."""
    after: Array
    """q - q_d at the end [rad]."""
    push: tuple[float, float]
    """Begin and end of the push [s]."""
    force_torque: Array
    """Joint torques of the push at the pushed pose, by the model's Jacobian [N m]."""


def _rows(states: list[JointState], name: str) -> Array:
    rows = np.array([getattr(state, name) for state in states])
    return rows if name == "torque" else np.radians(rows)


def _steps(seconds: float) -> int:
    return round(seconds / TIMESTEP)


def run_interfaces(options: YarpImpedanceOptions, *, trajectory: str = "constant_speed") -> Interfaces:
    """Use each interface of the left arm's control board once, through its ports."""
    with serve(biped(timestep=TIMESTEP, trajectory=trajectory)) as world:
        board = Board(world, PART)
        board.run(_steps(0.2))
        switches: dict[str, tuple[bool, float]] = {}
        start, speed = board.references(), options.speed
        goal = np.array(POSE)
        board.move(goal, np.full(board.axes, speed))
        references, done = [start], 0
        while not done:
            world.step()
            board.read(1)
            references.append(board.references())
            if int(str(board.call("[get] [dons]")[2])):
                done = len(references) - 1
            elif len(references) > _steps(20.0):
                break
        expected = math.ceil(float(np.abs(goal - start).max()) / speed / TIMESTEP - 1e-9)
        limited = _limited_speed(world, board, start, speed)
        switches["posd"] = _switch(board, "posd")
        direct = 0.0
        base = board.references()
        for k in range(20):
            wanted = base + 0.02 * math.sin(0.3 * k)
            board.command("position_direct", np.degrees(wanted))
            _arrived(board, wanted)
            board.run(1)
            direct = max(direct, float(np.abs(board.references() - wanted).max()))
        switches["comp"] = _switch(board, "pos", "comp", stiffness=options.stiffness, damping=options.damping)
        error, largest = _impedance_error(board, options)
        switches["torq"] = _switch(board, "torq")
        asked = _rows(board.run(1), "torque")[-1] + TORQUES
        board.call(f"[set] [torq] [refs] ({' '.join(f'{x:.17g}' for x in asked)})")
        measured = _rows(board.run(20), "torque")
        torque = float(np.abs(measured[LAG:] - asked).max())
        switches["pos"] = _switch(board, "pos")
        board.modes(*zip(*MIXED, strict=True))
        state = board.run(2)[-1]
        modes = zip(state.control_mode or (), state.interaction_mode or (), strict=True)
        mixed = sum((a.name, b.name) == wanted for (a, b), wanted in zip(modes, MIXED, strict=True))
        alone = float(_rows([state], "torque")[-1][0]) + TORQUES[0]
        board.call(f"[set] [torq] [ref] 0 {alone:.17g}")
        mixed_torque = float(np.abs(_rows(board.run(10), "torque")[LAG:, 0] - alone).max())
        board.close()
    return Interfaces(
        position=np.array(references),
        start=start,
        speed=speed,
        limited=limited,
        done=(done, expected),
        direct=direct,
        torque=torque,
        impedance=error,
        largest=largest,
        switches=switches,
        mixed=mixed,
        mixed_torque=mixed_torque,
    )


def count_boards() -> tuple[int, int, float]:
    """Return the number of control boards that the name server lists, of their axes, and of the states for a step."""
    from pliant.yarp.wire import parse_bottle

    with serve(biped(timestep=TIMESTEP)) as world:
        boards = [c.name for c in world.yarp.list("/biped") if c.name.endswith("/stateExt:o")]
        axes = 0
        for name in boards:
            with world.yarp.open_rpc(name.replace("stateExt:o", "rpc:i")) as connection:
                axes += int(str(world.call(connection, parse_bottle("[get] [axes]"))[2]))
        reader = world.reader(f"/biped/{PART}/stateExt:o")
        steps = _steps(0.1 - world.time)  # until a time at which every period has a message
        world.step(steps)
        count, stamp = 0, 0.0
        while stamp < 0.1 - 0.5 * TIMESTEP:
            message = reader.read(TIMEOUT_S)
            count, stamp = count + 1, 0.1 if message.stamp is None else message.stamp.time
    return len(boards), axes, count / steps


def run_described(folder: Path) -> dict[str, bool]:
    """Serve a robot described with the tags of three plugins; return for each whether its device answers at its port.

    Args:
        folder: where the description and the configuration of its plugins are written.
    """
    import pliant
    from pliant.yarp.wire import parse_bottle

    for name, text in PLUGINS.items():
        (folder / f"{name}.ini").write_text(text)
    (folder / "arm.urdf").write_text(DESCRIPTION)
    with serve(pliant.load(folder / "arm.urdf")) as world:
        ports = {contact.name for contact in world.yarp.list("/sim")}
        found = dict.fromkeys(PLUGINS, False)
        if "/sim/arm/rpc:i" in ports:
            with world.yarp.open_rpc("/sim/arm/rpc:i") as connection:
                found["controlboard"] = int(str(world.call(connection, parse_bottle("[get] [axes]"))[2])) == 1
        for name, port, size in (("forcetorque", "/sim/arm/analog:o", 6), ("imu", "/sim/inertial", 12)):
            if port in ports:
                reader = world.reader(port)
                world.step(20)
                found[name] = len(reader.read(TIMEOUT_S).content.items) == size
    return found


def _limited_speed(world: World, board: Board, goal: Array, speed: float) -> float:
    """Move back under a lower limit of speed; return the largest speed of the references [rad/s]."""
    for j in range(board.axes):
        board.call(f"[set] [vlim] {j} 0.0 {math.degrees(SPEED_LIMIT):.17g}")
    board.move(goal, np.full(board.axes, speed))
    references = []
    for _ in range(30):
        world.step()
        board.read(1)
        references.append(board.references())
    for j in range(board.axes):
        board.call(f"[set] [vlim] {j} 0.0 1000.0")
    board.call("[set] [stos]")
    board.run(_steps(0.3))
    return float(np.abs(np.diff(references, axis=0)).max()) / TIMESTEP


def _arrived(board: Board, wanted: Array) -> None:
    """Wait until a streamed reference has reached the board; the simulation stands still meanwhile."""
    for _ in range(300):
        if np.abs(board.references() - wanted).max() < 1e-9:
            return


def _switch(
    board: Board, control: str, interaction: str = "stif", *, stiffness: float = 0.0, damping: float = 0.0
) -> tuple[bool, float]:
    """Change the modes; return whether they are read back, and how far the joints move in the 20 ms after [rad]."""
    if stiffness:
        board.set_impedance(stiffness, damping)
        board.set_offsets(_rows(board.run(1), "torque")[-1])
    before = _rows(board.run(1), "joint_position")[-1]
    board.modes(control, interaction)
    states = board.run(_steps(0.02))
    names = {mode.name for mode in states[-1].control_mode or ()}
    soft = {mode.name for mode in states[-1].interaction_mode or ()}
    moved = float(np.abs(_rows(states, "joint_position") - before).max())
    return names == {control} and soft == {interaction}, moved


def _impedance_error(board: Board, options: YarpImpedanceOptions) -> tuple[float, float]:
    """Move the equilibrium; return the largest difference of the torques from equation 1, and the largest torque."""
    offsets = _rows(board.run(1), "torque")[-1] + [0.3, -0.2, 0.1, 0.4]
    board.set_offsets(offsets)
    equilibrium = board.references()
    board.move(np.add(equilibrium, (0.2, -0.1, 0.15, 0.2)))
    law: list[Array] = []
    torques: list[Array] = []
    for _ in range(150):
        board.world.step()
        state = board.read(1)[0]
        q, dq = (_rows([state], name)[0] for name in ("joint_position", "joint_velocity"))
        law.append(-options.stiffness * (q - board.references()) - options.damping * dq + offsets)
        torques.append(np.array(state.torque))
    board.run(_steps(1.0))
    difference = np.array(torques[LAG:]) - np.array(law[:-LAG])
    return float(np.abs(difference).max()), float(np.abs(torques).max())


def run_push(
    label: str,
    options: YarpImpedanceOptions,
    *,
    compensated: bool,
    factor: float = 1.0,
    hold: float = 1.5,
    track: PoseTrack | None = None,
) -> Push:
    """Hold a pose by impedance, with or without gravity compensation, and push the hand.

    Args:
        label: what the figure calls it.
        options: stiffness and damping.
        compensated: whether the program sends the torques against gravity as the offset.
        factor: of the stiffness; the damping has its square root.
        hold: time before, during and after the push, each [s].
        track: what keeps the poses; None keeps none.
    """
    model = GravityModel()
    stiffness, damping = factor * options.stiffness, math.sqrt(factor) * options.damping
    with serve(biped(timestep=TIMESTEP), track=track) as world:
        board = Board(world, PART)
        imu = world.reader("/biped/imu")
        goal = np.array(POSE)
        board.run(_steps(0.1))
        board.move(goal, np.full(board.axes, options.speed))
        board.run(_steps(float(np.abs(goal - board.references()).max()) / options.speed + 0.5))
        world.yarp.disconnect("/biped/imu", imu.name)
        imu.close()
        imu = world.reader("/biped/imu")
        board.set_impedance(stiffness, damping)
        states = board.run(1)
        angles = np.radians([float(str(x)) for x in imu.read(TIMEOUT_S).content.items[:3]])
        if compensated:
            board.set_offsets(model.torques(angles, _rows(states, "joint_position")[-1]))
        board.modes("pos", "comp")
        target = board.references()
        rows = Recorder(time="s", q=("rad", board.axes), tau=("N m", board.axes))
        marks: list[tuple[Array, Array]] = []
        cycles = round(hold / TIMESTEP / CYCLE)
        gravity = np.zeros(board.axes)
        for phase in range(3):
            if phase == 1:
                world.push(HAND, FORCE, hold)
            for _ in range(cycles):
                states = board.run(CYCLE)
                for _ in range(CYCLE):
                    message = imu.read(TIMEOUT_S)
                angles = np.radians([float(str(x)) for x in message.content.items[:3]])
                q = _rows(states, "joint_position")[-1]
                gravity = model.torques(angles, q)
                if compensated:
                    board.set_offsets(gravity)
                rows.add((len(rows) + 1) * TIMESTEP * CYCLE, q, np.array(states[-1].torque))
            marks.append((q - target, gravity))
        board.close()
    model.torques(angles, target + marks[1][0])
    tree, arm = model.tree, model.rows[PART]
    last = arm[-1] + 1
    hand = tree.P[last] + tree.R[last] @ (np.array(OFFSETS["hand"]) + np.array(LINKS["hand"].center))
    jacobian = np.array([np.cross(tree.Z[i + 1], hand - tree.P[i + 1]) for i in arm])
    return Push(
        label=label,
        trace=rows.trace(),
        target=target,
        gravity=marks[0][1],
        sag=marks[0][0],
        pushed=marks[1][0],
        after=marks[2][0],
        push=(hold, 2.0 * hold),
        force_torque=jacobian @ np.array(FORCE),
    )


def board_statements(boards: int, axes: int, states_per_step: float, described: dict[str, bool]) -> list[Statement]:
    """Judge how many control boards there are, how often each tells its state, and what a file describes."""
    answering = sum(described.values())
    return [
        Statement(
            what="Control board, force/torque sensor and inertial unit are plugins in the SDF that describes the "
            "robot; they are loaded with it.",
            where="abstract and section 3.3.5",
            targets=[Target("described plugins that answer at their ports", answering, equals=len(described),
                            source="section 3.3.5")],
            found=f"{answering} of the {len(described)} plugins in the tags of a description answer at "
            "the ports of their configuration.",
            rests_on="The description is a URDF here; pliant reads an SDF with the same tags by the package rod.",
        ),
        Statement(
            what="A control board controls one or more joints, a kinematic chain, as its configuration says.",
            where="section 3.3.1",
            targets=[Target("axes of all boards", axes, equals=len(JOINTS), source="section 3.3.1, of our biped")],
            found=f"The boards have {axes} axes, each joint of the biped one.",
        ),
        Statement(
            what="COMAN has five control boards, one for each kinematic chain.",
            where="section 3.3.5",
            targets=[Target("control boards at the name server", boards, equals=5, source="section 3.3.5")],
            found=f"The name server lists the state of {boards} control boards.",
            rests_on="The robot is pliant's biped, which was given the chains of COMAN.",
        ),
        Statement(
            what="In every cycle of the simulation a control board reads positions, velocities and torques, and "
            "broadcasts them.",
            where="section 3.3.1, figure 4",
            targets=[Target("states sent a step", states_per_step, equals=1.0, source="section 3.3.1")],
            found=f"stateExt:o sent {states_per_step:g} messages a step with the bridge's option period=0; by "
            "default it sends one every 10 ms.",
        ),
    ]  # fmt: skip


def interface_statements(found: Interfaces) -> list[Statement]:
    """Judge what section 3.3.1 says of the control board's interfaces."""
    n = len(found.position) - 1
    time = np.arange(n + 1)[:, None] * TIMESTEP
    way = found.position[-1] - found.start
    slope = np.sign(way) * found.speed
    line = found.start + np.where(np.abs(slope * time) < np.abs(way), slope * time, way)
    bend = float(np.abs(found.position - line).max())
    read_back = all(ok for ok, _ in found.switches.values())
    moved = max(change for _, change in found.switches.values())
    rounding = partial(Target, high=1e-9, source="section 3.3.1; rounding")
    return [
        Statement(
            what="IPositionControl moves by a linear trajectory that considers a largest joint speed.",
            where="section 3.3.1",
            targets=[
                rounding("references off a straight line in time", bend, unit="rad"),
                Target("steps until the move is done less distance over speed",
                       float(found.done[0] - found.done[1]), equals=0.0, tolerance=1.0,
                       source="section 3.3.1; a step is ours"),
                Target("speed of the references over the limit of speed", found.limited / SPEED_LIMIT,
                       equals=1.0, tolerance=1e-9, source="section 3.3.1; rounding"),
            ],
            found=f"The references leave a straight line by {bend:.0e} rad; the move ends after {found.done[0]} steps, "
            f"distance over speed is {found.done[1]}. Under a limit of {math.degrees(SPEED_LIMIT):g} deg/s they move "
            f"at {math.degrees(found.limited):.6g} deg/s.",
        ),
        Statement(
            what="IPositionDirect gives references to the position controllers at once.",
            where="section 3.3.1",
            targets=[rounding("references less what was streamed", found.direct, unit="rad")],
            found=f"A streamed reference is that of the next step, within {found.direct:.0e} rad.",
        ),
        Statement(
            what="ITorqueControl is a perfect torque follower.",
            where="section 3.3.1",
            targets=[rounding("measured less commanded torques", found.torque, unit="N m")],
            found=f"From the second state after a command the measured torques differ from it by at most "
            f"{found.torque:.0e} N m.",
        ),
        Statement(
            what="IImpedanceControl follows equation 1: torque = -P (q - q_d) - D dq + offset.",
            where="section 3.3.1, equation 1",
            targets=[rounding("measured torques less equation 1", found.impedance, unit="N m",
                              source="equation 1; rounding")],
            found=f"With q, dq and q_d as the ports tell them the measured torques, up to {found.largest:.2g} N m, "
            f"differ from equation 1 by at most {found.impedance:.0e} N m.",
        ),
        Statement(
            what="Each joint of a board can have another type of controller.",
            where="section 3.3.1",
            targets=[
                Target("joints with the controller asked for", found.mixed, equals=len(MIXED), source="section 3.3.1"),
                rounding("torque of the joint in torque mode less that asked for, beside other modes",
                         found.mixed_torque, unit="N m"),
            ],
            found=f"Torque, impedance, position direct and position control at once, a joint each: {found.mixed} of "
            f"{len(MIXED)} are read back, and the torque is that asked for within {found.mixed_torque:.0e} N m.",
        ),
        Statement(
            what="IControlMode changes the type of controller online.",
            where="section 3.3.1",
            targets=[
                Target("every mode is read back", float(read_back), equals=1.0, source="section 3.3.1"),
                Target("motion of a joint in the 20 ms after a change", moved, high=math.radians(0.5), unit="rad",
                       source="ours: 0.5 deg"),
            ],
            found=f"Position, position direct, impedance, torque and position again, while it runs: every mode is read "
            f"back, and no joint moves by more than {math.degrees(moved):.2g} deg in the 20 ms after a change.",
        ),
    ]  # fmt: skip


def push_statements(plain: Push, compensated: Push, stiff: Push, options: YarpImpedanceOptions) -> list[Statement]:
    """Judge joint impedance control with gravity compensation."""
    sag, held = (float(np.abs(run.sag).max()) for run in (plain, compensated))
    predicted = -plain.gravity / options.stiffness
    off = float(np.abs(plain.sag - predicted).max())
    pushed, expected = compensated.pushed, compensated.force_torque / options.stiffness
    miss = float(np.abs(pushed - expected).max() / np.abs(expected).max())
    ratio = float(np.linalg.norm(compensated.pushed) / np.linalg.norm(stiff.pushed))
    back = float(np.abs(compensated.after).max())
    return [
        Statement(
            what="The offset of equation 1 can be used for gravity compensation.",
            where="section 3.3.1 and abstract",
            targets=[
                Target("sag with compensation over sag without", held / sag, high=0.01, source="ours: 1 %"),
                Target("sag without compensation less gravity torque over stiffness", off, high=0.002, unit="rad",
                       source="equation 1 at rest; 2 mrad are ours"),
            ],
            found=f"Without the offset the arm rests up to {math.degrees(sag):.2f} deg from q_d, which gravity over "
            f"stiffness predicts within {math.degrees(off):.1g} deg; with it {math.degrees(held):.1g} deg.",
            rests_on="COMAN's masses and gains; the biped is of its class.",
        ),
        Statement(
            what="Modules for joint impedance control plus gravity compensation were developed with the simulator.",
            where="abstract",
            targets=[
                Target("deflection by the push less its joint torques over stiffness", miss, high=0.1,
                       source="equation 1 at rest; 10 % are ours"),
                Target("deflection at a stiffness over that at three times the stiffness", ratio, equals=3.0,
                       relative=0.1, source="equation 1 at rest; 10 % are ours"),
                Target("distance from q_d after the push", back, high=0.002, unit="rad", source="ours: 2 mrad"),
            ],
            found=f"A push of {np.linalg.norm(FORCE):g} N on the hand turns joints by up to "
            f"{math.degrees(np.abs(pushed).max()):.1f} deg, within {100 * miss:.1f} % of its joint torques over the "
            f"stiffness; at three times the stiffness {ratio:.2f} times less. The arm returns to within "
            f"{math.degrees(back):.1g} deg.",
            rests_on="The authors' modules were not published with the paper; the program here is ours.",
        ),
    ]  # fmt: skip


UNJUDGED = (
    Statement(
        what="All these interfaces are available on the robot and behave the same there.",
        where="section 3.3.1",
        found="It cannot be judged without a robot. YARP's own client makes 266 calls of these interfaces here "
        "(`conformance/yarp`).",
    ),
    Statement(
        what="Applications that were written for COMAN and iCub run on the simulator with no changes.",
        where="abstract",
        found="It cannot be judged: the applications are not named. Unchanged programs of YARP 3.5 run "
        "(`conformance/yarp`).",
    ),
    Statement(
        what="Dual arm Cartesian control and dynamic walking were developed with the plugins.",
        where="abstract",
        found="It cannot be judged: the paper shows no result of them.",
    ),
)
"""Statements without a number."""


def _films(context: Context, options: YarpImpedanceOptions) -> list[Film]:
    tracks = {"impedance alone": PoseTrack(), "with gravity compensation": PoseTrack()}
    for compensated, (label, track) in enumerate(tracks.items()):
        run_push(label, options, compensated=bool(compensated), hold=1.0, track=track)
    return [
        film_of_tracks(
            tracks,
            name="push",
            caption="The left arm moves to its pose, is held there by joint impedance, and its hand is pushed down for "
            "a second.",
            camera="135,-8",
        )
    ]


@experiment(
    "yarp-impedance",
    title="Joint impedance through YARP",
    paper=PAPER,
    section="3.3.1, equation 1",
    films=_films,
    cameras=("side",),
)
def yarp_impedance(context: Context, options: YarpImpedanceOptions) -> Result:
    """Control an arm of the biped by joint impedance plus gravity compensation through YARP ports."""
    hold = 0.5 if context.quick else 1.5
    context.progress(0.0, "interfaces of a control board")
    found = run_interfaces(options)
    boards = board_statements(*count_boards(), run_described(context.output))
    runs = []
    cases = (("no compensation", False, 1.0), ("gravity compensated", True, 1.0), ("three times as stiff", True, 3.0))
    for label, compensated, factor in context.track(cases, lambda case: case[0], low=0.3, high=0.9):
        runs.append(run_push(label, options, compensated=compensated, factor=factor, hold=hold))
    plain, soft, stiff = runs
    names = ("shoulder pitch", "shoulder roll", "shoulder yaw", "elbow")
    return Result(
        summary="A program that knows nothing but ports drives the left arm of the standing biped: modes, references, "
        "impedances and offsets are remote calls and streams, positions and torques come from stateExt:o, the waist's "
        "orientation from the inertial unit. The simulation waits for its steps, so that runs repeat exactly.",
        statements=[*boards, *interface_statements(found), *push_statements(plain, soft, stiff, options), *UNJUDGED],
        tables=[
            Table(
                title=f"Distance from q_d [deg], push of {np.linalg.norm(FORCE):g} N down on the hand",
                columns=["run", "", *names],
                rows=[
                    [run.label, what, *(round(math.degrees(x), 3) for x in values)]
                    for run in runs
                    for what, values in (("before", run.sag), ("pushed", run.pushed), ("after", run.after))
                ],
            ),
            Table(
                title="Changes of mode",
                columns=["mode", "read back", "motion in 20 ms [deg]"],
                rows=[[mode, "yes" if ok else "no", math.degrees(x)] for mode, (ok, x) in found.switches.items()],
            ),
        ],
        figures=[_figure_push(runs, names), _figure_move(found, names)],
        notes=[
            "The boards of pliant move by minimum jerk unless they are told otherwise, as the plugins do today; the "
            "experiment chooses constant speed, the only generator that the paper knows.",
            "The program compensates gravity every 10 ms by its own model of the links.",
        ],
        assumptions=["The robot is pliant's biped, in the class of COMAN; masses, gains and the pose are ours."],
        traces={
            "time_s": soft.trace.time,
            **{f"q_{name}_rad": run.trace.q for name, run in zip(("plain", "compensated", "stiff"), runs, strict=True)},
            "tau_compensated_Nm": soft.trace.tau,
            "reference_move_rad": found.position,
        },
    )


def _figure_push(runs: list[Push], names: tuple[str, ...]) -> Figure:
    panels = []
    for j, name in enumerate(names):
        moved = [
            Line(run.trace.time, np.degrees(run.trace.q[:, j] - run.target[j]), color=color, label=run.label)
            for run, color in zip(runs, ("soft", "stiff", "muted"), strict=True)
        ]
        panels.append(Panel([Band(*runs[0].push), moved], "time [s]", "" if j % 2 else "q - q_d [deg]", name))
    caption = (
        "The arm in impedance control; grey, a push down on the hand. Without compensation gravity moves the arm off "
        "its equilibrium. With it the arm yields to the push by torque over stiffness, and returns."
    )
    return draw("push", caption, panels, rows=2, legend=0, height=1.9, sharex=True)


def _figure_move(found: Interfaces, names: tuple[str, ...]) -> Figure:
    references = lines(np.arange(len(found.position)) * TIMESTEP, np.degrees(found.position), names)
    caption = (
        "References of a move in position mode. Each joint moves on a straight line in time at the same speed, and "
        "stops when it is there."
    )
    return draw(
        "move", caption, [Panel(references, "time [s]", "reference [deg]", legend=BESIDE)], height=2.5, width=6.4
    )
