"""Fingerprints of functions: digests of all code and constants that they reach, and of the compiler's version."""

from __future__ import annotations

import contextlib
import enum
import functools
import hashlib
import importlib.metadata
import os
import sys
import types
from collections.abc import Collection, Iterable, Mapping

import numpy as np


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_OPAQUE = _words("""
    builtins cmath enum functools itertools llvmlite math numba numpy operator sympy typing
""")
"""Packages whose contents change with their version only."""
_UNSAID = _words("""
    __abstractmethods__ __annotate__ __annotate_func__ __annotations__ __annotations_cache__ __dataclass_fields__
    __dataclass_params__ __dict__ __doc__ __eq__ __firstlineno__ __getstate__ __hash__ __match_args__ __module__
    __qualname__ __replace__ __repr__ __setstate__ __static_attributes__ __weakref__ _abc_impl
""")
"""Attributes of a class that no result depends on."""
_process = f"{os.getpid()} {os.urandom(8).hex()}"


def python_function(value: object) -> types.FunctionType | None:
    """Return the plain function behind a static method or a numba dispatcher, None for anything else."""
    if isinstance(value, staticmethod):
        value = value.__func__
    value = getattr(value, "py_func", value)
    return value if isinstance(value, types.FunctionType) else None


def names_in(code: types.CodeType) -> list[str]:
    """Return the names that a code object uses, those of its comprehensions and lambdas included."""
    names = list(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names += [name for name in names_in(constant) if name not in names]
    return names


def referred(
    function: types.FunctionType, bound: Mapping[str, types.FunctionType] | None = None
) -> list[tuple[str, object]]:
    """Return the global and enclosed names that a function's code refers to, with their values, sorted by name.

    Args:
        function: the function.
        bound: functions that stand for some of its global names.
    """
    used: dict[str, object] = {}
    for name in names_in(function.__code__):
        if name in function.__globals__:
            used[name] = function.__globals__[name]
        if bound and name in bound:
            used[name] = bound[name]
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):  # a name that is not bound yet
            used[name] = cell.cell_contents
    return sorted(used.items())


def _opaque(module: str | None) -> bool:
    return (module or "").partition(".")[0] in _OPAQUE


