"""Build a SoftFoot as an ordinary `mujoco.MjSpec` of primitive shapes."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from pliant.base.errors import ModelError
from pliant.base.options import parse
from pliant.feet.model.contact_law import ContactLaw
from pliant.feet.model.soles import fit_soles, write_soles
from pliant.feet.softfoot import parameters as p
from pliant.feet.softfoot.closure import CLOSURE, fit_closure
from pliant.feet.softfoot.options import MAX_LUMPED, SoftFootOptions

if TYPE_CHECKING:
    import mujoco

_DARK, _LIGHT, _RED = (0.17, 0.19, 0.22, 1.0), (0.90, 0.91, 0.93, 1.0), (0.75, 0.16, 0.14, 1.0)
_BAR = "metatarsal_bar"
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


def softfoot(options: SoftFootOptions | None = None, *, timestep: float = 0.002, **changes: object) -> mujoco.MjSpec:
    """Return a SoftFoot as a `mujoco.MjSpec`, its ankle fixed at the origin, without ground.

    The root body ``attachment_cube`` is turned so that in the spec's frame x points to the toes and z up. Where the
    foot is attached to a robot, call `pliant.feet.softfoot.fit_closure` afterwards, because the mass of what carries
    the foot takes part in the softness of MuJoCo's constraints; `pliant.feet.model.soles` has what the soles need
    there. The friction cone is MuJoCo's default, with which the points of a foot that is only pressed creep to rest.
    Ground and obstacles need an odd ``conaffinity`` (the default of MuJoCo is 1) or the bit 2 in ``contype``; parts of
    the foot do not touch each other.

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
    disable_islands(spec)
    add_softfoot(spec, spec.worldbody, options, **changes)
    return spec


def disable_islands(spec: mujoco.MjSpec) -> None:
    """Let MuJoCo solve all constraints together: a foot is one island, and looking for it is 5 to 9 % of a step.

    Args:
        spec: a `mujoco.MjSpec` with a foot and nothing else that moves.
    """
    import mujoco

    spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_ISLAND)


