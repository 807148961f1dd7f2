"""Standing on obstacles and drops: the SoftFoot against a rigid foot and a compliant pad of the same footprint.

Piazza et al. 2024 (arXiv 2401.05318) compare three feet by the equivalent support surface, by the angle with which the
ankle must compensate, and by the rejection of impulses. The definitions here are ours, as the numbers and the set-up of
that paper are not at hand:

* A foot carries a load on its free ankle, over flat ground and over a bar across. The *support* is the distance along
  the foot between the points behind and ahead of which 1 % of the ground's force acts. The *compensating angle* is the
  pitch that the foot takes on the bar, less that on flat ground.
  The support of the pad depends on its stiffness, which is ours; pads of a third and of three times of it stand, too.
* A foot with a payload on its locked ankle falls on flat ground or on a bar. Its *impact* is the largest acceleration
  of the payload, in units of gravity.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from pliant.base.errors import PliantError
from pliant.base.numerics import GRAVITY, Array
from pliant.base.options import option
from pliant.experiments.base import Context, Figure, Result, Statement, Table, Target, experiment
from pliant.experiments.films import Film, film_of_tracks
from pliant.experiments.panels import Line, Panel, draw
from pliant.experiments.pictures import frames
from pliant.feet.contacts import contact_forces
from pliant.feet.model.geometry import lowest_point
from pliant.feet.model.pad import Pad, add_pad
from pliant.feet.press_bench import add_side_camera
from pliant.feet.softfoot import add_softfoot
from pliant.feet.softfoot.parameters import ANKLE_HEIGHT
from pliant.model.inertia import set_inertia
from pliant.robots.parts import new_spec
from pliant.simulation.pose_track import PoseTrack

if TYPE_CHECKING:
    from mujoco import MjModel
    from mujoco.batch import Batch
    from numpy.typing import NDArray


PAPER = "Piazza et al. 2024, arXiv 2401.05318"
FEET = ("soft", "rigid", "compliant")
"""The three feet."""
STEP = 0.001
"""Step of the feet that stand [s]."""
_RESTS = "Loads, obstacles, the compliant foot and the definitions are ours: those of the paper are not at hand."
MARGIN = 1.1
"""Factor by which a support must be larger, and an angle smaller, to count: the definitions are ours."""
PADS = (1.0 / 3.0, 3.0)
"""Stiffnesses of further pads that the SoftFoot is compared with, over `StandingOptions.pad_stiffness`."""
_NAMES = {"soft": "SoftFoot", "rigid": "rigid foot", "compliant": "compliant pad"}


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingOptions:
    """The feet, the obstacles, the drops."""

    load: float = option(300.0, unit="N", low=0.0, above=True, high=5000.0, source="assumed")
    """Load of a foot that stands."""
    heights: tuple[float, ...] = option((0.01, 0.02), unit="m", low=0.0, above=True, high=0.04, source="assumed")
    """Heights of the bar."""
    bar_length: float = option(0.02, unit="m", low=0.001, high=0.1, source="assumed")
    """Length of the bar along the foot."""
    pad_stiffness: float = option(1e5, unit="N/m", low=1e3, high=1e7, source="assumed: 3 mm under 300 N")
    """Stiffness of the whole pad of the compliant foot against compression."""
    pad_damping: float = option(200.0, unit="N s/m", low=0.0, high=1e5, source="assumed")
    """Damping of the whole pad."""
    pad_thickness: float = option(0.02, unit="m", low=0.001, high=0.05, source="assumed")
    """Thickness of the pad."""
    payload: float = option(5.0, unit="kg", low=0.1, high=200.0, source="assumed")
    """Mass above the ankle in a drop."""
    drop_heights: tuple[float, ...] = option(
        (0.01, 0.02, 0.04), unit="m", low=0.0, above=True, high=0.5, source="assumed"
    )
    """Heights of the drops: lowest point of the sole above the surface that it falls on."""
    contact_time: float = option(0.004, unit="s", low=0.001, high=0.05, source="assumed")
    """Time constant of the contacts of rigid foot and pad, in drops; it limits the impact of the rigid foot."""
    closure_compliance: float = option(7.7e-6, unit="m/N", low=0.0, above=True, high=1.0, source="as of `softfoot`")
    """Compliance of the closure of the SoftFoot."""


# -- the feet ---------------------------------------------------------------------------------------------------------


def rig(kind: str, options: StandingOptions, timestep: float, *, locked: bool, pitch: float = 0.0) -> object:
    """Return a foot on a vertical slide, above ground and a bar, as a spec.

    Args:
        kind: one of `FEET`.
        options: the feet and the bar.
        timestep: length of a step [s].
        locked: whether the ankle is locked and a payload is on it; otherwise it turns and carries the load.
        pitch: pitch of the foot at the start, toes down positive [rad].

    Raises:
        PliantError: there is no such foot.
    """
    if kind not in FEET:
        raise PliantError(f"foot {kind!r}; must be one of {', '.join(FEET)}", field="kind")
    spec = new_spec(f"standing-{kind}", timestep, extent=0.3, center=(0.04, 0.0, 0.05))
    carriage = spec.worldbody.add_body(name="carriage")
    carriage.add_joint(name="slide", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=[0.0, 0.0, 1.0])
    mass = options.payload if locked else 0.1
    set_inertia(carriage, mass, 0.01 * mass)
    if not locked:
        carriage.joints[0].damping = [100.0, 0.0, 0.0]
    ankle = carriage.add_body(name="ankle", quat=[math.cos(0.5 * pitch), 0.0, math.sin(0.5 * pitch), 0.0])
    set_inertia(ankle, 1e-3, 1e-5)
    if not locked:
        ankle.add_joint(name="ankle", type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0.0, 1.0, 0.0], damping=[0.5, 0.0, 0.0])
    if kind == "soft":
        reduced: dict[str, Any] = {"n_chains": 1, "lump": True, "coupling": "midpoint", "tendon": "fixed"}
        add_softfoot(spec, ankle, closure_compliance=options.closure_compliance, **reduced)
    else:
        _flat_foot(ankle, options if kind == "compliant" else None)
    bar = spec.worldbody.add_body(name="bar", pos=[0.0, 0.0, -1.0])
    size = [0.5 * options.bar_length, 0.2, 0.02]
    bar.add_geom(
        name="bar", type=mujoco.mjtGeom.mjGEOM_BOX, size=size, pos=[0.0, 0.0, -0.02], material="wood", mass=0.0
    )
    if locked:
        for geom in spec.geoms:
            if geom.priority == 0:  # The soles of the SoftFoot have a stiffness and a damping of their own.
                geom.solref = [options.contact_time, 1.0]
    return spec


def _flat_foot(ankle: object, pad: StandingOptions | None) -> None:
    """Add a flat foot of the SoftFoot's mass, height and footprint; ``pad`` gives it a compliant sole."""
    rear, front, half_width, mass = -0.091, 0.174, 0.0425, 0.937152
    thickness = 0.0 if pad is None else pad.pad_thickness
    middle, half = 0.5 * (rear + front), 0.5 * (front - rear)
    foot = ankle.add_body(name="foot")
    set_inertia(foot, mass, [2e-3, 5e-3, 5e-3])
    contact = {"contype": 1, "conaffinity": 2} if pad is None else {"contype": 0, "conaffinity": 0}
    plate = {"type": mujoco.mjtGeom.mjGEOM_BOX, "material": "metal", "mass": 0.0}
    bottom = -ANKLE_HEIGHT + thickness
    foot.add_geom(name="sole", size=[half, half_width, 0.005], pos=[middle, 0.0, bottom + 0.005], **plate, **contact)
    foot.add_geom(
        name="leg", size=[0.02, 0.02, 0.5 * (-bottom - 0.01)], pos=[0.0, 0.0, 0.5 * (bottom + 0.01)], **plate,
        contype=0, conaffinity=0,
    )  # fmt: skip
    if pad is not None:
        own = Pad(stiffness=pad.pad_stiffness, damping=pad.pad_damping, thickness=thickness)
        add_pad(foot, own, x=(rear, front), half_width=half_width, bottom=-ANKLE_HEIGHT)


