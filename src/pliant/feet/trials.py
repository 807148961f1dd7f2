"""The trials of the SoftFoot's bench, simulated: loads, heights and positions of the obstacle, all in one batch."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.base.errors import ModelError, PliantError
from pliant.base.options import parse
from pliant.feet.softfoot_bench import POSITIONS, SoftFootBenchOptions
from pliant.feet.softfoot_bench.build import block_positions, build

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pliant.base.numerics import Array

PARTS = ("heel", "fascia", "metatarsus")
"""Parts of the foot that touch a block, in the order of every array of forces."""
LOADS = (50.0, 100.0)
"""Loads [N].  # assumed: the two numbers are missing in the text of the paper"""
HEIGHTS = (0.005, 0.010, 0.015, 0.020)
"""Heights of the obstacle above the fixed blocks [m].  # assumed: the four numbers are missing in the paper's text"""
RAMP = 1.0
"""Time in which the load grows [s].  # assumed: "gradually", section III-A"""
RAMP_STEP = 0.02
"""Time between two steps of the growing load [s]."""
MODULES = ("phalanx_1", "phalanx_2", "phalanx_3", "phalanx_4", "phalanx_5", "reverse_phalanx")
"""Bodies of the modules m1 to m6 of the plantar fascia, without the number of the chain."""


@dataclass(frozen=True, slots=True, order=True)
class Trial:
    """One trial."""

    load: float
    """Force on the ankle [N]."""
    height: float
    """Height of the obstacle above the fixed blocks [m]."""
    position: int
    """Module of the plantar fascia whose centre the obstacle is under, 1 to 6."""

    def __str__(self) -> str:
        return f"{self.load:g} N, {1e3 * self.height:g} mm, p{self.position}"


def all_trials(
    loads: Sequence[float] = LOADS, heights: Sequence[float] = HEIGHTS, positions: Iterable[int] | None = None
) -> tuple[Trial, ...]:
    """Return every combination, the load outermost and the position innermost: 2 x 4 x 6 = 48 by default."""
    places = range(1, POSITIONS + 1) if positions is None else positions
    return tuple(Trial(load, height, position) for load, height, position in itertools.product(loads, heights, places))


@dataclass(frozen=True, slots=True, kw_only=True)
class Trials:
    """Measured or simulated results of a number of trials."""

    trials: tuple[Trial, ...]
    """The trials, in the order of the rows below."""
    force: Array
    """Vertical force of the foot on the blocks under heel, fascia and metatarsus, shape (n, 3) [N]."""
    horizontal: Array | None = None
    """Horizontal force of the foot on the blocks, to the toes, shape (n, 3) [N]; None for measurements."""
    pitch: Array
    """Rotation of the modules m1 to m6 in the sagittal plane, the front end up positive, shape (n, 6) [rad]."""
    speed: float = 0.0
    """Largest joint speed at the end [rad/s or m/s]; 0 for measurements."""
    weight: float = 0.0
    """Weight of the foot [N]; 0 for measurements."""

    def __len__(self) -> int:
        return len(self.trials)

    @property
    def total(self) -> Array:
        """Sum of the three forces, shape (n,) [N]."""
        return self.force.sum(axis=1)

    @property
    def load(self) -> Array:
        """Load of each trial, shape (n,) [N]."""
        return np.array([trial.load for trial in self.trials])

    def where(self, **fixed: float) -> NDArray[np.bool_]:
        """Return which trials have a load, height or position, shape (n,)."""
        kept = [all(abs(getattr(t, k) - v) < 1e-9 for k, v in fixed.items()) for t in self.trials]
        return np.array(kept, dtype=bool)


