"""Compile the kernels of a law, once, into the user's cache.

For each law a small source file is written into the cache folder (``PLIANT_CACHE``, or ``~/.cache/pliant``), named
after a fingerprint of all code that takes part. A changed kernel gives another fingerprint, so a stale cache cannot be
used. The first use of a law compiles for some seconds, later ones load.

What the engine needs (``advance``, ``torque``, ``observe``, ``hold``) is kept as optimised LLVM assembly and turned
into machine code by llvmlite alone, in milliseconds: importing numba and waking its compiler takes 1.5 s, which a
warm start does not pay. ``simulate`` and ``evaluate``, which take arrays, are kept by numba's own cache.
"""

from __future__ import annotations

import atexit
import builtins
import contextlib
import functools
import hashlib
import importlib.metadata
import logging
import os
import re
import shutil
import stat
import sys
import tempfile
import threading
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np

from pliant.errors import LawError
from pliant.laws import kernels

__all__ = ["CompiledLaw", "cache_folder", "compiled", "fingerprint", "is_cached", "native", "temporary_cache"]

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


class Compilable(Protocol):
    """What compilation needs of a law's class: its registered name, and `LAW_KERNELS` as static methods."""

    name: ClassVar[str]
    """Name in the registry."""


class CompiledLaw:
    """The machine code of one law; each entry point is compiled, or loaded from the cache, on first use.

    ``advance``, ``torque``, ``observe`` and ``hold`` are addresses of C functions on raw pointers (the arguments of
    the kernels of the same name in `pliant.laws.kernels`); ``simulate`` and ``evaluate`` take arrays.
    """

    def __init__(self, cls: type[Compilable], path: Path, bound: dict[str, types.FunctionType]) -> None:
        self.name = cls.name
        """The law's name."""
        self.path = path
        """The source file that the machine code belongs to."""
        self._label = cls.__name__
        self._bound = bound
        self._lock = threading.RLock()
        self._machines: list[Any] = []

    @functools.cached_property
    def _namespace(self) -> dict[str, Any]:
        tag = self.path.stem
        namespace = _dispatchers(_kernel_functions(), self._bound, tag)
        # numba imports the module of a cached function when it loads it: name one that exists.
        namespace["__name__"] = __name__
        exec(compile(_SOURCE, str(self.path), "exec"), namespace)
        for name, function in list(namespace.items()):
            if isinstance(function, types.FunctionType):
                function.__qualname__ = f"{name}_{tag}"
        return namespace

    def _assembly_file(self, entry: str) -> Path:
        return self.path.with_suffix(f".{entry}.{_host()[0]}.ll")

    def _compile(self, entry: str, build: Callable[[Callable[..., Any]], Any]) -> Any:
        with self._lock:
            log.info("compiling %s of the law %r (once; later runs load it)", entry, self.name)
            return _compile_entry(self._label, build, self._namespace[f"{entry}_c"])

    def _native(self, entry: str, signature: str) -> int:
        """Return the address of an entry point, from the cached assembly where there is one."""
        path = self._assembly_file(entry)
        symbol = f"pliant_{self.name}_{entry}"
        if not path.exists():
            function = self._compile(entry, _numba().cfunc(_signatures()[signature], error_model="numpy"))
            text = _standalone(function.inspect_llvm(), function._wrapper_name, symbol)
            scratch = path.with_suffix(f".{os.getpid()}.tmp")
            scratch.write_text(text)
            scratch.replace(path)
        machine, address = _assemble(path.read_text(), symbol)
        self._machines.append(machine)
        return address

    @functools.cached_property
    def advance(self) -> int:
        """Address of ``double (par, q, dq, r1, r2, h, act, rate)``: writes rate, returns rate[0]."""
        return self._native("advance", "step")

    @functools.cached_property
    def torque(self) -> int:
        """Address of ``double (par, q, dq, r1, r2, h, act, rate)``: torque on the link [N m]."""
        return self._native("torque", "step")

    @functools.cached_property
    def observe(self) -> int:
        """Address of ``void (par, q, dq, r1, r2, h, act, rate, out)``."""
        return self._native("observe", "observe")

    @functools.cached_property
    def hold(self) -> int:
        """Address of ``void (par, q, preset, act, refs)``."""
        return self._native("hold", "hold")

    @functools.cached_property
    def simulate(self) -> Callable[..., None]:
        """The loop over a recorded trace, on arrays."""
        return self._compile("simulate", _numba().njit(_signatures()["simulate"], nogil=True, **_OPTIONS))

    @functools.cached_property
    def evaluate(self) -> Callable[..., None]:
        """The law at many points, on arrays."""
        return self._compile("evaluate", _numba().njit(_signatures()["evaluate"], nogil=True, **_OPTIONS))