def _start(model: MjModel) -> float:
    """Return the height of the ankle above the lowest point of the sole [m]."""
    soles = [g for g in range(model.ngeom) if model.geom_contype[g] == 1 and model.geom_conaffinity[g] == 2]
    return -min(0.0, lowest_point(model, soles))


def _on_bars(model: MjModel, bars: Sequence[tuple[float, float, float]]) -> tuple[Batch, Array]:
    """Return feet above bars, and their joint positions, shape (n, nq).

    Args:
        model: the compiled rig.
        bars: height of the sole over the bar, height and position of the bar [m]; bar height 0 for flat ground.
    """
    from pliant.batch import make_batch

    height, batch = _start(model), make_batch(model, len(bars))
    place, qpos = batch.expand("body_pos"), batch.bind("qpos")
    bar, slide = model.body("bar").id, int(model.joint("slide").qposadr[0])
    for i, (above, top, x) in enumerate(bars):
        place[i, bar] = (x, 0.0, top) if top > 0.0 else (x, 0.0, -1.0)
        qpos[i, slide] = height + max(top, 0.0) + above
    return batch, qpos


# -- standing ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A foot at rest on flat ground, or on a bar."""

    pitch: Array
    """Pitch of the ankle, toes down positive, shape (n,) [rad]."""
    support: Array
    """Where 1 % and 99 % of the ground's force have been carried, from the heel on, shape (n, 2) [m]."""
    balance: float
    """Largest difference of the ground's forces and load plus weight [N]."""
    moment: float
    """Largest difference of the moments of ground and weight about the ankle [N m]."""
    poses: Array
    """Joint positions, shape (n, nq)."""
    model: MjModel
    """The compiled model."""

    @property
    def length(self) -> Array:
        """Support along the foot, shape (n,) [m]."""
        return self.support[:, 1] - self.support[:, 0]


