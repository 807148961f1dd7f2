"""Torque, loads and stiffness of a law from its energy, by symbolic differentiation.

    torque = -dE/dq,    load_i = dE/dtheta_i,    stiffness = d2E/dq2

The energy function is called once with symbols in place of numbers. During this call its names refer to a small set of
symbolic functions (`_functions`); the rest of `math` and of Python's builtins is not available. The derivatives are
written as straight-line Python code, which Python runs and numba compiles like any other kernel. This code is
stored in the cache of compiled laws, so that sympy, which takes 2 s to import, is needed only after a change of an
energy.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import inspect
import linecache
import logging
import math
import operator
import traceback
import types
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from pliant.base.codecache import private_folder, read_text, write_text
from pliant.base.errors import LawError, nearest, require
from pliant.base.fingerprint import fingerprint, names_in
from pliant.base.options.places import code_place
from pliant.laws import functions

if TYPE_CHECKING:
    import sympy

Number: TypeAlias = "sympy.Expr | float"

log = logging.getLogger("pliant")

_VERSION = 4
"""Version of the generated text; another one invalidates the cached texts."""
_COORDINATES = ("q", "theta_1", "theta_2")
_VALID = "arithmetic, min, max, abs, saturate, where and the smooth functions of math (sin, exp, sqrt, tanh, ...)"
_BRANCH = (
    "it branches on a coordinate or parameter (if, and, or, not, a < b < c, or an inline if); "
    "write where(condition, a, b) of pliant.laws.functions, with & | ~ between conditions"
)


def derive(
    energy: types.FunctionType, parameters: Sequence[str], label: str
) -> dict[str, Callable[..., float | tuple[float, float, float]]]:
    """Return the kernels ``energy``, ``torques`` and ``stiffness`` derived from an energy.

    The energy has the form ``energy(q, theta_1, theta_2, p)``, where p contains the parameters in the order of the
    fields, followed by the stop stiffness. Alternatively it takes its arguments by name, such as
    ``energy(q, theta_1, k, limit)``, with ``stop`` for the stop stiffness.

    The energy may use arithmetic, the smooth functions of `math`, min, max, abs, ``saturate(x, limit)`` and
    ``where(condition, a, b)`` of `pliant.laws.functions`, loops of fixed length, and other functions that use only
    these. It must not use ``if`` on a coordinate or parameter. Kinks are differentiated on each side; at the kink the
    derivative is that of the active branch. A jump in the energy has no derivative and is not detected.

    Args:
        energy: the energy function; it returns the stored energy [J].
        parameters: names of the law's parameters, without the stop stiffness.
        label: module and class of the law, for messages and tracebacks.

    Raises:
        LawError: the energy cannot be traced or differentiated; the message names file and line, if known.
    """
    name = f"{label.rpartition('.')[2]}.energy"
    arguments = _arguments(energy, parameters, name)
    text = _cached_text(energy, arguments, len(parameters) + 1, name)
    filename = f"<derived from {label}.energy>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    namespace: dict[str, object] = {
        "__builtins__": {},
        "__name__": label.rpartition(".")[0],
        "math": math,
        "sinh": functions.sinh,
        "cosh": functions.cosh,
    }
    exec(compile(_straight_line(text), filename, "exec"), namespace)  # only arithmetic and calls of the names above
    kernels = ("energy", "torques", "stiffness")
    return {name: cast("Callable[..., float | tuple[float, float, float]]", namespace[name]) for name in kernels}


def _arguments(function: types.FunctionType, parameters: Sequence[str], name: str) -> list[str]:
    """Return what each argument of an energy is: a coordinate, "p", or a parameter as ``p[i]``."""
    given = inspect.signature(function).parameters.values()
    places = {parameter: f"p[{i}]" for i, parameter in enumerate([*parameters, "stop"])}
    valid = [*_COORDINATES, *places]
    names = [p.name for p in given]
    by_position = len(names) == 4 and names[3] not in places
    for parameter in given:
        if parameter.kind not in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            message = f"argument {parameter.name!r} is keyword-only or collects others; it must be a plain argument"
        elif not by_position and parameter.name not in valid:
            message = (
                f"argument {parameter.name!r} is no coordinate and no parameter; {nearest(parameter.name, valid)}. "
                "The other form is energy(q, theta_1, theta_2, p)"
            )
        else:
            continue
        raise LawError(f"{name}: {message}", field="energy", **code_place(function))
    return [*_COORDINATES, "p"] if by_position else [places.get(n, n) for n in names]


# -- the cache of texts ---------------------------------------------------------------------------------------


def _cached_text(function: types.FunctionType, arguments: list[str], count: int, name: str) -> str:
    digest = fingerprint([function], extra=repr((_VERSION, arguments, count)))
    path: Path | None = None
    with contextlib.suppress(OSError, LawError):
        path = private_folder("derived") / f"{name.replace('.', '_')}_{digest}.py"
        text = read_text(path, "#") if path.exists() else None
        if text is not None:
            return text
    require("sympy", extra="energy", purpose=f"the law {name}, which is given by its energy,")
    log.info("differentiating %s (once; later runs load it)", name)
    text = _derive_text(function, arguments, count, name)
    if path is not None:
        write_text(path, text, "#")
    return text


def _straight_line(text: str) -> ast.Module:
    """Return the tree of a text that holds functions of arithmetic and nothing else.

    Raises:
        LawError: anything else: a file of the cache that was not written here.
    """
    allowed = (
        ast.Module, ast.FunctionDef, ast.arguments, ast.arg, ast.Assign, ast.Return, ast.Expr, ast.Name, ast.Constant,
        ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop, ast.BinOp, ast.UnaryOp, ast.BoolOp,
        ast.Compare, ast.IfExp, ast.Tuple, ast.Subscript, ast.Call, ast.Attribute,
    )  # fmt: skip
    tree = ast.parse(text)
    for node in ast.walk(tree):
        fine = isinstance(node, allowed)
        if isinstance(node, ast.Attribute):
            fine = isinstance(node.value, ast.Name) and node.value.id == "math" and not node.attr.startswith("_")
        if not fine:
            raise LawError(f"a derived kernel contains {type(node).__name__} in line {getattr(node, 'lineno', '?')}")
    return tree


# -- tracing --------------------------------------------------------------------------------------------------


def _derive_text(function: types.FunctionType, arguments: list[str], count: int, name: str) -> str:
    import sympy

    coordinates = {c: sympy.Symbol(c, real=True) for c in _COORDINATES}
    parameters = [sympy.Symbol(f"p{i:02d}", real=True) for i in range(count)]
    code: dict[sympy.Symbol, str] = {symbol: c for c, symbol in coordinates.items()}
    code.update({symbol: f"p[{i}]" for i, symbol in enumerate(parameters)})
    by_code = {text: symbol for symbol, text in code.items()}
    given = [_Parameters(parameters) if a == "p" else _Value(by_code[a]) for a in arguments]
    energy = _trace(function, given, name)
    q, theta_1, theta_2 = coordinates.values()
    slope = energy.diff(q)
    kernels = {
        "energy": ("Stored energy [J], as written in the law.", [energy]),
        "torques": (
            "Torque on the link, load on motor 1, load on motor 2: -dE/dq, dE/dtheta_1, dE/dtheta_2.",
            [-slope, energy.diff(theta_1), energy.diff(theta_2)],
        ),
        "stiffness": ("True slope d2E/dq2 [N m/rad].", [slope.diff(q)]),
    }
    try:
        return "\n\n".join(_kernel_text(kernel, doc, values, code) for kernel, (doc, values) in kernels.items())
    except ValueError as reason:
        raise LawError(
            f"{name}: {reason}; it must be made of {_VALID}", field="energy", **code_place(function)
        ) from None


class _Parameters:
    """The vector p of an energy that is being traced."""

    def __init__(self, symbols: list[sympy.Symbol]) -> None:
        self._symbols = symbols

    def __getitem__(self, index: object) -> _Value:
        if not isinstance(index, int):
            raise LawError(f"p[{index}]: the index of a parameter must be a whole number, written out", field="energy")
        if not 0 <= index < len(self._symbols):
            last = len(self._symbols) - 1
            raise LawError(
                f"p[{index}]: the law has {last} parameters; the index must be 0 to {last}, the last one being the "
                "stop stiffness",
                field="energy",
            )
        return _Value(self._symbols[index])


def _trace(function: types.FunctionType, arguments: Sequence[object], name: str) -> sympy.Expr:
    """Return the expression that an energy computes from symbols."""
    import sympy

    try:
        result = _Rebinder()(function)(*arguments)
    except Exception as error:  # the law is a user's code
        file, line = _user_line(error, function)
        reason = str(error) or type(error).__name__
        if isinstance(error, LawError):
            reason = error.message
        else:
            reason = f"it cannot be followed with symbols ({reason}); it must be made of {_VALID}"
        raise LawError(f"{name}: {reason}", field="energy", file=file, line=line) from error
    one = isinstance(result, _Value | int | float | np.number) and not isinstance(result, bool | _Condition)
    expression = sympy.sympify(_open(result)) if one else None
    if not isinstance(expression, sympy.Expr):
        kind = type(result).__name__.removeprefix("_")
        raise LawError(f"{name} returns a {kind}; it must return one number", field="energy", **code_place(function))
    return expression


def _user_line(error: BaseException, function: types.FunctionType) -> tuple[str, int]:
    """Return file and line of the last frame of an error that lies in the user's own code."""
    here = code_place(function)
    found = (here["file"], here["line"])
    own = (str(Path(__file__).parent), str(Path(functions.__file__).parent))
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename == here["file"] or not (frame.filename.startswith(own) or "sympy" in frame.filename):
            found = (frame.filename, frame.lineno or found[1])
    return found


