"""The kernels of a law as functions and kernels of Warp.

Warp keeps the machine code of its kernels in its own cache (``WARP_CACHE_PATH``), under a digest of their text; the
first use of a law compiles for some seconds.
"""

from __future__ import annotations

import functools
import itertools
import linecache
import logging
import re
import sys
import threading
import types
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.base.errors import LawError, importing, nearest
from pliant.laws import layout
from pliant.laws.actuator import ActuatorTraces, CompliantActuator
from pliant.laws.base import Law
from pliant.laws.compile import law_functions, step_kernels
from pliant.learn.laws.translate import Translation, translate
from pliant.learn.laws.values import ARRAY, REAL

if TYPE_CHECKING:
    import warp as wp

PRECISIONS = ("float64", "float32")
"""Precisions in which the laws can be computed; the first is the default."""

_STEP = (ARRAY, REAL, REAL, REAL, REAL, REAL, ARRAY, ARRAY)
_OBSERVE = (ARRAY, REAL, REAL, REAL, REAL, REAL, ARRAY, REAL, ARRAY)
_ENTRIES = {"advance": _STEP, "link_torque": _STEP, "observe": _OBSERVE, "hold": (ARRAY, REAL, REAL, ARRAY)}

_SIMULATE = f"""\
def simulate_kernel(
    par: wp.array2d(dtype=real),
    q: wp.array2d(dtype=real),
    dq: wp.array2d(dtype=real),
    ref_1: wp.array2d(dtype=real),
    ref_2: wp.array2d(dtype=real),
    h: real,
    act: wp.array2d(dtype=real),
    rate: wp.array2d(dtype=real),
    torque: wp.array2d(dtype=real),
    trace: wp.array3d(dtype=real),
):
    i = wp.tid()
    p = par[i]
    a = act[i]
    w = rate[i]
    states = wp.int32(p[{layout.P_STATES}])
    later = wp.int32(p[{layout.P_MODE}]) > 4
    for j in range(q.shape[1]):
        out = trace[i, j]
        advance(p, q[i, j], dq[i, j], ref_1[i, j], ref_2[i, j], h, a, w)
        torque[i, j] = link_torque(p, q[i, j], dq[i, j], ref_1[i, j], ref_2[i, j], h, a, w)
        if later:
            for k in range(states):
                a[k] = a[k] + h * w[k]
        observe(p, q[i, j], dq[i, j], ref_1[i, j], ref_2[i, j], h, a, real(1.0), out)
        if not later:
            for k in range(states):
                a[k] = a[k] + h * w[k]
"""

_STEP_ARRAYS = f"""\
def step_kernel(
    rows: wp.array(dtype=wp.int32),
    par: wp.array2d(dtype=real),
    q: wp.array(dtype=HOST),
    dq: wp.array(dtype=HOST),
    references: wp.array2d(dtype=HOST),
    h: real,
    act: wp.array2d(dtype=real),
    rate: wp.array2d(dtype=real),
    torque: wp.array(dtype=HOST),
):
    i = wp.tid()
    j = rows[i]
    p = par[i]
    a = act[i]
    w = rate[i]
    x = real(q[j])
    v = real(dq[j])
    r1 = real(references[j, 0])
    r2 = real(references[j, 1])
    advance(p, x, v, r1, r2, h, a, w)
    torque[j] = HOST(link_torque(p, x, v, r1, r2, h, a, w))
    for k in range(wp.int32(p[{layout.P_STATES}])):
        a[k] = a[k] + h * w[k]
"""

_EVALUATE = """\
def evaluate_kernel(
    q: wp.array(dtype=real),
    theta_1: wp.array(dtype=real),
    theta_2: wp.array(dtype=real),
    p: wp.array(dtype=real),
    out: wp.array2d(dtype=real),
):
    i = wp.tid()
    torque, load_1, load_2 = law_torques(q[i], theta_1[i], theta_2[i], p)
    out[0, i] = torque
    out[1, i] = load_1
    out[2, i] = load_2
    out[3, i] = law_stiffness(q[i], theta_1[i], theta_2[i], p)
    out[4, i] = law_energy(q[i], theta_1[i], theta_2[i], p)
"""

_HOLD = """\
def hold_kernel(
    par: wp.array2d(dtype=real),
    q: wp.array(dtype=real),
    preset: wp.array(dtype=real),
    act: wp.array2d(dtype=real),
    refs: wp.array2d(dtype=real),
):
    i = wp.tid()
    r1, r2 = hold(par[i], q[i], preset[i], act[i])
    refs[i, 0] = r1
    refs[i, 1] = r2
"""