def stand(
    kind: str, bars: Sequence[tuple[float, float]], options: StandingOptions, *, seconds: float = 3.0
) -> Standing:
    """Return a foot at rest on bars.

    Args:
        kind: one of `FEET`.
        bars: height and position of each bar ahead of the ankle [m]; height 0 for flat ground.
        options: feet and load.
        seconds: time that the foot has to come to rest [s].
    """
    model = rig(kind, options, STEP, locked=False).compile()
    batch, qpos = _on_bars(model, [(0.002, *bar) for bar in bars])
    batch.bind("xfrc_applied").reshape(len(bars), model.nbody, 6)[:, model.body("carriage").id, 2] = -options.load
    batch.step(nstep=round(seconds / STEP))
    pitch = qpos[:, int(model.joint("ankle").qposadr[0])].copy()
    weight = GRAVITY * float(model.body_mass.sum())
    support, balance, moment = [], 0.0, 0.0
    for i in range(len(bars)):
        own, data = batch.get_model(i), batch.get_data(i)
        mujoco.mj_forward(own, data)
        geoms, force, points = contact_forces(own, data)
        # On the foot: it may be the first geom of a contact.
        force = np.where(own.body_weldid[own.geom_bodyid[geoms[:, :1]]] == 0, force, -force)
        if not force[:, 2].sum() > 0.0:
            raise PliantError(f"the {_NAMES[kind]} does not stand on a bar of {bars[i][0]:g} m", field="kind")
        balance = max(balance, abs(float(force[:, 2].sum()) - options.load - weight))
        # About the ankle, in which load and slide act: the ground's forces and the foot's weight.
        arm = points - data.xpos[own.body("ankle").id]
        turning = float(np.sum(arm[:, 0] * force[:, 2] - arm[:, 2] * force[:, 0]))
        own_weight = GRAVITY * float(own.body_mass @ (data.xipos[:, 0] - data.xpos[own.body("ankle").id, 0]))
        moment = max(moment, abs(turning - own_weight))
        support.append(_extent(points[:, 0], force[:, 2]))
    return Standing(
        pitch=pitch, support=np.array(support), balance=balance, moment=moment, poses=qpos.copy(), model=model
    )