class _Value:
    """A number that is not known yet. Its operators build an expression; it refuses to be true or false."""

    __slots__ = ("expression",)
    __array_ufunc__ = None  # numpy's numbers leave the operators to this class
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, expression: sympy.Basic) -> None:
        self.expression = expression

    def __bool__(self) -> bool:
        raise LawError(_BRANCH, field="energy")

    def _no_number(self, *_: object) -> object:
        raise LawError(
            f"a coordinate or parameter is turned into a plain number or index; an energy must be made of {_VALID}",
            field="energy",
        )

    __float__ = __int__ = __index__ = __floordiv__ = __mod__ = __rfloordiv__ = __rmod__ = __round__ = _no_number


class _Condition(_Value):
    """A comparison that is not decided yet."""

    __slots__ = ()


def _open(value: object) -> object:
    """Return the expression in a value; lists are opened element by element."""
    if isinstance(value, _Value):
        return value.expression
    if isinstance(value, list | tuple | types.GeneratorType):
        return [_open(v) for v in value]
    return value.item() if isinstance(value, np.generic) else value


def _is_open(value: object) -> bool:
    """Say whether expressions take part in what `_open` returned."""
    return any(map(_is_open, value)) if isinstance(value, list) else hasattr(value, "free_symbols")


def _close(expression: object) -> object:
    import sympy

    if isinstance(expression, sympy.logic.boolalg.Boolean):
        return bool(expression) if expression in (sympy.true, sympy.false) else _Condition(expression)
    return _Value(expression) if isinstance(expression, sympy.Basic) else expression


