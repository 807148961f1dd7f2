"""A rod between two bodies as a part of a robot's model: links with hinges, held at both ends, with its loads."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

import mujoco
import numpy as np

from pliant.base.errors import ModelError, PliantError, nearest
from pliant.base.numerics import Array
from pliant.base.spatial import inverse, pose, quaternion_from_rotation
from pliant.model.description import REST_KEY
from pliant.model.interface import PartDefaults
from pliant.model.problem import Problem
from pliant.model.robot import Robot
from pliant.model.wanted import check_robot
from pliant.rods.between.loads import DistributedLoad, Load, PointLoad
from pliant.rods.between.statics import RodEquilibrium, solve_rod
from pliant.rods.checks import check_least, check_name, rigid_pose
from pliant.rods.description import Rod
from pliant.rods.model.chain import SAMPLES, SOFT, Chain, add_links, strains
from pliant.rods.model.cost import count_freedoms, note_cost
from pliant.rods.model.damping import install_damping
from pliant.rods.model.shapes import OBJECT_CONTACT, ROD_CONTACT, STIFF_SOLIMP

REACH = 0.05
"""Distance of the points that hold a clamped end from each other, as a part of the rod's length."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RodBetween(PartDefaults):
    """One elastic rod between two bodies of a robot, or between a body and the world.

    Example:
        >>> robot = pliant.load("fr3")
        >>> attach_rod(robot, RodBetween(rod=Rod(length=0.5, section=Round(radius=1e-3)), body_b="franka_hand"))
    """

    name: str = "rod"
    """Name of the rod, unique on its robot; prefix of the names of its links."""
    rod: Rod
    """Length, section, material and pre-curvature."""
    body_a: str = "world"
    """Body that holds end A."""
    pose_a: Array = field(default_factory=lambda: np.eye(4))
    """Frame of end A in the frame of body A, shape (4, 4); z points along the rod, towards B."""
    body_b: str | None
    """Body that holds end B; None: this end is free."""
    pose_b: Array = field(default_factory=lambda: np.eye(4))
    """Frame of end B in the frame of body B, shape (4, 4); z points along the rod, away from A."""
    end_b: Literal["clamped", "ball"] = "clamped"
    """Whether body B holds the direction of the rod too, or its end only."""
    loads: tuple[Load, ...] = ()
    """Point loads and distributed loads beside the weight."""
    segments: int = 10
    """Hinges of the dynamic model, 3 to 200."""
    damping: float = 1e-3
    """Damping of the material [s]: moment = E I (curvature + damping x its rate); at least the time step."""
    contact: bool = True
    """Whether the rod meets objects of contact type 1, MuJoCo's default."""

    def __post_init__(self) -> None:
        check_name("rod", self.name)
        if not isinstance(self.rod, Rod):
            raise ModelError(f"{self.name}: rod is a {type(self.rod).__name__}; must be a pliant.rods.Rod", field="rod")
        if not (isinstance(self.segments, int) and 3 <= self.segments <= 200):
            raise ModelError(f"{self.name}: segments is {self.segments!r}; must be from 3 to 200", field="segments")
        check_least(self.name, 0.0, damping=self.damping)
        if not isinstance(self.contact, bool):
            raise ModelError(f"{self.name}: contact is {self.contact!r}; must be True or False", field="contact")
        for key in ("body_a", "body_b"):
            body = getattr(self, key)
            if not isinstance(body, str) and not (body is None and key == "body_b"):
                raise ModelError(f"{self.name}: {key} is {body!r}; must be the name of a body or 'world'", field=key)
        if self.end_b not in ("clamped", "ball"):
            raise ModelError(f"{self.name}: end_b is {self.end_b!r}; must be 'clamped' or 'ball'", field="end_b")
        for key in ("pose_a", "pose_b"):
            rigid_pose(self.name, key, getattr(self, key))
        if not isinstance(self.loads, tuple | list) or not all(isinstance(load, Load) for load in self.loads):
            raise ModelError(
                f"{self.name}: loads must be PointLoad and DistributedLoad objects, found {self.loads!r}", field="loads"
            )

    def prefixed(self, prefix: str) -> RodBetween:
        """Return the rod on a robot whose names are prefixed."""
        ends = {key: getattr(self, key) for key in ("body_a", "body_b")}
        return dataclasses.replace(
            self, name=prefix + self.name,
            **{key: body if body in (None, "world") else prefix + body for key, body in ends.items()},
        )  # fmt: skip

    # -- statics ------------------------------------------------------------------------------------------------

    def ends(self, model: mujoco.MjModel, data: mujoco.MjData) -> tuple[Array, Array | None]:
        """Return the frames of both ends in the world, shape (4, 4), None of a free end, where the bodies are now."""
        X_a = _body_pose(data, model.body(self.body_a).id) @ self.pose_a
        return X_a, None if self.body_b is None else _body_pose(data, model.body(self.body_b).id) @ self.pose_b

    def solve(
        self, model: mujoco.MjModel, data: mujoco.MjData, *, start: RodEquilibrium | None = None
    ) -> RodEquilibrium:
        """Return the equilibrium of the rod where its bodies are now.

        Args:
            model: a compiled model of the robot.
            data: its positions, after `mujoco.mj_kinematics`.
            start: equilibrium nearby; None: a new search.

        Raises:
            ModelError: the rod is too short.
            PliantError: no stable equilibrium was found.
        """
        X_a, X_b = self.ends(model, data)
        return solve_rod(
            self.rod, X_a, X_b, loads=self.loads, gravity=model.opt.gravity, end_b=self.end_b, start=start,
            name=self.name,
        )  # fmt: skip

    # -- what `Robot` asks of a part of the model ---------------------------------------------------------------

    def install(self, spec: mujoco.MjSpec, original: mujoco.MjSpec) -> None:
        """Add the rod, in equilibrium at the initial pose, to the spec; the integrator becomes ``discrete``.

        Raises:
            ModelError: a body does not exist, the rod is too short, or it has no equilibrium.
        """
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_DISCRETE
        spec.option.solver = mujoco.mjtSolver.mjSOL_NEWTON
        names = [body.name for body in spec.bodies if body.name]
        for key in ("body_a", "body_b"):
            body = getattr(self, key)
            if body is not None and body not in names:
                raise ModelError(f"{self.name}: there is no body {body!r}; {nearest(body, names)}", field=key)
        plain = _compiled(spec, self.name)
        data = mujoco.MjData(plain)
        if any(plain.key(k).name == REST_KEY for k in range(plain.nkey)):
            mujoco.mj_resetDataKeyframe(plain, data, plain.key(REST_KEY).id)
        mujoco.mj_kinematics(plain, data)
        start = self.solve(plain, data)
        before = {key.name: np.array(key.qpos) for key in spec.keys}
        chain = self._add(spec, start)
        install_damping(spec, chain.joints, self.damping)
        for key in spec.keys:
            key.qpos = []
        full = _compiled(spec, self.name)
        for key in spec.keys:
            if before[key.name].size == plain.nq:
                key.qpos = _widened(plain, full, before[key.name])
        self._exclude(spec, full, before.get(REST_KEY))

    def _add(self, spec: mujoco.MjSpec, start: RodEquilibrium) -> Chain:
        """Add links, holders and loads."""
        holder = spec.worldbody if self.body_a == "world" else spec.body(self.body_a)
        X = np.asarray(self.pose_a, dtype=float)
        base = holder.add_body(name=f"{self.name}/base", pos=X[:3, 3], quat=quaternion_from_rotation(X[:3, :3]))
        contact = {"contype": ROD_CONTACT, "conaffinity": OBJECT_CONTACT} if self.contact else dict.fromkeys(
            ("contype", "conaffinity"), 0
        )  # fmt: skip
        line = start.centreline(SAMPLES)
        corners = 0.5 * (np.polynomial.legendre.leggauss(self.segments)[0] + 1.0)
        inside = start.at(corners)  # a point load makes force and moment jump, which no spline follows
        chain = add_links(
            line, self.rod, self.name, (base, np.eye(4)), segments=self.segments, contact=contact,
            soft=strains(self.rod, line) > SOFT, loads=(inside.force, inside.moment),
        )  # fmt: skip
        links = [base, *(spec.body(f"{self.name}/link{k + 1}") for k in range(self.segments))]
        if self.body_b is not None:
            self._hold(spec, chain)
        frames = chain.frames
        count = 0
        for load in (*self.loads, *_own(self.rod)):
            for k, s, force, moment in _pieces(load, corners, self.rod.length):
                there = start.at(np.array([s]))
                X_link = inverse(frames[k]) @ pose(there.position[0], there.rotation[0])
                label = f"{self.name}/load{count}"
                site = links[k].add_site(name=label, pos=X_link[:3, 3], quat=quaternion_from_rotation(X_link[:3, :3]))
                site.group = 4
                actuator = spec.add_actuator(
                    name=label, trntype=mujoco.mjtTrn.mjTRN_SITE, target=label, gear=[*force, *moment]
                )
                actuator.biastype = mujoco.mjtBias.mjBIAS_AFFINE
                actuator.biasprm = [1.0, *[0.0] * (len(actuator.biasprm) - 1)]
                if not load.follower:
                    actuator.refsite = self._world_site(spec)
                count += 1
        return chain

    def _world_site(self, spec: mujoco.MjSpec) -> str:
        name = f"{self.name}/world"
        if spec.site(name) is None:
            spec.worldbody.add_site(name=name, group=4)
        return name

    def _hold(self, spec: mujoco.MjSpec, chain: Chain) -> None:
        """Hold the last link on body B by one or three points, as sites of both that connections keep together."""
        body = spec.worldbody if self.body_b == "world" else spec.body(str(self.body_b))
        reach = REACH * self.rod.length
        points = np.zeros((1, 3)) if self.end_b == "ball" else reach * np.array([[0, 0, 1], [0, 0, -1], [1, 0, 0]])
        for k, point in enumerate(points):
            pairs = []
            for label, holder, X in (("tip", chain.tip, chain.X_body_tip), ("hold", body, self.pose_b)):
                at = (np.asarray(X) @ np.append(point, 1.0))[:3]
                pairs.append(holder.add_site(name=f"{self.name}/{label}{k}", pos=at, group=4).name)
            e = spec.add_equality(
                name=f"{self.name}/hold{k}", type=mujoco.mjtEq.mjEQ_CONNECT, name1=pairs[0], name2=pairs[1],
                objtype=mujoco.mjtObj.mjOBJ_SITE,
            )  # fmt: skip
            e.solimp = STIFF_SOLIMP
            e.solref = (2.0 * float(spec.option.timestep), 1.0)

    def _exclude(self, spec: mujoco.MjSpec, model: mujoco.MjModel, rest: Array | None) -> None:
        """Let the links not meet what holds them, nor what they overlap at the start."""
        links = [f"{self.name}/base", *(f"{self.name}/link{k + 1}" for k in range(self.segments))]
        pairs = {(link, body) for link in (*links[:2], links[-1]) for body in (self.body_a, self.body_b) if body}
        data = mujoco.MjData(model)
        keys = [key for key in spec.keys if key.name == REST_KEY and len(key.qpos) == model.nq]
        if keys:
            data.qpos[:] = keys[0].qpos
        mujoco.mj_forward(model, data)
        for contact in data.contact[: data.ncon]:
            names = [model.body(model.geom_bodyid[g]).name if g >= 0 else "" for g in contact.geom]
            if any(name in links for name in names) and all(names):
                pairs.add((names[0], names[1]))
        for one, two in sorted(pairs):
            if (one, two) != (f"{self.name}/base", self.body_a):
                spec.add_exclude(name=f"{one}|{two}", bodyname1=one, bodyname2=two)

    def finish(self, model: mujoco.MjModel) -> None:
        """Leave the compiled model as it is."""

    def check(self, spec: mujoco.MjSpec) -> list[Problem]:
        """Report a damping that cannot be simulated, and a rod without an equilibrium."""
        out = []
        dt = float(spec.option.timestep)
        if dt > self.damping:
            text = f"damping is {self.damping:g} s; the integrator damps as {dt:g} s do, the time step"
            out.append(Problem("warning", self.name, text, f"use an option.timestep of at most {self.damping:g} s"))
        copy = spec.copy()
        try:
            self.install(copy, spec)
        except PliantError as error:
            out.append(Problem("error", self.name, error.message))
        return out

    @property
    def stiff(self) -> bool:
        """Whether it needs the integrator ``discrete``: yes."""
        return True

    # -- the running robot --------------------------------------------------------------------------------------

    def wrench_b(self, model: mujoco.MjModel, data: mujoco.MjData) -> Array:
        """Return force and moment of the rod on body B about end B, world axes, shape (6,) [N, N m], of the last step.

        It is that of the constraints, so it contains the inertia of the rod.
        """
        out = np.zeros(6)
        if self.body_b is None:
            return out
        end = (_body_pose(data, model.body(self.body_b).id) @ self.pose_b)[:3, 3]
        for k in range(1 if self.end_b == "ball" else 3):
            rows = (data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY) & (
                data.efc_id == model.equality(f"{self.name}/hold{k}").id
            )
            force = -np.array(data.efc_force[rows])
            out[:3] += force
            out[3:] += np.cross(data.site(f"{self.name}/hold{k}").xpos - end, force)
        return out

    def points(self, model: mujoco.MjModel, data: mujoco.MjData) -> Array:
        """Return begin, hinges and tip of the simulated rod, shape (segments + 2, 3) [m]."""
        links = [data.body(f"{self.name}/link{k + 1}").xpos for k in range(self.segments)]
        last = model.geom(f"{self.name}/link{self.segments}").id
        tip = 2.0 * data.geom_xpos[last] - links[-1]
        return np.array([data.body(f"{self.name}/base").xpos, *links, tip])