@functools.cache
def load_warp() -> types.ModuleType:
    """Return the module `warp`, initialised without its banner.

    Raises:
        MissingDependency: Warp is not installed.
    """
    ours = "warp" not in sys.modules
    with importing("Warp", command='pip install "pliant[warp]"', purpose="running laws in Warp"):
        import warp
    if not hasattr(warp, "config"):
        place = getattr(warp, "__file__", None) or "an unknown place"
        raise LawError(f"the module 'warp' at {place} is not NVIDIA's Warp and hides it; rename that file")
    if ours:  # who imported it before has chosen what it prints
        warp.config.log_level = logging.ERROR
    warp.init()
    if ours:
        warp.config.log_level = logging.WARNING
    return warp


def warp_device(name: str) -> wp.Device:
    """Return a device of Warp by its name.

    Args:
        name: "cpu", "cuda" or "cuda:0".

    Raises:
        LawError: there is no such device on this machine.
        MissingDependency: Warp is not installed.
    """
    wp = load_warp()
    found = [str(device) for device in wp.get_devices()]
    wanted = "cuda:0" if name == "cuda" else name
    if wanted not in found:
        absent = str(name).startswith("cuda") and not wp.is_cuda_available()
        why = "; Warp finds no NVIDIA GPU with a driver here" if absent else ""
        raise LawError(f"device is {name!r}{why}; {nearest(str(name), found)}", field="device")
    return wp.get_device(wanted)


_counter = itertools.count(1)


