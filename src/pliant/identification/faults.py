"""Faults of logs: what is wrong with a measurement, in which rows, and what of it can still be used.

Faults of the clock and of single sensors are found in their columns. Wrong units, swapped columns and wrong signs are
found by three relations that hold for every joint, whatever the values of its parameters are within a factor of 30:

* a velocity is the derivative of its position (of the log, with a slope of 1/2 to 2);
* a motor follows its reference (late by up to 0.3 s, with a slope of 0.4 to 1.6);
* the torque follows from the positions by the law (with a slope of 1/30 to 30).

The misfit of a relation is the part of the variance that it does not explain. If one does not hold, the log is changed
in each way of `CHANGES`, and the change after which all relations hold is named. Thresholds are assumed; the tests
corrupt logs in each way, and sweep over laws, rates and noise for logs in which nothing may be found.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pliant.base.errors import LawError, RecordingError
from pliant.base.numerics import Array
from pliant.identification.measurements import Measurement, motor_references
from pliant.laws.actuator import CompliantActuator

MIN_SAMPLES = 20
"""Fewest samples of a log, or of a part of it, that is examined or used."""

MISFIT = 0.4
"""Part of the variance beyond which a relation does not hold."""

POSITIONS = ("link_position", "motor_1_position", "motor_2_position")
REFERENCES = ("reference_1", "reference_2", "equilibrium", "preset")
MEASURED = (*POSITIONS[:1], "link_velocity", *POSITIONS[1:], "torque", "external_torque", "deflection")
ANGLES = (*POSITIONS, *REFERENCES, "deflection")
COMPARED = ("torque", "external_torque")
"""Columns of which single rows can be left out: they are never the input of a simulation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One fault of a log."""

    name: str
    """"gap", "restart", "clock jump", "repeated time", "stuck", "saturated", "unit", "swapped" or "sign"."""
    columns: tuple[str, ...]
    """Columns with the fault."""
    rows: tuple[int, int]
    """First and last row of the fault, from 1."""
    text: str
    """What was found."""
    remedy: str
    """What can still be used, or how the log is read rightly."""
    source: str = ""
    """The log."""

    @property
    def spoils_all(self) -> bool:
        """Whether the log cannot be used before it is read in another way."""
        return self.name in ("unit", "swapped", "sign")

    def __str__(self) -> str:
        return f"{self.source}: {self.name}: {self.text}; {self.remedy}"

    def as_dict(self) -> dict[str, object]:
        """Return the fields as plain types, for JSON."""
        return dataclasses.asdict(self) | {"columns": list(self.columns), "rows": list(self.rows)}


def find_faults(
    trial: Measurement, actuator: CompliantActuator | None = None, *, dynamic: bool = False
) -> tuple[Fault, ...]:
    """Return the faults of a log, those of the clock first.

    Args:
        trial: the log; its time may decrease (``ordered=False`` of `Measurement.of`).
        actuator: actuator whose law relates torque and positions; its values are needed within a factor of 30. None
            leaves that relation out.
        dynamic: whether the log shows the motion of motors; its time is then expected in steps below 0.25 s.
    """
    found = [*_of_clock(trial)]
    parts = usable_parts(trial, found)
    if not parts:
        return tuple(_named(trial, found))
    longest = max(parts, key=lambda part: part.samples)
    first = _first_row(trial, longest)
    for part in parts:
        predicted = None if actuator is None else _law_torque(part.columns, actuator)
        found.extend(_of_sensors(part, _first_row(trial, part), predicted))
    muscles = actuator is not None and actuator.law.second_input == "pressure"
    spoiled = [] if muscles else [*units_by_size(longest, dynamic=dynamic, first=first)]
    if not spoiled:
        spoiled = [*_of_relations(longest, actuator, first)]
    return tuple(_named(trial, [*found, *spoiled]))


def usable_parts(trial: Measurement, faults: Sequence[Fault]) -> list[Measurement]:
    """Return the parts of a log that faults of its clock and of sensors leave, each with 20 samples or more.

    The log is cut where its time jumps, and where an input is stuck or saturated. Rows in which only a torque is stuck
    or saturated stay, and are not compared.
    """
    n = trial.samples
    keep = np.ones(n, dtype=bool)
    cuts = {0, n}
    unused = {name: np.array(mask) for name, mask in trial.unused.items()}
    for fault in faults:
        first, last = fault.rows[0] - 1, fault.rows[1]
        if fault.name in ("gap", "restart", "clock jump"):
            cuts.add(last - 1)
        elif fault.name == "repeated time":
            keep[first:last] = False
        elif fault.name in ("stuck", "saturated"):
            if all(name in COMPARED for name in fault.columns):
                for name in fault.columns:
                    unused.setdefault(name, np.zeros(n, dtype=bool))[first:last] = True
            else:
                keep[first:last] = False
                cuts.update((first, last))
    parts = []
    edges = sorted(cuts)
    for a, b in itertools.pairwise(edges):
        rows = np.flatnonzero(keep[a:b]) + a
        if rows.size >= MIN_SAMPLES or (rows.size and not faults):
            parts.append(trial.rows(rows, unused))
    return parts


def _named(trial: Measurement, faults: Sequence[Fault]) -> Iterator[Fault]:
    for fault in faults:
        yield dataclasses.replace(fault, source=trial.source)


def _first_row(trial: Measurement, part: Measurement) -> int:
    """Return the row of a log at which a part of it begins, from 0."""
    if "time" not in part:
        return 0
    same = np.flatnonzero(trial["time"] == part["time"][0])
    return int(same[0]) if same.size else 0


# -- the clock -------------------------------------------------------------------------------------------


def _of_clock(trial: Measurement) -> Iterator[Fault]:
    if "time" not in trial or trial.samples < MIN_SAMPLES:
        return
    time = trial["time"]
    dt = np.diff(time)
    period = float(np.median(dt))
    if period <= 0.0:
        return
    regular = np.mean(np.abs(dt - period) < 0.5 * period) > 0.9
    for i in np.flatnonzero(dt == 0.0).tolist():
        yield Fault(
            name="repeated time",
            columns=("time",),
            rows=(i + 2, i + 2),
            text=f"row {i + 2} has the time of the row before it, {time[i]:g} s",
            remedy="the other rows can be used",
        )
    jumps = np.flatnonzero((dt < 0.0) | ((dt > 4.5 * period) & regular))
    for i in jumps.tolist():
        rows = (i + 1, i + 2)
        both = f"rows 1 to {i + 1} and {i + 2} to {trial.samples} can be used as two logs"
        if dt[i] < 0.0 and time[i + 1] - time[0] < max(10.0 * period, 0.02 * (time[i] - time[0])):
            text = f"the time begins again at row {i + 2}, {time[i + 1]:g} s after {time[i]:g} s"
            yield Fault(name="restart", columns=("time",), rows=rows, text=text, remedy=both)
        elif dt[i] < 0.0 or _continuous(trial, i):
            text = f"from row {i + 1} to {i + 2} the time jumps by {dt[i]:+.4g} s while the columns go on"
            yield Fault(name="clock jump", columns=("time",), rows=rows, text=text, remedy=both)
        else:
            text = (
                f"{dt[i]:.3g} s without samples after row {i + 1} at {time[i]:g} s, in a log with one each {period:g} s"
            )
            yield Fault(name="gap", columns=("time",), rows=rows, text=text, remedy=both)


def _continuous(trial: Measurement, i: int) -> bool:
    """Return whether positions and velocities go on between two rows as between their neighbours, and do move."""
    near = slice(max(0, i - 6), i + 8)
    moved = False
    for name in (*POSITIONS, "link_velocity"):
        if name not in trial:
            continue
        steps = np.abs(np.diff(trial[name][near]))
        here = min(i, 6)
        others = np.delete(steps, here)
        if others.size == 0 or np.median(others) == 0.0:
            continue
        if steps[here] > 2.5 * float(others.max()):
            return False
        # A motion of one sample, and not noise: the steps have one direction.
        signed = np.diff(trial[name][near])
        moved = moved or abs(float(np.sum(np.sign(signed)))) > 0.7 * signed.size
    return moved


# -- single sensors ---------------------------------------------------------------------------------------


def _runs(values: Array) -> Iterator[tuple[int, int]]:
    """Yield begin and end of each run of equal values."""
    edges = np.flatnonzero(np.diff(values) != 0.0) + 1
    yield from zip(np.r_[0, edges].tolist(), np.r_[edges, values.size].tolist(), strict=True)


def _of_sensors(part: Measurement, first: int, law_torque: Array | None) -> Iterator[Fault]:
    for name in MEASURED:
        if name not in part or np.ptp(part[name]) == 0.0 or part.samples < MIN_SAMPLES:
            continue
        values = part[name]
        limits = float(values.max()), float(values.min())
        steps = np.abs(np.diff(values))
        usual, span = float(np.median(steps[steps > 0.0])), float(np.ptp(values))
        runs = list(_runs(values))
        for k, (a, b) in enumerate(runs):
            if b - a < 5 or not _sticks(runs, k):
                continue
            where = f"in rows {first + a + 1} to {first + b}"
            near = max(steps[max(0, a - 3) : a].max(initial=0.0), steps[b - 1 : b + 2].max(initial=0.0))
            jumps = _jumps(steps, a, b) and near > max(4.0 * usual, 0.02 * span)
            if values[a] in limits and not jumps:
                if near > 0.5 * usual and _others_move(part, name, a, b, 0.02, law_torque):
                    yield _of_rows("saturated", name, first + a, first + b, f"is cut off at {values[a]:.6g} {where}")
                continue
            held = jumps or (b == values.size and near > 0.5 * usual)
            if held and b - a >= MIN_SAMPLES and _others_move(part, name, a, b, 0.05, law_torque):
                yield _of_rows("stuck", name, first + a, first + b, f"stays at {values[a]:.6g} {where}")


def _jumps(steps: Array, a: int, b: int) -> bool:
    """Return whether a column leaves a run, or enters it, by a step that is far larger than the next ones."""
    leaves = steps[b - 1 : b]
    enters = steps[max(0, a - 1) : a]
    beyond = steps[b : b + 4].max(initial=0.0), steps[max(0, a - 5) : max(0, a - 1)].max(initial=0.0)
    return any(x.size > 0 and float(x[0]) > 4.0 * y > 0.0 for x, y in zip((leaves, enters), beyond, strict=True))


def _sticks(runs: Sequence[tuple[int, int]], k: int) -> bool:
    """Return whether a run is longer than the turn of a smooth motion that is read in steps.

    With a constant acceleration, the run at the turn has at most 5 times the length of the longest one beside it.
    """
    near = [b - a for a, b in (*runs[max(0, k - 4) : k], *runs[k + 1 : k + 5])]
    longest = max(near, default=1)
    return longest == 1 or runs[k][1] - runs[k][0] > 8 * longest


def _of_rows(kind: str, name: str, a: int, b: int, text: str) -> Fault:
    if name in COMPARED:
        remedy = "the log can be used without the torque of these rows"
    else:
        remedy = "the rows before and after can be used as separate logs"
    return Fault(name=kind, columns=(name,), rows=(a + 1, b), text=f"{name} {text} while others move", remedy=remedy)


def _others_move(part: Measurement, name: str, a: int, b: int, share: float, law_torque: Array | None) -> bool:
    """Return whether what drives or feels a column moves by a share of its range in some rows."""
    related = [n for n in (*MEASURED, *REFERENCES) if n in part and n != name]
    if name.startswith("motor"):
        # A motor stands still while the link moves; its own reference must move.
        own = ("equilibrium", "preset", f"reference_{name[6]}")
        related = [n for n in related if n in own] or [n for n in related if n == f"motor_{3 - int(name[6])}_position"]
    elif name == "link_position":
        related = [n for n in related if n in (*COMPARED, "link_velocity")]
    elif name in COMPARED:
        related = [n for n in related if n in (*POSITIONS, "deflection")]
    columns = [part[n] for n in related]
    if name in COMPARED and law_torque is not None:
        columns = [law_torque]  # a spring may be flat where it is wound up
    return any(float(np.ptp(c[a:b])) > share * float(np.ptp(c)) > 0.0 and not _only_noise(c[a:b]) for c in columns)


def _only_noise(values: Array) -> bool:
    """Return whether values scatter about a constant: their steps are as large as their range."""
    steps = np.diff(values)
    if steps.size < 4:
        return False
    return bool(np.std(steps) > 0.9 * np.std(values) and np.count_nonzero(steps) > 0.5 * steps.size)


# -- units, swapped columns, signs ------------------------------------------------------------------------


def units_by_size(part: Measurement, *, dynamic: bool, first: int = 0) -> Iterator[Fault]:
    """Yield units that are wrong by their size alone.

    Args:
        part: the log, or a part of it.
        dynamic: whether it shows the motion of motors; its time is then expected in steps below 0.25 s.
        first: row of the log at which the part begins, from 0.
    """
    rows = (first + 1, first + part.samples)
    angles = [name for name in ANGLES if name in part and float(np.ptp(part[name])) > 4.0 * math.pi]
    if angles:
        names = ", ".join(angles)
        text = f"{names}: a range of {float(np.ptp(part[angles[0]])):.3g} rad, more than two turns of a joint"
        yield _unit(angles, rows, text, "deg")
    if "time" in part and dynamic:
        period = float(np.median(np.diff(part["time"])))
        if period >= 0.25:
            unit = "ms" if period < 250.0 else "us"
            text = f"one sample each {period:.3g} s is too slow for the motion of a motor"
            yield _unit(["time"], rows, text, unit)


def _unit(columns: Sequence[str], rows: tuple[int, int], text: str, unit: str) -> Fault:
    remedy = "all rows can be used with " + " ".join(f"--unit {name}={unit}" for name in columns)
    return Fault(name="unit", columns=tuple(columns), rows=rows, text=text, remedy=remedy)


Columns = Mapping[str, Array]
_Known = dict[tuple[int, ...], tuple[list[Array | None], Mapping[int, Array]]]
"""Identities of the commanded columns -> the columns, which keeps them alive, and the motors' references."""
_Change = Callable[[Columns], dict[str, Array]]