def simulate_trials(
    trials: Sequence[Trial] | None = None,
    options: SoftFootBenchOptions | None = None,
    *,
    duration: float = 5.0,
    ramp: float = RAMP,
    nthread: int = 0,
    **changes: object,
) -> Trials:
    """Press the foot on the blocks once for each trial, and return forces and rotations of the last step.

    All trials run in one `mujoco.batch.Batch`. Load, height and position of ``options`` are those of each trial.

    Args:
        trials: the trials; None for the 48.
        options: bench and foot.
        duration: length of a trial [s]; the paper's has 5 s.
        ramp: time in which the load grows to its value [s]. A load that is applied at once throws the foot on the
            blocks; where two equilibria exist, the time step then decides which one is reached.
        nthread: threads of the batch; 0 takes all cores.
        changes: options by name, in place of those of ``options``.

    Raises:
        ModelError: an option that does not exist, or a value that is not valid.
        PliantError: no trials, or a trial in which the simulation diverged.

    Example:
        >>> found = simulate_trials(coupling="midpoint", tendon="fixed")
        >>> found.force.mean(axis=0)  # heel, fascia, metatarsus [N]
    """
    import mujoco

    from pliant.batch import make_batch

    chosen = all_trials() if trials is None else tuple(trials)
    if not chosen:
        raise PliantError("there are no trials; give one or more", field="trials")
    if not duration > 0.0:
        raise PliantError(f"duration is {duration:g}; must be > 0 [s]", field="duration")
    given = {} if options is None else {f.name: getattr(options, f.name) for f in dataclasses.fields(options)}
    given |= changes
    base = parse(
        SoftFootBenchOptions, {**given, "load": 0.0, "obstacle_height": 0.0}, where="softfoot-bench: ", error=ModelError
    )
    places = [
        parse(
            SoftFootBenchOptions,
            {**given, "load": t.load, "obstacle_height": t.height, "module": t.position},
            where="softfoot-bench: ",
            error=ModelError,
        )
        for t in chosen
    ]
    robot = build(dataclasses.replace(base, module=chosen[0].position))
    model = robot.compile()
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
    batch = make_batch(robot, len(chosen), nthread=nthread, model=model)
    # The blocks belong to the world; nothing is derived from where they stand.
    place = batch.expand("body_pos")
    block, slide = model.body("fascia_block").id, int(model.joint("slide").qposadr[0])
    qpos, ctrl = batch.bind("qpos"), batch.bind("ctrl")
    force, turn, speed = batch.bind("sensordata"), batch.bind("xmat"), batch.bind("qvel")
    for i, option in enumerate(places):
        place[i, block, 0] = block_positions(option)["fascia"]
        place[i, block, 2] = option.stand + option.obstacle_height
        qpos[i, slide] = max(0.0, option.obstacle_height)
    column, loads = model.actuator("load").id, np.array([trial.load for trial in chosen])
    steps = max(1, round(duration / base.timestep))
    rising = min(round(ramp / base.timestep), steps - 1)
    every = max(1, round(RAMP_STEP / base.timestep))
    for done in range(0, rising, every):
        ctrl[:, column] = loads * min(1.0, (done + every) / rising)
        batch.step(nstep=min(every, rising - done))
    ctrl[:, column] = loads
    batch.step(nstep=steps - rising, stage=int(mujoco.mjtStage.mjSTAGE_ACC))
    first = np.array([model.sensor(f"{part}_force/force").adr[0] for part in PARTS])
    found = force[:, first + 2]
    # x of a module's frame points to the toes: its vertical component is the sine of the pitch.
    modules = [model.body(f"{name}_1").id for name in MODULES]
    rotation = turn.reshape(len(chosen), model.nbody, 3, 3)[:, modules]
    pitch = np.arctan2(rotation[:, :, 2, 0], rotation[:, :, 0, 0])
    for trial, row, angles in zip(chosen, found, pitch, strict=True):
        if not (np.isfinite(row).all() and np.isfinite(angles).all()):
            raise PliantError(
                f"the trial {trial} diverged; choose a smaller timestep than {base.timestep:g} s, or a smaller load",
                field="timestep",
            )
    return Trials(
        trials=chosen,
        force=found,
        horizontal=-force[:, first],
        pitch=pitch,
        speed=float(np.abs(speed).max()),
        weight=float(-model.opt.gravity[2] * model.body_mass.sum()),
    )