def attach_rod(robot: Robot, part: RodBetween) -> Robot:
    """Add a rod between two bodies to a robot; return the robot.

    Args:
        robot: any robot.
        part: the rod and what holds it.

    Raises:
        ModelError: a body does not exist, a name is taken, the rod is too short for its ends, or it has no equilibrium.
    """
    check_robot(robot, "attach_rod", compiled=False)
    taken = [device.name for device in robot.devices]
    if part.name in taken:
        raise ModelError(f"the name {part.name!r} is taken; give the rod another one", field="name")
    robot.devices.append(part)
    try:
        segments = sum(device.segments for device in robot.devices if isinstance(device, RodBetween))
        freedoms, dt = count_freedoms(robot.spec) + 3 * segments, float(robot.spec.option.timestep)
        note_cost(robot.notes, part.name, freedoms, dt, "segments", part.segments)
        robot.compile()
    except PliantError as error:
        robot.devices.remove(part)
        raise error if isinstance(error, ModelError) else ModelError(error.message, field=part.name) from error
    return robot


def _body_pose(data: mujoco.MjData, body: int) -> Array:
    return pose(data.xpos[body], data.xmat[body].reshape(3, 3))


def _compiled(spec: mujoco.MjSpec, name: str) -> mujoco.MjModel:
    try:
        return spec.copy().compile()
    except (ValueError, RuntimeError) as error:
        raise ModelError(f"{name}: MuJoCo refuses the model: {error}", field=name) from error