class WarpLaw:
    """One law in one precision, as functions of Warp.

    Example:
        >>> law = warp_law(QbMove, "float32")
        >>> kernel = law.kernel("def spring(p: wp.array(dtype=real), out: wp.array(dtype=real)): ...")
    """

    def __init__(self, cls: type[Law], precision: str) -> None:
        wp = load_warp()
        self.name = cls.name
        """The law's name."""
        self.precision = precision
        """"float64" or "float32"."""
        self.real: type = wp.float64 if precision == "float64" else wp.float32
        """Warp's type of all numbers of the law."""
        self.dtype = np.dtype(precision)
        """The same for numpy."""
        self._label = cls.__name__
        bound = law_functions(cls)
        springs = {
            bound["law_torques"]: (REAL, REAL, REAL, ARRAY),
            bound["law_stiffness"]: (REAL, REAL, REAL, ARRAY),
            bound["law_energy"]: (REAL, REAL, REAL, ARRAY),
        }
        steps = step_kernels(cls)
        entries = {steps[name]: kinds for name, kinds in _ENTRIES.items()}
        self.translation: Translation = translate({**entries, **springs}, bound, self._label)
        """Text of the functions."""
        names = self.translation.entries
        self._names = {
            **{name: names[function] for name, function in steps.items()},
            **{f"law_{k}": names[bound[f"law_{k}"]] for k in ("torques", "stiffness", "energy")},
        }
        self._tag = f"{cls.name}_{precision}_{next(_counter)}"
        self._space: dict[str, Any] = {"wp": wp, "real": self.real, "__name__": f"pliant_{self._tag}"}
        self._define(self.translation.text, self.translation.names)
        self._lock = threading.RLock()
        self._kernels: dict[str, wp.Kernel] = {}
        self._rows: dict[tuple[int, str], wp.array] = {}

    def _define(self, text: str, names: Sequence[str]) -> None:
        wp = load_warp()
        self._run(text, f"<{self._label} for Warp, {self._tag}>")
        module = wp.get_module(f"pliant_{self._tag}")
        for name in names:
            with self._refusals():
                self._space[name] = wp.func(self._space[name], name=f"{self.name}_{name}", module=module)
        for name, inner in self._names.items():
            self._space[name] = self._space[inner]

    def _run(self, text: str, filename: str) -> None:
        linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
        exec(compile(text, filename, "exec"), self._space)

    def kernel(self, text: str) -> wp.Kernel:
        """Return a kernel of Warp that calls the law.

        Args:
            text: one function, as for `warp.kernel`. It may use ``wp``, ``real`` and the functions ``advance``,
                ``link_torque``, ``observe``, ``hold``, ``law_torques``, ``law_stiffness``, ``law_energy``.

        Raises:
            LawError: Warp refuses the law.
        """
        wp = load_warp()
        match = re.match(r"def (\w+)\(", text)
        if match is None:
            raise LawError("the text of a kernel must begin with 'def <name>('", field="text")
        with self._lock:
            if text not in self._kernels:
                name = match.group(1)
                self._run(text, f"<{name} of {self._label}, {self._tag}, {len(self._kernels)}>")
                function = self._space.pop(name)
                function.__qualname__ = f"{self.name}_{name}"
                with self._refusals():
                    kernel = wp.kernel(function, name=f"{self.name}_{name}", enable_backward=False, module="unique")
                self._kernels[text] = kernel
            return self._kernels[text]

    def launch(
        self, kernel: wp.Kernel, dim: int | tuple[int, ...], inputs: Sequence[object], device: wp.Device
    ) -> None:
        """Launch a kernel that `kernel` returned; a refusal of Warp names the place in the law."""
        with self._refusals():
            load_warp().launch(kernel, dim=dim, inputs=list(inputs), device=device, record_tape=False)

    def _refusals(self) -> _Refusals:
        return _Refusals(self)

    # -- on arrays ------------------------------------------------------------------------------------------------

    def evaluate(
        self, p: ArrayLike, q: ArrayLike, theta_1: ArrayLike, theta_2: ArrayLike = 0.0, *, device: str = "cpu"
    ) -> NDArray[np.floating]:
        """Return torque, loads, stiffness and energy at many points, shape (5, n).

        Args:
            p: parameters of the law, shape (LAW_PARAMETERS,).
            q: link angle [rad]; the three coordinates broadcast.
            theta_1: position of motor 1 [rad].
            theta_2: position of motor 2 [rad], or of the lever [m].
            device: device of Warp.
        """
        wp, place = load_warp(), warp_device(device)
        points = np.broadcast_arrays(*(np.atleast_1d(np.asarray(x, dtype=self.dtype)) for x in (q, theta_1, theta_2)))
        arrays = [wp.array(np.ascontiguousarray(x.ravel()), dtype=self.real, device=place) for x in points]
        par = wp.array(np.asarray(p, dtype=self.dtype), dtype=self.real, device=place)
        out = wp.zeros((5, points[0].size), dtype=self.real, device=place)
        self.launch(self.kernel(_EVALUATE), points[0].size, [*arrays, par, out], place)
        return out.numpy()

    def hold(
        self, par: ArrayLike, q: ArrayLike, preset: ArrayLike, *, device: str = "cpu"
    ) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
        """Return states at rest, shape (n, states), and the references that keep them, shape (n, 2).

        Args:
            par: parameter vectors of actuators, shape (n, PARAMETERS).
            q: link angles [rad], shape (n,).
            preset: stiffness presets [rad], or lever positions [m], shape (n,).
            device: device of Warp.
        """
        wp, place = load_warp(), warp_device(device)
        rows = np.ascontiguousarray(par, dtype=self.dtype)
        states = max(1, int(rows[:, layout.P_STATES].max()))
        act = wp.zeros((len(rows), states), dtype=self.real, device=place)
        refs = wp.zeros((len(rows), 2), dtype=self.real, device=place)
        inputs = [
            wp.array(np.ascontiguousarray(np.broadcast_to(x, s), dtype=self.dtype), dtype=self.real, device=place)
            for x, s in ((rows, rows.shape), (np.asarray(q), len(rows)), (np.asarray(preset), len(rows)))
        ]
        self.launch(self.kernel(_HOLD), len(rows), [*inputs, act, refs], place)
        return act.numpy(), refs.numpy()

    def step(
        self,
        parameters: wp.array,
        state: wp.array,
        rate: wp.array,
        motion: tuple[wp.array, wp.array],
        references: wp.array,
        dt: float,
        torque: wp.array,
        *,
        rows: wp.array | None = None,
    ) -> None:
        """Compute the torques of n actuators and advance their states by one step, in place on arrays of Warp.

        This is the step of another simulator: it gives positions and velocities, applies the torques, and integrates
        the bodies itself. All arrays are on one device; those of PyTorch are taken by `warp.from_torch` without a copy.
        A law in double precision takes positions, velocities, references and torques in single precision, too: the
        states of the motors, whose small increments single precision rounds away, then stay in double precision.

        Args:
            parameters: a row for each actuator, as `CompliantActuator.pack` returns it, shape (n, PARAMETERS), of the
                law's precision.
            state: states of the motors, as `hold` starts them, shape (n, states), of the law's precision; changed.
            rate: working memory, shape (n, states), of the law's precision.
            motion: positions [rad] and velocities [rad/s] of the links, each of shape (m,), float32 or of the law's
                precision.
            references: both references in the units of the mode, shape (m, 2), as `motion`.
            dt: time step, the same as that of the parameters [s].
            torque: receives the torques on the links [N m], shape (m,), as `motion`.
            rows: the link of each actuator, int32, shape (n,), each at most once; None if actuator i has link i.

        Raises:
            LawError: Warp refuses the law, or an array has another shape or type.
        """
        wp = load_warp()
        q, dq = motion
        host = wp.float32 if getattr(q, "dtype", None) is wp.float32 else self.real
        n = getattr(parameters, "shape", (0,))[0]
        m = n if rows is None else getattr(q, "shape", (0,))[0]
        own = {"parameters": parameters, "state": state, "rate": rate}
        theirs = {"q": q, "dq": dq, "references": references, "torque": torque}
        for name, array in (*own.items(), *theirs.items()):
            count, kind = (n, self.real) if name in own else (m, host)
            shape = (2,) if name == "references" else ()
            if not isinstance(array, wp.array):
                raise LawError(f"step: {name} is a {type(array).__name__}; must be an array of Warp", field=name)
            if array.dtype is not kind or array.shape[0] != count or (name in theirs and array.shape[1:] != shape):
                raise LawError(
                    f"step: {name} has {array.shape[0]} rows of {array.dtype.__name__}, shape {array.shape}; must be "
                    f"{count} rows of {kind.__name__}{', each of 2 numbers' if shape else ''}",
                    field=name,
                )
        if rows is None:
            rows = self._all_rows(n, q.device)
        elif rows.dtype is not wp.int32 or rows.shape != (n,):
            raise LawError(f"step: rows has shape {rows.shape} of {rows.dtype.__name__}; must be ({n},) of int32")
        kernel = self.kernel(_STEP_ARRAYS.replace("HOST", "real" if host is self.real else "wp.float32"))
        self.launch(kernel, n, [rows, parameters, q, dq, references, self.real(dt), state, rate, torque], q.device)

    def _all_rows(self, n: int, device: wp.Device) -> wp.array:
        key = (n, str(device))
        if key not in self._rows:
            self._rows[key] = load_warp().array(np.arange(n, dtype=np.int32), device=device)
        return self._rows[key]

    def simulate(
        self,
        par: NDArray[np.floating],
        q: NDArray[np.floating],
        dq: NDArray[np.floating],
        ref_1: NDArray[np.floating],
        ref_2: NDArray[np.floating],
        dt: float,
        act: NDArray[np.floating],
        *,
        device: str = "cpu",
    ) -> tuple[NDArray[np.floating], NDArray[np.floating], NDArray[np.floating]]:
        """Run n actuators along n recorded motions.

        Returns torque (n, samples), observations (n, samples, fields) and the states at the end (n, states).

        Args:
            par: parameter vectors, shape (n, PARAMETERS).
            q: link angles [rad], shape (n, samples).
            dq: link velocities [rad/s].
            ref_1: first references.
            ref_2: second references.
            dt: time step [s].
            act: initial states, shape (n, states).
            device: device of Warp.
        """
        wp, place = load_warp(), warp_device(device)

        def put(value: NDArray[np.floating]) -> wp.array:
            return wp.array(np.ascontiguousarray(value, dtype=self.dtype), dtype=self.real, device=place)

        n, samples = q.shape
        state = put(act if act.shape[1] else np.zeros((n, 1)))
        rate = wp.zeros(state.shape, dtype=self.real, device=place)
        torque = wp.zeros((n, samples), dtype=self.real, device=place)
        trace = wp.zeros((n, samples, layout.OBSERVATIONS), dtype=self.real, device=place)
        inputs = [put(par), put(q), put(dq), put(ref_1), put(ref_2), self.real(dt), state, rate, torque, trace]
        self.launch(self.kernel(_SIMULATE), n, inputs, place)
        return torque.numpy(), trace.numpy(), state.numpy()