def _extent(places: Array, forces: Array) -> tuple[float, float]:
    """Return the places behind and ahead of which 1 % of the force is carried."""
    order = np.argsort(places)
    carried = np.cumsum(forces[order]) / forces.sum()
    return float(places[order][np.searchsorted(carried, 0.01)]), float(places[order][np.searchsorted(carried, 0.99)])


# -- drops ------------------------------------------------------------------------------------------------------------


def drop(
    kind: str,
    bars: Sequence[tuple[float, float, float]],
    options: StandingOptions,
    *,
    pitch: float = 0.0,
    timestep: float = 6.25e-5,
) -> Array:
    """Return the impact of a foot with a payload: the largest upward acceleration of the payload over gravity.

    Args:
        kind: one of `FEET`.
        bars: height of the fall, height and position of the bar [m] of each drop; bar height 0 for flat ground.
        options: feet and payload.
        pitch: pitch of the foot, toes down positive [rad].
        timestep: length of a step [s].
    """
    model = rig(kind, options, timestep, locked=True, pitch=pitch).compile()
    batch, _ = _on_bars(model, bars)
    dof = int(model.joint("slide").dofadr[0])
    longest = max(math.sqrt(2.0 * (fall + top) / GRAVITY) for fall, top, _ in bars)
    speed = batch.rollout(round((longest + 0.15) / timestep), record=("qvel",))["qvel"][:, :, dof]
    return np.diff(speed, axis=1).max(axis=1) / timestep / GRAVITY + 1.0


# -- the experiment ---------------------------------------------------------------------------------------------------


def standing_statements(
    found: dict[str, Standing], pads: dict[float, NDArray], bars: Sequence[tuple[float, float]], rows: Sequence[int]
) -> list[Statement]:
    """Judge support and compensating angle.

    Args:
        found: the three feet on the bars.
        pads: support of compliant feet on some of the bars [m], by the stiffness of the pad [N/m].
        bars: height and position of the bars [m]; the first is flat ground.
        rows: those of the pads.
    """
    support = {kind: 1e3 * float(s.length[1:].mean()) for kind, s in found.items()}
    angles = {kind: np.degrees(np.abs(s.pitch[1:] - s.pitch[0])) for kind, s in found.items()}
    tops = np.array([top for top, _ in bars[1:]])
    heights = [float(top) for top in np.unique(tops)]
    on = {top: {kind: values[tops == top] for kind, values in angles.items()} for top in heights}
    own = float(found["soft"].length[list(rows)].mean())
    ratio = {stiffness: own / float(lengths.mean()) for stiffness, lengths in sorted(pads.items())}
    less = int(np.sum(angles["soft"] < angles["rigid"]))
    above = "abstract; the margin is ours"
    return [
        Statement(
            what="The SoftFoot has a larger equivalent support surface than a rigid foot when standing on obstacles.",
            where="abstract",
            targets=[
                Target("Support: SoftFoot over rigid foot", support["soft"] / support["rigid"], low=MARGIN,
                       source=above),
            ],
            found="Mean over all bars: " + _list({k: f"{support[k]:.0f} mm" for k in ("soft", "rigid")}) + ".",
            rests_on=_RESTS,
        ),
        Statement(
            what="The SoftFoot has a larger equivalent support surface than a compliant foot when standing on "
            "obstacles.",
            where="abstract",
            targets=[
                Target("Support: SoftFoot over compliant pad, least of the stiffnesses", min(ratio.values()),
                       low=MARGIN, source=above),
            ],
            found="It depends on the stiffness of the pad, which is ours: mean support of the SoftFoot over that of a "
            "pad of " + ", ".join(f"{1e-3 * k:.3g} N/mm {r:.2f}" for k, r in ratio.items()) + ".",
            rests_on=_RESTS,
        ),
        Statement(
            what="On an obstacle the SoftFoot needs a smaller compensating angle of the ankle than a rigid foot.",
            where="section on the standing tests",
            targets=[
                Target(f"Compensating angle, bar of {1e3 * top:g} mm: SoftFoot over rigid foot, {name}",
                       float(of(values["soft"]) / of(values["rigid"])), high=1.0 / MARGIN,
                       source="standing tests; the margin is ours")
                for top, values in on.items() for name, of in (("mean", np.mean), ("largest", np.max))
            ],
            found="Mean and largest angle: " + "; ".join(
                f"bar of {1e3 * top:g} mm " + _list(
                    {k: f"{values[k].mean():.2f} and {values[k].max():.2f} deg" for k in ("soft", "rigid")})
                for top, values in on.items()
            ) + f". At {less} of {len(tops)} places of the bars the SoftFoot turns less.",
            rests_on=_RESTS,
        ),
    ]  # fmt: skip


