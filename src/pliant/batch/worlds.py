"""Batches of worlds with a common interface, on the CPU (`CpuBatch`) or wherever a wing has them.

A world is one simulation of a batch. Ports have the same names as in the engine, with one row per world. Parameters
have the same paths as in `Robot.update`. A world that diverges is marked with the reason; the other worlds continue.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.base.errors import ModelError, PortError, nearest
from pliant.base.numerics import Array
from pliant.batch.distributions import Distribution, draw
from pliant.batch.live_worlds import LiveWorlds
from pliant.batch.mujoco_batch import make_batch
from pliant.batch.observation import observe_many
from pliant.batch.world_states import check_state
from pliant.engine import callbacks
from pliant.engine.base import PortInfo
from pliant.engine.mujoco_engine import actuator_at_rest, reset_to_rest, runnable_model, starts_of
from pliant.engine.payload import Payloads
from pliant.engine.ports import PortPlace, port_places
from pliant.laws import layout
from pliant.laws.actuator import CompliantActuator
from pliant.model.parameters import change_actuator

if TYPE_CHECKING:
    from pliant.model.robot import Robot

_CONSTANTS = frozenset(("body_mass", "body_inertia", "dof_armature"))
"""Fields of the model from which constants are derived."""
Selection = ArrayLike | None
"""Selected worlds: a mask of shape (worlds,), indices, or None for all."""
Index = int | slice | tuple[int | slice, ...]
"""Place of a quantity in a row of a field."""

_JOINT_FIELDS = {"damping": "dof_damping", "friction": "dof_frictionloss", "armature": "dof_armature"}


def check_step_count(n: int) -> None:
    """Raise ModelError unless n is a whole number of steps, at least 1."""
    if not isinstance(n, int | np.integer) or n < 1:
        raise ModelError(f"step: n is {n!r}; must be a whole number >= 1", field="n")


class RobotBatch(abc.ABC):
    """Batch of worlds of one robot that advance together.

    Args:
        robot: a robot, or a compiled `mujoco.MjModel`, whose law parameters cannot be set by name.
        worlds: number of worlds, >= 1.
        check: whether to refuse a robot whose check finds errors.

    Raises:
        ModelError: ``worlds`` is less than 1, the robot's check found errors, the model changes while it runs, or it
            uses RK4 with motor states.
    """

    live: bool = True
    """Whether `port` and `field` return the memory of the worlds itself, not a copy of it."""
    sampled: frozenset[str] = frozenset()
    """Names that `port` knows beside the ports: fields of devices, ``<device>/<quantity>``."""
    cycle: int = 1
    """Steps of which `step` takes whole multiples."""

    def __init__(self, robot: Robot | mujoco.MjModel, worlds: int, *, check: bool = True) -> None:
        if isinstance(worlds, bool) or not isinstance(worlds, int | np.integer) or worlds < 1:
            raise ModelError(f"worlds is {worlds!r}; must be a whole number >= 1", field="worlds")
        self.robot = None if isinstance(robot, mujoco.MjModel) else robot
        self.worlds = int(worlds)
        """Number of worlds."""
        self.model = model = runnable_model(robot, type(self).__name__, check=check)
        """The compiled model."""
        self.dt = float(model.opt.timestep)
        """Length of a step [s]."""
        ids = callbacks.compliant_ids(model)
        self.joints = [model.actuator(int(i)).name for i in ids]
        """Names of the compliant actuators, in the order of the observations."""
        self._laws = callbacks.laws_of(model)
        self._where = callbacks.addresses(model)
        presets, self._zero = starts_of(robot)
        self._data = mujoco.MjData(model)
        reset_to_rest(model, self._data, presets, self._zero)
        kinds = [layout.SECOND_INPUTS[int(model.actuator_user[i, layout.P_SECOND])] for i in ids]
        self._presets = {
            joint: np.full(self.worlds, presets.get(joint, layout.USUAL_PRESETS[kind]))
            for joint, kind in zip(self.joints, kinds, strict=True)
        }
        """Stiffness preset of each joint after a reset [rad or m], shape (worlds,)."""
        self._places: dict[str, PortPlace] = port_places(model, self._data, self._where)
        self._changes: dict[str, dict[str, Array]] = {}
        self._given: dict[str, Array] = {}

    # -- what an implementation has ---------------------------------------------------------------------------------

    @abc.abstractmethod
    def step(self, n: int = 1) -> None:
        """Advance every world by n steps. A world that diverges is marked in `diverged`; the others continue.

        Args:
            n: number of steps, >= 1.

        Raises:
            ModelError: n is not a whole number >= 1.
        """

    @abc.abstractmethod
    def port(self, name: str) -> NDArray[np.float64]:
        """Return the live array of a port, shape (worlds, ...): a numpy array on the CPU, a Warp array on a GPU.

        Raises:
            PortError: there is no such port; the message suggests the most similar name.
        """

    @abc.abstractmethod
    def field(self, name: str) -> NDArray[np.float64]:
        """Return a whole field as named by `place`, on the host: the live array on the CPU, a copy on a GPU."""

    @abc.abstractmethod
    def steps(self) -> NDArray[np.int64]:
        """Return the number of steps of each world since its last reset, shape (worlds,)."""

    @abc.abstractmethod
    def diverged_at(self) -> NDArray[np.int64]:
        """Return the step at which each world diverged, or 0 if it did not, shape (worlds,)."""

    @abc.abstractmethod
    def _reset(self, mask: NDArray[np.bool_], qpos: Array | None) -> None: ...

    @abc.abstractmethod
    def _put(self, name: str, values: Array, mask: NDArray[np.bool_]) -> None: ...

    @abc.abstractmethod
    def _put_rows(self, row: int, rows: Array, mask: NDArray[np.bool_]) -> None: ...

    @abc.abstractmethod
    def _put_field(self, field: str, index: Index, values: Array, mask: NDArray[np.bool_]) -> None: ...

    # -- ports ------------------------------------------------------------------------------------------------------

    def ports(self) -> Mapping[str, PortInfo]:
        """Return the description of every port by name; shapes are those of one world."""
        return {name: place.info for name, place in self._places.items()}

    def place(self, name: str) -> PortPlace:
        """Return the location of a port: its field of MuJoCo's data, its index in the field, and its description.

        Raises:
            PortError: there is no such port; the message suggests the most similar name.
        """
        place = self._places.get(name)
        if place is None:
            raise PortError(f"no port {name!r}; {nearest(name, self._places)}", field=name)
        return place

    def read(self, name: str) -> NDArray[np.float64]:
        """Return a copy of a port's values, shape (worlds, ...).

        Raises:
            PortError: there is no such port.
        """
        value = self.port(name)
        return np.array(value if isinstance(value, np.ndarray) else value.numpy())

    def write(self, name: str, values: ArrayLike, worlds: Selection = None) -> None:
        """Write a port.

        Args:
            name: the port.
            values: a number, the values of one world, or one row per selected world, shape (selected, ...).
            worlds: the selected worlds.

        Raises:
            PortError: there is no such port, it cannot be written, the shape is wrong, or a value is not finite.
        """
        info = self.place(name).info
        if not info.writable:
            raise PortError(f"the port {name!r} is a result and cannot be written", field=name)
        mask = self.select(worlds)
        self._put(name, self._fitted(name, values, int(mask.sum()), info.shape), mask)

    def _fitted(self, name: str, values: ArrayLike, count: int, shape: tuple[int, ...]) -> Array:
        """Return values as an array (count, *shape)."""
        try:
            array = np.asarray(values, dtype=float)
        except (TypeError, ValueError):
            raise PortError(f"{name}: {values!r} is not an array of numbers", field=name) from None
        if array.shape == (count,) and shape == (1,):
            array = array[:, None]
        if array.shape not in ((), shape, (count, *shape)):
            valid = f"a number, {shape} or {(count, *shape)}"
            raise PortError(f"{name}: the values have shape {array.shape}; must be {valid}", field=name)
        if not np.isfinite(array).all():
            bad = np.argwhere(~np.isfinite(array))
            raise PortError(
                f"{name}: the value at {tuple(map(int, bad[0]))} is {array[tuple(bad[0])]}; must be finite", field=name
            )
        return np.broadcast_to(array, (count, *shape))

    def select(self, worlds: Selection) -> NDArray[np.bool_]:
        """Return the selected worlds as a mask of shape (worlds,).

        Raises:
            PortError: the mask has the wrong length, or an index does not exist.
        """
        if worlds is None:
            return np.ones(self.worlds, dtype=bool)
        chosen = np.atleast_1d(np.asarray(worlds))
        if chosen.dtype == bool:
            if chosen.shape != (self.worlds,):
                raise PortError(f"the mask has shape {chosen.shape}; must be ({self.worlds},)", field="worlds")
            return chosen.copy()
        mask = np.zeros(self.worlds, dtype=bool)
        if chosen.size and (chosen.dtype.kind not in "iu" or chosen.min() < 0 or chosen.max() >= self.worlds):
            raise PortError(f"worlds is {worlds!r}; must be a mask or indices 0 to {self.worlds - 1}", field="worlds")
        mask[chosen.astype(int)] = True
        return mask

    # -- state ------------------------------------------------------------------------------------------------------

    def reset(
        self,
        worlds: Selection = None,
        positions: Mapping[str, ArrayLike] | None = None,
        *,
        key: str | None = None,
    ) -> None:
        """Reset worlds to the initial pose, with every actuator at rest, and their clocks to 0.

        Parameters keep their values.

        Args:
            worlds: the selected worlds.
            positions: joint name -> position [rad or m], one number or one per selected world.
            key: key frame of the model that gives all other positions; None for the initial pose.

        Raises:
            PortError: a joint or a key frame does not exist, a shape is wrong, or a value is not finite.
        """
        mask = self.select(worlds)
        qpos = None
        if positions or key is not None:
            rest = self._data.qpos
            if key is not None:
                keys = [self.model.key(k).name for k in range(self.model.nkey)]
                if key not in keys:
                    raise PortError(f"no key frame {key!r}; {nearest(key, keys)}", field="key")
                rest = self.model.key_qpos[keys.index(key)]
            qpos = np.repeat(rest[None, :], int(mask.sum()), axis=0)
            for joint, values in (positions or {}).items():
                place = self.place(f"{joint}/position")
                qpos[(slice(None), *place.index)] = self._fitted(joint, values, len(qpos), (1,))
        self._reset(mask, qpos)

    @property
    def diverged(self) -> NDArray[np.bool_]:
        """Which worlds hold NaN, infinity or a runaway since their last reset, shape (worlds,)."""
        return self.diverged_at() > 0

    def reason(self, world: int) -> str:
        """Return the reason why a world is marked as diverged, with joint and time; "" if it is not marked."""
        at = int(self.diverged_at()[self.select(world)][0])
        if not at:
            return ""
        speed = self.read("state/qvel")[world]
        odd = np.flatnonzero(~np.isfinite(speed))
        worst = int(odd[0]) if odd.size else int(np.abs(speed).argmax())
        joint = self.model.joint(int(self.model.dof_jntid[worst])).name or f"degree of freedom {worst}"
        what = "is not finite" if odd.size else f"ran away ({speed[worst]:.3g})"
        return f"the velocity of {joint} {what} at {at * self.dt:.6g} s"

    # -- parameters -------------------------------------------------------------------------------------------------

    def set_parameters(self, values: Mapping[str, ArrayLike], worlds: Selection = None) -> None:
        """Set parameters of individual worlds.

        Paths are those of `Robot.update`: ``<joint>.<parameter>`` and ``actuator.<parameter>`` (all compliant joints)
        for parameters of the law, the motors and the controllers, and for ``initial_preset``, which takes effect at the
        next reset; ``<joint>.damping``, ``friction``, ``armature``;
        ``<body>.mass``; ``<body>.payload``, a point mass at its centre of mass [kg]; ``<geom>.friction``. A new mass
        scales the inertia of the body, unless the description of the robot gives the inertia explicitly.

        Args:
            values: path -> one number, or one per selected world.
            worlds: the selected worlds.

        Raises:
            ModelError: a name is unknown, a value is out of range, or a value changes the state variables of an
                actuator.
        """
        mask = self.select(worlds)
        changes = {joint: dict(columns) for joint, columns in self._changes.items()}
        given = dict(self._given)
        changed: set[str] = set()
        fields: list[tuple[str, Index, Array]] = []
        # All is tried before anything is written.
        for path, value in values.items():
            numbers = self._fitted(path, value, int(mask.sum()), (1,))[:, 0]
            owner, _, parameter = path.partition(".")
            if not parameter:
                raise ModelError(f"{path!r} is not a parameter; must be <name>.<parameter>", field=path)
            joints = self.joints if owner == "actuator" else [owner] if owner in self.joints else []
            if joints and not (owner != "actuator" and parameter in _JOINT_FIELDS):
                for joint in joints:
                    columns = changes.setdefault(joint, {})
                    columns[parameter] = self._changed(columns.get(parameter), numbers, mask)
                    changed.add(joint)
            else:
                fields += self._fields_of(path, owner, parameter, numbers)
            given[path] = self._changed(given.get(path), numbers, mask)
        for owner in {path.partition(".")[0] for path in values}:
            mass, load = given.get(f"{owner}.mass"), given.get(f"{owner}.payload")
            if mass is not None and load is not None:
                body = self.model.body(owner).id
                own = np.where(np.isfinite(mass), mass, self.model.body_mass[body])
                fields.append(("body_mass", body, (own + np.nan_to_num(load))[mask]))
        rows = {joint: self._rows(joint, changes[joint], mask) for joint in sorted(changed)}
        for joint, row in rows.items():
            self._put_rows(self.joints.index(joint), row, mask)
            preset = changes[joint].get("initial_preset")
            if preset is not None:
                chosen = mask & np.isfinite(preset)
                self._presets[joint][chosen] = preset[chosen]
        for field, index, numbers in fields:
            self._put_field(field, index, numbers, mask)
        self._changes, self._given = changes, given

    def _changed(self, column: Array | None, numbers: Array, mask: NDArray[np.bool_]) -> Array:
        """Return the values of a parameter, NaN where a world has the robot's own, with some of them changed."""
        new = np.full(self.worlds, np.nan) if column is None else column.copy()
        new[mask] = numbers
        return new

    def parameter(self, path: str) -> Array:
        """Return the values set for a parameter, shape (worlds,); NaN for worlds that use the value of the robot."""
        return self._given.get(path, np.full(self.worlds, np.nan)).copy()

    def randomize(
        self, distributions: Mapping[str, Distribution], seed: int, worlds: Selection = None
    ) -> dict[str, Array]:
        """Draw random parameters for worlds and set them; equal seeds give equal worlds on every device.

        Args:
            distributions: path of a parameter -> `Uniform`, `LogUniform`, `Normal` or `Choice`.
            seed: seed of the random numbers.
            worlds: the selected worlds.

        Returns:
            The drawn values by path, shape (selected,).

        Example:
            >>> batch.randomize({"joint_1.k1": Uniform(0.0015, 0.0024)}, seed=1)
        """
        mask = self.select(worlds)
        # A draw for every world, so that what one gets does not depend on which others are drawn with it.
        drawn = {path: values[mask] for path, values in draw(distributions, seed, self.worlds).items()}
        self.set_parameters(drawn, mask)
        return drawn

    def save(self, worlds: Selection = None) -> dict[str, NDArray[np.generic]]:
        """Return the state of worlds, from which `load` continues with the same bytes: one row for each world.

        Raises:
            ModelError: this kind of batch has parts of its state that cannot be read.
        """
        raise ModelError(f"the state of a {type(self).__name__} cannot be read; use CpuBatch", field="state")

    def load(self, state: Mapping[str, NDArray[np.generic]], worlds: Selection = None) -> None:
        """Restore the state of worlds that `save` returned; one row is taken for all of them.

        Raises:
            ModelError: this kind of batch cannot, or the state is of another robot or number of worlds.
        """
        raise ModelError(f"the state of a {type(self).__name__} cannot be set; use CpuBatch", field="state")

    def _rows(self, joint: str, columns: Mapping[str, Array], mask: NDArray[np.bool_]) -> Array:
        """Return the parameter vectors of a joint in some worlds, shape (chosen, PARAMETERS)."""
        if self.robot is None:
            raise ModelError("a compiled model has no parameters by name; give the Robot itself", field=joint)
        base = self.robot.actuators[joint]
        first = base.pack(self.dt)
        rows = []
        for world in np.flatnonzero(mask):
            tree: dict[str, object] = {}
            for path, column in columns.items():
                if np.isfinite(column[world]):
                    *parents, leaf = path.split(".")
                    branch = tree
                    for parent in parents:
                        branch = cast("dict[str, object]", branch.setdefault(parent, {}))
                    branch[leaf] = float(column[world])
            row = change_actuator(base, tree, joint).pack(self.dt)
            same = (layout.P_STATES, layout.P_COMPANION, layout.P_LAW, layout.P_DELAY, layout.P_MODE)
            if any(row[k] != first[k] for k in same):
                raise ModelError(
                    f"world {world}: {', '.join(columns)} gives the actuator of {joint!r} another state "
                    "than the model has; set it on the robot before the batch is made",
                    field=joint,
                )
            rows.append(row)
        return np.array(rows)

    def can_differ(self, path: str) -> bool:
        """Return whether `set_parameters` can set a parameter that does not belong to an actuator."""
        owner, _, parameter = path.partition(".")
        try:
            return bool(self._fields_of(path, owner, parameter, np.ones(1)))
        except ModelError:
            return False

    def put_actuators(self, joint: str, actuators: Sequence[CompliantActuator]) -> None:
        """Set the actuator of a joint for each world; its initial preset takes effect at the next reset.

        Args:
            joint: the joint.
            actuators: one actuator per world; their state variables must be the same in all worlds.
        """
        rows = np.array([actuator.pack(self.dt) for actuator in actuators])
        self._put_rows(self.joints.index(joint), rows, np.ones(self.worlds, dtype=bool))
        self._presets[joint][:] = [float(actuator.initial_preset or 0.0) for actuator in actuators]

    def _fields_of(self, path: str, owner: str, parameter: str, values: Array) -> list[tuple[str, Index, Array]]:
        """Return what a parameter changes in the model: field, index, values of the chosen worlds."""
        m = self.model
        if (values < 0.0).any():
            raise ModelError(f"{path} is {values.min():g}; must be >= 0", field=path)
        names = {
            kind: [mujoco.mj_id2name(m, kind, i) for i in range(count)]
            for kind, count in (
                (mujoco.mjtObj.mjOBJ_JOINT, m.njnt),
                (mujoco.mjtObj.mjOBJ_BODY, m.nbody),
                (mujoco.mjtObj.mjOBJ_GEOM, m.ngeom),
            )
        }
        joints, bodies, geoms = names.values()
        if owner in joints and parameter in _JOINT_FIELDS:
            dof = int(m.jnt_dofadr[joints.index(owner)])
            return [(_JOINT_FIELDS[parameter], dof, values)]
        if owner in bodies and parameter == "mass":
            body = bodies.index(owner)
            if (values <= 0.0).any():
                raise ModelError(f"{path} is {values.min():g}; must be > 0", field=path)
            # As `Robot.update`: an inertia that is given in the description stays, one of a geom follows its mass.
            if self.robot is not None and self.robot.spec.body(owner).explicitinertial:
                return [("body_mass", body, values)]
            scale = values / m.body_mass[body]
            return [("body_mass", body, values), ("body_inertia", body, scale[:, None] * m.body_inertia[body])]
        if owner in bodies and parameter == "payload":
            Payloads(m).check(owner, float(values.max(initial=0.0)))
            body = bodies.index(owner)
            return [("body_mass", body, m.body_mass[body] + values)]
        if owner in geoms and parameter == "friction":
            return [("geom_friction", (geoms.index(owner), 0), values)]
        valid = [f"{j}.{p}" for j in joints if j for p in _JOINT_FIELDS]
        valid += [f"{b}.mass" for b in bodies[1:] if b] + [f"{b}.payload" for b in Payloads(m).bodies()]
        valid += [f"{g}.friction" for g in geoms if g]
        valid += [f"{j}.<parameter of its actuator>" for j in self.joints]
        raise ModelError(f"no parameter {path!r} that can differ between worlds; {nearest(path, valid)}", field=path)