@functools.cache
def _host() -> tuple[str, str]:
    """Return name and features of this machine's processor."""
    import llvmlite.binding as llvm

    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def _standalone(assembly: str, wrapper: str, symbol: str) -> str:
    """Make numba's assembly of a C callback stand without numba.

    The wrapper gets a short name. The kernels cannot raise (scalars, numpy's division), so what numba's runtime offers
    for that is replaced by functions that do nothing.
    """

    def stub(match: re.Match[str]) -> str:
        kind, name, arguments = match.group(1), match.group(2), match.group(3)
        body = "ret void" if kind == "void" else "ret ptr null" if kind == "ptr" else f"ret {kind} 0"
        return f"define internal {kind} @{name}({arguments}) {{ {body} }}"

    assembly = re.sub(
        r"^declare (?:noundef )?(\w+) @(numba_\w+|NRT_\w+)\(([^)]*)\).*$", stub, assembly, flags=re.MULTILINE
    )
    quoted = re.escape(wrapper)
    return re.sub(rf'@"?{quoted}"?(?=[\s(,])', f"@{symbol}", assembly)


def _assemble(text: str, symbol: str) -> tuple[Any, int]:
    """Turn LLVM assembly into machine code; returns its owner and the address of a function."""
    import llvmlite.binding as llvm

    with contextlib.suppress(RuntimeError):  # newer llvmlite initialises by itself
        llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    name, features = _host()
    target = llvm.Target.from_default_triple().create_target_machine(cpu=name, features=features, opt=3)
    module = llvm.parse_assembly(text)
    module.verify()
    engine = llvm.create_mcjit_compiler(module, target)
    engine.finalize_object()
    address = engine.get_function_address(symbol)
    if not address:
        raise LawError(f"the compiled law in the cache has no {symbol}; delete {cache_folder()} and try again")
    return engine, address


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
        lines = [re.sub(r"\x1b\[\d*m", "", line).strip() for line in str(error).splitlines()]
        reason = next((line for line in lines if line and not line.startswith("Failed in nopython")), "unknown")
        raise LawError(
            f"the kernels of {label} cannot be compiled: {reason}. Valid in a kernel: arithmetic, comparisons, "
            "if, min, max, abs and functions of math on scalars"
        ) from error


def cache_folder() -> Path:
    """Return the folder of compiled laws, which exists and is writable.

    Where the user's own cannot be written it is a temporary one, which only costs the time of a compilation.

    Raises:
        LawError: ``PLIANT_CACHE`` names a folder that cannot be written.
    """
    wanted = os.environ.get("PLIANT_CACHE")
    try:
        if wanted:
            folder = Path(wanted)
        elif os.environ.get("XDG_CACHE_HOME"):
            folder = Path(os.environ["XDG_CACHE_HOME"]) / "pliant"
        else:
            folder = Path.home() / ".cache" / "pliant"
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK):
            raise PermissionError(folder)
    except (OSError, RuntimeError) as error:  # RuntimeError: the user has no home
        if wanted:
            raise LawError(f"the cache folder PLIANT_CACHE={wanted} cannot be written; name another one") from None
        return temporary_cache(str(error))
    return folder


_temporary: list[Path] = []