def _lift(twin: Callable[..., object], plain: Callable[..., object] | None = None) -> Callable[..., object]:
    """Let a function of expressions take and return values; numbers alone go to ``plain``."""

    def lifted(*arguments: object) -> object:
        opened = [_open(a) for a in arguments]
        if plain is not None and not _is_open(opened):
            return plain(*opened)
        return _close(twin(*opened))

    return lifted


def _give_operators() -> None:
    def relation(class_name: str) -> Callable[[object, object], object]:
        def compare(a: object, b: object) -> object:
            import sympy

            return getattr(sympy, class_name)(a, b)

        return compare

    arithmetic = {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv}
    for name, function in {**arithmetic, "pow": _power}.items():
        setattr(_Value, f"__{name}__", _lift(function))
        setattr(_Value, f"__r{name}__", _lift(lambda a, b, f=function: f(b, a)))
    for name, function in {"neg": operator.neg, "pos": operator.pos, "abs": _abs}.items():
        setattr(_Value, f"__{name}__", _lift(function))
    for name in ("Eq", "Ne", "Lt", "Le", "Gt", "Ge"):
        setattr(_Value, f"__{name.lower()}__", _lift(relation(name)))
    for name in ("and", "or"):
        setattr(_Condition, f"__{name}__", _lift(getattr(operator, f"{name}_")))
        setattr(_Condition, f"__r{name}__", _lift(getattr(operator, f"{name}_")))
    _Condition.__invert__ = _lift(operator.invert)  # type: ignore[attr-defined]