def drop_statement(impacts: dict[str, NDArray]) -> Statement:
    """Judge the absorption of impulses."""
    mean = {kind: float(values.mean()) for kind, values in impacts.items()}
    share = (mean["rigid"] - mean["soft"]) / (mean["rigid"] - mean["compliant"])
    return Statement(
        what="The SoftFoot absorbs impulsive loads almost as well as a compliant foot.",
        where="abstract",
        targets=[
            Target("Drops: impact of the SoftFoot over that of the rigid foot", mean["soft"] / mean["rigid"], high=1.0,
                   source="abstract"),
            Target("Drops: what the SoftFoot takes off the rigid foot's impact, as a share of what the pad takes off",
                   share, low=0.8, source='abstract: "almost as good"; the share is ours'),
        ],
        found="Mean largest acceleration of the payload: " + _list({k: f"{v:.1f} g" for k, v in mean.items()})
        + f". The SoftFoot takes off {100 * share:.0f} % of what the pad takes off.",
        rests_on=_RESTS,
    )  # fmt: skip


def _list(values: dict[str, str]) -> str:
    return ", ".join(f"{text} ({_NAMES[kind]})" for kind, text in values.items())


def checks(found: dict[str, Standing], options: StandingOptions) -> list[Target]:
    """Return checks: vertical balance, moments about the ankle, and the rigid foot's angle by geometry."""
    return [
        *(
            Target(f"Balance on bars, {_NAMES[kind]}: ground against load and weight", s.balance, high=0.01, unit="N",
                   source="ours: sum of the vertical forces at rest")
            for kind, s in found.items()
        ),
        *(
            Target(f"Moments on bars, {_NAMES[kind]}: ground against weight, about the ankle", s.moment, high=0.005,
                   unit="N m", source="ours: sum of the moments about the ankle at rest")
            for kind, s in found.items()
        ),
    ]  # fmt: skip


def rigid_angle_check(options: StandingOptions) -> Target:
    """Return the check of the rigid foot: it tilts as a straight line over the bar's edge."""
    top, x = options.heights[-1], 0.08
    found = stand("rigid", [(0.0, x), (top, x)], options)
    # Heel edge on the ground, sole on the bar's near upper edge: sin(a) d = h, in the ground's frame.
    edge = x - 0.5 * options.bar_length
    measured = float(found.pitch[0] - found.pitch[1])
    heel = float(found.support[1, 0])
    expected = math.atan2(top, edge - heel)
    return Target("Rigid foot: angle on a bar against geometry", math.degrees(measured), equals=math.degrees(expected),
                  tolerance=0.1, unit="deg", source="ours: a line from the heel's edge to the bar's edge")  # fmt: skip