def add_softfoot(
    spec: mujoco.MjSpec, body: mujoco.MjsBody, options: SoftFootOptions | None = None, **changes: object
) -> None:
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

    def __init__(self, options: SoftFootOptions, spec: mujoco.MjSpec) -> None:
        import mujoco

        self.mj = mujoco
        self.options = options
        self.spec = spec
        self.scale = options.scale
        self.sign = 1.0 if options.side == "left" else -1.0
        self.factor = p.CHAINS / options.n_chains if options.lump else 1.0
        self.tendons: list[mujoco.MjsTendon] = []
        self.hinges: list[mujoco.MjsJoint] = []
        self.ties: list[mujoco.MjsEquality] = []
        self.couplings: list[list[list[str]]] = []
        self.soles: dict[str, float] = {}
        self.positions, self.half_width = chain_layout(options.n_chains, options.lump)

    def build(self, parent: mujoco.MjsBody) -> None:
        """Add everything below a body."""
        self.refuse_unstable_springs()
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
        if self.options.frontal_freedom:
            self.metatarsal_bar(front)
        for number, z in enumerate(self.positions, 1):
            self.chain(heel, number, self.sign * z)
        if self.options.chain_spring > 0.0:
            self.chain_springs()
        model = self.spec.copy().compile()
        self.fit_tendons(model)
        if not self.options.release_quirks:
            self.fit_couplings(model)
            self.fit_soles(model)
            fit_closure(self.spec, self.options.closure_compliance, lump=self.options.lump)

    # -- pieces ----------------------------------------------------------------------------------------------

    def length(self, values: Iterable[float]) -> list[float]:
        """Return lengths of the parameters in those of the foot."""
        return [self.scale * value for value in values]

    def inertial(self, body: mujoco.MjsBody, numbers: p.Inertial, factor: float = 1.0) -> None:
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

    def hinge(
        self, body: mujoco.MjsBody, name: str, x: float, *, factor: float = 1.0, **arguments: Any
    ) -> mujoco.MjsJoint:
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

    def geom(self, body: mujoco.MjsBody, kind: str, size: Sequence[float], **arguments: Any) -> mujoco.MjsGeom:
        """Add a shape without mass that touches nothing."""
        arguments = {"contype": 0, "conaffinity": 0, "group": 2, **arguments}
        arguments["pos"] = self.length(arguments.get("pos", (0.0, 0.0, 0.0)))
        if "fromto" in arguments:
            arguments["fromto"] = self.length(arguments["fromto"])
            del arguments["pos"]
        size = self.length([*size, 0.0, 0.0][:3])
        return body.add_geom(type=getattr(self.mj.mjtGeom, f"mjGEOM_{kind}"), size=size, mass=0.0, **arguments)

    def picture(self, body: mujoco.MjsBody, kind: str, size: Sequence[float], **arguments: Any) -> None:
        """Add a shape that is only looked at, unless the shapes that touch are shown instead."""
        if self.options.shapes == "full":
            self.geom(body, kind, size, **arguments)

    def collider(
        self, body: mujoco.MjsBody, name: str, kind: str, size: Sequence[float], **arguments: Any
    ) -> mujoco.MjsGeom:
        """Add a shape that touches ground and obstacles, and no part of the foot."""
        shown = {"group": 3} if self.options.shapes == "full" else {"group": 2, "rgba": _GREY}
        return self.geom(body, kind, size, name=name, **{"contype": 1, "conaffinity": 2, **shown, **arguments})

    def sole(
        self, body: mujoco.MjsBody, name: str, kind: str, size: Sequence[float], area: float, **arguments: Any
    ) -> None:
        """Add a collider that is a sole, with the area that one of its contact points with flat ground stands for."""
        self.collider(body, name, kind, size, **arguments)
        self.soles[name] = self.scale**2 * area

    def arch(self, body: mujoco.MjsBody, end: Sequence[float]) -> None:
        """Add the two bars of an arch, from the axis of the ankle to a point of its body."""
        for name, z in (("left", self.sign * p.ARCHES["side"]), ("right", -self.sign * p.ARCHES["side"])):
            line = [0.0, 0.0, z, end[0], end[1], z]
            name = f"{body.name}_{name}_collision"
            self.collider(body, name, "CAPSULE", [p.ARCHES["radius"]], fromto=line, rgba=_LIGHT, group=0)
        side = p.ARCHES["side"]
        self.picture(body, "CAPSULE", [0.006], fromto=[end[0], end[1], -side, end[0], end[1], side], rgba=_GREY)
        self.picture(body, "CAPSULE", [0.006], fromto=[0.0, 0.0, -side, 0.0, 0.0, side], rgba=_GREY)

    def metatarsal_bar(self, front: mujoco.MjsBody) -> None:
        """Add the bar that carries the closures where the metatarsal joint also turns about the foot's long axis.

        Its mass is taken from the frontal arch. The axis is that of the joint itself, because an axis at another height
        would move the chains sideways, which they cannot do.
        """
        w, x, y, z = p.FRONTAL_QUATERNION
        bar = front.add_body(name=_BAR, pos=self.length((p.CLOSURE_ANCHOR, 0.0, 0.0)), quat=[w, -x, -y, -z])
        front.mass -= self.scale**3 * p.BAR["mass"]
        moment = p.BAR["mass"] * (2.0 * p.ARCHES["side"]) ** 2 / 12.0
        self.inertial(bar, p.Inertial(mass=p.BAR["mass"], center=(0.0, 0.0, 0.0), inertia=(moment, moment, 1e-7)))
        bar.add_joint(
            name="frontal_arch_to_metatarsal_bar",
            type=self.mj.mjtJoint.mjJNT_HINGE,
            axis=[1.0, 0.0, 0.0],
            stiffness=[self.options.frontal_stiffness, 0.0, 0.0],
            damping=[p.BAR["damping"], 0.0, 0.0],
            armature=self.scale**5 * self.options.armature,
            limited=self.mj.mjtLimited.mjLIMITED_TRUE,
            range=[-p.BAR["range"], p.BAR["range"]],
        )
        side = p.ARCHES["side"]
        self.picture(bar, "CAPSULE", [0.005], fromto=[0.0, 0.0, -side, 0.0, 0.0, side], rgba=_RED)

    def chain_springs(self) -> None:
        """Add the springs between neighbouring chains.

        Those of lumped chains store the energy of the four of a whole foot when the angles change evenly across it.
        """
        n, stiffness = len(self.positions), self.options.chain_spring
        if n < 2:
            raise ModelError(
                f"softfoot: chain_spring is {stiffness:g} N m/rad with n_chains=1; must be 0, because one chain has no "
                "neighbour",
                field="chain_spring",
            )
        if self.options.lump:
            pitch = (self.positions[0] - self.positions[1]) / p.CHAIN_PITCH
            stiffness *= (p.CHAINS - 1) / ((n - 1) * pitch**2)
        for number in range(1, n):
            for k, (one, other) in enumerate(zip(self.couplings[number - 1], self.couplings[number], strict=True), 1):
                spring = self.spec.add_tendon(
                    name=f"chain_spring_{k}_{number}", stiffness=[stiffness, 0.0, 0.0], springlength=[0.0, 0.0]
                )
                for joint in one:
                    spring.wrap_joint(joint, 1.0)
                for joint in other:
                    spring.wrap_joint(joint, -1.0)

    def heel_sole(self, heel: mujoco.MjsBody) -> None:
        half, center, angle = p.HEEL_SOLE["half"], p.HEEL_SOLE["center"], p.HEEL_SOLE["angle"]
        quat = [math.cos(0.5 * angle), 0.0, 0.0, math.sin(0.5 * angle)]
        area = half[0] * half[2]  # a quarter: four points
        if self.options.contact != "capsule":
            self.sole(heel, "heel_collision", "BOX", half, area, pos=center, quat=quat)
        else:
            for name, s in (("rear", -1.0), ("front", 1.0)):
                reach = s * (half[0] - half[1])
                pos = (center[0] + reach * math.cos(angle), center[1] + reach * math.sin(angle), 0.0)
                self.sole(heel, f"heel_{name}_collision", "CAPSULE", [half[1], half[2]], area, pos=pos)
        self.picture(heel, "BOX", [half[0], half[1], half[2]], pos=center, quat=quat, rgba=_RED)

    def chain(self, heel: mujoco.MjsBody, number: int, z: float) -> None:
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
        levers: list[list[str]] = []
        for k, module in enumerate(p.MODULES, 1):
            name = f"{module.name}_{number}"
            if k == 1:
                pos, quat = (*p.CHAIN_START, start), list(p.CHAIN_QUATERNION)
            else:
                pos, quat = (module.offset, 0.0, 0.0), [1.0, 0.0, 0.0, 0.0]
            body = body.add_body(name=name, pos=self.length(pos), quat=quat)
            self.inertial(body, module.inertial, self.factor)
            levers.append(self.coupling(body, module, before, f"virtual_{k}_{number}", rolls=k == 1))
            self.module_shapes(body, module)
            path += self.module_pulleys(body, module)
            before = name
        self.couplings.append(levers)
        self.tendon(f"tendon_{number}", path, [joint for coupling in levers for joint in coupling])
        carrier, x = (_BAR, 0.0) if self.options.frontal_freedom else ("frontal_arch", p.CLOSURE_ANCHOR)
        self.spec.add_equality(
            name=f"{CLOSURE}{number}",
            type=self.mj.mjtEq.mjEQ_CONNECT,
            objtype=self.mj.mjtObj.mjOBJ_BODY,
            name1=carrier,
            name2=f"rollover_phalanx_{number}",
            data=[*self.length((x, 0.0, z)), *[0.0] * 9],
            solref=list(p.SOLVER_REFERENCE),
            solimp=list(p.CLOSURE_SOLIMP),
        )

    def coupling(self, body: mujoco.MjsBody, module: p.Module, before: str, virtual: str, *, rolls: bool) -> list[str]:
        """Add the hinges between a module and the one before it; return their names.

        Midpoint hinges leave out the shortening of 13 mm (1 - cos(angle / 2)). The coupling at the heel bends by up to
        30 degrees and so far that the centre of pressure moves by 11 mm; it ``rolls`` in both models.
        """
        low, high = (-p.RANGE[1], -p.RANGE[0]) if module.mirrored else p.RANGE
        numbers = {"stiffness": self.options.band_stiffness, "damping": self.options.band_damping}
        if self.options.coupling == "midpoint" and not rolls:
            name, x = f"{before}_to_{body.name}", -0.5 * p.AXIS_DISTANCE
            factor = 0.5 * self.factor
            self.hinges.append(self.hinge(body, name, x, factor=factor, range=(2.0 * low, 2.0 * high), **numbers))
            return [name]
        names = [f"{before}_to_{virtual}", f"{virtual}_to_{body.name}"]
        for name, x in zip(names, (-p.AXIS_DISTANCE, 0.0), strict=True):
            self.hinges.append(self.hinge(body, name, x, factor=self.factor, range=(low, high), **numbers))
        tie = self.spec.add_equality(
            name=f"{before}_eq_{virtual}",
            type=self.mj.mjtEq.mjEQ_JOINT,
            objtype=self.mj.mjtObj.mjOBJ_JOINT,
            name1=names[0],
            name2=names[1],
            data=[0.0, 1.0, *[0.0] * 10],
            solref=list(p.SOLVER_REFERENCE),
            solimp=list(p.COUPLING_SOLIMP),
        )
        self.ties.append(tie)
        return names

    def module_shapes(self, body: mujoco.MjsBody, module: p.Module) -> None:
        half_x, half_y, x = module.sole
        width = self.half_width
        name = f"{body.name}_collision"
        # Lumped chains have the area of the chains that they stand for, not that of their wide boxes.
        area = 4.0 * half_x * (p.CHAIN_EDGE - 2.0 * p.CHAIN_PITCH) * self.factor
        if self.options.contact == "box":
            self.sole(body, name, "BOX", [half_x, half_y, width], area / 4.0, pos=(x, 0.0, 0.0))
        elif self.options.contact == "skid":
            self.skids(body, name, module, area)
        else:
            # Across the foot, with the lateral support of the box: its cylinder is as wide as the box.
            self.sole(body, name, "CAPSULE", [half_y, width], area / 2.0, pos=(x, 0.0, 0.0))
        radius = 0.5 * p.AXIS_DISTANCE
        rgba = _LIGHT if module.mirrored else _GREY
        self.picture(body, "BOX", [half_x, 0.5 * half_y, 0.9 * width], pos=(x, 0.5 * half_y, 0.0), rgba=rgba)
        self.picture(body, "CYLINDER", [radius, 0.8 * width], rgba=_DARK)
        if module.exit is not None:
            self.picture(body, "CYLINDER", [radius, 0.8 * width], pos=(module.exit, 0.0, 0.0), rgba=_DARK)

    def skids(self, body: mujoco.MjsBody, name: str, module: p.Module, area: float) -> None:
        """Add the skid of a module: a capsule along the chain, as wide as one chain, or two at the edges of a wide one.

        A capsule has two contact points.
        """
        half_x, half_y, x = module.sole
        radius = p.SKID["radius"]
        reach, y, edge = half_x - p.SKID["end"], half_y - radius, self.half_width - radius
        if edge < 1e-6:
            line = [x - reach, y, 0.0, x + reach, y, 0.0]
            self.sole(body, name, "CAPSULE", [radius], area / 2.0, fromto=line)
            return
        for side, z in (("left", self.sign * edge), ("right", -self.sign * edge)):
            line = [x - reach, y, z, x + reach, y, z]
            self.sole(body, f"{body.name}_{side}_collision", "CAPSULE", [radius], area / 4.0, fromto=line)

    def refuse_unstable_springs(self) -> None:
        """Refuse springs that oscillate faster than the time step resolves: stiffness dt^2 must be <= 4 inertia."""
        step = float(self.spec.option.timestep)
        inertia = self.scale**5 * self.options.armature
        # Of a spring between chains: both hinges of a coupling and both neighbours pull on each angle.
        limits = {"band_stiffness": 4.0 * inertia, "chain_spring": 0.5 * inertia}
        if self.options.frontal_freedom:
            limits["frontal_stiffness"] = 4.0 * self.scale**5 * self.options.armature
        for field, limit in limits.items():
            stiffness = getattr(self.options, field)
            if stiffness * step**2 > limit:
                raise ModelError(
                    f"softfoot: {field} is {stiffness:g} N m/rad; with the time step {step:g} s, the armature "
                    f"{self.options.armature:g} kg m^2 and the scale {self.scale:g} it must be <= "
                    f"{limit / step**2:.3g} N m/rad, or the spring is unstable. The time step must be <= "
                    f"{math.sqrt(limit / stiffness):.3g} s, or the armature larger",
                    field=field,
                )

    # -- constraints -----------------------------------------------------------------------------------------

    def fit_couplings(self, model: mujoco.MjModel) -> None:
        """Give the constraints of couplings and stops the compliance of the options, whatever the armature."""
        part = self.scale**-5 / self.factor
        tie = part * self.options.coupling_compliance
        stop = part * self.options.stop_compliance
        weight = {name: float(model.dof_invweight0[model.joint(name).dofadr[0]]) for name in self.hinge_names()}
        for equality in self.ties:
            pair = weight[equality.name1] + weight[equality.name2]
            equality.solref = [self.time_constant("coupling_compliance", tie, pair, p.COUPLING_SOLIMP), 1.0]
        tied = {name for equality in self.ties for name in (equality.name1, equality.name2)}
        for hinge in self.hinges:
            compliance = stop if hinge.name in tied else 2.0 * stop
            constant = self.time_constant("stop_compliance", compliance, weight[hinge.name], p.STOP_SOLIMP)
            hinge.solref_limit, hinge.solimp_limit = [constant, 1.0], list(p.STOP_SOLIMP)

    def fit_soles(self, model: mujoco.MjModel) -> None:
        """Give the soles the stiffness and damping of the options, whatever the inertia of the foot."""
        laws = {}
        for name, area in self.soles.items():
            stiffness, damping = (area * value for value in (self.options.sole_stiffness, self.options.sole_damping))
            laws[name] = ContactLaw(stiffness=stiffness, damping=damping)
        fit_soles(model, laws)
        write_soles(self.spec, model, laws)

    def hinge_names(self) -> list[str]:
        return [hinge.name for hinge in self.hinges]

    def time_constant(self, field: str, compliance: float, weight: float, solimp: Sequence[float]) -> float:
        """Return the time constant of a constraint of a joint, or refuse what the time step does not allow."""
        constant = math.sqrt(compliance / ((1.0 - solimp[1]) * weight))
        step = float(self.spec.option.timestep)
        if constant < 2.0 * step * (1.0 - 1e-9):
            given = getattr(self.options, field)
            bound = given * (2.0 * step / constant) ** 2
            raise ModelError(
                f"softfoot: {field} is {given:.3g} rad/(N m); with the time step {step:g} s and the armature "
                f"{self.options.armature:g} kg m^2 it must be >= {bound:.3g} rad/(N m), because MuJoCo softens "
                f"constraints that are faster than two steps. The time step must be <= {0.5 * constant:.3g} s, or the "
                "armature larger",
                field=field,
            )
        return constant

    # -- tendons ---------------------------------------------------------------------------------------------

    def site(self, body: mujoco.MjsBody, name: str, pos: Sequence[float]) -> str:
        body.add_site(name=name, pos=self.length(pos), size=[0.001 * self.scale] * 3, group=4, rgba=list(_TENDON))
        return name

    def pulley(self, body: mujoco.MjsBody, name: str, pos: Sequence[float], radius: float = p.PULLEY_RADIUS) -> str:
        self.geom(body, "CYLINDER", [radius, p.PULLEY_HALF_WIDTH], name=name, pos=pos, group=4, rgba=_GREY)
        return name

    def heel_pulleys(self, heel: mujoco.MjsBody, number: int, z: float) -> list[tuple[str, str]]:
        """Add the tendon's way through the heel; return sites and (pulley, side site) in the order of the path."""
        if self.options.tendon == "fixed":
            return []
        start = self.site(heel, f"tendon_{number}_start", (*p.TENDON_START, z))
        side = self.site(heel, f"tendon_{number}_redirect_side", (*p.REDIRECT_SIDE, z))
        redirect = self.pulley(heel, f"tendon_{number}_redirect", (*p.REDIRECT, z), p.REDIRECT_RADIUS)
        last_side = self.site(heel, f"heel_{number}_exit_side", (*p.HEEL_PULLEY_SIDE, z))
        last = self.pulley(heel, f"heel_{number}_exit", (*p.HEEL_PULLEY, z))
        return [(start, ""), (side, redirect), (last_side, ""), (last_side, last)]

    def module_pulleys(self, body: mujoco.MjsBody, module: p.Module) -> list[tuple[str, str]]:
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

    def fit_tendons(self, model: mujoco.MjModel) -> None:
        """Let the tendons be taut when they have lengthened by the slack."""
        slack = self.options.tendon_slack
        if self.options.tendon == "fixed":
            # Its length is the change of length; the lower limit is never reached.
            for tendon in self.tendons:
                tendon.range = [-self.scale * p.TENDON_RANGE, slack]
        elif not self.options.release_quirks:
            for tendon in self.tendons:
                tendon.range = [0.0, float(model.tendon_length0[model.tendon(tendon.name).id]) + slack]
