"""Compilation of the kernels of a law into the cache of the user.

For each law a small source file is written into the cache folder (``PLIANT_CACHE``, or ``~/.cache/pliant``), named
after a fingerprint of all code and constants involved (`pliant.base.codecache`). A changed kernel has a different
fingerprint, so an outdated file is not used. The first use of a law takes some seconds to compile; later uses load it.

The functions of a step (``advance``, ``torque``, ``observe``, ``show``, ``hold``) are stored as optimised LLVM
assembly. llvmlite converts it to machine code in milliseconds, so that a warm start avoids the 1.5 s that importing and
initialising numba takes. ``evaluate`` and the loop of ``simulate``, which take arrays, are stored as compiled functions
of numba; the loop is one for all laws, and calls their functions by their addresses.
Each file has a digest; a damaged file is compiled again.
"""

from __future__ import annotations

import base64
import builtins
import contextlib
import ctypes
import functools
import hashlib
import logging
import re
import threading
import types
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Protocol

import numpy as np

from pliant.base.codecache import (
    cache_folder,
    njit,
    part_dispatcher,
    private_folder,
    read_shipped,
    read_text,
    ship_text,
    write_text,
)
from pliant.base.compiling import compilation, count_functions, follow_numba, named
from pliant.base.errors import LawError
from pliant.base.fingerprint import fingerprint, fingerprints, python_function, referred
from pliant.base.numba_types import Dispatcher, Lowering, Machine, NumbaModule, NumbaType, PythonFunction
from pliant.base.options.places import code_place
from pliant.laws import kernels

log = logging.getLogger("pliant")

LAW_KERNELS = ("torques", "stiffness", "reported_stiffness", "energy", "references")

_SOURCE = '''\
"""Machine code of one law; written by pliant, safe to delete."""


def advance_c(par, q, dq, r1, r2, h, act, rate):
    advance(par, q, dq, r1, r2, h, act, rate)
    return rate[0]


def torque_c(par, q, dq, r1, r2, h, act, rate):
    return link_torque(par, q, dq, r1, r2, h, act, rate)


def observe_c(par, q, dq, r1, r2, h, act, full, out):
    observe(par, q, dq, r1, r2, h, act, full, out)


def hold_c(par, q, preset, act, refs):
    r1, r2 = hold(par, q, preset, act)
    refs[0] = r1
    refs[1] = r2


def show_c(par, r1, r2, h, act, rate, out):
    show(par, r1, r2, h, act, rate, out)


def evaluate_c(q, theta_1, theta_2, p, out):
    evaluate(q, theta_1, theta_2, p, out)
'''

_LOOP = '''\
"""Machine code of the loop over the steps of a law; written by pliant, safe to delete."""


def simulate_c(step, par, q, dq, ref_1, ref_2, h, act, load, torque, trace):
    simulate(step, par, q, dq, ref_1, ref_2, h, act, load, torque, trace)
'''


_VERSION = f"{_SOURCE} {_LOOP} 7"
"""Content of the files beside the kernels; another text gives other file names."""
_VALID = "Valid in a kernel: arithmetic, comparisons, if, min, max, abs and functions of math on scalars"


class Compilable(Protocol):
    """Law class as required for compilation: a registered name, and `LAW_KERNELS` as static methods."""

    name: ClassVar[str]
    """Name in the registry."""
    step: ClassVar[types.ModuleType | None]
    """Module with the kernels of the step; None for `pliant.laws.kernels`."""