def _plot(bars: list[tuple[float, float]], found: dict[str, Standing], options: StandingOptions) -> Figure:
    above, below = [], []
    for j, height in enumerate(options.heights):
        rows = [i for i, (top, _) in enumerate(bars) if top == height]
        x = [1e3 * bars[i][1] for i in rows]
        support, angles = [], []
        for k, (kind, s) in enumerate(found.items()):
            style = {"color": k, "markersize": 3.0, "label": _NAMES[kind]}
            support.append(Line(x, 1e3 * s.length[rows], "o-", **style))
            angles.append(Line(x, np.degrees(s.pitch - s.pitch[0])[rows], "o-", **style))
        limits = {"ylim": (0.0, 280.0)} if j == 0 else {}
        above.append(Panel(support, "", "support [mm]", f"bar of {1e3 * height:g} mm", **limits))
        below.append(Panel(angles, "bar ahead of the ankle [mm]", "compensating angle [deg]"))
    caption = (
        "Standing on a bar. Above, the length over which a foot is supported; below, the pitch that it takes on the "
        "bar (toes down positive), less that on flat ground."
    )
    shared = {"sharex": True, "sharey": "row"}
    return draw("standing", caption, [*above, *below], rows=2, legend=0, height=2.0, **shared)


def _drop_plot(drops: list[tuple[float, float, float]], impacts: dict[str, NDArray]) -> Figure:
    width, index = 0.8 / len(impacts), np.arange(len(drops))
    items = [
        Line(index + (k - 1) * width, values, kind="bar", width=0.92 * width, color=k, label=_NAMES[kind])
        for k, (kind, values) in enumerate(impacts.items())
    ]
    names = [f"{1e3 * fall:g} mm\n{'flat' if top == 0.0 else f'bar at {1e3 * x:g} mm'}" for fall, top, x in drops]
    panel = Panel(items, "height of the fall, ground", "impact [g]", xticks=(index, names))
    caption = "Impact of a drop. Largest acceleration of the payload, by height of the fall and ground."
    return draw("drops", caption, [panel], legend=0, height=2.4)


def _standing_rig(kind: str, options: StandingOptions, bar: tuple[float, float]) -> object:
    """Return the rig with its bar in place and a camera "side", compiled."""
    spec = rig(kind, options, STEP, locked=False)
    spec.body("bar").pos = [bar[1], 0.0, bar[0]]
    add_side_camera(spec)
    return spec.compile()


def _press(kind: str, options: StandingOptions, bar: tuple[float, float]) -> PoseTrack:
    """Return the poses of a foot on a bar, whose load grows within a second."""
    model = _standing_rig(kind, options, bar)
    data = mujoco.MjData(model)
    data.joint("slide").qpos[0] = _start(model) + bar[0] + 0.01
    track = PoseTrack().watch(model, data)
    while data.time < 2.5:
        data.xfrc_applied[model.body("carriage").id, 2] = -options.load * min(1.0, data.time)
        mujoco.mj_step(model, data)
        track.take()
    return track


def _films(context: Context, options: StandingOptions) -> list[Film]:
    bar = (options.heights[-1], 0.09)
    return [
        film_of_tracks(
            {_NAMES[kind]: _press(kind, options, bar) for kind in FEET},
            name="standing",
            caption=f"The feet are loaded with up to {options.load:g} N on a bar of {1e3 * bar[0]:g} mm; the ankle is "
            "free to turn.",
            camera="side",
            size="480x320",
            speed=0.5,
        )
    ]


