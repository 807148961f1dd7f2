"""Objects that are made while a simulation runs: spare bodies and spare ties of the model.

MuJoCo compiles a model with a fixed number of bodies, and laws, devices, recordings and cameras hold views into its
arrays. So the model is compiled with spare free bodies that are small, invisible and touch nothing, and with spare
weld constraints that hold nothing. `pliant.objects.WorldDevice` gives them shape, mass and place when an object
is made, and takes them back when it is deleted. Nothing is compiled again, no array moves, and no step waits.
"""

from __future__ import annotations

import dataclasses
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.base.errors import ModelError, nearest
from pliant.base.options import option
from pliant.model.interface import PartDefaults
from pliant.model.problem import Problem, Problems
from pliant.model.wanted import check_robot

if TYPE_CHECKING:
    import mujoco

    from pliant.model.robot import Robot

MAX_OBJECTS = 1000
"""Most spare objects, and most spare ties."""
SPARE_MASS = 1e-3
"""Mass of an object that is not made [kg]."""
SPARE_SIZE = 1e-3
"""Size of an object that is not made [m]."""
AXES = 3
"""Shapes of a body that show the axes of a frame."""


@dataclass(frozen=True, slots=True, kw_only=True)
class World(PartDefaults):
    """Spare objects and ties of a model.

    Example:
        >>> robot.devices.append(World(objects=4))
    """

    name: str = "world"
    """Name of the device."""
    objects: int = option(16, low=0, high=MAX_OBJECTS, source="of pliant")
    """Most objects at one time; each adds six degrees of freedom to the model."""
    ties: int = option(8, low=0, high=MAX_OBJECTS, source="of pliant")
    """Most ties between links at one time, beside one for each object."""
    startup: tuple[tuple[str, ...], ...] = ()
    """Links that are tied at the start and after a reset: (link, link) pairs."""

    def __post_init__(self) -> None:
        for key in ("objects", "ties"):
            value = getattr(self, key)
            if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MAX_OBJECTS:
                raise ModelError(
                    f"{self.name}: {key} is {value!r}; must be a whole number from 0 to {MAX_OBJECTS}", field=key
                )
        if not self.objects + self.ties:
            raise ModelError(f"{self.name}: objects and ties are 0; one of them must be above 0", field="objects")
        if len(self.startup) > self.ties:
            raise ModelError(
                f"{self.name}: {len(self.startup)} links are tied at the start; ties must be at least that many",
                field="ties",
            )

    def prefixed(self, prefix: str) -> World:
        """Return the description with the device's and the links' names prefixed."""
        startup = tuple(tuple(prefix + link for link in pair) for pair in self.startup)
        return dataclasses.replace(self, name=prefix + self.name, startup=startup)

    def body(self, index: int) -> str:
        """Return the name of the body of an object."""
        return f"{self.name}/object_{index + 1}"

    def weld(self, index: int) -> str:
        """Return the name of a tie; the first are those of the objects."""
        return f"{self.name}/tie_{index + 1}"

    def install(self, spec: mujoco.MjSpec, original: mujoco.MjSpec) -> None:
        """Add the spare bodies, the ties, and the exclusions of contacts between what is tied.

        Raises:
            ModelError: the model has no bodies that could be tied.
        """
        import mujoco

        before = [body.name for body in spec.bodies if body.name and body.name != "world"]
        none = {"contype": 0, "conaffinity": 0, "rgba": [0.0, 0.0, 0.0, 0.0], "group": 0}
        for i in range(self.objects):
            body = spec.worldbody.add_body(name=self.body(i), gravcomp=1.0)
            body.add_freejoint(name=f"{self.body(i)}/free")
            shape = body.add_geom(
                name=f"{self.body(i)}/shape",
                type=mujoco.mjtGeom.mjGEOM_SPHERE,
                size=[SPARE_SIZE, 0.0, 0.0],
                mass=SPARE_MASS,
                **none,
            )
            shape.contype = 1  # so that the compiler gives the body a bounding box; `finish` takes it back
            for axis in range(AXES):
                body.add_geom(
                    name=f"{self.body(i)}/axis_{axis}",
                    type=mujoco.mjtGeom.mjGEOM_CYLINDER,
                    size=[SPARE_SIZE, SPARE_SIZE, 0.0],
                    mass=0.0,
                    **none,
                )
        bodies = [self.body(i) for i in range(self.objects)] or before
        if not bodies:
            raise ModelError(f"{self.name}: the model has no bodies that could be tied", field="ties")
        other = next((name for name in [*before, *bodies] if name != bodies[0]), "world")
        for i in range(self.objects + self.ties):
            first = bodies[i] if i < self.objects else bodies[0]
            second = other if first != other else "world"
            weld = spec.add_equality(
                name=self.weld(i),
                type=mujoco.mjtEq.mjEQ_WELD,
                objtype=mujoco.mjtObj.mjOBJ_BODY,
                name1=first,
                name2=second,
                active=False,
            )
            weld.solimp = [0.99, 0.9999, 1e-3, 0.5, 2.0]
        self._add_exclusions(spec, [*bodies, *before], self.objects + self.ties)
        for key in spec.keys:
            if len(key.qpos):
                key.qpos = [*key.qpos, *[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0] * self.objects]
            if len(key.qvel):
                key.qvel = [*key.qvel, *[0.0] * 6 * self.objects]

    def _add_exclusions(self, spec: mujoco.MjSpec, bodies: list[str], count: int) -> None:
        """Add exclusions of pairs that differ, whose numbers are changed later."""
        taken = {frozenset((e.bodyname1, e.bodyname2)) for e in spec.excludes}
        every = [*dict.fromkeys(bodies), "world"]
        pairs = ((a, b) for i, a in enumerate(every) for b in every[i + 1 :] if frozenset((a, b)) not in taken)
        # No more pairs can be apart than there are.
        for made, (a, b) in enumerate(itertools.islice(pairs, count), 1):
            spec.add_exclude(name=f"{self.name}/apart_{made}", bodyname1=a, bodyname2=b)

    def finish(self, model: mujoco.MjModel) -> None:
        """Let the spare bodies touch nothing, and the exclusions exclude nothing."""
        import mujoco

        for i in range(self.objects):
            body = model.body(self.body(i)).id
            model.body_contype[body] = model.body_conaffinity[body] = 0
            model.geom_contype[model.geom(f"{self.body(i)}/shape").id] = 0
        for i in range(model.nexclude):
            name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_EXCLUDE, i)
            if name and name.startswith(f"{self.name}/apart_"):
                model.exclude_signature[i] = 0
        model.exclude_signature[:] = np.sort(model.exclude_signature)

    def check(self, spec: mujoco.MjSpec) -> list[Problem]:
        """Return the links that are tied at the start and do not exist, and names that are taken."""
        bodies = [body.name for body in spec.bodies if body.name]
        problems = Problems()
        for pair in self.startup:
            if len(pair) != 2:
                problems.error(self.name, f"startup has {pair!r}", "must be pairs of links")
            for link in pair:
                if link not in bodies:
                    problems.error(self.name, f"the link {link!r} does not exist", nearest(link, bodies))
        if any(body.startswith(f"{self.name}/object_") for body in bodies):
            problems.error(self.name, "the model has bodies of its names", "rename the device")
        return problems


def add_world(robot: Robot, objects: int = 16, ties: int = 8) -> World:
    """Give a robot spare objects, so that objects can be made while it runs; return the description.

    A robot that has them keeps the larger numbers.

    Args:
        robot: the robot; it is changed.
        objects: most objects at one time.
        ties: most ties between links at one time.

    Raises:
        ModelError: numbers out of range.
    """
    check_robot(robot, "add_world", compiled=False)
    for place, device in enumerate(robot.devices):
        if isinstance(device, World):
            merged = dataclasses.replace(device, objects=max(device.objects, objects), ties=max(device.ties, ties))
            robot.devices[place] = merged
            return merged
    world = World(objects=objects, ties=ties)
    robot.devices.append(world)
    return world