class _Digest:
    """Walks over functions and all that they reach; ``certain`` is false where something cannot be compared."""

    def __init__(self, bound: Mapping[str, types.FunctionType]) -> None:
        self._bound = bound
        self._hash = hashlib.sha256()
        self._seen: dict[object, int] = {}
        self._keep: list[object] = []  # what was seen stays alive, so that its id is not given to something else
        self.certain = True

    def text(self, *words: object) -> str:
        """Return the digest of all that was added, and of these words."""
        whole = self._hash.copy()
        whole.update(repr(words).encode(errors="surrogatepass"))
        return whole.hexdigest()[:16]

    def add(self, *words: object) -> None:
        self._hash.update(repr(words).encode(errors="surrogatepass"))

    def _again(self, value: object, *more: object) -> bool:
        key = (id(value), *more)
        if key in self._seen:
            self.add("again", self._seen[key])
            return True
        self._seen[key] = len(self._seen)
        self._keep.append(value)
        return False

    def function(self, function: types.FunctionType) -> None:
        if _opaque(function.__module__):
            self.add("function", function.__module__, function.__qualname__)
            return
        if self._again(function):
            return
        self._code(function.__code__)
        self.value(function.__defaults__)
        self.value(function.__kwdefaults__)
        names = names_in(function.__code__)
        for name, value in referred(function, self._bound):
            self.add("name", name)
            self.value(value, names)

    def _code(self, code: types.CodeType) -> None:
        self.add("code", code.co_name, code.co_names, code.co_varnames, code.co_freevars, code.co_argcount)
        self._hash.update(code.co_code)
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                self._code(constant)
            else:
                self.value(constant)

    def value(self, value: object, names: Iterable[str] = ()) -> None:
        """Add a value; of a module, the attributes with these names."""
        function = python_function(value)
        if value is None or value is Ellipsis or isinstance(value, bool | int | float | complex | str | bytes):
            self.add(type(value).__qualname__, value if not isinstance(value, enum.Enum) else value.value)
        elif function is not None:
            options = getattr(value, "targetoptions", None)
            if isinstance(options, dict):
                self.add(
                    "options", sorted((k, sorted(v) if isinstance(v, set) else repr(v)) for k, v in options.items())
                )
            self.function(function)
        elif isinstance(value, np.ndarray | np.generic) and not value.dtype.hasobject:
            array = np.asarray(value)
            self.add("array", array.dtype.descr if array.dtype.names else array.dtype.str, array.shape)
            self._hash.update(array.tobytes())
        elif isinstance(value, np.dtype):
            self.add("dtype", _text_of_type(value))
        elif isinstance(value, types.ModuleType):
            self._module(value, names)
        elif isinstance(value, tuple | list | set | frozenset | dict | types.MappingProxyType):
            self._collection(value, names)
        elif isinstance(value, types.BuiltinFunctionType):
            owner = value.__self__
            self.add("builtin", value.__qualname__, value.__module__)
            if owner is not None and not isinstance(owner, types.ModuleType | type):
                self.value(owner)
        elif isinstance(value, functools.partial):
            self.value((value.func, value.args, value.keywords), names)
        elif isinstance(value, classmethod | property):
            parts = (value.__func__,) if isinstance(value, classmethod) else (value.fget,)
            self.value(parts, names)
        elif isinstance(value, types.MethodType):
            self.value((value.__func__, value.__self__), names)
        elif isinstance(value, type):
            self._class(value, names)
        else:
            self._object(value, names)

    def _module(self, module: types.ModuleType, names: Iterable[str]) -> None:
        self.add("module", module.__name__)
        names = list(names)
        if _opaque(module.__name__) or self._again(module, *names):
            return
        for name in sorted(set(names)):
            if hasattr(module, name):
                self.add("attribute", name)
                self.value(getattr(module, name), names)

    def _collection(self, value: Collection[object], names: Iterable[str]) -> None:
        self.add(type(value).__qualname__, len(value), getattr(value, "_fields", ()))  # names of a named tuple
        if self._again(value):
            return
        if isinstance(value, set | frozenset):
            for text in sorted(repr(item) for item in value):  # their order differs between processes
                self.add(text)
            self.certain = self.certain and all(isinstance(i, bool | int | float | str | bytes | tuple) for i in value)
        elif isinstance(value, tuple | list):
            for item in value:
                self.value(item, names)
        elif isinstance(value, Mapping):
            for key, item in value.items():
                self.value(key)
                self.value(item, names)

    def _class(self, cls: type, names: Iterable[str]) -> None:
        self.add("class", cls.__module__, cls.__qualname__)
        if _opaque(cls.__module__) or self._again(cls):
            return
        if issubclass(cls, tuple) and (fields := getattr(cls, "_fields", None)) is not None:
            self.add("fields", fields)  # numba sees nothing else of a named tuple
            return
        for base in cls.__bases__:
            self.value(base, names)
        for name, value in sorted(vars(cls).items()):
            if name in _UNSAID or isinstance(value, types.MemberDescriptorType | types.GetSetDescriptorType):
                continue
            self.add("attribute", name)
            self.value(value, names)

    def _object(self, value: object, names: Iterable[str]) -> None:
        cls = type(value)
        if self._again(value):
            return
        self._class(cls, names)
        state = dict(getattr(value, "__dict__", {}))
        for base in cls.__mro__:
            slots = vars(base).get("__slots__", ())
            for name in (slots,) if isinstance(slots, str) else slots:
                if hasattr(value, name) and not name.startswith("__"):
                    state[name] = getattr(value, name)
        if _opaque(cls.__module__):
            self.add("object", repr(value) if callable(value) else cls.__qualname__)
            self.certain = self.certain and callable(value)  # a universal function of numpy, a type of numba
        elif state or hasattr(value, "__dict__"):
            self._collection(state, names)
        else:  # its state is not visible, so a change of it would not be noticed
            self.certain = False


def fingerprint(
    functions: Iterable[types.FunctionType], bound: Mapping[str, types.FunctionType] | None = None, *, extra: str = ""
) -> str:
    """Return a digest of all code and constants that functions reach, and of the compiler's version.

    It follows global names, attributes of imported modules, closures, default arguments, collections, classes and
    objects. If it meets an object whose contents it cannot see, the digest is valid in this process only, so that
    nothing outdated is used.

    Args:
        functions: where to begin.
        bound: kernels that stand for the ``law_*`` names.
        extra: further text that the digest depends on.
    """
    return fingerprints(functions, bound, extra=extra)[0]


def fingerprints(
    functions: Iterable[types.FunctionType], bound: Mapping[str, types.FunctionType] | None = None, *, extra: str = ""
) -> tuple[str, str]:
    """Return `fingerprint`, and the digest of shipped code, "" if something cannot be compared.

    The latter is that of all builds of this Python 3.x with any NumPy 2.x (`pliant.base.shipped`).
    """
    digest = _Digest(bound or {})
    for function in functions:
        digest.function(function)
    numba, llvmlite, numpy = map(_version, ("numba", "llvmlite", "numpy"))
    process = () if digest.certain else (_process,)
    own = digest.text(extra, sys.version, numba, llvmlite, numpy, *process)
    portable = digest.text(extra, sys.implementation.cache_tag, numpy.partition(".")[0], numba, llvmlite)
    return own, portable if digest.certain else ""


_version = functools.cache(importlib.metadata.version)
_text_of_type = functools.cache(repr)
