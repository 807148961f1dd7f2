"""Build a SoftFoot as an ordinary `mujoco.MjSpec` of primitive shapes."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from pliant.errors import ModelError
from pliant.options import parse
from pliant.robots.softfoot import parameters as p
from pliant.robots.softfoot.closure import CLOSURE, fit_closure
from pliant.robots.softfoot.options import MAX_LUMPED, SoftFootOptions

__all__ = ["add_softfoot", "chain_layout", "softfoot"]

_DARK, _LIGHT, _RED = (0.17, 0.19, 0.22, 1.0), (0.90, 0.91, 0.93, 1.0), (0.75, 0.16, 0.14, 1.0)
_GREY, _TENDON = (0.52, 0.55, 0.59, 1.0), (0.90, 0.70, 0.10, 1.0)


def chain_layout(n_chains: int, lump: bool) -> tuple[tuple[float, ...], float]:
    """Return where the chains of a foot of scale 1 are and how wide they are.

    Separate chains keep their width and pitch. Lumped chains lie at equal distances so that the mean of z^2 is that of
    five chains, which keeps the stiffness in roll, and their outer edge is that of five chains.

    Args:
        n_chains: number of chains.
        lump: whether they stand for five.

    Returns:
        Lateral positions from the left to the right [m], half width of a module's sole [m].
    """
    pitch = p.CHAIN_PITCH
    if lump and n_chains > 1:
        pitch *= math.sqrt((p.CHAINS**2 - 1.0) / (n_chains**2 - 1.0))
    reach = 0.5 * pitch * (n_chains - 1)
    half_width = p.CHAIN_EDGE - reach if lump else p.CHAIN_EDGE - 2.0 * p.CHAIN_PITCH
    return tuple(reach - pitch * i for i in range(n_chains)), half_width


def softfoot(options: SoftFootOptions | None = None, *, timestep: float = 0.002, **changes: Any) -> Any:
    """Return a SoftFoot as a `mujoco.MjSpec`, its ankle fixed at the origin, without ground.

    The root body ``attachment_cube`` is turned so that in the spec's frame x points to the toes and z up. Where the
    foot is attached to a robot, call `pliant.robots.softfoot.fit_closure` afterwards, because the mass of what carries
    the foot takes part in the softness of MuJoCo's constraints. Ground and obstacles need an odd ``conaffinity`` (the
    default of MuJoCo is 1) or the bit 2 in ``contype``; parts of the foot do not touch each other.

    Args:
        options: what is chosen; None takes the defaults.
        timestep: step that the compliance of the closure must be possible with [s]; becomes that of the spec.
        changes: options by name, in place of those of ``options``.

    Raises:
        ModelError: an unknown option or a value that is not valid, more chains than fit, a closure compliance that is
            too small for the time step.

    Example:
        >>> spec = softfoot(n_chains=3, lump=True, coupling="midpoint", tendon="fixed")
        >>> model = spec.compile()
    """
    import mujoco

    if not timestep > 0.0:
        raise ModelError(f"softfoot: timestep is {timestep:g}; must be > 0 [s]", field="timestep")
    spec = mujoco.MjSpec()
    spec.modelname = "softfoot"
    spec.compiler.degree = False
    spec.compiler.autolimits = True
    spec.option.timestep = timestep
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    add_softfoot(spec, spec.worldbody, options, **changes)
    return spec


def add_softfoot(spec: Any, body: Any, options: SoftFootOptions | None = None, **changes: Any) -> None:
    """Add a SoftFoot to a body of a `mujoco.MjSpec`, its ankle at the origin of that body.

    Args:
        spec: the spec, in radians; its time step is that which the compliance of the closure must be possible with.
        body: body that carries the foot, x forward and z up.
        options: what is chosen; None takes the defaults.
        changes: options by name, in place of those of ``options``.

    Raises:
        ModelError: as `softfoot`.
    """
    fields = dataclasses.fields(SoftFootOptions)
    given = {} if options is None else {field.name: getattr(options, field.name) for field in fields}
    chosen = parse(SoftFootOptions, {**given, **changes}, where="softfoot: ", error=ModelError)
    if chosen.lump and chosen.n_chains > MAX_LUMPED:
        raise ModelError(
            f"softfoot: n_chains is {chosen.n_chains} with lump=true; must be from 1 to {MAX_LUMPED}, because lumped "
            "chains stand for the five of the foot",
            field="n_chains",
        )
    _Foot(chosen, spec).build(body)


class _Foot:
    """The foot that is being built."""

    def __init__(self, options: SoftFootOptions, spec: Any) -> None:
        import mujoco

        self.mj = mujoco
        self.options = options
        self.spec = spec
        self.scale = options.scale
        self.sign = 1.0 if options.side == "left" else -1.0
        self.factor = p.CHAINS / options.n_chains if options.lump else 1.0
        self.tendons: list[Any] = []
        self.positions, self.half_width = chain_layout(options.n_chains, options.lump)

    def build(self, parent: Any) -> None:
        """Add everything below a body."""
        root = parent.add_body(name="attachment_cube", quat=list(p.BASE_QUATERNION))
        self.inertial(root, p.ROOT)
        edge = p.ARCHES["cube"]
        self.collider(root, "attachment_cube_collision", "BOX", [edge] * 3, rgba=_DARK, group=0)
        arch = root.add_body(name="posterior_arch")
        self.inertial(arch, p.POSTERIOR_ARCH)
        self.arch(arch, p.HEEL_POSITION[:2])
        heel = arch.add_body(name="heel", pos=self.length(p.HEEL_POSITION), quat=list(p.HEEL_QUATERNION))
        self.inertial(heel, p.HEEL)
        self.hinge(
            heel,
            "posterior_arch_to_heel",
            0.0,
            stiffness=p.HEEL_JOINT["stiffness"],
            damping=p.HEEL_JOINT["damping"],
            range=p.HEEL_JOINT["range"],
        )
        self.heel_sole(heel)
        front = root.add_body(name="frontal_arch", quat=list(p.FRONTAL_QUATERNION))
        self.inertial(front, p.FRONTAL_ARCH)
        self.hinge(front, "cube_to_frontal_arch", 0.0, damping=p.ARCH_DAMPING)
        self.arch(front, (p.CLOSURE_ANCHOR, 0.0))
        for number, z in enumerate(self.positions, 1):
            self.chain(heel, number, self.sign * z)
        self.fit_tendons()
        if not self.options.release_quirks:
            fit_closure(self.spec, self.options.closure_compliance, lump=self.options.lump)

    # -- pieces ----------------------------------------------------------------------------------------------

    def length(self, values: Any) -> list[float]:
        """Return lengths of the parameters in those of the foot."""
        return [self.scale * value for value in values]

    def inertial(self, body: Any, numbers: p.Inertial, factor: float = 1.0) -> None:
        """Write mass properties, scaled, and mirrored in the plane z = 0 for the right foot."""
        w, x, y, z = numbers.quaternion
        body.explicitinertial = True
        body.mass = factor * self.scale**3 * numbers.mass
        body.ipos = self.length((*numbers.center[:2], self.sign * numbers.center[2]))
        moments = [factor * self.scale**5 * value for value in numbers.inertia]
        if len(moments) == 3:
            body.inertia = moments
            body.iquat = [w, self.sign * x, self.sign * y, z]
        else:
            body.fullinertia = [*moments[:4], self.sign * moments[4], self.sign * moments[5]]

    def hinge(self, body: Any, name: str, x: float, *, factor: float = 1.0, **arguments: Any) -> Any:
        """Add a hinge about z at (x, 0, 0) of its body."""
        stiffness, damping = arguments.pop("stiffness", 0.0), arguments.pop("damping", 0.0)
        armature = arguments.pop("armature", self.options.armature)
        if "range" in arguments:
            arguments["limited"] = self.mj.mjtLimited.mjLIMITED_TRUE
        return body.add_joint(
            name=name,
            type=self.mj.mjtJoint.mjJNT_HINGE,
            pos=[self.scale * x, 0.0, 0.0],
            axis=[0.0, 0.0, 1.0],
            stiffness=[factor * stiffness, 0.0, 0.0],
            damping=[factor * damping, 0.0, 0.0],
            armature=factor * self.scale**5 * armature,
            **arguments,
        )

    def geom(self, body: Any, kind: str, size: Any, **arguments: Any) -> Any:
        """Add a shape without mass that touches nothing."""
        arguments = {"contype": 0, "conaffinity": 0, "group": 2, **arguments}
        arguments["pos"] = self.length(arguments.get("pos", (0.0, 0.0, 0.0)))
        if "fromto" in arguments:
            arguments["fromto"] = self.length(arguments["fromto"])
            del arguments["pos"]
        size = self.length([*size, 0.0, 0.0][:3])
        return body.add_geom(type=getattr(self.mj.mjtGeom, f"mjGEOM_{kind}"), size=size, mass=0.0, **arguments)

    def collider(self, body: Any, name: str, kind: str, size: Any, **arguments: Any) -> Any:
        """Add a shape that touches ground and obstacles, and no part of the foot."""
        return self.geom(body, kind, size, name=name, **{"contype": 1, "conaffinity": 2, "group": 3, **arguments})

    def arch(self, body: Any, end: Any) -> None:
        """Add the two bars of an arch, from the axis of the ankle to a point of its body."""
        for name, z in (("left", self.sign * p.ARCHES["side"]), ("right", -self.sign * p.ARCHES["side"])):
            line = [0.0, 0.0, z, end[0], end[1], z]
            name = f"{body.name}_{name}_collision"
            self.collider(body, name, "CAPSULE", [p.ARCHES["radius"]], fromto=line, rgba=_LIGHT, group=0)
        side = p.ARCHES["side"]
        self.geom(body, "CAPSULE", [0.006], fromto=[end[0], end[1], -side, end[0], end[1], side], rgba=_GREY)
        self.geom(body, "CAPSULE", [0.006], fromto=[0.0, 0.0, -side, 0.0, 0.0, side], rgba=_GREY)

    def heel_sole(self, heel: Any) -> None:
        half, center, angle = p.HEEL_SOLE["half"], p.HEEL_SOLE["center"], p.HEEL_SOLE["angle"]
        quat = [math.cos(0.5 * angle), 0.0, 0.0, math.sin(0.5 * angle)]
        if self.options.contact == "box":
            self.collider(heel, "heel_collision", "BOX", half, pos=center, quat=quat)
        else:
            for name, s in (("rear", -1.0), ("front", 1.0)):
                reach = s * (half[0] - half[1])
                pos = (center[0] + reach * math.cos(angle), center[1] + reach * math.sin(angle), 0.0)
                self.collider(heel, f"heel_{name}_collision", "CAPSULE", [half[1], half[2]], pos=pos)
        self.geom(heel, "BOX", [half[0], half[1], half[2]], pos=center, quat=quat, rgba=_RED)

    def chain(self, heel: Any, number: int, z: float) -> None:
        """Add one chain with its tendon and its closure.

        Args:
            heel: body of the heel.
            number: of the chain, from 1.
            z: its lateral position [m].
        """
        start = z
        if self.options.release_quirks and self.options.n_chains == p.CHAINS and number == 4:
            start += self.sign * p.QUIRK_OFFSET
        path = self.heel_pulleys(heel, number, z)
        body, before = heel, f"heel_phalanx_{number}"
        levers: list[str] = []
        for k, module in enumerate(p.MODULES, 1):
            name = f"{module.name}_{number}"
            if k == 1:
                pos, quat = (*p.CHAIN_START, start), list(p.CHAIN_QUATERNION)
            else:
                pos, quat = (module.offset, 0.0, 0.0), [1.0, 0.0, 0.0, 0.0]
            body = body.add_body(name=name, pos=self.length(pos), quat=quat)
            self.inertial(body, module.inertial, self.factor)
            levers += self.coupling(body, module, before, f"virtual_{k}_{number}")
            self.module_shapes(body, module)
            path += self.module_pulleys(body, module)
            before = name
        self.tendon(f"tendon_{number}", path, levers)
        self.spec.add_equality(
            name=f"{CLOSURE}{number}",
            type=self.mj.mjtEq.mjEQ_CONNECT,
            objtype=self.mj.mjtObj.mjOBJ_BODY,
            name1="frontal_arch",
            name2=f"rollover_phalanx_{number}",
            data=[*self.length((p.CLOSURE_ANCHOR, 0.0, z)), *[0.0] * 9],
            solref=list(p.SOLVER_REFERENCE),
            solimp=list(p.CLOSURE_SOLIMP),
        )

    def coupling(self, body: Any, module: p.Module, before: str, virtual: str) -> list[str]:
        """Add the hinges between a module and the one before it; return their names."""
        low, high = (-p.RANGE[1], -p.RANGE[0]) if module.mirrored else p.RANGE
        numbers = {"stiffness": self.options.band_stiffness, "damping": self.options.band_damping}
        if self.options.coupling == "midpoint":
            name, x = f"{before}_to_{body.name}", -0.5 * p.AXIS_DISTANCE
            factor = 0.5 * self.factor
            self.hinge(body, name, x, factor=factor, range=(2.0 * low, 2.0 * high), **numbers)
            return [name]
        names = [f"{before}_to_{virtual}", f"{virtual}_to_{body.name}"]
        for name, x in zip(names, (-p.AXIS_DISTANCE, 0.0), strict=True):
            self.hinge(body, name, x, factor=self.factor, range=(low, high), **numbers)
        self.spec.add_equality(
            name=f"{before}_eq_{virtual}",
            type=self.mj.mjtEq.mjEQ_JOINT,
            objtype=self.mj.mjtObj.mjOBJ_JOINT,
            name1=names[0],
            name2=names[1],
            data=[0.0, 1.0, *[0.0] * 10],
            solref=list(p.SOLVER_REFERENCE),
            solimp=list(p.COUPLING_SOLIMP),
        )
        return names

    def module_shapes(self, body: Any, module: p.Module) -> None:
        half_x, half_y, x = module.sole
        width = self.half_width
        name = f"{body.name}_collision"
        if self.options.contact == "box":
            self.collider(body, name, "BOX", [half_x, half_y, width], pos=(x, 0.0, 0.0))
        else:
            # Across the foot, with the lateral support of the box: its cylinder is as wide as the box.
            self.collider(body, name, "CAPSULE", [half_y, width], pos=(x, 0.0, 0.0))
        radius = 0.5 * p.AXIS_DISTANCE
        rgba = _LIGHT if module.mirrored else _GREY
        self.geom(body, "BOX", [half_x, 0.5 * half_y, 0.9 * width], pos=(x, 0.5 * half_y, 0.0), rgba=rgba)
        self.geom(body, "CYLINDER", [radius, 0.8 * width], rgba=_DARK)
        if module.exit is not None:
            self.geom(body, "CYLINDER", [radius, 0.8 * width], pos=(module.exit, 0.0, 0.0), rgba=_DARK)

    # -- tendons ---------------------------------------------------------------------------------------------

    def site(self, body: Any, name: str, pos: Any) -> str:
        body.add_site(name=name, pos=self.length(pos), size=[0.001 * self.scale] * 3, group=4, rgba=list(_TENDON))
        return name

    def pulley(self, body: Any, name: str, pos: Any, radius: float = p.PULLEY_RADIUS) -> str:
        self.geom(body, "CYLINDER", [radius, p.PULLEY_HALF_WIDTH], name=name, pos=pos, group=4, rgba=_GREY)
        return name

    def heel_pulleys(self, heel: Any, number: int, z: float) -> list[tuple[str, str]]:
        """Add the tendon's way through the heel; return sites and (pulley, side site) in the order of the path."""
        if self.options.tendon == "fixed":
            return []
        start = self.site(heel, f"tendon_{number}_start", (*p.TENDON_START, z))
        side = self.site(heel, f"tendon_{number}_redirect_side", (*p.REDIRECT_SIDE, z))
        redirect = self.pulley(heel, f"tendon_{number}_redirect", (*p.REDIRECT, z), p.REDIRECT_RADIUS)
        last_side = self.site(heel, f"heel_{number}_exit_side", (*p.HEEL_PULLEY_SIDE, z))
        last = self.pulley(heel, f"heel_{number}_exit", (*p.HEEL_PULLEY, z))
        return [(start, ""), (side, redirect), (last_side, ""), (last_side, last)]

    def module_pulleys(self, body: Any, module: p.Module) -> list[tuple[str, str]]:
        if self.options.tendon == "fixed":
            return []
        entry_side = self.site(body, f"{body.name}_entry_side", (0.0, p.TENDON_OFFSET, 0.0))
        entry = self.pulley(body, f"{body.name}_entry", (0.0, 0.0, 0.0))
        path = [(entry_side, ""), (entry_side, entry)]
        if module.exit is None:
            return [*path, (self.site(body, f"{body.name}_end", (p.TENDON_END, p.TENDON_OFFSET, 0.0)), "")]
        exit_side = self.site(body, f"{body.name}_exit_side", (module.exit, p.TENDON_OFFSET, 0.0))
        exit_pulley = self.pulley(body, f"{body.name}_exit", (module.exit, 0.0, 0.0))
        return [*path, (exit_side, ""), (exit_side, exit_pulley)]

    def tendon(self, name: str, path: list[tuple[str, str]], levers: list[str]) -> None:
        tendon = self.spec.add_tendon(
            name=name,
            limited=self.mj.mjtLimited.mjLIMITED_TRUE,
            range=[0.0, p.TENDON_RANGE],
            width=0.0004 * self.scale,
            rgba=list(_TENDON),
        )
        self.tendons.append(tendon)
        if self.options.tendon == "fixed":
            for joint in levers:
                tendon.wrap_joint(joint, -self.scale * p.TENDON_OFFSET)
        for site, pulley in path:
            if pulley:
                tendon.wrap_geom(pulley, site)
            else:
                tendon.wrap_site(site)

    def fit_tendons(self) -> None:
        """Let the tendons be taut when they have lengthened by the slack."""
        slack = self.options.tendon_slack
        if self.options.tendon == "fixed":
            # Its length is the change of length; the lower limit is never reached.
            for tendon in self.tendons:
                tendon.range = [-self.scale * p.TENDON_RANGE, slack]
        elif not self.options.release_quirks:
            model = self.spec.copy().compile()
            for tendon in self.tendons:
                tendon.range = [0.0, float(model.tendon_length0[model.tendon(tendon.name).id]) + slack]
