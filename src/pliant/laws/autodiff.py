"""Laws from an energy alone: torque, loads and stiffness by symbolic differentiation.

The energy kernel is called once with sympy's symbols in place of numbers, `math`, numpy's scalar functions, ``min``,
``max``, ``abs``, ``saturate`` and ``where`` replaced by symbolic twins. Its derivatives are written back as
straight-line Python that Python runs and numba compiles like any other kernel. The text is kept in the cache of
compiled laws, so sympy (2 s to import) wakes only when an energy has changed.

    torque = -dE/dq,    load_i = dE/dtheta_i,    stiffness = d2E/dq2
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import inspect
import linecache
import logging
import math
import os
import traceback
import types
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.errors import LawError, nearest
from pliant.laws import functions

if TYPE_CHECKING:
    from pliant.laws.base import Law

__all__ = ["derive"]

log = logging.getLogger("pliant")

KERNELS = ("energy", "torques", "stiffness", "reported_stiffness")
"""What `derive` writes."""

_VERSION = 3  # of the generated text: a change here makes the cache forget
_COORDINATES = ("q", "theta_1", "theta_2")


def derive(cls: type[Law]) -> None:
    """Give a law that has only ``energy`` its other kernels; `pliant.laws.law` calls it.

    The energy is ``energy(q, theta_1, theta_2, p)`` with p the parameters in the order of the fields and then the
    stop stiffness, or takes what it needs by name: ``energy(q, theta_1, k, limit)``, with ``stop`` for the stop
    stiffness. It may use arithmetic, functions of `math` (or the same ones of numpy), min, max, abs,
    ``saturate(x, limit)`` and ``where(condition, a, b)`` of `pliant.laws.functions`, loops of fixed length, and other
    functions made of these; not ``if`` on a coordinate or parameter. Kinks are differentiated on each side; at the
    kink itself the derivative is that of the branch in force there. A jump in the energy has no derivative and is the
    author's fault.

    Args:
        cls: the law's class, a frozen dataclass with a static ``energy``; gets static ``torques``, ``stiffness`` and
            ``reported_stiffness`` where it has none of its own, and ``energy`` in the form with ``p``.

    Raises:
        LawError: the energy cannot be traced or differentiated; file and line of the cause where it has one.
    """
    function = _function_of(cls)
    arguments = _arguments(cls, function)
    text = _cached_text(cls, function, arguments)
    label = f"{cls.__module__}.{cls.__qualname__}"
    filename = f"<derived from {label}.energy>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    namespace: dict[str, Any] = {
        "__name__": cls.__module__,
        "math": math,
        "sinh": functions.sinh,
        "cosh": functions.cosh,
    }
    exec(compile(text, filename, "exec"), namespace)
    level = _level(cls, "energy")
    by_hand = {name for name in KERNELS if name != "energy" and _level(cls, name) <= level}
    for name in KERNELS:
        if name in by_hand:
            continue
        source = "stiffness" if name == "reported_stiffness" else name
        kernel = namespace[source]
        if source == name:
            kernel.__qualname__, kernel.__module__ = f"{cls.__qualname__}.{name}", cls.__module__
        setattr(cls, name, staticmethod(kernel))


def _level(cls: type, name: str) -> float:
    """Return how far up the bases a name is defined: 0 in the class itself, inf nowhere."""
    return next((i for i, base in enumerate(cls.__mro__) if name in vars(base)), math.inf)


def _function_of(cls: type[Law]) -> types.FunctionType:
    raw = next(vars(base)["energy"] for base in cls.__mro__ if "energy" in vars(base))
    function = raw.__func__ if isinstance(raw, staticmethod) else raw
    function = getattr(function, "py_func", function)
    if not isinstance(raw, staticmethod) or not isinstance(function, types.FunctionType):
        raise LawError(f"{cls.__name__}.energy must be a @staticmethod", field="energy")
    return function


def _where_is(function: types.FunctionType) -> dict[str, Any]:
    return {"file": function.__code__.co_filename, "line": function.__code__.co_firstlineno}


def _arguments(cls: type[Law], function: types.FunctionType) -> list[str]:
    """Return what each argument of an energy is: a coordinate, "p", or a parameter as ``p[i]``."""
    given = inspect.signature(function).parameters.values()
    fields = cls.parameter_fields()
    places = {name: f"p[{i}]" for i, name in enumerate([*fields, "stop"])}
    for parameter in given:
        if parameter.kind not in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            raise LawError(
                f"{cls.__name__}.energy: argument {parameter.name!r} is keyword-only or collects others; valid: plain "
                "arguments",
                field="energy",
                **_where_is(function),
            )
    names = [p.name for p in given]
    if len(names) == 4 and names[3] not in places:
        return [*_COORDINATES, "p"]
    valid = [*_COORDINATES, *places]
    for name in names:
        if name not in valid:
            raise LawError(
                f"{cls.__name__}.energy: argument {name!r} is no coordinate and no parameter; {nearest(name, valid)}. "
                "The other form is energy(q, theta_1, theta_2, p)",
                field="energy",
                **_where_is(function),
            )
    return [places.get(name, name) for name in names]


# -- the cache of texts ---------------------------------------------------------------------------------------


def _cached_text(cls: type[Law], function: types.FunctionType, arguments: list[str]) -> str:
    from pliant.laws.compile import cache_folder, fingerprint

    digest = fingerprint([function], extra=repr((_VERSION, arguments, len(cls.parameter_fields()))))
    path = None
    with contextlib.suppress(OSError, LawError):
        folder = cache_folder() / "derived"
        folder.mkdir(exist_ok=True)
        path = folder / f"{cls.__name__}_{digest}.py"
        if path.exists():
            return path.read_text()
    text = _derive_text(cls, function, arguments)
    if path is not None:
        with contextlib.suppress(OSError):
            scratch = path.with_suffix(f".{os.getpid()}.tmp")
            scratch.write_text(text)
            scratch.replace(path)
    return text


def _derive_text(cls: type[Law], function: types.FunctionType, arguments: list[str]) -> str:
    import sympy

    log.info("differentiating the energy of %s (once; later runs load it)", cls.__name__)
    count = len(cls.parameter_fields()) + 1
    coordinates = {name: sympy.Symbol(name, real=True) for name in _COORDINATES}
    parameters = [sympy.Symbol(f"p{i:02d}", real=True) for i in range(count)]
    code = {symbol: name for name, symbol in coordinates.items()}
    code.update({symbol: f"p[{i}]" for i, symbol in enumerate(parameters)})
    by_code = {text: symbol for symbol, text in code.items()}
    given = [_Parameters(parameters) if a == "p" else _Value(by_code[a]) for a in arguments]
    energy = _trace(cls, function, given)
    if energy.free_symbols - set(code):
        raise LawError(f"{cls.__name__}.energy depends on {energy.free_symbols - set(code)}", field="energy")
    q, theta_1, theta_2 = coordinates.values()
    try:
        slope = energy.diff(q)
        results = {
            "energy": ("Stored energy [J], as written in the law.", [energy]),
            "torques": (
                "Torque on the link, load on motor 1, load on motor 2: -dE/dq, dE/dtheta_1, dE/dtheta_2.",
                [-slope, energy.diff(theta_1), energy.diff(theta_2)],
            ),
            "stiffness": ("True slope d2E/dq2 [N m/rad].", [slope.diff(q)]),
        }
        parts = [_function_text(name, doc, values, code) for name, (doc, values) in results.items()]
    except _NoText as reason:
        raise LawError(
            f"{cls.__name__}.energy: {reason}; valid: {_VALID}", field="energy", **_where_is(function)
        ) from None
    return "\n\n".join(parts)


_VALID = "arithmetic, min, max, abs, saturate, where and the smooth functions of math (sin, exp, sqrt, tanh, ...)"


# -- tracing --------------------------------------------------------------------------------------------------


class _Parameters:
    """The vector p of an energy that is being traced."""

    def __init__(self, symbols: list[Any]) -> None:
        self._symbols = symbols

    def __getitem__(self, index: Any) -> Any:
        if not isinstance(index, int):
            raise LawError(f"p[{index}]: the index of a parameter is a whole number, written out", field="energy")
        if not 0 <= index < len(self._symbols):
            raise LawError(
                f"p[{index}]: the law has {len(self._symbols) - 1} parameters; valid: p[0] to "
                f"p[{len(self._symbols) - 1}], the last one being the stop stiffness",
                field="energy",
            )
        return _Value(self._symbols[index])


def _trace(cls: type[Law], function: types.FunctionType, arguments: list[Any]) -> Any:
    import sympy

    try:
        result = _Rebinder()(function)(*arguments)
    except Exception as error:
        file, line = _user_line(error, function)
        reason = str(error) or type(error).__name__
        if isinstance(error, LawError):
            reason = error.message
        elif isinstance(error, TypeError | ValueError | AttributeError | NotImplementedError):
            reason = f"it cannot be followed with symbols ({reason}); valid: {_VALID}"
        raise LawError(f"{cls.__name__}.energy: {reason}", field="energy", file=file, line=line) from error
    if not isinstance(result, _Value | int | float | np.number) or isinstance(result, bool | _Condition):
        raise LawError(
            f"{cls.__name__}.energy returns a {type(result).__name__.removeprefix('_')}; valid: one number",
            field="energy",
            **_where_is(function),
        )
    return sympy.sympify(_open(result))


def _user_line(error: BaseException, function: types.FunctionType) -> tuple[str, int]:
    """Return file and line of the last frame of an error that lies in the user's own code."""
    here = _where_is(function)
    found = (here["file"], here["line"])
    own = os.path.dirname(__file__)  # noqa: PTH120  (paths of code objects are text)
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename == here["file"] or not (frame.filename.startswith(own) or "sympy" in frame.filename):
            found = (frame.filename, frame.lineno or found[1])
    return found


