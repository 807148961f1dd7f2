"""Compile the kernels of a law, once, into the user's cache.

For each law a small source file is written into the cache folder (``PLIANT_CACHE``, or ``~/.cache/pliant``), named
after a fingerprint of all code that takes part; numba keeps the machine code beside it. A changed kernel gives another
fingerprint, so a stale cache cannot be used. The first use of a law compiles for some seconds, later ones load.
"""

from __future__ import annotations

import builtins
import functools
import hashlib
import importlib.metadata
import logging
import os
import sys
import tempfile
import threading
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pliant.errors import LawError
from pliant.laws import kernels
from pliant.laws.base import Law

__all__ = ["CompiledLaw", "cache_folder", "compiled", "is_cached", "make_namespace"]

log = logging.getLogger("pliant")

LAW_KERNELS = ("torques", "stiffness", "reported_stiffness", "energy", "references")

_SOURCE = '''\
"""Machine code of one law; written by pliant, safe to delete."""


def advance_c(par, q, dq, r1, r2, h, act, rate):
    advance(par, q, dq, r1, r2, h, act, rate)
    return rate[0]


def torque_c(par, q, dq, r1, r2, h, act, rate):
    return link_torque(par, q, dq, r1, r2, h, act, rate)


def observe_c(par, q, dq, r1, r2, h, act, rate, out):
    observe(par, q, dq, r1, r2, h, act, rate, out)


def hold_c(par, q, preset, act, refs):
    r1, r2 = hold(par, q, preset, act)
    refs[0] = r1
    refs[1] = r2


def simulate_c(par, q, dq, ref_1, ref_2, h, act, torque, trace):
    simulate(par, q, dq, ref_1, ref_2, h, act, torque, trace)


def evaluate_c(q, theta_1, theta_2, p, out):
    evaluate(q, theta_1, theta_2, p, out)
'''


class CompiledLaw:
    """The machine code of one law; each entry point is compiled, or loaded from the cache, on first use.

    ``advance``, ``torque``, ``observe`` and ``hold`` are addresses of C functions on raw pointers (the arguments of
    the kernels of the same name in `pliant.laws.kernels`); ``simulate`` and ``evaluate`` take arrays.
    """

    def __init__(self, cls: type[Law], path: Path, namespace: dict[str, Any]) -> None:
        self.name = cls.name
        """The law's name."""
        self.path = path
        """The source file that the machine code belongs to."""
        self._label = cls.__name__
        self._namespace = namespace
        self._lock = threading.RLock()

    def _cached(self, entry: str) -> bool:
        return any((self.path.parent / "__pycache__").glob(f"{self.path.stem}.{entry}-*.nbc"))

    def _build(self, entry: str, build: Callable[[Callable[..., Any]], Any]) -> Any:
        with self._lock:
            if not self._cached(entry):
                log.info("compiling %s of the law %r (once; later runs load it)", entry[:-2], self.name)
            return _compile_entry(self._label, build, self._namespace[entry])

    @functools.cached_property
    def _advance(self) -> Any:
        return self._build("advance_c", _numba().cfunc(_signatures()["step"], **_OPTIONS))

    @functools.cached_property
    def _torque(self) -> Any:
        return self._build("torque_c", _numba().cfunc(_signatures()["step"], **_OPTIONS))

    @functools.cached_property
    def _observe(self) -> Any:
        return self._build("observe_c", _numba().cfunc(_signatures()["observe"], **_OPTIONS))

    @functools.cached_property
    def _hold(self) -> Any:
        return self._build("hold_c", _numba().cfunc(_signatures()["hold"], **_OPTIONS))

    @property
    def advance(self) -> int:
        """Address of ``double (par, q, dq, r1, r2, h, act, rate)``: writes rate, returns rate[0]."""
        return self._advance.address

    @property
    def torque(self) -> int:
        """Address of ``double (par, q, dq, r1, r2, h, act, rate)``: torque on the link [N m]."""
        return self._torque.address

    @property
    def observe(self) -> int:
        """Address of ``void (par, q, dq, r1, r2, h, act, rate, out)``."""
        return self._observe.address

    @property
    def hold(self) -> int:
        """Address of ``void (par, q, preset, act, refs)``."""
        return self._hold.address

    @functools.cached_property
    def simulate(self) -> Callable[..., None]:
        """The loop over a recorded trace, on arrays."""
        return self._build("simulate_c", _numba().njit(_signatures()["simulate"], nogil=True, **_OPTIONS))

    @functools.cached_property
    def evaluate(self) -> Callable[..., None]:
        """The law at many points, on arrays."""
        return self._build("evaluate_c", _numba().njit(_signatures()["evaluate"], nogil=True, **_OPTIONS))


_OPTIONS: dict[str, Any] = {"cache": True, "error_model": "numpy"}


def _numba() -> Any:
    import numba

    return numba


@functools.cache
def _signatures() -> dict[str, Any]:
    t = _numba().types
    double, pointer = t.float64, t.CPointer(t.float64)
    vector, matrix = t.float64[::1], t.float64[:, ::1]
    return {
        "step": double(pointer, double, double, double, double, double, pointer, pointer),
        "observe": t.void(pointer, double, double, double, double, double, pointer, pointer, pointer),
        "hold": t.void(pointer, double, double, pointer, pointer),
        "simulate": t.void(vector, vector, vector, vector, vector, double, vector, vector, matrix),
        "evaluate": t.void(vector, vector, vector, vector, matrix),
    }