class _Refusals:
    """Turns an error of Warp's compiler into a `LawError` with the place in the law."""

    def __init__(self, law: WarpLaw) -> None:
        self._law = law

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: types.TracebackType | None
    ) -> None:
        if error is None or isinstance(error, LawError):
            return
        chain: list[str] = []
        link: BaseException | None = error
        while link is not None:
            chain.append(f"{link}\n{' '.join(getattr(link, '__notes__', ()))}")
            link = link.__cause__ or link.__context__
        text = "\n".join(chain)
        if type(error).__module__.partition(".")[0] != "warp" and "parsing function" not in text:
            return
        found = re.search(rf"<{re.escape(self._law._label)} for Warp, {re.escape(self._law._tag)}>\D+(\d+)", text)
        place = self._law.translation.origin.get(int(found.group(1))) if found else None
        file, line = place or (None, None)
        reason = " ".join(str(error).split())
        raise LawError(
            f"Warp refuses the kernels of {self._law._label}: {reason}", file=file, line=line, field=self._law.name
        ) from error


_laws: dict[tuple[type[Law], str], WarpLaw] = {}
_lock = threading.RLock()


def warp_law(cls: type[Law], precision: str = "float64") -> WarpLaw:
    """Return a law as functions of Warp.

    Args:
        cls: a registered law.
        precision: "float64" or "float32".

    Raises:
        LawError: the law holds something that Warp cannot compile (with file and line), or the precision is unknown.
        MissingDependency: Warp is not installed.
    """
    if precision not in PRECISIONS:
        raise LawError(f"precision is {precision!r}; {nearest(str(precision), PRECISIONS)}", field="precision")
    with _lock:
        if (cls, precision) not in _laws:
            _laws[cls, precision] = WarpLaw(cls, precision)
        return _laws[cls, precision]