def _scaled(names: Sequence[str], factor: float) -> _Change:
    return lambda c: {n: factor * a if n in names else a for n, a in c.items()}


def exchanged(one: str, two: str) -> _Change:
    """Return the change that exchanges two columns of a log."""
    return lambda c: {{one: two, two: one}.get(n, n): a for n, a in c.items()}


def _changes(present: Columns) -> Iterator[tuple[str, tuple[str, ...], str, str, _Change]]:
    """Yield kind, columns, what it is, its remedy, and the change of a log that undoes each possible fault."""
    wide = [n for n in ANGLES if n in present and float(np.ptp(present[n])) > 2.0]
    groups = [(n,) for n in wide]
    motors, refs = [n for n in wide if n.startswith("motor")], [n for n in wide if n in REFERENCES]
    groups += [tuple(g) for g in (motors, refs, [n for n in wide if n in POSITIONS], wide) if len(g) > 1]
    for names in groups:
        remedy = " ".join(f"--unit {n}=deg" for n in names)
        yield "unit", names, "in degrees", remedy, _scaled(names, math.pi / 180.0)
    for name in ("torque", "external_torque"):
        yield "unit", (name,), "in mN m", f'--unit "{name}=mN m"', _scaled([name], 1e-3)
    yield (
        "unit",
        ("link_velocity",),
        "in deg/s",
        "--unit link_velocity=deg/s",
        _scaled(["link_velocity"], math.pi / 180),
    )
    for unit, factor in (("ms", 1e-3), ("us", 1e-6)):
        yield "unit", ("time",), f"in {unit}", f"--unit time={unit}", _scaled(["time"], factor)
    for one, two in (
        ("motor_1_position", "motor_2_position"),
        ("reference_1", "reference_2"),
        ("equilibrium", "preset"),
        ("link_position", "link_velocity"),
        ("link_position", "motor_1_position"),
        ("link_position", "torque"),
        ("deflection", "torque"),
    ):
        remedy = f"--column {one}=<column of {two}> --column {two}=<column of {one}>"
        yield "swapped", (one, two), "exchanged", remedy, exchanged(one, two)
    for name in MEASURED:
        text = f"the log can be used after a change of the sign of {name}"
        if name == "torque":
            text += ", or as --column external_torque=<this column>"
        yield "sign", (name,), "of the other sign", text, _scaled([name], -1.0)
    pair = ("motor_1_position", "motor_2_position")
    yield "sign", pair, "of the other sign", "the log can be used after a change of their signs", _scaled(pair, -1.0)