class CompiledLaw:
    """The machine code of one law; each entry point is compiled, or loaded from the cache, on first use.

    ``advance``, ``torque``, ``observe``, ``show`` and ``hold`` are addresses of C functions on raw pointers (the
    arguments of the kernels of the same name in `pliant.laws.kernels`); ``simulate`` and ``evaluate`` take arrays.
    """

    def __init__(self, cls: type[Compilable], path: Path, bound: dict[str, types.FunctionType]) -> None:
        self.name = cls.name
        """Name of the law."""
        self.path = path
        """Source file of the machine code."""
        self._label = cls.__name__
        self._step = step_kernels(cls)
        self._bound = bound
        self._lock = threading.RLock()
        self._machines: list[Machine] = []

    @functools.cached_property
    def _namespace(self) -> dict[str, Dispatcher]:
        return _entry_points(_SOURCE, self.path, _kernel_functions(self._step), self._bound)

    def _assembly_file(self, entry: str) -> Path:
        return self.path.with_suffix(f".{entry}.{_host()[0]}.ll")

    @functools.cached_property
    def _portable(self) -> str:
        return fingerprints(_kernel_functions(self._step), self._bound, extra=_VERSION)[1]

    def _shipped(self, entry: str) -> str:
        """Return the name of the entry's assembly among the files that come with the package."""
        return f"{self.name}_{self._portable or 'none'}.{entry}.ll"

    def _compile(self, entry: str, build: Callable[[PythonFunction], Dispatcher]) -> Dispatcher:
        with self._lock:
            log.info("compiling %s of the law %r (once; later runs load it)", entry, self.name)
            follow_numba()
            function = self._namespace[f"{entry}_c"]
            with compilation(f"the law {self.name}", count_functions(function)):
                return _compile_entry(self._label, build, function)

    def _load_or_compile(self, entry: str) -> Callable[..., None]:
        """Return an entry point on arrays; numba loads it from its cache, or compiles and reports it."""
        with self._lock:
            follow_numba()
            with named(f"the law {self.name}"):
                return _compile_entry(self._label, _with_cache(entry), self._namespace[f"{entry}_c"])

    def _native(self, entry: str, signature: str) -> int:
        """Return the address of an entry point, from the cached assembly where there is one."""
        path = self._assembly_file(entry)
        symbol = f"pliant_{self.name}_{entry}"
        text = read_shipped(self._shipped(entry), ";") or read_text(path, ";")
        if text is None:
            function = self._compile(entry, _numba().cfunc(_signatures()[signature], error_model="numpy"))
            text = _standalone(function.inspect_llvm(), function._wrapper_name, symbol, distinct=True)
            write_text(path, text, ";")
            ship_text(self._shipped(entry), text, ";")
        machine, address = assemble(text, symbol, path)
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
        """Address of ``void (par, q, dq, r1, r2, h, act, full, out)``."""
        return self._native("observe", "observe")

    @functools.cached_property
    def show(self) -> int:
        """Address of ``void (par, r1, r2, h, act, rate, out)``: writes a row of a narrow trace."""
        return self._native("show", "show")

    @functools.cached_property
    def hold(self) -> int:
        """Address of ``void (par, q, preset, act, refs)``."""
        return self._native("hold", "hold")

    @functools.cached_property
    def simulate(self) -> Callable[..., None]:
        """Compiled loop over the steps of one actuator, on arrays (`pliant.laws.kernels.simulate`, less its step)."""
        step = np.array([self.advance, self.torque, self.observe, self.show], dtype=np.int64)
        return functools.partial(loop(), step)

    @functools.cached_property
    def evaluate(self) -> Callable[..., None]:
        """Compiled evaluation of the law at many points, on arrays."""
        return self._load_or_compile("evaluate")


