"""Objects that are made, moved, attached and deleted while a simulation runs."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from pliant.base.errors import DeviceError, nearest
from pliant.base.numerics import Array
from pliant.base.spatial import (
    conjugate,
    quaternion_from_rpy,
    quaternion_product,
    rotate,
    rotation_from_quaternion,
    rpy_from_rotation,
)
from pliant.devices.base import DeviceBase, DeviceOptions, FieldInfo, request
from pliant.devices.kinds import device_for
from pliant.devices.sensors import sample_period
from pliant.engine.base import Engine, mujoco_state
from pliant.model.robot import Robot
from pliant.objects.description import SPARE_MASS, SPARE_SIZE, World
from pliant.objects.spare_bodies import SHAPES, SpareBody, SpareConstants, shape_body

if TYPE_CHECKING:
    from pliant.simulation import Simulation

RATE = 100.0
"""Samples a second [Hz]."""
MAX_SIZE = 1000.0
"""Largest size of an object [m]."""
MAX_DISTANCE = 1e6
"""Largest coordinate of an object [m]."""
MAX_MASS = 1e6
"""Largest mass of an object [kg]."""
MAX_NAME = 100
"""Longest name of an object."""
MASS = 1.0
"""Mass of an object of which none is given [kg]; that of Gazebo."""
GRAY = (0.5, 0.5, 0.5)


@device_for(World)
class WorldDevice(DeviceBase):
    """Makes objects of the spare bodies of a model, moves them, attaches them to links, and deletes them.

    An object is a free body of one shape with an even density. It collides with everything that collides. What is
    attached is held by a weld constraint, and does not collide with the link that holds it. Requests act at the start
    of the next step; a reset deletes all objects. Samples have values for each spare
    body, in its order.

    Args:
        description: the spare objects of the model.
        robot: the robot; links are its bodies.
        options: of `DeviceBase`; without ``sample_period`` it samples a hundred times a second.
    """

    signatures = ("world",)

    def __init__(self, description: World, robot: Robot, **options: Unpack[DeviceOptions]) -> None:
        n = description.objects
        samples = {
            "count": FieldInfo((), "", "number of objects"),
            "tied": FieldInfo((), "", "number of ties between links"),
        }
        if n:
            samples |= {
                "shape": FieldInfo((n,), "", "0 none, 1 sphere, 2 box, 3 cylinder, 4 frame"),
                "size": FieldInfo(
                    (3 * n,), "m", "three a body: radius; edges; radius, length; length of an axis; rest 0"
                ),
                "color": FieldInfo((3 * n,), "", "three a body: red, green, blue, from 0 to 1"),
                "mass": FieldInfo((n,), "kg", "mass of the object; 0 for none"),
                "position": FieldInfo((3 * n,), "m", "three a body: centre in the world"),
                "orientation": FieldInfo((4 * n,), "", "four a body: quaternion (w, x, y, z) in the world"),
                "attached": FieldInfo((n,), "", "number of the body that holds it, -1 for none"),
            }
        super().__init__(
            description.name,
            samples=samples,
            **{"sample_period": sample_period(RATE, float(robot.spec.option.timestep)), **options},
        )
        self.description = description
        self.robot_name = robot.name
        self._made: dict[str, int] = {}
        self._tied: dict[frozenset[int], int] = {}
        self._slots: list[SpareBody] = []

    # -- the loop thread ----------------------------------------------------------------------------------------

    def _connect(self, engine: Engine) -> None:
        import mujoco

        self._mujoco = mujoco
        self._state = mujoco_state(engine, self.name)
        model = self._model = self._state.model
        self._data = self._state.data
        described = self.description
        self._slots = []
        for i in range(described.objects):
            body = model.body(described.body(i))
            self._slots.append(
                SpareBody(
                    body=int(body.id),
                    shape=int(model.geom(f"{described.body(i)}/shape").id),
                    q=int(model.jnt_qposadr[body.jntadr[0]]),
                    v=int(body.dofadr[0]),
                    weld=int(model.equality(described.weld(i)).id),
                )
            )
        n = described.objects
        self._constants = SpareConstants(model, [slot.body for slot in self._slots])
        self._welds = [int(model.equality(described.weld(n + i)).id) for i in range(described.ties)]
        spare = {slot.body for slot in self._slots}
        # The last names of scoped bodies are names too, where only one body has them.
        self._links: dict[str, int] = {}
        for b in range(model.nbody):
            if b not in spare:
                self._links[model.body(b).name] = b
        # An object touches whatever touches anything.
        bits = int(np.bitwise_or.reduce(model.geom_contype, initial=0))
        self._mask = (1, bits | 1)
        free = int(np.count_nonzero(model.exclude_signature))
        self._excluded = np.sort(model.exclude_signature)[-free:] if free else model.exclude_signature[:0].copy()
        self._gravcomp = model.body_gravcomp.copy()
        self._eq_object = model.eq_obj1id.copy(), model.eq_obj2id.copy()
        self._sizes = np.zeros((n, 3))
        self._colors = np.zeros((n, 3))
        self._kinds, self._masses, self._held = np.zeros(n), np.zeros(n), np.full(n, -1.0)
        first = np.array([slot.q for slot in self._slots], dtype=int)[:, None]
        self._where_position = (first + np.arange(3)).ravel()
        self._where_orientation = (first + np.arange(3, 7)).ravel()
        self._position = [self._data.qpos[slot.q : slot.q + 3] for slot in self._slots]
        self._orientation = [self._data.qpos[slot.q + 3 : slot.q + 7] for slot in self._slots]
        self._startup = [tuple(self._link(link) for link in pair) for pair in described.startup]

    def _restart(self, rng: np.random.Generator) -> None:
        self._count = 0
        if self._made or self._tied or (self._model.body_gravcomp != self._gravcomp).any():
            with self._state.change_model():
                for slot in self._slots:
                    if slot.kind:
                        self._park(slot)
                self._made.clear()
                self._constants.restore()
                for weld in self._tied.values():
                    self._data.eq_active[weld] = 0
                self._tied.clear()
                self._model.body_gravcomp[:] = self._gravcomp
                self._exclude()
        for first, second in self._startup:
            self._tie(first, second)

    def _measure(self) -> dict[str, float | np.ndarray]:
        values: dict[str, float | np.ndarray] = {"count": float(len(self._made)), "tied": float(len(self._tied))}
        if self._slots:
            qpos = self._data.qpos
            values |= {
                "shape": self._kinds,
                "size": self._sizes.ravel(),
                "color": self._colors.ravel(),
                "mass": self._masses,
                "position": qpos[self._where_position],
                "orientation": qpos[self._where_orientation],
                "attached": self._held,
            }
        return values

    # -- requests -----------------------------------------------------------------------------------------------

    @request
    def make_sphere(self, radius: float, position: Sequence[float] = (0.0, 0.0, 0.0), **options: object) -> str:
        """Make a sphere of a radius [m] at a position [m]; return its name.

        Args:
            radius: its radius.
            position: its centre, in the world or in ``frame``.
            options: ``angles`` (roll, pitch, yaw about fixed axes [rad]), ``color`` (red, green, blue from 0 to 1),
                ``name``, ``frame`` (an object or a link of which the pose is meant), ``mass`` [kg], ``gravity``,
                ``collision``.

        Raises:
            DeviceError: a value that is not valid, a name that is taken, or no spare object is left.
        """
        return self._make("sphere", {"radius": radius}, position, options)

    @request
    def make_box(
        self,
        width: float,
        height: float,
        thickness: float,
        position: Sequence[float] = (0.0, 0.0, 0.0),
        **options: object,
    ) -> str:
        """Make a box of edges along its x, y and z axes [m]; return its name. Options are those of `make_sphere`.

        Raises:
            DeviceError: as `make_sphere`.
        """
        return self._make("box", {"width": width, "height": height, "thickness": thickness}, position, options)

    @request
    def make_cylinder(
        self, radius: float, length: float, position: Sequence[float] = (0.0, 0.0, 0.0), **options: object
    ) -> str:
        """Make a cylinder along its z axis [m]; return its name. Options are those of `make_sphere`.

        Raises:
            DeviceError: as `make_sphere`.
        """
        return self._make("cylinder", {"radius": radius, "length": length}, position, options)

    @request
    def make_frame(self, size: float, position: Sequence[float] = (0.0, 0.0, 0.0), **options: object) -> str:
        """Make a frame: a ball with three axes of a length [m]; only the ball touches. Return its name.

        Raises:
            DeviceError: as `make_sphere`.
        """
        return self._make("frame", {"size": size}, position, options)

    @request
    def load_model(self, file: str) -> str:
        """Refuse to load a model: a compiled model has a fixed number of bodies.

        Raises:
            DeviceError: always; the message says whether the file exists.
        """
        if not Path(file).is_file():
            raise DeviceError(f"{self.name}: the file {file!r} does not exist", field="file")
        raise DeviceError(
            f"{self.name}: {file!r} cannot be loaded while the simulation runs, because a compiled model has a fixed "
            "number of bodies; attach it before with Robot.attach, or make spheres, boxes and cylinders",
            field="file",
        )

    @request
    def names(self) -> list[str]:
        """Return the names of the objects, in the order in which they were made."""
        return list(self._made)

    @request
    def pose(self, name: str, frame: str = "") -> list[float]:
        """Return x, y, z [m], roll, pitch, yaw [rad] of an object in the world, or in the frame of another or a link.

        Raises:
            DeviceError: no such object or frame.
        """
        p, q = self._pose_of(self._slot(name).body)
        if frame:
            p0, q0 = self._pose_of(self._body(frame))
            inverse = conjugate(q0)
            p, q = rotate(inverse, p - p0), quaternion_product(inverse, q)
        return [*map(float, p), *map(float, rpy_from_rotation(rotation_from_quaternion(q)))]

    @request
    def set_pose(
        self, name: str, position: Sequence[float], angles: Sequence[float] = (0.0, 0.0, 0.0), frame: str = ""
    ) -> None:
        """Put an object, at rest, at a position [m] with roll, pitch, yaw [rad], in the world or in a frame.

        Raises:
            DeviceError: no such object or frame, numbers that are not valid, or the object is attached.
        """
        slot = self._slot(name)
        if slot.link >= 0:
            link = self._model.body(slot.link).name
            raise DeviceError(
                f"{self.name}: {name!r} is attached to {link!r}; detach it before moving it", field="name"
            )
        place = self._place(position, angles, frame)
        with self._state.change_model():
            self._put(slot, *place)

    @request
    def change_color(self, name: str, color: Sequence[float]) -> None:
        """Give an object another colour: red, green, blue from 0 to 1.

        Raises:
            DeviceError: no such object, or no colour.
        """
        slot, rgb = self._slot(name), self._numbers("color", color, 3, 0.0, 1.0)
        with self._state.change_model():
            self._paint(slot, rgb)

    @request
    def enable_gravity(self, name: str, on: bool = True) -> None:
        """Choose whether gravity acts on an object, or on every link of the robot if that is named.

        Raises:
            DeviceError: no such object.
        """
        if name in self._made:
            bodies = [self._slot(name).body]
        elif name == self.robot_name and name:
            bodies = [b for b in self._links.values() if b]
        else:
            raise DeviceError(
                f"{self.name}: there is no object {name!r}; {nearest(name, [*self._made, self.robot_name])}",
                field="name",
            )
        with self._state.change_model():
            self._model.body_gravcomp[bodies] = 0.0 if on else 1.0

    @request
    def enable_collision(self, name: str, on: bool = True) -> None:
        """Choose whether an object touches others.

        Raises:
            DeviceError: no such object.
        """
        slot = self._slot(name)
        with self._state.change_model():
            self._collide(slot, bool(on))

    @request
    def attach_object(self, name: str, link: str) -> None:
        """Hold an object where it is in the frame of a link, or of another object.

        Raises:
            DeviceError: no such object or link, or the object is attached already.
        """
        slot, other = self._slot(name), self._body(link)
        if slot.link >= 0:
            held = self._model.body(slot.link).name
            raise DeviceError(f"{self.name}: {name!r} is attached to {held!r}; detach it first", field="name")
        if other == slot.body:
            raise DeviceError(f"{self.name}: {name!r} cannot be attached to itself", field="link")
        with self._state.change_model():
            self._hold(slot.weld, slot.body, other)
            slot.link = other
            self._held[self._slots.index(slot)] = other
            self._exclude()

    @request
    def detach_object(self, name: str) -> None:
        """Let an object go; it keeps its velocity.

        Raises:
            DeviceError: no such object, or it is not attached.
        """
        slot = self._slot(name)
        if slot.link < 0:
            raise DeviceError(f"{self.name}: {name!r} is attached to nothing", field="name")
        with self._state.change_model():
            self._release(slot)
            self._exclude()

    @request
    def tie(self, first: str, second: str) -> None:
        """Hold two links, of one or of two robots, as they are to each other.

        Raises:
            DeviceError: no such link, the same link twice, a pair that is tied, or no tie is left.
        """
        self._tie(self._link(first), self._link(second))

    @request
    def untie(self, first: str, second: str = "") -> None:
        """Let two links go, or one from all that it is tied to.

        Raises:
            DeviceError: no such link, or it is not tied.
        """
        a = self._link(first)
        b = self._link(second) if second else None
        found = [pair for pair in self._tied if a in pair and (b is None or b in pair)]
        if not found:
            raise DeviceError(f"{self.name}: {first!r} is not tied{f' to {second!r}' if second else ''}", field="first")
        with self._state.change_model():
            for pair in found:
                self._data.eq_active[self._tied.pop(pair)] = 0
            self._exclude()

    @request
    def attach_model(self, model: str, model_link: str, link: str) -> None:
        """Hold an object, or else a link of a model, where it is in the frame of a link.

        Raises:
            DeviceError: as `attach_object` and `tie`.
        """
        if model in self._made:
            self.attach_object(model, link)
        else:
            self.tie(model_link, link)

    @request
    def detach_model(self, model: str, model_link: str) -> None:
        """Let an object go, or else a link of a model from all that it is tied to.

        Raises:
            DeviceError: as `detach_object` and `untie`.
        """
        if model in self._made:
            self.detach_object(model)
        else:
            self.untie(model_link)

    @request
    def rename(self, name: str, new_name: str) -> None:
        """Give an object another name.

        Raises:
            DeviceError: no such object, or a name that is not valid or taken.
        """
        self._slot(name)
        if new_name == name:
            return
        wanted = self._valid_name(new_name)
        self._made = {wanted if key == name else key: index for key, index in self._made.items()}

    @request
    def delete(self, name: str) -> None:
        """Delete an object.

        Raises:
            DeviceError: no such object.
        """
        slot = self._slot(name)
        with self._state.change_model():
            self._remove(slot)
            del self._made[name]
            self._exclude()

    @request
    def delete_all(self) -> None:
        """Delete all objects."""
        if self._made:
            with self._state.change_model():
                for index in self._made.values():
                    self._remove(self._slots[index])
                self._made.clear()
                self._exclude()

    # -- what requests are made of ------------------------------------------------------------------------------

    def _make(self, kind: str, sizes: dict[str, float], position: Sequence[float], options: Mapping[str, Any]) -> str:
        known = ("angles", "color", "name", "frame", "mass", "gravity", "collision")
        for key in options:
            if key not in known:
                raise DeviceError(f"{self.name}: an object has no {key!r}; {nearest(key, known)}", field=key)
        values = [self._size(key, value) for key, value in sizes.items()]
        place = self._place(position, options.get("angles", (0.0, 0.0, 0.0)), options.get("frame", ""))
        color = self._numbers("color", options.get("color", GRAY), 3, 0.0, 1.0)
        (mass,) = self._numbers("mass", [options.get("mass", MASS)], 1, 0.0, MAX_MASS)
        if mass <= 0.0:
            raise DeviceError(f"{self.name}: mass is {mass:g} kg; must be above 0 kg", field="mass")
        wanted = options.get("name", "")
        name = self._valid_name(wanted) if wanted else ""
        index = next((i for i, slot in enumerate(self._slots) if not slot.kind), None)
        if index is None:
            raise DeviceError(
                f"{self.name}: all {len(self._slots)} objects of the model are in use; delete one, or start with more "
                f"(add_world(robot, objects=N), --objects N)",
                field="objects",
            )
        self._count += 1
        while not name or (not wanted and name in self._made):
            name = f"{kind}{self._count}"
            if name in self._made or name in self._links:
                self._count, name = self._count + 1, ""
        slot = self._slots[index]
        with self._state.change_model():
            self._shape(slot, kind, values, float(mass))
            self._paint(slot, color)
            self._put(slot, *place)
            self._collide(slot, bool(options.get("collision", True)))
            self._model.body_gravcomp[slot.body] = 0.0 if options.get("gravity", True) else 1.0
        self._made[name] = index
        return name

    def _shape(self, slot: SpareBody, kind: str, values: Sequence[float], mass: float) -> None:
        """Give a spare body a shape and a mass, and note them for the samples."""
        slot.kind = SHAPES.index(kind)
        shape_body(self._model, slot, kind, values, mass)
        number = self._slots.index(slot)
        self._sizes[number] = 0.0
        self._sizes[number, : len(values)] = values
        self._kinds[number], self._masses[number] = slot.kind, mass

    def _paint(self, slot: SpareBody, rgb: Sequence[float]) -> None:
        self._model.geom_rgba[slot.shape] = (*rgb, 1.0)
        self._colors[self._slots.index(slot)] = rgb

    def _put(self, slot: SpareBody, position: Array, orientation: Array) -> None:
        data = self._data
        data.qpos[slot.q : slot.q + 3] = position
        data.qpos[slot.q + 3 : slot.q + 7] = orientation
        data.qvel[slot.v : slot.v + 6] = 0.0
        data.qacc_warmstart[slot.v : slot.v + 6] = 0.0
        data.xfrc_applied[slot.body] = 0.0

    def _collide(self, slot: SpareBody, on: bool) -> None:
        model = self._model
        own, others = self._mask if on else (0, 0)
        model.geom_contype[slot.shape] = model.body_contype[slot.body] = own
        model.geom_conaffinity[slot.shape] = model.body_conaffinity[slot.body] = others

    def _remove(self, slot: SpareBody) -> None:
        """Delete an object, and let go what is attached to it."""
        for other in self._slots:
            if other.link == slot.body:
                self._release(other)
        self._park(slot)

    def _park(self, slot: SpareBody) -> None:
        """Make a spare body of an object."""
        self._release(slot)
        self._shape(slot, "sphere", [SPARE_SIZE], SPARE_MASS)
        slot.kind = 0
        number = self._slots.index(slot)
        self._kinds[number] = self._masses[number] = 0.0
        self._paint(slot, (0.0, 0.0, 0.0))
        self._model.geom_rgba[slot.shape] = 0.0
        self._sizes[number] = 0.0
        self._collide(slot, False)
        self._put(slot, np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))
        self._model.body_gravcomp[slot.body] = 1.0

    def _hold(self, weld: int, body: int, link: int) -> None:
        """Let a weld constraint hold a body as it is in the frame of a link."""
        model = self._model
        (p1, q1), (p2, q2) = self._pose_of(body), self._pose_of(link)
        model.eq_obj1id[weld], model.eq_obj2id[weld] = body, link
        model.eq_data[weld, :3] = rotate(conjugate(q2), p1 - p2)
        model.eq_data[weld, 3:6] = 0.0
        model.eq_data[weld, 6:10] = quaternion_product(conjugate(q1), q2)
        model.eq_data[weld, 10] = 1.0
        model.eq_solref[weld] = 2.0 * float(model.opt.timestep), 1.0
        self._data.eq_active[weld] = 1

    def _release(self, slot: SpareBody) -> None:
        if slot.link >= 0:
            self._data.eq_active[slot.weld] = 0
            slot.link = -1
            self._held[self._slots.index(slot)] = -1.0

    def _tie(self, first: int, second: int) -> None:
        names = [self._model.body(b).name for b in (first, second)]
        pair = frozenset((first, second))
        if len(pair) < 2:
            raise DeviceError(f"{self.name}: {names[0]!r} cannot be tied to itself", field="second")
        if pair in self._tied:
            raise DeviceError(f"{self.name}: {names[0]!r} and {names[1]!r} are tied already", field="first")
        taken = set(self._tied.values())
        weld = next((w for w in self._welds if w not in taken), None)
        if weld is None:
            raise DeviceError(
                f"{self.name}: all {len(self._welds)} ties of the model are used; untie one, or start with more",
                field="ties",
            )
        with self._state.change_model():
            self._hold(weld, first, second)
            self._tied[pair] = weld
            self._exclude()

    def _exclude(self) -> None:
        """Exclude contacts between what is attached or tied; MuJoCo wants the pairs in order."""
        pairs = [(slot.body, slot.link) for slot in self._slots if slot.link >= 0] + [tuple(p) for p in self._tied]
        signatures = self._model.exclude_signature
        own = sorted({(min(pair) << 16) + max(pair) for pair in pairs}.difference(self._excluded.tolist()))
        rest = signatures.size - len(own) - self._excluded.size
        signatures[:] = np.sort(np.array([*[0] * rest, *own, *self._excluded], dtype=signatures.dtype))

    def _pose_of(self, body: int) -> tuple[Array, Array]:
        """Return position and orientation of a body at the present state."""
        for i, slot in enumerate(self._slots):
            if slot.body == body:
                q = self._orientation[i]
                return self._position[i].copy(), q / np.linalg.norm(q)
        self._mujoco.mj_kinematics(self._model, self._data)
        return self._data.xpos[body].copy(), self._data.xquat[body].copy()

    # -- what is valid ------------------------------------------------------------------------------------------

    def _numbers(self, what: str, values: Sequence[float], count: int, low: float, high: float) -> list[float]:
        try:
            numbers = [float(value) for value in values]
        except (TypeError, ValueError):
            numbers = []
        if len(numbers) != count or not all(math.isfinite(x) and low <= x <= high for x in numbers):
            wanted = "one number" if count == 1 else f"{count} numbers"
            shown = values[0] if count == 1 and len(values) == 1 else values
            raise DeviceError(
                f"{self.name}: {what} is {shown!r}; must be {wanted} from {low:g} to {high:g}", field=what
            )
        return numbers

    def _size(self, what: str, value: float) -> float:
        (number,) = self._numbers(what, [value], 1, -math.inf, MAX_SIZE)
        if not number >= 1e-6:
            raise DeviceError(f"{self.name}: {what} is {value!r} m; must be from 1e-06 to {MAX_SIZE:g} m", field=what)
        return number

    def _place(self, position: Sequence[float], angles: Sequence[float], frame: str) -> tuple[Array, Array]:
        p = np.array(self._numbers("position", position, 3, -MAX_DISTANCE, MAX_DISTANCE))
        q = quaternion_from_rpy(self._numbers("angles", angles, 3, -1e6, 1e6))
        if frame:
            p0, q0 = self._pose_of(self._body(frame))
            p, q = p0 + rotate(q0, p), quaternion_product(q0, q)
        return p, q

    def _valid_name(self, name: str) -> str:
        if (
            not isinstance(name, str)
            or not 0 < len(name) <= MAX_NAME
            or any(unicodedata.category(c)[0] in "CZ" for c in name)
        ):
            raise DeviceError(
                f"{self.name}: the name is {str(name)[:120]!r}; must be 1 to {MAX_NAME} characters without spaces",
                field="name",
            )
        if name in self._made or name in self._links:
            what = "an object" if name in self._made else "a link"
            raise DeviceError(f"{self.name}: there is {what} called {name!r}; choose another name", field="name")
        return name

    def _slot(self, name: str) -> SpareBody:
        index = self._made.get(name)
        if index is None:
            raise DeviceError(
                f"{self.name}: there is no object {name!r}; {nearest(str(name), self._made)}", field="name"
            )
        return self._slots[index]

    def _body(self, name: str) -> int:
        """Return an object or a link."""
        index = self._made.get(name)
        return self._link(name) if index is None else self._slots[index].body

    def _link(self, name: str) -> int:
        """Return a link by its name, scoped with ``::`` or not, as Gazebo's names are."""
        found = self._links.get(name)
        if found is None:
            last = str(name).rpartition("::")[2]
            ends = [b for key, b in self._links.items() if last and key.split("/")[-1] == last]
            if len(ends) != 1:
                raise DeviceError(
                    f"{self.name}: there is no link {name!r}; {nearest(last, filter(None, self._links))}", field="link"
                )
            found = ends[0]
        return found


def find_world(simulation: Simulation) -> WorldDevice:
    """Return the device that makes, moves and deletes objects.

    Its methods may be called between steps in the loop thread; other threads use ``simulation.request``.

    Raises:
        DeviceError: it is no simulation, or its robot has no spare objects.
    """
    from pliant.simulation import Simulation

    devices = simulation.devices.values() if isinstance(simulation, Simulation) else ()
    found = next((device for device in devices if isinstance(device, WorldDevice)), None)
    if found is None:
        raise DeviceError(
            "find_world found no spare objects; must be a Simulation of a robot that has some: add them before the "
            "engine is made with pliant.objects.add_world(robot), or on the command line with --objects N",
            field="world",
        )
    return found