def _of_relations(part: Measurement, actuator: CompliantActuator | None, first: int) -> Iterator[Fault]:
    """Yield the unit, exchange or sign after whose change the relations hold that do not hold in a log."""
    if part.samples < MIN_SAMPLES:
        return
    columns = dict(part.columns)
    known: _Known = {}
    before = _misfits(columns, actuator, known)
    rows = (first + 1, first + part.samples)
    for _ in range(2):  # at most two faults at once
        if not before or max(before.values()) < MISFIT:
            return
        best = None
        for kind, names, what, remedy, change in _changes(columns):
            if not all(n in columns for n in names):
                continue
            after = _misfits(change(columns), actuator, known)
            if set(after) < set(before):
                continue
            better = sum(before.values()) - sum(after.values())
            cured = any(after[k] < min(MISFIT, 0.35 * before[k]) for k in before if before[k] >= MISFIT)
            harmed = any(after[k] > before[k] + 0.1 for k in before)
            # A change of one column is likelier than one of several.
            score = better - 0.02 * len(names)
            if cured and not harmed and (best is None or score > best[0]):
                best = score, kind, names, what, remedy, change, after
        if best is None:
            return
        _, kind, names, what, remedy, change, after = best
        worst = max(before, key=lambda k: before[k])
        listed = " and ".join(names)
        verb = "are" if len(names) > 1 else "is"
        text = (
            f"{listed} {verb} {what}: {worst} is explained to {100 * max(0.0, 1 - before[worst]):.0f} % as read, to "
            f"{100 * (1 - after[worst]):.0f} % otherwise"
        )
        lead = "all rows can be used with " if remedy.startswith("--") else ""
        yield Fault(name=kind, columns=names, rows=rows, text=text, remedy=lead + remedy)
        columns, before = change(columns), after


