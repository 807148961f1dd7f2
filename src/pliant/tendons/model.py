"""Tendon-driven continuum robots as dynamic models: a `TendonRobotDescription` becomes a `Robot`.

* The backbone between two disks is a chain of links with pairs of hinges (`pliant.rods.model.chain`); disks are bodies
  with their mass and their holes. A pair stands at 1/6 and 5/6 of its part: an evenly bent chain then has the chord of
  the arc, so that the compression by the tendons does the same work. Hinges at Gauss' points shorten it by 27 % more,
  which made the robot `tdcr` 5 % too soft.
* A tendon is a spatial tendon of MuJoCo through its holes: straight between two disks, of one tension. A spool below
  the base plate, a hinge, turns by the length that the robot gives off over the spool's radius.
* Between the spool and its servo stands the law `Cable`: the stretch of drive and strand, which pulls and cannot push,
  with pretension or slack, and a breaking load. The servo turns to the commanded angle at a limited speed
  (``length``), or the command is the spool's torque (``tension``).
* Friction: the tension at the base plate is that of the spool less or more (exp(mu guide_angle) - 1) of it, after
  Euler and Eytelwein, with `PreslidingFriction` as the memory. That in the disks' holes is left out: a tendon of
  MuJoCo has one tension. The statics has it.

The integrator is ``discrete``, and its damping is compensated as in other rods.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import mujoco
import numpy as np

from pliant.base.errors import ModelError
from pliant.base.numerics import GRAVITY, Array
from pliant.base.spatial import pose, quaternion_from_rotation
from pliant.laws import CompliantActuator, PreslidingFriction, Strength
from pliant.model.inertia import set_inertia
from pliant.model.interface import PartDefaults
from pliant.model.problem import Problem
from pliant.model.robot import Robot
from pliant.robots.parts import COLORS, finished, interface_of, look_at, new_spec
from pliant.rods.model.chain import add_links
from pliant.rods.model.cost import count_freedoms, note_cost
from pliant.rods.model.damping import install_damping
from pliant.rods.model.shapes import OBJECT_CONTACT, ROD_CONTACT, STIFF_SOLIMP
from pliant.rods.solution import Centreline
from pliant.tendons.cable import Cable
from pliant.tendons.description import Segment, Tendon, TendonRobotDescription
from pliant.tendons.options import TendonOptions

DISK_THICKNESS = 1.5e-3  # assumed [m]
SPOOL_MASS = 0.05
"""Mass that a spool adds to the motion of its tendon [kg]."""  # assumed
HOUSING = 0.08
"""Length of the post that carries base plate and spools [m]."""  # assumed
MIN_TENSION = 1.0
"""Tension for which presliding is stated where a tendon has no pretension [N]."""  # assumed


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TendonMechanism(PartDefaults):
    """The tendons of a robot, as a part of its model and as the description of their device."""

    name: str = "tendons"
    """Name of the device."""
    description: TendonRobotDescription
    """The robot, in the frame of ``base_body``."""
    options: TendonOptions
    """How it became a model."""
    base_body: str = "tendon_base"
    """Body of the base plate."""
    spools: tuple[str, ...]
    """Joints of the spools, in the order of the tendons."""
    elastic: Mapping[str, float] = field(default_factory=dict)
    """Stiffness of the joints that are the backbone's elasticity, by name [N m/rad]."""
    couplings: tuple[str, ...] = ()
    """Equality constraints between spools and tendons."""
    tip: str = "tip"
    """Site at the tip."""
    path: Array = field(default_factory=lambda: np.zeros(0))
    """Length of each tendon in the unloaded robot [m]."""

    def prefixed(self, prefix: str) -> TendonMechanism:
        """Return the tendons of a robot whose names are prefixed."""
        groups = {key: tuple(prefix + n for n in getattr(self, key)) for key in ("spools", "couplings")}
        elastic = {prefix + name: stiffness for name, stiffness in self.elastic.items()}
        names = {key: prefix + getattr(self, key) for key in ("name", "base_body", "tip")}
        return dataclasses.replace(self, elastic=elastic, **groups, **names)

    def install(self, spec: mujoco.MjSpec, original: mujoco.MjSpec) -> None:
        """Give backbone and couplings the values that depend on the time step."""
        install_damping(spec, self.elastic, self.options.damping)
        for name in self.couplings:
            spec.equality(name).solref = (2.0 * float(spec.option.timestep), 1.0)

    def finish(self, model: mujoco.MjModel) -> None:
        """Leave the compiled model as it is."""

    def check(self, spec: mujoco.MjSpec) -> list[Problem]:
        """Report what the step cannot carry of the description."""
        dt, asked = float(spec.option.timestep), self.options.damping
        if dt <= asked:
            return []
        text = f"robot.damping is {asked:g} s; the integrator damps as {dt:g} s do, the time step"
        return [Problem("warning", self.name, text, "use a smaller option.timestep")]

    @property
    def stiff(self) -> bool:
        """Whether it needs the integrator ``discrete``: yes."""
        return True

    def statics(self, base: Array) -> TendonRobotDescription:
        """Return the description for the statics with the base plate at a pose, gravity along -z.

        Args:
            base: pose of the base plate in the world, shape (4, 4).
        """
        return dataclasses.replace(self.description, base=np.asarray(base, dtype=float), gravity=(0.0, 0.0, -GRAVITY))