def _widened(plain: mujoco.MjModel, full: mujoco.MjModel, qpos: Array) -> Array:
    """Return the positions of a model for the same model with more joints, by their names."""
    out = np.array(full.qpos0)
    sizes = {0: 7, 1: 4}
    order = [j for j in range(full.njnt) if full.joint(j).name]
    for j in range(plain.njnt):
        name = plain.joint(j).name
        k = full.joint(name).id if name else next(i for i in range(full.njnt) if i not in order)
        size = sizes.get(int(plain.jnt_type[j]), 1)
        a, b = int(plain.jnt_qposadr[j]), int(full.jnt_qposadr[k])
        out[b : b + size] = qpos[a : a + size]
        if not name:
            order.append(k)
    return out


def _own(rod: Rod) -> Iterator[Load]:
    """Yield the distributed loads of the rod itself."""
    if np.any(rod.distributed_force) or np.any(rod.distributed_moment):
        yield DistributedLoad(force=rod.distributed_force, moment=rod.distributed_moment)


def _pieces(load: Load, hinges: Array, length: float) -> Iterator[tuple[int, float, Array, Array]]:
    """Yield the parts of a load on each link: number of the link (0: the base), abscissa, force [N], moment [N m]."""
    if isinstance(load, PointLoad):
        k = int(np.searchsorted(hinges, load.at, side="right"))
        yield k, load.at, np.asarray(load.force, dtype=float), np.asarray(load.moment, dtype=float)
        return
    edges = np.concatenate([[0.0], hinges, [1.0]])
    for k, (a, b) in enumerate(itertools.pairwise(edges)):
        low, high = max(a, load.begin), min(b, load.end)
        if high > low:
            share = (high - low) * length
            yield k, 0.5 * (low + high), share * np.asarray(load.force), share * np.asarray(load.moment)