def _misfits(c: Columns, actuator: CompliantActuator | None, known: _Known) -> dict[str, float]:
    """Return the misfit, 0 to 1, of each relation that the columns allow to test."""
    out: dict[str, float] = {}
    if "time" in c and "link_position" in c and "link_velocity" in c:
        dt = np.diff(c["time"])
        moves = not _only_noise(c["link_position"])
        if np.all(dt > 0.0) and moves and np.ptp(c["link_position"]) > 1e-4:
            # Both integrated: noise of the position does not matter as it would in a derivative.
            path = np.r_[0.0, np.cumsum(0.5 * (c["link_velocity"][1:] + c["link_velocity"][:-1]) * dt)]
            out["link_velocity"] = _misfit(
                _straight(path, c["time"]), _straight(c["link_position"], c["time"]), 0.5, 2.0
            )
    out.update(_servo_misfits(c, actuator, known))
    if actuator is not None:
        out.update(_torque_misfit(c, actuator))
    return out


def _straight(values: Array, time: Array) -> Array:
    """Return values less their straight line: an offset of a velocity adds one to its integral."""
    return values - np.polyval(np.polyfit(time - time[0], values, 1), time - time[0])


def _misfit(predicted: Array, measured: Array, low: float, high: float) -> float:
    """Return which part of the variance a prediction leaves, with any offset and a slope within bounds."""
    if not np.all(np.isfinite(predicted)):
        return 1.0
    x, y = predicted - predicted.mean(), measured - measured.mean()
    total, size = float(y @ y), float(x @ x)
    if total <= 0.0 or size <= 0.0:
        return 1.0
    slope = min(max(float(x @ y) / size, low), high)
    rest = y - slope * x
    return min(1.0, float(rest @ rest) / total)