def build_tendon_robot(
    description: TendonRobotDescription, options: TendonOptions | None = None, *, hanging: bool = False
) -> Robot:
    """Build the dynamic model of a tendon-driven robot, straight.

    Args:
        description: the robot.
        options: how it becomes a model.
        hanging: whether the base plate is above and the robot hangs; the description's gravity is then along +z.

    Returns:
        A robot with a `TendonMechanism` among its devices; a compliant joint ``tendon<i>`` for each spool, from 1.

    Raises:
        ModelError: a value is out of range.
    """
    options = options or TendonOptions()
    length = description.length
    spec = new_spec(description.name, options.timestep, extent=1.6 * length, center=(0.0, 0.0, 0.6 * length))
    turned = np.diag([1.0, -1.0, -1.0]) if hanging else np.eye(3)
    X = pose((0.0, 0.0, 1.6 * length if hanging else HOUSING), turned) @ np.asarray(description.base, dtype=float)
    camera = spec.worldbody.add_camera(name="front", pos=[1.7 * length, -1.7 * length, 1.3 * length])
    look_at(camera, camera.pos, (0.0, 0.0, 0.75 * length))
    camera.fovy = 40.0
    robot = mount_tendon_robot(Robot(spec), spec.worldbody, X, description, options)
    robot.interface = interface_of(description.name.replace("-", "_"), robot.actuators)
    return finished(robot)


def mount_tendon_robot(
    robot: Robot, body: mujoco.MjsBody, X: Array, description: TendonRobotDescription, options: TendonOptions
) -> Robot:
    """Mount a tendon-driven robot, straight, on a body of a robot; return the robot, whose integrator changes.

    Args:
        robot: any robot without one.
        body: the body.
        X: pose of the base plate in the body, shape (4, 4).
        description: the tendon-driven robot; its ``base`` and ``gravity`` do not count.
        options: how it becomes a model; its time step does not count.

    Raises:
        ModelError: its tendons follow curves between the disks.
    """
    if description.links != "chords":
        raise ModelError(
            f"{description.name}: in the step, tendons are straight between two disks; links must be 'chords', found "
            f"{description.links!r}",
            field="links",
        )
    spec = robot.spec
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_DISCRETE
    spec.option.solver = mujoco.mjtSolver.mjSOL_NEWTON
    base = body.add_body(name="tendon_base", pos=X[:3, 3], quat=quaternion_from_rotation(X[:3, :3]))
    mechanism, actuators = _Build(spec, base, description, options).all()
    note_cost(
        robot.notes, description.name, count_freedoms(spec), float(spec.option.timestep), "robot.pairs", options.pairs
    )  # fmt: skip
    robot.actuators.update(actuators)
    robot.devices.append(mechanism)
    robot.chosen_options |= {"integrator", "solver"}
    robot.notes.append("friction in the disks' holes is left out of the step; that before the base plate acts")
    return robot