class _Rebinder:
    """Gives functions twins whose global names mean their symbolic counterparts."""

    def __init__(self) -> None:
        self._twins: dict[types.CodeType, types.FunctionType] = {}
        self._functions = _functions()
        plain = ("range", "len", "zip", "enumerate", "sum", "list", "tuple", "int")
        self._builtins = {name: getattr(builtins, name) for name in plain}
        self._builtins["float"] = _lift(lambda x: x, float)
        for name in ("abs", "min", "max", "pow", "round"):
            self._builtins[name] = self.value(getattr(builtins, name))

    def __call__(self, function: types.FunctionType) -> types.FunctionType:
        code = function.__code__
        if code in self._twins:
            return self._twins[code]
        names: dict[str, object] = {"__builtins__": self._builtins, "__name__": function.__module__}
        cells = tuple(types.CellType() for _ in code.co_freevars)
        twin = types.FunctionType(code, names, function.__name__, function.__defaults__, cells)
        twin.__kwdefaults__ = function.__kwdefaults__
        self._twins[code] = twin
        for name in names_in(code):
            if name in function.__globals__:
                names[name] = self.value(function.__globals__[name])
        for cell, original in zip(cells, function.__closure__ or (), strict=True):
            cell.cell_contents = self.value(original.cell_contents)
        return twin

    def value(self, value: object) -> object:
        """Return the counterpart of what a name refers to."""
        if value is math or value is functions:
            names = [name for name in dir(value) if not name.startswith("_")]
            return types.SimpleNamespace(**{name: self.value(getattr(value, name)) for name in names})
        inner = getattr(value, "py_func", value)
        if isinstance(inner, types.FunctionType | types.BuiltinFunctionType):
            if inner in self._functions:
                return _lift(self._functions[inner], inner)
            if isinstance(inner, types.FunctionType):
                return self(inner)
            return _lift(_refusal(inner.__name__), inner)
        return value


def _refusal(name: str) -> Callable[..., object]:
    def refuse(*_: object) -> object:
        raise LawError(f"{name} has no derivative here; an energy must be made of {_VALID}", field="energy")

    return refuse


# -- symbolic functions ---------------------------------------------------------------------------------------


def _functions() -> dict[object, Callable[..., object]]:
    """Return the symbolic twin of each function that an energy may use."""
    import sympy

    same = "sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh exp sqrt erf erfc"
    twins: dict[object, Callable[..., object]] = {getattr(math, name): getattr(sympy, name) for name in same.split()}
    return twins | {
        math.log: lambda x, base=None: sympy.log(x) if base is None else sympy.log(x) / sympy.log(base),
        math.pow: _power,
        math.fabs: _abs,
        math.hypot: lambda *x: sympy.sqrt(sum(v * v for v in x)),
        builtins.pow: _power,
        builtins.abs: _abs,
        builtins.min: _min,
        builtins.max: _max,
        functions.saturate: lambda x, limit: _where(x > limit, limit, _where(x < -limit, -limit, x)),
        functions.where: _where,
        functions.sinh: sympy.sinh,
        functions.cosh: sympy.cosh,
    }


@functools.cache
def _where_class() -> type[sympy.Expr]:
    import sympy

    class Where(sympy.Expr):
        """``a if condition else b``; unlike sympy's Piecewise it is never rearranged, so it stays small."""

        is_commutative = True
        is_extended_real = True

        def __new__(cls, condition: sympy.Basic, a: sympy.Expr, b: sympy.Expr) -> sympy.Expr:
            if condition == sympy.true or a == b:
                return a
            return b if condition == sympy.false else sympy.Expr.__new__(cls, condition, a, b)

        def _eval_derivative(self, symbol: object) -> object:
            condition, a, b = self.args
            return Where(condition, sympy.diff(a, symbol), sympy.diff(b, symbol))

    return Where


def _where(condition: object, a: Number, b: Number) -> sympy.Expr:
    import sympy

    return _where_class()(sympy.sympify(condition), sympy.sympify(a), sympy.sympify(b))


def _abs(x: Number) -> sympy.Expr:
    return _where(x >= 0, x, -x)


def _min(*values: object) -> Number:
    return functools.reduce(lambda a, b: _where(b < a, b, a), _compared(values))


def _max(*values: object) -> Number:
    return functools.reduce(lambda a, b: _where(b > a, b, a), _compared(values))


def _compared(values: tuple[object, ...]) -> Sequence[Number]:
    """Return the arguments of a minimum or maximum, which come one by one or as one sequence."""
    return cast("Sequence[Number]", values[0] if len(values) == 1 else values)


def _power(x: Number, y: Number) -> Number:
    # A float that is a whole number means that number: x**2.0 keeps its simple derivative.
    return x ** (int(y) if isinstance(y, float) and y.is_integer() else y)


_give_operators()


# -- writing --------------------------------------------------------------------------------------------------