def _servo_misfits(c: Columns, actuator: CompliantActuator | None, known: _Known) -> dict[str, float]:
    motors = [j for j in (1, 2) if f"motor_{j}_position" in c]
    commands = _commands(c, actuator, known)
    out = {}
    for j in motors:
        ref = commands.get(j)
        measured = c[f"motor_{j}_position"]
        # Motions of less than 0.02 rad (of a lever: 1 mm) may be the give of a servo that holds.
        lever = j == 2 and actuator is not None and actuator.law.second_input == "lever"
        if ref is None or float(np.std(ref)) < (5e-4 if lever else 0.01) or float(np.std(measured)) == 0.0:
            continue
        out[f"motor_{j}_position"] = min(
            _misfit(np.r_[np.full(k, ref[0]), ref[: ref.size - k]], measured, 0.4, 1.6) for k in _lags(c)
        )
    return out


def _commands(c: Columns, actuator: CompliantActuator | None, known: _Known) -> Mapping[int, Array]:
    """Return motor -> its reference, from what is known already where the columns are the same."""
    given = [c.get(name) for name in REFERENCES]
    key = tuple(map(id, given))
    if key not in known:
        known[key] = given, motor_references(c, actuator)
    return known[key][1]


def _lags(c: Columns) -> list[int]:
    """Return delays to try, up to 0.3 s [samples]."""
    if "time" not in c or c["time"].size < 2:
        return [0]
    period = float(np.median(np.diff(c["time"])))
    longest = min(int(0.3 / period), c["time"].size // 4) if period > 0.0 else 0
    return sorted({round(longest * k / 15) for k in range(16)})


def _torque_misfit(c: Columns, actuator: CompliantActuator) -> dict[str, float]:
    """Return the misfit of the torque by the law at the measured positions of link and motors."""
    if not ({"torque", "external_torque"} & set(c)):
        return {}
    torque = Measurement(c).link_torque()
    predicted = _law_torque(c, actuator)
    if predicted is None or float(np.std(torque)) == 0.0 or float(np.std(predicted)) == 0.0:
        return {}
    return {"torque": _misfit(predicted, torque, 1.0 / 30.0, 30.0)}


def _law_torque(c: Columns, actuator: CompliantActuator) -> Array | None:
    """Return the torque of the law at measured positions, shape (n,); None without them, infinite where not valid."""
    law = actuator.law
    used = dict(c)
    if actuator.mode.has_motors:
        # Commands are not positions.
        for name in ("equilibrium", "preset"):
            used.pop(name, None)
    if law.second_input == "pressure":
        return None
    try:
        q, a, b = Measurement(used).spring_angles(law.second_input)
    except RecordingError:
        return None
    try:
        with np.errstate(all="ignore"):
            return np.asarray(law.evaluate(q, a, b).torque)
    except LawError:
        return np.full(q.size, np.inf)