def _compile_entry(label: str, build: Callable[[Callable[..., Any]], Any], function: Callable[..., Any]) -> Any:
    try:
        return build(function)
    except _numba().core.errors.NumbaError as error:
        reason = next((line for line in str(error).splitlines() if line.strip()), "unknown")
        raise LawError(
            f"the kernels of {label} cannot be compiled: {reason}. Valid in a kernel: arithmetic, comparisons, "
            "if, min, max, abs and functions of math on scalars"
        ) from error


def cache_folder() -> Path:
    """Return the folder of compiled laws, which exists and is writable."""
    wanted = os.environ.get("PLIANT_CACHE")
    if wanted:
        folder = Path(wanted)
    elif os.environ.get("XDG_CACHE_HOME"):
        folder = Path(os.environ["XDG_CACHE_HOME"]) / "pliant"
    else:
        folder = Path.home() / ".cache" / "pliant"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK):
            raise PermissionError(folder)
    except OSError:
        if wanted:
            raise LawError(f"the cache folder PLIANT_CACHE={wanted} cannot be written; name another one") from None
        folder = Path(tempfile.gettempdir()) / f"pliant-{os.getuid() if hasattr(os, 'getuid') else 'cache'}"
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def _python_function(value: Any) -> types.FunctionType | None:
    if isinstance(value, staticmethod):
        value = value.__func__
    value = getattr(value, "py_func", value)
    return value if isinstance(value, types.FunctionType) else None


def _globals_of(function: types.FunctionType) -> dict[str, Any]:
    """Return the global and enclosed names that a function's code refers to, with their values."""
    used: dict[str, Any] = {}
    for name in function.__code__.co_names:
        if name in function.__globals__:
            used[name] = function.__globals__[name]
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        used[name] = cell.cell_contents
    return used


class _Translator:
    """Turn Python functions into numba dispatchers, recursively, with bound names."""

    def __init__(self, bound: dict[str, types.FunctionType]) -> None:
        self._bound = bound
        self._done: dict[types.CodeType, Any] = {}
        self.fingerprint = hashlib.sha256()

    def dispatcher(self, function: types.FunctionType) -> Any:
        import numba

        code = function.__code__
        if code in self._done:
            return self._done[code]
        names: dict[str, Any] = {"__builtins__": builtins, "__name__": function.__module__}
        self.fingerprint.update(repr((code.co_name, code.co_consts, code.co_names)).encode())
        self.fingerprint.update(code.co_code)
        used = dict(_globals_of(function))
        used.update({n: f for n, f in self._bound.items() if n in code.co_names})
        for name, value in sorted(used.items()):
            inner = _python_function(value)
            if inner is not None:
                names[name] = self.dispatcher(inner)
            else:
                if isinstance(value, int | float | str | bool | tuple):
                    self.fingerprint.update(repr((name, value)).encode())
                names[name] = value
        free = tuple(types.CellType(names[n]) for n in code.co_freevars)
        twin = types.FunctionType(code, names, function.__name__, function.__defaults__, free)
        self._done[code] = numba.njit(error_model="numpy", nogil=True)(twin)
        return self._done[code]


def make_namespace(cls: type[Law]) -> tuple[dict[str, Any], str]:
    """Return the kernels of a law as numba dispatchers by name, and the fingerprint of their code.

    Raises:
        LawError: a kernel is not a plain function.
    """
    bound: dict[str, types.FunctionType] = {}
    for kernel in LAW_KERNELS:
        function = _python_function(getattr(cls, kernel))
        if function is None:
            raise LawError(f"{cls.__name__}.{kernel} must be a @staticmethod", field=kernel)
        bound[f"law_{kernel}"] = function
    translator = _Translator(bound)
    entry = ("advance", "link_torque", "observe", "hold", "simulate", "evaluate")
    namespace = {name: translator.dispatcher(getattr(kernels, name)) for name in entry}
    for package in ("numba", "llvmlite"):
        translator.fingerprint.update(importlib.metadata.version(package).encode())
    translator.fingerprint.update(sys.version.encode())
    translator.fingerprint.update(_SOURCE.encode())
    return namespace, translator.fingerprint.hexdigest()[:16]


_compiled: dict[type[Law], CompiledLaw] = {}
_lock = threading.Lock()


def is_cached(cls: type[Law]) -> bool:
    """Say whether the machine code that the engine needs is on disk already."""
    code = compiled(cls)
    return all(code._cached(entry) for entry in ("advance_c", "torque_c", "observe_c", "hold_c"))


def compiled(cls: type[Law]) -> CompiledLaw:
    """Return the machine code of a law.

    Raises:
        LawError: the class is not registered, or (on first use of an entry) numba cannot compile a kernel; the
            message has numba's reason.
    """
    with _lock:
        if cls not in _compiled:
            _compiled[cls] = _prepare(cls)
        return _compiled[cls]


def _prepare(cls: type[Law]) -> CompiledLaw:
    if not cls.name:
        raise LawError(f"{cls.__name__} is not registered; decorate it with @law('name')")
    namespace, fingerprint = make_namespace(cls)
    folder = cache_folder() / "laws"
    folder.mkdir(exist_ok=True)
    path = folder / f"{cls.name}_{fingerprint}.py"
    if not path.exists() or path.read_text() != _SOURCE:
        scratch = path.with_suffix(f".{os.getpid()}.tmp")
        scratch.write_text(_SOURCE)
        scratch.replace(path)
    # numba imports the module of a cached function when it loads it: name one that exists.
    namespace["__name__"] = __name__
    exec(compile(_SOURCE, str(path), "exec"), namespace)
    return CompiledLaw(cls, path, namespace)