@experiment(
    "softfoot-standing",
    title="SoftFoot, rigid foot and compliant pad: standing and drops",
    paper=PAPER,
    section="standing tests and impacts",
    films=_films,
    cameras=("side",),
)
def softfoot_standing(context: Context, options: StandingOptions) -> Result:
    """Put a SoftFoot, a rigid foot and a compliant pad on bars, and drop them."""
    places = np.linspace(-0.03, 0.13, 3 if context.quick else 17)
    bars = [(0.0, 0.0), *((height, float(x)) for height in options.heights for x in places)]
    found = {}
    for kind in context.track(FEET, lambda k: f"{_NAMES[k]} stands", low=0.0, high=0.6):
        found[kind] = stand(kind, bars, options, seconds=3.0 if context.quick else 8.0)
    # Further pads stand on fewer bars: on every second one, in the quick version on those of the first height.
    rows = range(1, 1 + len(places)) if context.quick else range(1, len(bars), 2)
    pads = {options.pad_stiffness: found["compliant"].length[list(rows)]}
    for factor in context.track(PADS, "further pads", low=0.6, high=0.75):
        other = dataclasses.replace(options, pad_stiffness=factor * options.pad_stiffness)
        pads[other.pad_stiffness] = stand("compliant", [bars[i] for i in rows], other).length
    drops = [(fall, 0.0, 0.0) for fall in options.drop_heights]
    drops += [(options.drop_heights[-1], options.heights[-1], x) for x in (-0.06, 0.02, 0.08)]
    impacts = {
        kind: drop(kind, drops, options, pitch=float(found[kind].pitch[0]))
        for kind in context.track(FEET, "drops", low=0.75, high=0.9)
    }
    result = Result(
        summary="Three feet of equal footprint, mass and height stand on a bar that is moved along the sole, with a "
        "free ankle, and fall with a payload, at the pitch at which they stand on flat ground. The statements are "
        "those of Piazza et al. 2024; all numbers are ours.",
        statements=[*standing_statements(found, pads, bars, rows), drop_statement(impacts)],
        targets=[*checks(found, options), rigid_angle_check(options)],
        assumptions=[_RESTS],
    )
    rows = []
    for kind, s in found.items():
        for height in options.heights:
            chosen = [i for i, (top, _) in enumerate(bars) if top == height]
            angle = np.degrees(np.abs(s.pitch - s.pitch[0]))[chosen]
            rows.append([_NAMES[kind], 1e3 * height, 1e3 * s.length[chosen].mean(), angle.mean(), angle.max()])
    result.tables += [
        Table(
            title="Standing",
            columns=["foot", "bar [mm]", "mean support [mm]", "mean angle [deg]", "largest angle [deg]"],
            rows=rows,
            note=f"Mean over {len(places)} positions of the bar from -30 to 130 mm ahead of the ankle.",
        ),
        Table(
            title="Impact of drops [g]",
            columns=["fall [mm]", "bar [mm]", "bar at [mm]", *(_NAMES[k] for k in FEET)],
            rows=[
                [1e3 * a, 1e3 * b, 1e3 * x if b else None, *(float(impacts[k][i]) for k in FEET)]
                for i, (a, b, x) in enumerate(drops)
            ],
            note="Largest acceleration of the payload.",
        ),
    ]
    picture = "" if context.quick else _picture(bars, found, options)
    if isinstance(picture, Figure):
        result.figures.append(picture)
    result.figures += [_plot(bars, found, options), _drop_plot(drops, impacts)]
    context.progress(1.0)
    return result


def _picture(bars: list[tuple[float, float]], found: dict[str, Standing], options: StandingOptions) -> Figure | str:
    """Return a picture of the three feet on the highest bar, or the reason why nothing can be rendered."""
    wanted = [i for i, (top, _) in enumerate(bars) if top == options.heights[-1]]
    wanted = [wanted[len(wanted) // 4], wanted[3 * len(wanted) // 4]]
    view = {"camera": "side", "width": 560, "height": 330}
    scenes = ((_standing_rig(kind, options, bars[i]), [s.poses[i]], view) for kind, s in found.items() for i in wanted)
    caption = f"The feet on a bar of {1e3 * options.heights[-1]:g} mm. SoftFoot, rigid foot and compliant pad."
    columns = [f"bar at {1e3 * bars[i][1]:.0f} mm" for i in wanted]
    return frames("feet", caption, scenes, [_NAMES[k] for k in found], columns)