def temporary_cache(reason: str = "") -> Path:
    """Return a folder for compiled code where the user's cache cannot be written; says so, once.

    Args:
        reason: why that is so.
    """
    if _temporary and _temporary[0].is_dir():
        return _temporary[0]
    # What lies there is run: a folder that somebody else made is not taken.
    folder = Path(tempfile.gettempdir()) / f"pliant-{os.getuid() if hasattr(os, 'getuid') else 'cache'}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        state = folder.lstat()
        foreign = hasattr(os, "getuid") and (state.st_uid != os.getuid() or bool(state.st_mode & 0o022))
        if foreign or not stat.S_ISDIR(state.st_mode) or not os.access(folder, os.W_OK):
            raise PermissionError(folder)
    except OSError:
        folder = Path(tempfile.mkdtemp(prefix="pliant-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    log.warning(
        "the cache of compiled code cannot be written%s; %s is used, so code may be compiled again "
        "(PLIANT_CACHE names another folder)",
        f" ({reason})" if reason else "",
        folder,
    )
    _temporary[:] = [folder]
    return folder


def _python_function(value: Any) -> types.FunctionType | None:
    if isinstance(value, staticmethod):
        value = value.__func__
    value = getattr(value, "py_func", value)
    return value if isinstance(value, types.FunctionType) else None


def _names_in(code: types.CodeType) -> list[str]:
    """Return the names that a code object uses, those of its comprehensions and lambdas included."""
    names = list(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names += [name for name in _names_in(constant) if name not in names]
    return names


def _globals_of(function: types.FunctionType) -> dict[str, Any]:
    """Return the global and enclosed names that a function's code refers to, with their values."""
    used: dict[str, Any] = {}
    for name in _names_in(function.__code__):
        if name in function.__globals__:
            used[name] = function.__globals__[name]
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        used[name] = cell.cell_contents
    return used


def _parts(function: types.FunctionType, bound: dict[str, types.FunctionType]) -> list[tuple[str, Any]]:
    """Return what a function's code refers to, by name, with the law's kernels in place of their names."""
    used = dict(_globals_of(function))
    used.update({name: f for name, f in bound.items() if name in function.__code__.co_names})
    return sorted(used.items())


def fingerprint(
    functions: list[types.FunctionType], bound: dict[str, types.FunctionType] | None = None, *, extra: str = ""
) -> str:
    """Return a digest of all code and constants that the functions reach, and of the compiler's version.

    Args:
        functions: where to begin.
        bound: kernels that stand for the ``law_*`` names.
        extra: further text that the digest depends on.
    """
    bound = bound or {}
    digest = hashlib.sha256()
    seen: set[tuple[types.CodeType, int]] = set()

    def visit_code(code: types.CodeType) -> None:
        constants = [c for c in code.co_consts if not isinstance(c, types.CodeType)]
        digest.update(repr((code.co_name, constants, code.co_names, code.co_varnames)).encode())
        digest.update(code.co_code)
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                visit_code(constant)

    def visit(function: types.FunctionType) -> None:
        if (function.__code__, id(function)) in seen:
            return
        seen.add((function.__code__, id(function)))
        visit_code(function.__code__)
        digest.update(repr(function.__defaults__).encode())
        for name, value in _parts(function, bound):
            inner = _python_function(value)
            if inner is not None:
                visit(inner)
            elif isinstance(value, np.ndarray):
                digest.update(repr((name, value.dtype.str, value.tobytes())).encode())
            elif isinstance(value, int | float | str | bool | tuple | list | dict | np.generic):
                digest.update(repr((name, value)).encode())

    for function in functions:
        visit(function)
    digest.update(extra.encode())
    for package in ("numba", "llvmlite"):
        digest.update(importlib.metadata.version(package).encode())
    digest.update(sys.version.encode())
    digest.update(_SOURCE.encode() + b"2")  # 2: symbols carry the law's tag
    return digest.hexdigest()[:16]


def _dispatchers(functions: list[types.FunctionType], bound: dict[str, types.FunctionType], tag: str) -> dict[str, Any]:
    """Turn functions and all that they call into numba dispatchers; returns them by name.

    The tag, one for each law and version of it, goes into the names of the machine code's symbols: numba numbers them
    anew in each process, so code of two laws, cached by two processes, would otherwise share names, and the linker
    would let one law call the other's kernels.
    """
    numba = _numba()
    done: dict[types.CodeType, Any] = {}

    def translate(function: types.FunctionType) -> Any:
        code = function.__code__
        if code in done:
            return done[code]
        # numba imports the module of a cached function when it loads it: name one that exists in every process.
        names: dict[str, Any] = {"__builtins__": builtins, "__name__": __name__}
        for name, value in _parts(function, bound):
            inner = _python_function(value)
            names[name] = value if inner is None else translate(inner)
        free = tuple(types.CellType(names[n]) for n in code.co_freevars)
        twin = types.FunctionType(code, names, function.__name__, function.__defaults__, free)
        twin.__qualname__ = f"{function.__name__}_{tag}"
        done[code] = numba.njit(error_model="numpy", nogil=True)(twin)
        return done[code]

    return {function.__name__: translate(function) for function in functions}


_ENTRIES = ("advance", "link_torque", "observe", "hold", "simulate", "evaluate")


def _law_functions(cls: type[Compilable]) -> dict[str, types.FunctionType]:
    bound: dict[str, types.FunctionType] = {}
    for kernel in LAW_KERNELS:
        function = _python_function(getattr(cls, kernel))
        if function is None:
            raise LawError(f"{cls.__name__}.{kernel} must be a @staticmethod", field=kernel)
        bound[f"law_{kernel}"] = function
    return bound


def _kernel_functions() -> list[types.FunctionType]:
    return [getattr(kernels, name) for name in _ENTRIES]


_compiled: dict[type[Compilable], CompiledLaw] = {}
_lock = threading.Lock()


def is_cached(cls: type[Compilable]) -> bool:
    """Say whether the machine code that the engine needs is on disk already."""
    code = compiled(cls)
    return all(code._assembly_file(entry).exists() for entry in ("advance", "torque", "observe", "hold"))


def compiled(cls: type[Compilable]) -> CompiledLaw:
    """Return the machine code of a law.

    Raises:
        LawError: the class is not registered, or (on first use of an entry) numba cannot compile a kernel; the
            message has numba's reason.
    """
    with _lock:
        if cls not in _compiled:
            _compiled[cls] = _prepare(cls)
        return _compiled[cls]


def _prepare(cls: type[Compilable]) -> CompiledLaw:
    if not cls.name:
        raise LawError(f"{cls.__name__} is not registered; decorate it with @law('name')")
    bound = _law_functions(cls)
    folder = cache_folder() / "laws"
    folder.mkdir(exist_ok=True)
    path = folder / f"{cls.name}_{fingerprint(_kernel_functions(), bound)}.py"
    if not path.exists() or path.read_text() != _SOURCE:
        scratch = path.with_suffix(f".{os.getpid()}.tmp")
        scratch.write_text(_SOURCE)
        scratch.replace(path)
    return CompiledLaw(cls, path, bound)


_natives: dict[str, tuple[Any, int]] = {}


def native(function: types.FunctionType, signature: Callable[[Any], Any]) -> int:
    """Return the address of a plain function as a C function, from the cached assembly where there is one.

    Args:
        function: scalars and pointers only, as in a kernel; it may call other plain functions.
        signature: makes the numba signature from `numba.types`; called only to compile.
    """
    folder = cache_folder() / "laws"
    folder.mkdir(exist_ok=True)
    name = function.__name__
    key = f"{name}_{fingerprint([function])}"
    with _lock:
        if key not in _natives:
            path, symbol = folder / f"{key}.{_host()[0]}.ll", f"pliant_{name}"
            if not path.exists():
                numba = _numba()
                plain = _dispatchers([function], {}, key)[name].py_func
                build = numba.cfunc(signature(numba.types), error_model="numpy")
                compiled_function = _compile_entry(name, build, plain)
                text = _standalone(compiled_function.inspect_llvm(), compiled_function._wrapper_name, symbol)
                scratch = path.with_suffix(f".{os.getpid()}.tmp")
                scratch.write_text(text)
                scratch.replace(path)
            _natives[key] = _assemble(path.read_text(), symbol)
        return _natives[key][1]
