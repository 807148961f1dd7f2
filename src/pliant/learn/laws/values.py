"""Values and kinds of the kernels that are translated for Warp, and the functions that Warp has."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np

Kind: TypeAlias = "str | tuple[Kind, ...] | None"
"""BOOL, INT, REAL, ARRAY, VOID, or a tuple of kinds."""
BOOL, INT, REAL, ARRAY, VOID = "bool", "int", "real", "array", "void"
ORDER = {BOOL: 0, INT: 1, REAL: 2}
VALID = (
    "arithmetic, comparisons, if, for over range or a tuple of numbers, min, max, abs, functions of math and plain "
    "functions made of these, on scalars"
)
MAX_INT = 2**31 - 1
RESERVED = frozenset({"wp", "real", "_"})

# Functions of math and numpy by name: text of the result, {0} and {1} being the arguments as reals.
_OF_ONE = (
    "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log2", "log10", "sqrt", "floor",
    "ceil", "trunc", "erf", "erfc", "cbrt",
)  # fmt: skip
FUNCTIONS = {
    **{name: f"wp.{name}({{0}})" for name in _OF_ONE},
    "atan2": "wp.atan2({0}, {1})",
    "log": "wp.log({0})",
    "pow": "wp.pow({0}, {1})",
    "fabs": "wp.abs({0})",
    "fmod": "wp.mod({0}, {1})",
    "copysign": "wp.copysign({0}, {1})",
    "hypot": "wp.sqrt({0} * {0} + {1} * {1})",
    "expm1": "(real(2.0) * wp.exp(real(0.5) * {0}) * wp.sinh(real(0.5) * {0}))",
    "asinh": "(wp.sign({0}) * wp.log(wp.abs({0}) + wp.sqrt({0} * {0} + real(1.0))))",
    "acosh": "wp.log({0} + wp.sqrt({0} * {0} - real(1.0)))",
    "atanh": "(real(0.5) * wp.log((real(1.0) + {0}) / (real(1.0) - {0})))",
    "degrees": f"({{0}} * real({180.0 / math.pi!r}))",
    "radians": f"({{0}} * real({math.pi / 180.0!r}))",
}
CONDITIONS = {"isnan": "wp.isnan({0})", "isinf": "wp.isinf({0})", "isfinite": "wp.isfinite({0})"}
NUMPY = {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2", "absolute": "fabs", "power": "pow",
          "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh"}  # fmt: skip

ARITHMETIC: dict[type[ast.operator], tuple[str, Callable[..., object]]] = {
    ast.Add: ("+", operator.add),
    ast.Sub: ("-", operator.sub),
    ast.Mult: ("*", operator.mul),
    ast.Div: ("/", operator.truediv),
    ast.FloorDiv: ("//", operator.floordiv),
    ast.Mod: ("%", operator.mod),
    ast.Pow: ("**", operator.pow),
}
COMPARISONS: dict[type[ast.cmpop], tuple[str, Callable[..., bool]]] = {
    ast.Eq: ("==", operator.eq),
    ast.NotEq: ("!=", operator.ne),
    ast.Lt: ("<", operator.lt),
    ast.LtE: ("<=", operator.le),
    ast.Gt: (">", operator.gt),
    ast.GtE: (">=", operator.ge),
}


@dataclass(slots=True)
class Value:
    """An expression: its text, its kind, and its value where that is known now."""

    text: str
    kind: Kind
    known: Any = None
    items: tuple[Value, ...] = ()


def number_value(value: Any) -> Value | None:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return Value(repr(value), BOOL, value)
    if isinstance(value, int):
        value = int(value)  # a member of an IntEnum
        return Value(f"({value})" if value < 0 else str(value), INT, value)
    if isinstance(value, float):
        return Value(literal(value), REAL, value)
    return None


def literal(value: float) -> str:
    if math.isnan(value):
        return "real(wp.nan)"
    if math.isinf(value):
        return "real(wp.inf)" if value > 0.0 else "(-real(wp.inf))"
    return f"real({value!r})" if value >= 0.0 and math.copysign(1.0, value) > 0.0 else f"(-real({-value!r}))"


def known_value(value: Any) -> Value:
    """Return a value of a module or closure: a number as a literal, anything else as something known."""
    number = number_value(value)
    if number is not None:
        return number
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
        value = value.tolist()
    if isinstance(value, list | tuple | range):
        items = tuple(known_value(v) for v in value)
        return Value("", tuple(i.kind for i in items), items=items)
    return Value("", "object", value)


def join(a: Kind, b: Kind) -> Kind | None:
    """Return the kind that holds values of both, None where there is none."""
    if a == b:
        return a
    if a in ORDER and b in ORDER:
        return a if ORDER[a] > ORDER[b] else b
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        parts = tuple(join(x, y) for x, y in zip(a, b, strict=True))
        return None if None in parts else parts
    return None


def assignable(text: str) -> str:
    """Return the text of an assigned value so that Warp makes a variable of it, not a constant."""
    if text in ("True", "False"):
        return f"wp.bool({text})"
    if text.lstrip("-(").rstrip(")").isdigit():
        return f"wp.int32({text})"
    return text


def annotation(kind: Kind) -> str:
    return {BOOL: "wp.bool", INT: "wp.int32", REAL: "real", ARRAY: "wp.array(dtype=real)"}[cast("str", kind)]


def node_name(node: ast.AST) -> str:
    names = {"Lambda": "lambda", "With": "with", "Try": "try", "Assert": "assert", "ListComp": "a comprehension",
             "GeneratorExp": "a comprehension", "Dict": "a dict", "JoinedStr": "text", "Raise": "raise",
             "Slice": "a slice",
             "NamedExpr": ":=", "FunctionDef": "a function inside a function", "Global": "global", "Delete": "del",
             "Set": "a set", "Import": "import", "ImportFrom": "import", "Starred": "*"}  # fmt: skip
    return names.get(type(node).__name__, type(node).__name__)