@functools.cache
def _host() -> tuple[str, str]:
    """Return name and features of this machine's processor."""
    import llvmlite.binding as llvm

    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def _standalone(assembly: str, wrapper: str, symbol: str, *, distinct: bool = False) -> str:
    """Make numba's assembly of a C callback stand without numba, as one function with all that it calls.

    The wrapper gets a short name. The kernels cannot raise (scalars, numpy's division), so what numba's runtime offers
    for that is replaced by functions that do nothing. numba leaves the larger kernels as functions, with results in
    memory and a status to check; inside one function the same operations take about a quarter less time.

    Args:
        assembly: numba's assembly.
        wrapper: name of the wrapper in it.
        symbol: name of the function.
        distinct: whether no two of its arrays overlap, so that a write to one leaves what was read of the others.

    Raises:
        LawError: it makes arrays, whose memory numba's runtime would give.
    """
    if "@NRT_MemInfo_alloc" in assembly:
        raise LawError(f"{symbol.removeprefix('pliant_')}: a kernel makes arrays. {_VALID}")

    def stub(match: re.Match[str]) -> str:
        kind, name, arguments = match.group(1), match.group(2), match.group(3)
        body = "ret void" if kind == "void" else "ret ptr null" if kind == "ptr" else f"ret {kind} 0"
        return f"define internal {kind} @{name}({arguments}) {{ {body} }}"

    def inlined(match: re.Match[str]) -> str:
        head, arguments, attributes = match.groups()
        if f"@{symbol}(" not in head:
            return f"define internal {head}{arguments}){re.sub(r' #[0-9]+', '', attributes)} alwaysinline {{"
        return f"define {head}{arguments.replace('ptr ', 'ptr noalias ') if distinct else arguments}){attributes} {{"

    assembly = re.sub(
        r"^declare (?:noundef )?(\w+) @(numba_\w+|NRT_\w+)\(([^)]*)\).*$", stub, assembly, flags=re.MULTILINE
    )
    quoted = re.escape(wrapper)
    assembly = re.sub(rf'@"?{quoted}"?(?=[\s(,])', f"@{symbol}", assembly)
    assembly = re.sub(r"^(attributes #\d+ = \{.*)\bnoinline\b", r"\1alwaysinline", assembly, flags=re.MULTILINE)
    pattern = r"^define (?:linkonce_odr |internal )?(.*?@[\w.]+\()(.*)\)([^()]*)\{$"
    return optimised(re.sub(pattern, inlined, assembly, flags=re.MULTILINE))


def _target() -> Machine:
    """Return what llvmlite needs to write code for this machine's processor."""
    import llvmlite.binding as llvm

    with contextlib.suppress(RuntimeError):  # newer llvmlite initialises by itself
        llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    name, features = _host()
    return llvm.Target.from_default_triple().create_target_machine(cpu=name, features=features, opt=3)


def optimised(text: str) -> str:
    """Return LLVM assembly after LLVM's passes of optimisation."""
    import llvmlite.binding as llvm

    module = llvm.parse_assembly(text)
    passes = llvm.create_pass_builder(_target(), llvm.create_pipeline_tuning_options(speed_level=3))
    passes.getModulePassManager().run(module, passes)
    return str(module)


def assemble(text: str, symbol: str, keep: Path | None = None) -> tuple[Machine, int]:
    """Turn LLVM assembly into machine code; returns its owner and the address of a function.

    Args:
        text: LLVM assembly.
        symbol: the function.
        keep: file for the machine code, whose name a digest of text and processor completes, so that later runs need
            not generate it; None for a text with addresses of this process.
    """
    import llvmlite.binding as llvm

    target = _target()
    stored, path = None, keep
    if keep is not None:
        digest = hashlib.sha256(f"{llvm.llvm_version_info} {_host()} {text}".encode()).hexdigest()
        path = keep.with_name(f"{keep.name}.{digest[:16]}.o")
        stored = read_text(path, ";")
    module = llvm.parse_assembly("" if stored else text)
    module.verify()
    engine = llvm.create_mcjit_compiler(module, target)
    if stored:
        engine.add_object_file(llvm.ObjectFileRef.from_data(base64.b64decode(stored)))
    elif path is not None:
        engine.set_object_cache(lambda _, code: write_text(path, base64.b64encode(code).decode(), ";"), lambda _: None)
    engine.finalize_object()
    address = engine.get_function_address(symbol)
    if not address:
        raise LawError(f"the compiled law in the cache has no {symbol}; delete {cache_folder()} and try again")
    return engine, address


def _with_cache(entry: str) -> Callable[[PythonFunction], Dispatcher]:
    def build(function: PythonFunction) -> Dispatcher:
        dispatcher = njit(nogil=True, error_model="numpy")(function)
        dispatcher.compile(_signatures()[entry])
        return dispatcher

    return build


def _numba() -> NumbaModule:
    import numba

    return numba