def _kernel_text(name: str, doc: str, results: Sequence[object], code: Mapping[sympy.Symbol, str]) -> str:
    """Return a kernel as straight-line Python; what occurs twice gets a name, unless a branch guards it."""
    import sympy

    where = _where_class()
    # sqrt(x**2) becomes Abs(x) in sympy's hands, and that has derivatives of its own.
    plain = [
        sympy.sympify(r)
        .replace(sympy.Abs, _abs)
        .replace(sympy.sign, lambda x: _where(x > 0, 1.0, _where(x < 0, -1.0, 0.0)))
        .replace(sympy.DiracDelta, lambda *_: sympy.Float(0.0))
        for r in results
    ]
    found, reduced = sympy.cse(plain, symbols=sympy.numbered_symbols("x"), order="canonical")
    values: list[sympy.Basic] = [sympy.sympify(value) for value in reduced]
    shared = dict(found)
    always: set[sympy.Basic] = set()  # named expressions that are needed whichever way the branches go

    def need(node: sympy.Basic) -> None:
        if node in shared and node not in always:
            always.add(node)
            need(shared[node])
        for argument in node.args[:1] if isinstance(node, where) else node.args:
            need(argument)

    for value in values:
        need(value)
    write: Callable[[sympy.Basic], str] = _printer({**code, **{symbol: symbol.name for symbol in shared}})
    inlined: dict[object, object] = {}
    lines = [f"def {name}(q, theta_1, theta_2, p):", f'    """{doc}"""']
    for symbol, value in shared.items():
        expression = value.xreplace(inlined)
        if symbol in always or _is_total(expression):
            lines.append(f"    {symbol.name} = {write(expression)}")
        else:
            inlined[symbol] = expression
    return "\n".join([*lines, f"    return {', '.join(write(value.xreplace(inlined)) for value in values)}", ""])


def _is_total(node: sympy.Basic) -> bool:
    """Say whether an expression has a value for all numbers, so that it may be evaluated ahead of a branch."""
    import sympy

    functions_ = (sympy.sin, sympy.cos, sympy.atan, sympy.tanh, sympy.asinh, sympy.atan2, sympy.erf, sympy.erfc)
    fine = (
        not node.args
        or node.is_Add
        or node.is_Mul
        or isinstance(node, (_where_class(), sympy.logic.boolalg.Boolean, *functions_))
        or (isinstance(node, sympy.Pow) and node.exp.is_Integer and 0 < int(node.exp) <= 4)
    )
    return bool(fine) and all(_is_total(a) for a in node.args)


def _printer(code: Mapping[sympy.Symbol, str]) -> Callable[[sympy.Basic], str]:
    """Return a function that writes an expression as Python text of floats."""
    import sympy
    from sympy.printing.precedence import PRECEDENCE
    from sympy.printing.pycode import PythonCodePrinter

    class Printer(PythonCodePrinter):
        def _print_Symbol(self, expr: sympy.Symbol) -> str:
            return code[expr]

        def _print_Where(self, expr: sympy.Expr) -> str:
            condition, a, b = (self._print(x) for x in expr.args)
            return f"({a} if {condition} else {b})"

        def _print_Float(self, expr: sympy.Expr) -> str:
            return repr(float(expr))

        _print_Integer = _print_NumberSymbol = _print_Pi = _print_Exp1 = _print_Float

        def _print_Rational(self, expr: sympy.Rational) -> str:
            return f"({expr.p}.0 / {expr.q}.0)"

        _print_Half = _print_Rational

        def _print_Pow(self, expr: sympy.Pow, rational: bool = False) -> str:
            base, exponent = expr.base, expr.exp
            if exponent.is_number and exponent < 0:
                return f"1.0 / {self.parenthesize(sympy.Pow(base, -exponent), PRECEDENCE['Pow'])}"
            text = self.parenthesize(base, PRECEDENCE["Atom"], strict=True)
            if exponent.is_Integer or (exponent.is_Float and float(exponent).is_integer()):
                count = int(exponent)
                return f"({' * '.join([text] * count)})" if count <= 4 and base.is_Symbol else f"({text} ** {count})"
            if exponent == sympy.S.Half or exponent == 0.5:
                return f"math.sqrt({self._print(base)})"
            return f"math.pow({self._print(base)}, {self._print(exponent)})"

        def _print_sinh(self, expr: sympy.Expr) -> str:
            return f"sinh({self._print(expr.args[0])})"

        def _print_cosh(self, expr: sympy.Expr) -> str:
            return f"cosh({self._print(expr.args[0])})"

        def emptyPrinter(self, expr: object) -> str:
            raise ValueError(f"its derivative contains {type(expr).__name__}, which has no scalar form")

        _print_not_supported = emptyPrinter

    printer = Printer({"fully_qualified_modules": True})

    def write(expression: sympy.Basic) -> str:
        for number in expression.atoms(sympy.Number, sympy.zoo):
            value = math.nan if number in (sympy.nan, sympy.zoo) else float(number)
            if not math.isfinite(value):
                raise ValueError(f"it contains the number {value}")
        return str(printer.doprint(expression))

    return write