def simulate(
    actuators: Sequence[CompliantActuator],
    q: ArrayLike,
    dq: ArrayLike | None,
    ref_1: ArrayLike,
    ref_2: ArrayLike = 0.0,
    dt: float = 1.0e-3,
    *,
    precision: str = "float64",
    device: str = "cpu",
) -> list[ActuatorTraces]:
    """Run many actuators of one law along recorded motions, as `CompliantActuator.simulate` runs one.

    Args:
        actuators: n actuators of one law, which may differ in everything else.
        q: link angles [rad], shape (samples,) for all, or (n, samples).
        dq: link velocities [rad/s]; None takes differences of q.
        ref_1: first references, a number, (samples,), (n, 1) or (n, samples).
        ref_2: second references.
        dt: time step [s].
        precision: "float64" or "float32".
        device: device of Warp: "cpu", "cuda:0".

    Raises:
        LawError: no actuators, actuators of different laws, shapes that do not fit, numbers that are not finite.
    """
    laws = {type(a.law) for a in actuators}
    if len(laws) != 1:
        names = ", ".join(sorted(cls.__name__ for cls in laws)) or "none"
        raise LawError(f"simulate: the actuators have the laws {names}; must have one law", field="actuators")
    if isinstance(dt, bool | str) or not 0.0 < dt < np.inf:
        raise LawError(f"simulate: dt is {dt!r}; must be a number > 0 [s]", field="dt")
    angles = np.atleast_2d(np.asarray(q, dtype=float))
    shape = (len(actuators), angles.shape[-1])
    if dq is None:
        dq = np.gradient(angles, dt, axis=1) if shape[1] > 1 else np.zeros_like(angles)
    traces = []
    for name, value in (("q", angles), ("dq", dq), ("ref_1", ref_1), ("ref_2", ref_2)):
        array = np.asarray(value, dtype=float)
        if not np.isfinite(array).all():
            raise LawError(f"simulate: {name} holds NaN or infinity; must be finite numbers", field=name)
        try:
            traces.append(np.broadcast_to(array, shape))
        except ValueError:
            raise LawError(f"simulate: {name} has shape {array.shape}; must fit {shape}", field=name) from None
    law = warp_law(laws.pop(), precision)
    par = np.stack([a.pack(dt) for a in actuators])
    start = [a.hold(float(angle), dt)[0] for a, angle in zip(actuators, traces[0][:, 0], strict=True)]
    act = np.zeros((shape[0], max(1, *(s.size for s in start))))
    for row, state in zip(act, start, strict=True):
        row[: state.size] = state
    torque, trace, _ = law.simulate(par, *traces, dt, act, device=device)
    time = np.arange(shape[1]) * dt
    return [
        ActuatorTraces(
            time, torque[i], {name: cast("NDArray[np.float64]", trace[i, :, k]) for name, k in layout.OUT.items()}
        )
        for i in range(shape[0])
    ]