class CpuBatch(RobotBatch):
    """Batch of worlds on the CPU: a `mujoco.batch.Batch` whose threads evaluate the compiled laws.

    Args:
        robot: a robot, or a compiled `mujoco.MjModel`.
        worlds: number of worlds, >= 1.
        nthread: number of threads; 0 uses all cores.

    Example:
        >>> batch = CpuBatch(build_robot("qbmove-2dof"), 64)
        >>> batch.write("joint_1/reference_1", 0.6)
        >>> batch.step(1000)
        >>> batch.read("joint_1/position").shape
        (64, 1)
    """

    def __init__(self, robot: Robot | mujoco.MjModel, worlds: int, *, nthread: int = 0) -> None:
        super().__init__(robot, worlds)
        # A reset that MuJoCo does by itself would hide a world that diverges.
        self.model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
        self.batch = make_batch(self.robot or self.model, self.worlds, nthread=nthread, model=self.model)
        """The underlying `mujoco.batch.Batch`."""
        self.observed = np.zeros((self.worlds, len(self.joints), layout.OBSERVATIONS))
        """Output of the laws at the end of the last step, shape (worlds, joints, OBSERVATIONS). It is
        updated only after one of its ports has been requested."""
        self._watched = False
        self._constants = False
        self._differing: set[str] = set()
        self._bound = {"qpos", "qvel", "act", "ctrl", "qfrc_applied", "xfrc_applied"}  # parts of the state
        self._live = LiveWorlds(self.batch, self.worlds, warn=True)
        self.reset()

    def step(self, n: int = 1) -> None:
        """Advance every world by n steps, except those that have diverged since their last reset."""
        check_step_count(n)
        if not callbacks.installed():
            callbacks.install(self.model)
        self._settle()
        self._live.step(n)
        if self._watched:
            self._observe()

    def _settle(self) -> None:
        if self._constants:
            self.batch.set_const()
            self._constants = False

    def port(self, name: str) -> NDArray[np.float64]:
        """Return the live array of a port, shape (worlds, ...)."""
        place = self.place(name)
        return self.field(place.field)[(slice(None), *place.index)]

    def field(self, name: str) -> NDArray[np.float64]:
        """Return the live array of a whole field."""
        if name == "observed":
            if not self._watched:
                self._watched = True
                self._observe()
            return self.observed
        if name not in self._bound:
            # A result that is bound between two steps would be zero until the next one.
            self._bound.add(name)
            self.batch.bind(name)
            state = self.batch.state.copy()
            self.batch.forward()
            self.batch.state[:] = state
        return self.batch.bind(name)

    def save(self, worlds: Selection = None) -> dict[str, NDArray[np.generic]]:
        """Return the state and the parameters of worlds, one row for each."""
        mask = self.select(worlds)
        self._settle()
        found = {"state": self.batch.state, "steps": self._live.steps, "diverged_at": self._live.diverged_at}
        found |= {f"model/{name}": self.batch.expand(name) for name in sorted(self._differing)}
        found |= self._settings()
        return {name: rows[mask].copy() for name, rows in found.items()}

    def _settings(self) -> dict[str, Array]:
        """Return what was set by name: presets after a reset, and parameters of actuators and by path."""
        found = {f"preset/{joint}": column for joint, column in self._presets.items()}
        found |= {f"given/{path}": column for path, column in self._given.items()}
        for joint, columns in self._changes.items():
            found |= {f"changed/{joint}/{name}": column for name, column in columns.items()}
        return found

    def load(self, state: Mapping[str, NDArray[np.generic]], worlds: Selection = None) -> None:
        """Restore the state and the parameters of worlds; one row is taken for all of them.

        Raises:
            ModelError: the state is of another robot or of another number of worlds.
        """
        mask = self.select(worlds)
        shapes: dict[str, tuple[int, ...]] = {"state": self.batch.state.shape[1:], "steps": (), "diverged_at": ()}
        shapes |= {f"preset/{joint}": () for joint in self._presets}
        check_state(state, shapes, {"model": self.model, "given": None, "changed": None}, int(mask.sum()))
        self._differing |= {name.removeprefix("model/") for name in state if name.startswith("model/")}
        for name in self._differing:
            own = getattr(self.model, name)
            self.batch.expand(name)[mask] = state.get(f"model/{name}", own[None])
        self._constants |= bool(self._differing & _CONSTANTS)
        self._settle()
        for name in state:
            kind, _, rest = name.partition("/")
            if kind == "given":
                self._given.setdefault(rest, np.full(self.worlds, np.nan))
            elif kind == "changed":
                joint, _, parameter = rest.partition("/")
                self._changes.setdefault(joint, {}).setdefault(parameter, np.full(self.worlds, np.nan))
        for name, column in self._settings().items():
            column[mask] = state.get(name, np.nan)
        self.batch.state[mask] = state["state"]
        self._live.restore(mask, state["steps"], state["diverged_at"])
        whole = self.batch.state.copy()
        self.batch.forward(np.flatnonzero(mask))
        self.batch.state[:] = whole
        if self._watched:
            self._observe()

    def steps(self) -> NDArray[np.int64]:
        return self._live.steps.copy()

    def diverged_at(self) -> NDArray[np.int64]:
        return self._live.diverged_at.copy()

    def _rows_of(self, actuator: int) -> Array:
        """Return the parameter vectors of an actuator, shape (worlds or 1, PARAMETERS)."""
        rows = self.batch.expanded("actuator_user")
        return self.model.actuator_user[None, actuator] if rows is None else rows[:, actuator]

    def _observe(self) -> None:
        act, ctrl = self.batch.bind("act"), self.batch.bind("ctrl")
        qpos, qvel = self.batch.bind("qpos"), self.batch.bind("qvel")
        for k, (i, qa, va) in enumerate(self._where.tolist()):
            rows = np.ascontiguousarray(np.broadcast_to(self._rows_of(i), (self.worlds, self.model.nuser_actuator)))
            point = np.zeros((self.worlds, 5))
            if qa >= 0:
                point[:, 0], point[:, 1] = qpos[:, qa], qvel[:, va]
            else:
                out = int(self.model.actuator_outadr[i])
                point[:, 0] = self.batch.bind("actuator_length")[:, out]
                point[:, 1] = self.batch.bind("actuator_velocity")[:, out]
            point[:, 2] = ctrl[:, self.model.actuator_ctrladr[i]]
            if rows[0, layout.P_COMPANION] > 0.5:
                point[:, 3] = ctrl[:, self.model.actuator_ctrladr[i + 1]]
            point[:, 4] = self.dt
            first, states = int(self.model.actuator_actadr[i]), int(rows[0, layout.P_STATES])
            state = np.ascontiguousarray(act[:, first : first + states]) if states else np.zeros((self.worlds, 1))
            values = np.zeros((self.worlds, layout.OBSERVATIONS))
            observe_many(self._laws[i], rows, point, state, values)
            self.observed[:, k] = values

    def _reset(self, mask: NDArray[np.bool_], qpos: Array | None) -> None:
        ids = np.flatnonzero(mask)
        if not ids.size:
            return
        self.batch.reset(ids, stage=int(mujoco.mjtStage.mjSTAGE_NONE))
        for field in ("qpos", "qvel", "act", "ctrl"):
            self.batch.bind(field)[ids] = getattr(self._data, field)
        if qpos is not None:
            self.batch.bind("qpos")[ids] = qpos
        if qpos is not None or self.batch.expanded("actuator_user") is not None:
            self._hold(ids)
        self._live.clear(ids)
        self._settle()
        self.batch.forward(ids)
        if self._watched:
            self._observe()

    def _hold(self, ids: NDArray[np.int64]) -> None:
        act, ctrl = self.batch.bind("act"), self.batch.bind("ctrl")
        positions = self.batch.bind("qpos")
        for i, qa, _ in self._where.tolist():
            if qa < 0:
                continue  # on a tendon: at rest in the initial pose, as in the model
            rows = self._rows_of(i)
            name = self.model.actuator(i).name
            presets, at_zero = self._presets[name], name in self._zero
            c, first = int(self.model.actuator_ctrladr[i]), int(self.model.actuator_actadr[i])
            for world in ids:
                row = np.ascontiguousarray(rows[world if len(rows) > 1 else 0])
                states = int(row[layout.P_STATES])
                q = 0.0 if at_zero else float(positions[world, qa])
                state, refs = actuator_at_rest(self._laws[i], row, q, float(presets[world]))
                if states:
                    act[world, first : first + states] = state[:states]
                ctrl[world, c] = refs[0]
                if row[layout.P_COMPANION] > 0.5:
                    ctrl[world, self.model.actuator_ctrladr[i + 1]] = refs[1]

    def _put(self, name: str, values: Array, mask: NDArray[np.bool_]) -> None:
        self.port(name)[mask] = values

    def _put_rows(self, row: int, rows: Array, mask: NDArray[np.bool_]) -> None:
        self._differing.add("actuator_user")
        self.batch.expand("actuator_user")[mask, int(self._where[row, 0]), : rows.shape[1]] = rows

    def _put_field(self, field: str, index: Index, values: Array, mask: NDArray[np.bool_]) -> None:
        place = index if isinstance(index, tuple) else (index,)
        self._differing.add(field)
        self.batch.expand(field)[(mask, *place)] = values
        self._constants = self._constants or field in _CONSTANTS