@functools.cache
def _signatures() -> dict[str, NumbaType]:
    t = _numba().types
    double, pointer = t.float64, t.CPointer(t.float64)
    vector, matrix, codes = t.float64[::1], t.float64[:, ::1], t.int64[::1]
    return {
        "step": double(pointer, double, double, double, double, double, pointer, pointer),
        "observe": t.void(pointer, double, double, double, double, double, pointer, double, pointer),
        "show": t.void(pointer, double, double, double, pointer, pointer, pointer),
        "hold": t.void(pointer, double, double, pointer, pointer),
        "simulate": t.void(codes, vector, vector, vector, vector, vector, double, vector, vector, vector, matrix),
        "evaluate": t.void(vector, vector, vector, vector, matrix),
    }


def _compile_entry(label: str, build: Callable[[PythonFunction], Dispatcher], function: PythonFunction) -> Dispatcher:
    try:
        return build(function)
    except _numba().core.errors.NumbaError as error:
        lines = [re.sub(r"\x1b\[\d*m", "", line).strip() for line in str(error).splitlines()]
        reason = next((line for line in lines if line and not line.startswith("Failed in nopython")), "unknown")
        raise LawError(f"the kernels of {label} cannot be compiled: {reason}. {_VALID}") from error


_translating = threading.Lock()
_shared: dict[str, Dispatcher] = {}
"""Fingerprint of a kernel that calls nothing of a law -> its dispatcher, which all laws of a process use."""