@dataclass(slots=True)
class _Build:
    """A model while it is put together."""

    spec: mujoco.MjSpec
    base: mujoco.MjsBody
    d: TendonRobotDescription
    options: TendonOptions
    disks: list[mujoco.MjsBody] = field(default_factory=list)
    elastic: dict[str, float] = field(default_factory=dict)
    rest: Array = field(default_factory=lambda: np.zeros(0))
    """Length of each tendon along the unloaded robot, which is not straight if its rod is not [m]."""

    def all(self) -> tuple[TendonMechanism, dict[str, CompliantActuator]]:
        self.rest = self._rest()
        self._plate(self.base, self.d.segments[0], 0, 2.0)
        set_inertia(self.base, 0.05, 1e-5)  # assumed
        self.base.add_geom(
            type=mujoco.mjtGeom.mjGEOM_CYLINDER, fromto=[0.0, 0.0, -HOUSING, 0.0, 0.0, 0.0], mass=0.0, contype=0,
            conaffinity=0, group=2, size=[self.d.segments[0].disk_radius, 0.0, 0.0], rgba=COLORS["stand"],
        )  # fmt: skip
        for s, segment in enumerate(self.d.segments):
            for part in range(segment.disks):
                self._interval(s, segment, part)
        last = self.disks[-1]
        last.add_site(name="tip", pos=self.d.tip_offset, size=[0.002] * 3, rgba=[0.9, 0.45, 0.08, 1.0])
        spools, couplings, actuators = [], [], {}
        for i, tendon in enumerate(self.d.tendons):
            joint = f"tendon{i + 1}"
            couplings.append(self._tendon(i, joint))
            spools.append(joint)
            actuators[joint] = self._actuator(i, tendon)
        mechanism = TendonMechanism(
            description=dataclasses.replace(self.d, base=np.eye(4)), options=self.options, spools=tuple(spools),
            elastic=dict(self.elastic), couplings=tuple(couplings), path=self.rest,
        )  # fmt: skip
        return mechanism, actuators

    def _plate(self, body: mujoco.MjsBody, segment: Segment, number: int, thick: float) -> None:
        size = [segment.disk_radius * (1.0 if number else 2.0), 0.5 * thick * DISK_THICKNESS, 0.0]
        body.add_geom(
            name=f"disk{number}", type=mujoco.mjtGeom.mjGEOM_CYLINDER, size=size, mass=0.0,
            rgba=COLORS["trim" if number else "housing"],
            contype=ROD_CONTACT if self.options.contact and number else 0,
            conaffinity=OBJECT_CONTACT if self.options.contact and number else 0,
        )  # fmt: skip
        self.disks.append(body)
        for i in range(len(self.d.tendons)):
            holes = self.d.holes_of(i)
            if number < len(holes):
                body.add_site(name=f"hole{i + 1}/{number}", pos=[*holes[number], 0.0], size=[4e-4] * 3, group=4)

    def _interval(self, s: int, segment: Segment, part: int) -> None:
        """Add the backbone up to the next disk, and the disk."""
        number, n = len(self.disks), 2 * self.options.pairs
        begin, end = part / segment.disks, (part + 1) / segment.disks
        rows = [(t, *segment.rod.curvature(begin + t * (end - begin))) for t in (0.0, 0.5, 1.0)]
        rod = dataclasses.replace(
            segment.rod, length=segment.rod.length / segment.disks, precurvature=tuple(rows),
            section=segment.rod.section.cut(begin, end),
        )  # fmt: skip
        at = np.ravel([[(k + 1 / 6) / (n // 2), (k + 5 / 6) / (n // 2)] for k in range(n // 2)])
        values = [rod.values(float(t)) for t in at]
        stiff = np.array([[*v.bending, v.torsion] for v in values])
        moments = -stiff * np.array([rod.curvature(float(t)) for t in at])
        contact = {"contype": ROD_CONTACT, "conaffinity": OBJECT_CONTACT} if self.options.contact else dict.fromkeys(
            ("contype", "conaffinity"), 0
        )  # fmt: skip
        chain = add_links(
            _straight(rod.length), rod, f"backbone{number}", (self.disks[-1], np.eye(4)), segments=at, contact=contact,
            loads=(np.zeros_like(moments), moments),
        )  # fmt: skip
        self.elastic |= chain.joints
        disk = chain.tip.add_body(
            name=f"disk{number}", pos=chain.X_body_tip[:3, 3], quat=quaternion_from_rotation(chain.X_body_tip[:3, :3])
        )
        last = s == len(self.d.segments) - 1 and part == segment.disks - 1
        mass = max(segment.disk_mass + (self.d.tip_mass if last else 0.0), 1e-6)
        r = segment.disk_radius
        set_inertia(disk, mass, [0.25 * mass * r**2, 0.25 * mass * r**2, 0.5 * mass * r**2])
        self._plate(disk, segment, number, 1.0)

    def _rest(self) -> Array:
        if not any(segment.rod.precurvature for segment in self.d.segments):
            return np.array([self._path(i) for i in range(len(self.d.tendons))])
        from pliant.tendons.robot import TendonRobot

        unloaded = TendonRobot(self.d)
        return np.array([unloaded.straight[first:last].sum() for first, last in unloaded.chain.tendon])

    def _path(self, i: int) -> float:
        holes, places = self.d.holes_of(i), self.d.disk_places()
        steps = np.column_stack([np.diff(holes, axis=0), np.diff(places[: len(holes)])])
        return float(np.linalg.norm(steps, axis=1).sum())

    def _tendon(self, i: int, joint: str) -> str:
        """Add a tendon, its spool and their coupling; return the name of the coupling."""
        radius, holes = self.options.spool_radius, self.d.holes_of(i)
        x, y = 1.6 * holes[0] + np.array([1e-6, 0.0])
        angle = math.atan2(y, x)
        across = [-math.sin(angle), math.cos(angle), 0.0]
        name = f"spool{i + 1}"
        away = 2.2 * self.d.segments[0].disk_radius + 0.4 * radius
        z = -(0.018 + 0.022 * self.d.tendons[i].segment)
        body = self.base.add_body(name=name, pos=[away * math.cos(angle), away * math.sin(angle), z])
        inertia = SPOOL_MASS * radius**2
        set_inertia(body, 0.4 * SPOOL_MASS, inertia)
        body.add_joint(
            name=joint, axis=across, actfrclimited=True, actfrcrange=[0.0, 10.0 * self._break(i)],
            damping=[self.options.tendon_damping * self._stiffness(i) * radius**2, 0.0, 0.0],
        )  # fmt: skip
        half = 0.3 * radius * np.array(across)
        body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_CYLINDER, fromto=[*-half, *half], size=[radius, 0.0, 0.0], mass=0.0, contype=0,
            conaffinity=0, group=2, rgba=COLORS[("orange", "blue", "load")[i % 3]],
        )  # fmt: skip
        strand = self.spec.add_tendon(name=f"strand{i + 1}", width=3e-4, rgba=[0.75, 0.27, 0.24, 1.0])
        for k in range(len(holes)):
            strand.wrap_site(f"hole{i + 1}/{k}")
        drum = self.spec.add_tendon(name=f"drum{i + 1}")
        drum.wrap_joint(joint, radius)
        e = self.spec.add_equality(
            name=f"coupling{i + 1}", type=mujoco.mjtEq.mjEQ_TENDON, name1=strand.name, name2=drum.name,
            objtype=mujoco.mjtObj.mjOBJ_TENDON,
        )  # fmt: skip
        data = np.zeros(len(e.data))
        data[0], data[1] = self.rest[i] - self._path(i), -1.0
        e.data, e.solimp = data, STIFF_SOLIMP
        return e.name

    def _break(self, i: int) -> float:
        return self.d.tendons[i].breaking_load * self.options.spool_radius

    def _stiffness(self, i: int) -> float:
        """Return the stiffness of drive and strand in series [N/m]."""
        tendon = self.d.tendons[i]
        soft = 1.0 / (tendon.drive_stiffness or RIGID)
        soft += 0.0 if tendon.axial_stiffness is None else self._path(i) / tendon.axial_stiffness
        return 1.0 / soft

    def _actuator(self, i: int, tendon: Tendon) -> CompliantActuator:
        r, k = self.options.spool_radius, self._stiffness(i)
        share = math.expm1(tendon.friction * tendon.guide_angle)
        law = Cable(k=k * r * r, pretension=tendon.pretension * r, slack=tendon.slack / r)
        # The bristle lets go after `presliding` at the pretension.
        grip = share * max(tendon.pretension, MIN_TENSION) * r / (tendon.presliding / r)
        friction = PreslidingFriction(torque=0.0, load_coefficient=share, stiffness=grip) if share > 0.0 else None
        by_length = self.options.control == "length"
        return CompliantActuator(
            law, mode=3 if by_length else 0, link_friction=friction, strength=Strength(break_torque=self._break(i)),
            reference_slew_1=self.options.speed if by_length else math.inf,
        )  # fmt: skip


RIGID = 2e4
"""Stiffness of a tendon and drive that are called rigid [N/m], which the step of 1 ms still carries."""


def _straight(length: float) -> Centreline:
    s = np.linspace(0.0, 1.0, 11)
    place = np.column_stack([0.0 * s, 0.0 * s, s * length])
    nothing = np.zeros((len(s), 3))
    return Centreline(
        s=s, position=place, rotation=np.broadcast_to(np.eye(3), (len(s), 3, 3)).copy(), force=nothing, moment=nothing,
        bending_strain=np.zeros(len(s)), length=length,
    )  # fmt: skip