class _Value:
    """A number that is not known yet. Its operators build an expression; it refuses to be true or false."""

    __slots__ = ("expression",)
    __array_ufunc__ = None  # numpy's numbers leave the operators to this class
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, expression: Any) -> None:
        self.expression = expression

    def __bool__(self) -> bool:
        raise LawError(_BRANCH, field="energy")

    def _no_number(self, *_: Any) -> Any:
        raise LawError(
            f"a coordinate or parameter is turned into a plain number or index; valid: {_VALID}", field="energy"
        )

    __float__ = __int__ = __index__ = __floordiv__ = __mod__ = __rfloordiv__ = __rmod__ = __round__ = _no_number


class _Condition(_Value):
    """A comparison that is not decided yet."""

    __slots__ = ()

    def __bool__(self) -> bool:
        import sympy

        if self.expression in (sympy.true, sympy.false):
            return self.expression == sympy.true
        raise LawError(_BRANCH, field="energy")


_BRANCH = (
    "it branches on a coordinate or parameter (if, and, or, not, a < b < c, or an inline if); "
    "write where(condition, a, b) of pliant.laws.functions, with & | ~ between conditions"
)


def _open(value: Any) -> Any:
    """Return the expression in a value; lists are opened element by element."""
    if isinstance(value, _Value):
        return value.expression
    if isinstance(value, list | tuple | types.GeneratorType):
        return [_open(v) for v in value]
    return value.item() if isinstance(value, np.generic) else value