def _dispatchers(
    functions: list[types.FunctionType], bound: Mapping[str, types.FunctionType], tag: str
) -> dict[str, Dispatcher]:
    """Turn functions and all that they call into numba dispatchers; returns them by name.

    The tag, one for each law and version of it, goes into the names of the machine code's symbols: numba numbers them
    anew in each process, so code of two laws, cached by two processes, would otherwise share names, and the linker
    would let one law call the other's kernels. What calls nothing of the law has its own fingerprint as a tag, and is
    compiled once for all laws.
    """
    numba = _numba()
    # By function, not by code: two closures of one function share their code, but not the values that they enclose.
    done: dict[types.FunctionType, Dispatcher] = {}
    running: set[types.FunctionType] = set()
    of_law: dict[types.FunctionType, bool] = {}

    def belongs(function: types.FunctionType) -> bool:
        """Return whether a function calls, at any depth, one that is bound."""
        if function not in of_law:
            of_law[function] = False  # of a function that calls itself, until it is refused
            inside = ((name in bound, python_function(value)) for name, value in referred(function, bound))
            of_law[function] = any(named or (inner is not None and belongs(inner)) for named, inner in inside)
        return of_law[function]

    def translate(function: types.FunctionType) -> Dispatcher:
        code = function.__code__
        if function in done:
            return done[function]
        if function in running:
            raise LawError(
                f"{function.__qualname__} calls itself; a kernel must not be recursive", **code_place(function)
            )
        running.add(function)
        # numba imports the module of a cached function when it loads it: name one that exists in every process.
        names: dict[str, object] = {"__builtins__": builtins, "__name__": __name__}
        for name, value in referred(function, bound):
            inner = python_function(value)
            names[name] = value if inner is None else translate(inner)
        running.discard(function)
        digest = "" if belongs(function) else fingerprint([function], extra=_VERSION)
        if digest in _shared:
            done[function] = _shared[digest]
            return done[function]
        free = tuple(types.CellType(names[n]) for n in code.co_freevars)
        twin = types.FunctionType(code, names, function.__name__, function.__defaults__, free)
        twin.__kwdefaults__ = function.__kwdefaults__
        twin.__qualname__ = f"{function.__name__}_{digest or f'{tag}_{len(done)}'}"
        # Nothing but other kernels calls it: no entry points for Python and C, a fifth of the time of a compilation.
        options = {"error_model": "numpy", "nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        done[function] = part_dispatcher(twin, options) if digest else numba.njit(**options)(twin)
        if digest:
            _shared[digest] = done[function]
        return done[function]

    with _translating:
        return {function.__name__: translate(function) for function in functions}


_STEP = ("advance", "link_torque", "observe", "hold")


def step_kernels(cls: type[Compilable]) -> dict[str, types.FunctionType]:
    """Return the kernels of a step of a law by name: advance, link_torque, observe, hold."""
    return {name: getattr(cls.step or kernels, name) for name in _STEP}


def law_functions(cls: type[Compilable]) -> dict[str, types.FunctionType]:
    bound: dict[str, types.FunctionType] = {}
    for kernel in LAW_KERNELS:
        function = python_function(getattr(cls, kernel))
        if function is None:
            raise LawError(f"{cls.__name__}.{kernel} must be a @staticmethod", field=kernel)
        bound[f"law_{kernel}"] = function
    return bound


def _kernel_functions(step: dict[str, types.FunctionType]) -> list[types.FunctionType]:
    return [*step.values(), kernels.show, kernels.evaluate]


def _source_file(
    name: str, source: str, functions: list[types.FunctionType], bound: Mapping[str, types.FunctionType]
) -> Path:
    """Return the file of entry points in the cache, named after all code that takes part, and written if need be."""
    path = private_folder("laws") / f"{name}_{fingerprint(functions, bound, extra=_VERSION)}.py"
    if read_text(path, "#") != source:
        write_text(path, source, "#")
    return path


def _entry_points(
    source: str, path: Path, functions: list[types.FunctionType], bound: Mapping[str, types.FunctionType]
) -> dict[str, Dispatcher]:
    """Return the functions of a source file by name, with numba's dispatchers of the kernels that they call."""
    namespace = _dispatchers(functions, bound, path.stem)
    # numba imports the module of a cached function when it loads it: name one that exists.
    namespace["__name__"] = __name__
    exec(compile(source, str(path), "exec"), namespace)
    for name, function in list(namespace.items()):
        if isinstance(function, types.FunctionType):
            function.__qualname__ = f"{name}_{path.stem}"
    return namespace


@functools.cache
def loop() -> Callable[..., None]:
    """Return the compiled `pliant.laws.kernels.simulate`, whose ``step`` holds addresses, shape (4,)."""
    functions = [kernels.simulate]
    path = _source_file("simulate", _LOOP, functions, {})
    entry = _entry_points(_LOOP, path, functions, _calls())["simulate_c"]
    with named("the simulation of laws"):
        return _compile_entry("simulate", _with_cache("simulate"), entry)


def _calls() -> dict[str, Dispatcher]:
    """Return numba's calls of C functions by address, in place of ``call_step`` and its like of the kernels."""
    from numba.core import types as t
    from numba.extending import intrinsic

    def through(result: NumbaType, *kinds: NumbaType) -> tuple[NumbaType, PythonFunction]:
        def generate(context: Lowering, builder: Lowering, signature: NumbaType, arguments: Lowering) -> Lowering:
            from llvmlite import ir

            values = [
                context.make_array(kind)(context, builder, value).data if isinstance(kind, t.Array) else value
                for kind, value in zip(signature.args[1:], arguments[1:], strict=True)
            ]
            returned = ir.VoidType() if result == t.void else context.get_value_type(result)
            form = ir.FunctionType(returned, [value.type for value in values])
            found = builder.call(builder.inttoptr(arguments[0], form.as_pointer()), values)
            return context.get_dummy_value() if result == t.void else found

        return result(*kinds), generate

    @intrinsic
    def call_step(context, code, par, q, dq, r1, r2, h, act, rate):
        return through(t.float64, code, par, q, dq, r1, r2, h, act, rate)

    @intrinsic
    def call_observe(context, code, par, q, dq, r1, r2, h, act, full, out):
        return through(t.void, code, par, q, dq, r1, r2, h, act, full, out)

    @intrinsic
    def call_show(context, code, par, r1, r2, h, act, rate, out):
        return through(t.void, code, par, r1, r2, h, act, rate, out)

    return {"call_step": call_step, "call_observe": call_observe, "call_show": call_show}


_compiled: dict[type[Compilable], CompiledLaw] = {}
_lock = threading.Lock()


def is_cached(cls: type[Compilable]) -> bool:
    """Return whether the machine code for the engine is already in the cache."""
    code = compiled(cls)
    return all(
        read_shipped(code._shipped(entry), ";") is not None or read_text(code._assembly_file(entry), ";") is not None
        for entry in ("advance", "torque", "observe", "hold")
    )


def compiled(cls: type[Compilable]) -> CompiledLaw:
    """Return the machine code of a law.

    Raises:
        LawError: the class is not registered, or (on first use of an entry point) numba cannot compile a kernel; the
            message contains the reason given by numba.
    """
    with _lock:
        if cls not in _compiled:
            _compiled[cls] = _prepare(cls)
        return _compiled[cls]


def _prepare(cls: type[Compilable]) -> CompiledLaw:
    if not cls.name:
        raise LawError(f"{cls.__name__} is not registered; decorate it with @law('name')")
    bound = law_functions(cls)
    return CompiledLaw(cls, _source_file(cls.name, _SOURCE, _kernel_functions(step_kernels(cls)), bound), bound)


_kernel_codes: dict[str, tuple[Machine, int]] = {}
_Records = Mapping[str, np.dtype[np.void]]


def _kernel_code(
    function: types.FunctionType, records: _Records, signature: Callable[[NumbaModule], NumbaType], kinds: Sequence[str]
) -> int:
    """Return the address of a kernel that takes its arguments from a block, from cached assembly if available.

    Args:
        function: function of scalars and pointers only; it may call other such functions.
        records: names in it of functions that turn an address into a record.
        signature: function that creates the numba signature from `numba.types`; called only for compilation.
        kinds: LLVM types of the arguments.
    """
    folder = private_folder("laws")
    name = function.__name__
    own, portable = fingerprints([function], extra=_VERSION)
    key = f"{name}_{own}"
    with _lock:
        if key not in _kernel_codes:
            path, symbol = folder / f"{key}.{_host()[0]}.ll", f"pliant_{name}"
            given = f"{name}_{portable or 'none'}.ll"
            text = read_shipped(given, ";") or read_text(path, ";")
            if text is None:
                numba = _numba()
                calls = {known: _record_at(kind) for known, kind in records.items()}
                plain = _dispatchers([function], calls, key)[name].py_func
                build = numba.cfunc(signature(numba.types), error_model="numpy")
                compiled_function = _compile_entry(name, build, plain)
                text = _standalone(compiled_function.inspect_llvm(), compiled_function._wrapper_name, symbol)
                write_text(path, text, ";")
                ship_text(given, text, ";")
            block_symbol = f"{symbol}_block"
            whole = text + from_block(block_symbol, f"@{symbol}", kinds)
            _kernel_codes[key] = assemble(whole, block_symbol, folder / key)
        return _kernel_codes[key][1]


def from_block(name: str, code: str, kinds: Sequence[str]) -> str:
    """Return LLVM assembly of a function ``void (block)`` that calls a C function with the numbers of the block.

    Args:
        name: its name.
        code: the C function, as an LLVM value.
        kinds: LLVM types of the arguments; each takes 8 bytes of the block.
    """
    loads = "".join(
        f"  %p{k} = getelementptr i64, ptr %block, i64 {k}\n  %a{k} = load {kind}, ptr %p{k}\n"
        for k, kind in enumerate(kinds)
    )
    arguments = ", ".join(f"{kind} %a{k}" for k, kind in enumerate(kinds))
    return f"\ndefine void @{name}(ptr %block) {{\n{loads}  call void {code}({arguments})\n  ret void\n}}\n"


Argument = np.ndarray | int | float
"""An argument of a bound kernel: an array by its address, or a number."""


class BoundKernel:
    """Machine code with its arguments. Python calls it like a function; machine code calls ``code`` with ``block``.

    Args:
        code: address of a function ``void (block)`` (`from_block`).
        arguments: numbers, and arrays that must remain valid; the kernel keeps them alive.
        owners: further objects that the addresses among the arguments belong to.
    """

    __slots__ = ("block", "call", "code", "values")

    def __init__(self, code: int, arguments: Sequence[Argument], owners: object = None) -> None:
        self.code = code
        self.values = values = np.zeros(max(1, len(arguments)), dtype=np.int64)
        for k, value in enumerate(arguments):
            if isinstance(value, float):
                values.view(np.float64)[k] = value
            else:
                values[k] = value.ctypes.data if isinstance(value, np.ndarray) else value
        self.block: int = values.ctypes.data
        call = functools.partial(ctypes.CFUNCTYPE(None, ctypes.c_void_p)(code), self.block)
        vars(call)["kept"] = (values, arguments, owners)  # by the call too, which may outlive this object
        self.call: Callable[[], None] = call  # the same as calling the object, without a frame of Python's

    def __call__(self) -> None:
        self.call()


def bound(function: types.FunctionType, *groups: Argument | tuple[Argument, ...]) -> BoundKernel:
    """Return a compiled kernel with its arguments bound: numbers, and addresses of arrays that must remain valid.

    All calls for one function must have arguments of the same types, because it is compiled only once in a process.

    Args:
        function: the kernel.
        groups: its arguments; a named tuple groups some of them, and the kernel gets it as one. Of an array of one
            record the kernel gets the record.
    """
    arguments: list[Argument] = []
    for group in groups:
        arguments += group if isinstance(group, tuple) else [group]

    def signature(kind: NumbaModule) -> NumbaType:
        kinds: list[NumbaType] = []
        for value in arguments:
            if isinstance(value, np.ndarray) and value.dtype.names:
                kinds.append(kind.voidptr)
            elif isinstance(value, np.ndarray):
                kinds.append(kind.CPointer(getattr(kind, value.dtype.name)))
            else:
                kinds.append(kind.int64 if isinstance(value, int) else kind.float64)
        return kind.void(*kinds)

    kinds = ["ptr" if isinstance(a, np.ndarray) else "i64" if isinstance(a, int) else "double" for a in arguments]
    codes, form = _addresses.setdefault(function, {}), (*map(type, groups), *kinds)
    if form not in codes:
        codes[form] = _kernel_code(*_spread(function, groups), signature, kinds)
    return BoundKernel(codes[form], arguments)


_addresses: weakref.WeakKeyDictionary[types.FunctionType, dict[tuple[object, ...], int]] = weakref.WeakKeyDictionary()
"""Kernel -> types of its arguments -> address of its machine code."""


def _record_at(kind: np.dtype[np.void]) -> Dispatcher:
    """Return numba's function that takes an address as a record of a type."""
    from numba.extending import intrinsic

    record = _numba().from_dtype(kind)

    def generate(context: Lowering, builder: Lowering, signature: NumbaType, arguments: Lowering) -> Lowering:
        return builder.bitcast(arguments[0], context.get_value_type(record))

    return intrinsic(lambda context, address: (record(_numba().types.voidptr), generate))


def _spread(function: types.FunctionType, groups: tuple[object, ...]) -> tuple[types.FunctionType, _Records]:
    """Return a kernel of single arguments that calls one of named tuples and records, which C functions do not have."""
    records = {f"record_{i}": g.dtype for i, g in enumerate(groups) if isinstance(g, np.ndarray) and g.dtype.names}
    if not records and not any(isinstance(group, tuple) for group in groups):
        return function, records
    names: dict[str, object] = {"kernel": function, "__name__": function.__module__, **records}
    taken, given = [], []
    for i, group in enumerate(groups):
        if isinstance(group, tuple):
            names[f"group_{i}"] = type(group)
            parts = [f"a_{i}_{k}" for k in range(len(group))]
            given.append(f"group_{i}({', '.join(parts)})")
        else:
            parts = [f"a_{i}"]
            given.append(f"record_{i}(a_{i})" if f"record_{i}" in records else f"a_{i}")
        taken += parts
    exec(f"def {function.__name__}({', '.join(taken)}):\n    kernel({', '.join(given)})", names)
    made = names[function.__name__]
    assert isinstance(made, types.FunctionType)
    return made, records