def _is_open(value: Any) -> bool:
    """Say whether expressions take part in what `_open` returned."""
    if isinstance(value, list):
        return any(_is_open(v) for v in value)
    return hasattr(value, "free_symbols")


def _close(expression: Any) -> Any:
    import sympy

    if isinstance(expression, sympy.logic.boolalg.Boolean):
        return _Condition(expression)
    return _Value(expression) if isinstance(expression, sympy.Basic) else expression


def _lift(twin: Callable[..., Any], plain: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """Let a function of expressions take and return values; numbers alone go to ``plain``."""

    def lifted(*arguments: Any) -> Any:
        opened = [_open(a) for a in arguments]
        if plain is not None and not _is_open(opened):
            return plain(*opened)
        return _close(twin(*opened))

    return lifted


def _operators() -> None:
    import operator

    def relation(name: str) -> Callable[[Any, Any], Any]:
        def compare(a: Any, b: Any) -> Any:
            import sympy

            return getattr(sympy, name)(a, b)

        return compare

    for name in ("add", "sub", "mul", "truediv"):
        function = getattr(operator, name)
        setattr(_Value, f"__{name}__", _lift(function))
        setattr(_Value, f"__r{name}__", _lift(lambda a, b, f=function: f(b, a)))
    for name, class_name in (("eq", "Eq"), ("ne", "Ne"), ("lt", "Lt"), ("le", "Le"), ("gt", "Gt"), ("ge", "Ge")):
        setattr(_Value, f"__{name}__", _lift(relation(class_name)))
    _Value.__pow__ = _lift(lambda a, b: _power(a, b))  # type: ignore[attr-defined]
    _Value.__rpow__ = _lift(lambda a, b: _power(b, a))  # type: ignore[attr-defined]
    _Value.__neg__ = _lift(operator.neg)  # type: ignore[attr-defined]
    _Value.__pos__ = lambda self: self  # type: ignore[attr-defined]
    _Value.__abs__ = _lift(lambda a: _abs(a))  # type: ignore[attr-defined]
    for name in ("and", "or"):
        function = getattr(operator, f"{name}_")
        setattr(_Condition, f"__{name}__", _lift(function))
        setattr(_Condition, f"__r{name}__", _lift(function))
    _Condition.__invert__ = _lift(lambda a: ~a)  # type: ignore[attr-defined]


_operators()


class _Rebinder:
    """Gives functions twins whose global names mean their symbolic counterparts."""

    def __init__(self) -> None:
        self._twins: dict[types.CodeType, types.FunctionType] = {}
        self._table = _counterparts()
        self._builtins = {**vars(builtins), **_builtin_counterparts(), "__import__": self._import}

    def __call__(self, function: types.FunctionType) -> types.FunctionType:
        code = function.__code__
        if code in self._twins:
            return self._twins[code]
        names: dict[str, Any] = {"__builtins__": self._builtins, "__name__": function.__module__}
        cells = tuple(types.CellType() for _ in code.co_freevars)
        twin = types.FunctionType(code, names, function.__name__, function.__defaults__, cells)
        twin.__kwdefaults__ = function.__kwdefaults__
        self._twins[code] = twin
        for name in _names_of(code):
            if name in function.__globals__:
                names[name] = self.value(function.__globals__[name])
        for cell, original in zip(cells, function.__closure__ or (), strict=True):
            cell.cell_contents = self.value(original.cell_contents)
        return twin

    def value(self, value: Any) -> Any:
        """Return the counterpart of what a name refers to."""
        if isinstance(value, types.ModuleType):
            if value is math or value is np:
                return _Namespace(value, self)
            if value is functions:
                return types.SimpleNamespace(**{n: self.value(getattr(functions, n)) for n in functions.__all__})
            return value
        inner = getattr(value, "py_func", value)
        try:
            if inner in self._table:
                return _lift(self._table[inner], inner)
        except TypeError:
            return value
        if isinstance(inner, np.floating | np.integer):
            return inner.item()
        if isinstance(inner, types.FunctionType):
            return self(inner)
        if isinstance(value, np.ufunc) or getattr(value, "__module__", "") == "math":
            return _lift(_refusal(getattr(value, "__name__", str(value))), value)
        return value

    def _import(self, name: str, *rest: Any, **more: Any) -> Any:
        return self.value(builtins.__import__(name, *rest, **more))


def _names_of(code: types.CodeType) -> set[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names_of(constant)
    return names


class _Namespace:
    """The module math or numpy, with symbolic functions."""

    def __init__(self, module: types.ModuleType, rebinder: _Rebinder) -> None:
        self._module, self._rebinder = module, rebinder

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._module, name)
        if isinstance(value, float):
            return value
        return self._rebinder.value(value)


def _refusal(name: str) -> Callable[..., Any]:
    def refuse(*_: Any) -> Any:
        raise LawError(f"{name} has no derivative here; valid: {_VALID}", field="energy")

    return refuse


# -- symbolic counterparts ------------------------------------------------------------------------------------


@functools.cache
def _where_class() -> Any:
    import sympy

    class Where(sympy.Expr):
        """``a if condition else b``; unlike sympy's Piecewise it is never rearranged, so it stays small."""

        is_commutative = True
        is_extended_real = True

        def __new__(cls, condition: Any, a: Any, b: Any) -> Any:
            if condition is True or condition == sympy.true:
                return a
            if condition is False or condition == sympy.false:
                return b
            if a == b:
                return a
            return sympy.Expr.__new__(cls, condition, a, b)

        def _eval_derivative(self, symbol: Any) -> Any:
            condition, a, b = self.args
            return Where(condition, a.diff(symbol), b.diff(symbol))

    return Where


def where(condition: Any, a: Any, b: Any) -> Any:
    """Symbolic twin of `pliant.laws.functions.where`, on expressions."""
    import sympy

    return _where_class()(sympy.sympify(condition), sympy.sympify(a), sympy.sympify(b))


def _saturate(x: Any, limit: Any) -> Any:
    return where(x > limit, limit, where(x < -limit, -limit, x))


def _clip(x: Any, low: Any, high: Any) -> Any:
    return where(x < low, low, where(x > high, high, x))


def _abs(x: Any) -> Any:
    return where(x >= 0, x, -x)


def _sign(x: Any) -> Any:
    return where(x > 0, 1.0, where(x < 0, -1.0, 0.0))


def _min(*values: Any) -> Any:
    items = list(values[0] if len(values) == 1 else values)
    return functools.reduce(lambda a, b: where(b < a, b, a), items)


def _max(*values: Any) -> Any:
    items = list(values[0] if len(values) == 1 else values)
    return functools.reduce(lambda a, b: where(b > a, b, a), items)


def _power(x: Any, y: Any) -> Any:
    # A float that is a whole number means that number: x**2.0 keeps its simple derivative.
    if isinstance(y, float) and y.is_integer():
        y = int(y)
    return x**y


def _log(x: Any, base: Any = None) -> Any:
    import sympy

    return sympy.log(x) if base is None else sympy.log(x) / sympy.log(base)


@functools.cache
def _special() -> dict[str, Any]:
    import sympy

    class expm1(sympy.Function):
        def fdiff(self, argindex: int = 1) -> Any:
            return sympy.exp(self.args[0])

    class log1p(sympy.Function):
        def fdiff(self, argindex: int = 1) -> Any:
            return 1 / (1 + self.args[0])  # type: ignore[operator]

    return {"expm1": expm1, "log1p": log1p}


def _counterparts() -> dict[Any, Any]:
    """Return the symbolic twin of each function of math, numpy and `pliant.laws.functions` that has one."""
    import sympy

    identity = lambda x: x  # noqa: E731
    twins: dict[str, Any] = {
        name: getattr(sympy, name)
        for name in ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh")
    }
    twins.update({"atan2": sympy.atan2, "exp": sympy.exp, "sqrt": sympy.sqrt, "erf": sympy.erf, "erfc": sympy.erfc})
    twins.update(
        expm1=_special()["expm1"],
        log1p=_special()["log1p"],
        log=_log,
        log2=lambda x: _log(x) / math.log(2.0),
        log10=lambda x: _log(x) / math.log(10.0),
        exp2=lambda x: sympy.exp(x * math.log(2.0)),
        pow=_power,
        fabs=_abs,
        copysign=lambda x, y: where(y >= 0, _abs(x), -_abs(x)),
        hypot=lambda *x: sympy.sqrt(sum(v * v for v in x)),
        cbrt=lambda x: _sign(x) * _abs(x) ** (1.0 / 3.0),
        radians=lambda x: x * (math.pi / 180.0),
        degrees=lambda x: x * (180.0 / math.pi),
        fsum=lambda values: sum(values),
        prod=lambda values: functools.reduce(lambda a, b: a * b, values, 1),
    )
    table: dict[Any, Any] = {getattr(math, name): twin for name, twin in twins.items() if hasattr(math, name)}
    same = "sin cos tan sinh cosh tanh exp sqrt expm1 log1p log2 log10 exp2 hypot cbrt fabs copysign radians degrees"
    in_numpy = {name: name for name in same.split()}
    in_numpy.update({"arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2", "power": "pow"})
    in_numpy.update({"arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh"})
    in_numpy.update({"deg2rad": "radians", "rad2deg": "degrees"})
    table.update({getattr(np, name): twins[twin] for name, twin in in_numpy.items()})
    table.update(
        {
            np.log: _log,
            np.abs: _abs,
            np.minimum: _min,
            np.maximum: _max,
            np.fmin: _min,
            np.fmax: _max,
            np.clip: _clip,
            np.where: where,
            np.sign: _sign,
            np.square: lambda x: x * x,
            np.float64: identity,
            functions.saturate: _saturate,
            functions.where: where,
            functions.sinh: sympy.sinh,
            functions.cosh: sympy.cosh,
        }
    )
    return table


def _builtin_counterparts() -> dict[str, Any]:
    twins = {"min": _min, "max": _max, "abs": _abs, "pow": _power, "float": lambda x: x}
    twins.update({name: _refusal(name) for name in ("round", "divmod")})
    return {name: _lift(twin, getattr(builtins, name)) for name, twin in twins.items()}


# -- writing --------------------------------------------------------------------------------------------------


class _NoText(Exception):
    """An expression that cannot be written as a kernel."""


def _function_text(name: str, doc: str, results: Iterable[Any], code: Mapping[Any, str]) -> str:
    writer = _Writer(code)
    values = writer.write([_plain(expression) for expression in results])
    body = "".join(f"    {line}\n" for line in writer.lines)
    return f'def {name}(q, theta_1, theta_2, p):\n    """{doc}"""\n{body}    return {", ".join(values)}\n'


def _plain(expression: Any) -> Any:
    """Replace what sympy made by itself by what the writer knows."""
    import sympy

    expression = sympy.sympify(expression)
    swaps: list[tuple[type, Callable[..., Any]]] = [
        (sympy.Abs, _abs),
        (sympy.sign, _sign),
        (sympy.Heaviside, lambda x, *_: where(x > 0, 1.0, 0.0)),
        (sympy.DiracDelta, lambda *_: sympy.Float(0.0)),
        (sympy.Min, _min),
        (sympy.Max, _max),
    ]

    @functools.cache
    def walk(node: Any) -> Any:
        if not node.args:
            return node
        arguments = [walk(a) for a in node.args]
        for kind, twin in swaps:
            if isinstance(node, kind):
                return twin(*arguments)
        if all(a is b for a, b in zip(arguments, node.args)):
            return node
        return node.func(*arguments)

    return walk(expression)


class _Writer:
    """Writes expressions as straight-line Python; an expression that occurs twice gets a name."""

    def __init__(self, code: Mapping[Any, str]) -> None:
        import sympy

        self._s = sympy
        self._where = _where_class()
        self._text: dict[Any, str] = dict(code)
        self.lines: list[str] = []
        self._count: dict[Any, int] = {}
        self._always: set[Any] = set()
        functions_ = {"sin", "cos", "tan", "asin", "acos", "atan", "tanh", "asinh", "acosh", "atanh"}
        functions_ |= {"exp", "log", "atan2", "erf", "erfc", "expm1", "log1p"}
        self._functions = {name: f"math.{name}" for name in functions_} | {"sinh": "sinh", "cosh": "cosh"}
        self._total_functions = {"sin", "cos", "atan", "tanh", "asinh", "atan2", "erf", "erfc"}
        self._relations = {
            sympy.StrictGreaterThan: ">",
            sympy.GreaterThan: ">=",
            sympy.StrictLessThan: "<",
            sympy.LessThan: "<=",
            sympy.Equality: "==",
            sympy.Unequality: "!=",
        }

    def write(self, expressions: list[Any]) -> list[str]:
        """Add the lines that the expressions need; return the text of each."""
        for expression in expressions:
            self._survey(expression, guarded=False)
        return [self._emit(expression) for expression in expressions]

    def _survey(self, node: Any, guarded: bool) -> None:
        if not node.args:
            return
        again = node in self._count
        self._count[node] = self._count.get(node, 0) + 1
        if again and (guarded or node in self._always):
            return
        if not guarded:
            self._always.add(node)
        for i, argument in enumerate(node.args):
            self._survey(argument, guarded or (isinstance(node, self._where) and i > 0))

    @functools.cached_property
    def _total(self) -> Callable[[Any], bool]:
        """Whether an expression has a value for all numbers, so that it may be evaluated ahead of a branch."""

        @functools.cache
        def total(node: Any) -> bool:
            s = self._s
            if not node.args:
                return True
            fine = (
                node.is_Add
                or node.is_Mul
                or isinstance(node, self._where)
                or type(node) in self._relations
                or isinstance(node, s.And | s.Or | s.Not)
                or (node.is_Pow and node.exp.is_Integer and 0 < int(node.exp) <= 4)
                or (node.is_Function and node.func.__name__ in self._total_functions)
            )
            return bool(fine) and all(total(a) for a in node.args)

        return total

    def _emit(self, node: Any) -> str:
        if node in self._text:
            return self._text[node]
        text = self._compose(node)
        if self._named(node):
            name = f"x{len(self.lines)}"
            self.lines.append(f"{name} = {_bare(text)}")
            self._text[node] = name
            return name
        return text

    def _named(self, node: Any) -> bool:
        """Whether an expression gets a name of its own."""
        if self._count.get(node, 0) < 2 or (node.is_Mul and node.args[0] == -1 and node.args[1] in self._text):
            return False
        return node in self._always or self._total(node)

    def _compose(self, node: Any) -> str:
        s = self._s
        if node.is_Number or node.is_NumberSymbol:
            return _number(node)
        if node.is_Add:
            return self._sum(node)
        if node.is_Mul:
            return self._product(node)
        if node.is_Pow:
            return self._power(node.base, node.exp)
        if isinstance(node, self._where):
            condition, a, b = (self._emit(x) for x in node.args)
            return f"({a} if {_bare(condition)} else {_bare(b)})"
        if type(node) in self._relations:
            left, right = (self._emit(a) for a in node.args)
            return f"({left} {self._relations[type(node)]} {right})"
        if isinstance(node, s.And | s.Or):
            word = " and " if isinstance(node, s.And) else " or "
            return "(" + word.join(sorted(self._emit(a) for a in node.args)) + ")"
        if isinstance(node, s.Not):
            return f"(not {self._emit(node.args[0])})"
        if node == s.true or node == s.false:
            return str(node == s.true)
        if isinstance(node, s.exp):  # sympy keeps it as a power of E in places
            return f"math.exp({_bare(self._emit(node.args[0]))})"
        name = node.func.__name__
        if name in self._functions:
            return f"{self._functions[name]}({', '.join(_bare(self._emit(a)) for a in node.args)})"
        raise _NoText(f"its derivative holds {name}, which has no scalar form")

    def _sum(self, node: Any) -> str:
        plus, minus = [], []
        for term in node.args:
            if term.as_coeff_Mul()[0] < 0 and (term not in self._text) and not self._named(term):
                minus.append(self._emit(-term))
            else:
                plus.append(self._emit(term))
        text = " + ".join(plus) + "".join(f" - {term}" for term in minus)
        return f"({text.strip() if plus else '-' + text.strip()[2:]})"

    def _product(self, node: Any) -> str:
        above, below, sign = [], [], ""
        for factor in node.args:
            if factor == -1:
                sign = "-"
            elif factor.is_Rational and not factor.is_Integer:
                if factor.p < 0:
                    sign = "-"
                if abs(factor.p) != 1:
                    above.append(_number(abs(factor.p)))
                below.append(_number(factor.q))
            elif factor.is_Pow and _negative(factor.exp):
                below.append(self._inverse(factor))
            elif factor.is_Number and factor < 0:
                sign = "-"
                above.append(_number(-factor))
            else:
                above.append(self._emit(factor))
        text = sign + (" * ".join(above) or "1.0")
        if below:
            under = below[0] if len(below) == 1 else "(" + " * ".join(below) + ")"
            text = f"{text} / {under}"
        return f"({text})" if sign or len(above) + len(below) > 1 else text

    def _inverse(self, node: Any) -> str:
        """Return the text of 1 / node for a power with a negative exponent."""
        inverse = self._s.Pow(node.base, -node.exp)
        if inverse in self._text:
            return self._text[inverse]
        text = self._emit(inverse) if inverse in self._count or not inverse.args else self._compose(inverse)
        return text if _atomic(text) else f"({_bare(text)})"

    def _power(self, base: Any, exponent: Any) -> str:
        if exponent.is_Float and float(exponent).is_integer():
            exponent = self._s.Integer(int(exponent))
        if base == self._s.E:
            return f"math.exp({_bare(self._emit(exponent))})"
        if _negative(exponent):
            text = self._power(base, -exponent) if exponent != -1 else self._emit(base)
            return f"(1.0 / {text})"
        inner = self._emit(base)
        if exponent == 1:
            return inner
        if exponent.is_Integer:
            if int(exponent) <= 4 and inner.isidentifier():
                return "(" + " * ".join([inner] * int(exponent)) + ")"
            return f"({inner} ** {int(exponent)})"
        if exponent.is_number and float(exponent) == 0.5:
            return f"math.sqrt({_bare(inner)})"
        return f"math.pow({_bare(inner)}, {_bare(self._emit(exponent))})"


def _negative(exponent: Any) -> bool:
    return bool(exponent.is_number and exponent < 0)


def _number(value: Any) -> str:
    number = float(value)
    if not math.isfinite(number):
        raise _NoText(f"it holds the number {number}")
    text = repr(number)
    return f"({text})" if number < 0 else text


def _atomic(text: str) -> bool:
    """Say whether a text keeps its meaning beside any operator."""
    depth = 0
    for i, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if depth == 0 and (character == " " or (character == "-" and i == 0)):
            return False
    return True


def _bare(text: str) -> str:
    """Return a text without parentheses around all of it."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    depth = 0
    for i, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0 and i < len(text) - 1:
            return text
    return text[1:-1]
