"""Translate scalar kernels to the part of Python that Warp compiles.

Warp is strict where Python and numba are not: it mixes no integers with floats, has no tuples beyond a returned one,
and takes a plain literal as a 32-bit float. The translation infers the kind of every name and expression (bool, int,
real, array of reals) and writes each conversion out. Functions that a kernel calls are translated with it, once for
each combination of kinds they are called with. Constants of modules and closures become literals, loops over tuples are
unrolled. What cannot be translated is refused with the file and line where it stands.

The result is text, so this module needs no Warp.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import math
import operator
import textwrap
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from pliant.base.codecache import python_function
from pliant.base.errors import LawError

__all__ = ["ARRAY", "REAL", "Translation", "translate"]

Kind = Any
"""BOOL, INT, REAL, ARRAY, VOID, or a tuple of kinds."""
BOOL, INT, REAL, ARRAY, VOID = "bool", "int", "real", "array", "void"
_ORDER = {BOOL: 0, INT: 1, REAL: 2}
_VALID = (
    "arithmetic, comparisons, if, for over range or a tuple of numbers, min, max, abs, functions of math and plain "
    "functions made of these, on scalars"
)
_MAX_INT = 2**31 - 1
_RESERVED = frozenset({"wp", "real", "_"})

# Functions of math and numpy by name: text of the result, {0} and {1} being the arguments as reals.
_OF_ONE = (
    "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log2", "log10", "sqrt", "floor",
    "ceil", "trunc", "erf", "erfc", "cbrt",
)  # fmt: skip
_FUNCTIONS = {
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
_CONDITIONS = {"isnan": "wp.isnan({0})", "isinf": "wp.isinf({0})", "isfinite": "wp.isfinite({0})"}
_NUMPY = {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2", "absolute": "fabs", "power": "pow",
          "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh"}  # fmt: skip

_ARITHMETIC: dict[type[ast.operator], tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("+", operator.add),
    ast.Sub: ("-", operator.sub),
    ast.Mult: ("*", operator.mul),
    ast.Div: ("/", operator.truediv),
    ast.FloorDiv: ("//", operator.floordiv),
    ast.Mod: ("%", operator.mod),
    ast.Pow: ("**", operator.pow),
}
_COMPARISONS: dict[type[ast.cmpop], tuple[str, Callable[[Any, Any], bool]]] = {
    ast.Eq: ("==", operator.eq),
    ast.NotEq: ("!=", operator.ne),
    ast.Lt: ("<", operator.lt),
    ast.LtE: ("<=", operator.le),
    ast.Gt: (">", operator.gt),
    ast.GtE: (">=", operator.ge),
}

PRELUDE = '''\
def least(a: real, b: real):
    """Python's min: a where either is NaN."""
    if b < a:
        return b
    return a


def largest(a: real, b: real):
    """Python's max: a where either is NaN."""
    if b > a:
        return b
    return a
'''


@dataclass(frozen=True, slots=True)
class Translation:
    """Text of functions for Warp, and where they come from."""

    text: str
    """Definitions of all functions, callees first. They use the names ``wp`` and ``real``."""
    names: tuple[str, ...]
    """Names of the functions, in the order of the text."""
    entries: dict[types.FunctionType, str]
    """Translated function -> its name in the text."""
    origin: dict[int, tuple[str, int]]
    """Line of the text -> file and line that it was made from."""


@dataclass(slots=True)
class _Value:
    """An expression: its text, its kind, and its value where that is known now."""

    text: str
    kind: Kind
    known: Any = None
    items: tuple[_Value, ...] = ()


def _number(value: Any) -> _Value | None:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return _Value(repr(value), BOOL, value)
    if isinstance(value, int):
        value = int(value)  # a member of an IntEnum
        return _Value(f"({value})" if value < 0 else str(value), INT, value)
    if isinstance(value, float):
        return _Value(_literal(value), REAL, value)
    return None


def _literal(value: float) -> str:
    if math.isnan(value):
        return "real(wp.nan)"
    if math.isinf(value):
        return "real(wp.inf)" if value > 0.0 else "(-real(wp.inf))"
    return f"real({value!r})" if value >= 0.0 and math.copysign(1.0, value) > 0.0 else f"(-real({-value!r}))"


def _static(value: Any) -> _Value:
    """Return a value of a module or closure: a number as a literal, anything else as something known."""
    number = _number(value)
    if number is not None:
        return number
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
        value = value.tolist()
    if isinstance(value, list | tuple | range):
        items = tuple(_static(v) for v in value)
        return _Value("", tuple(i.kind for i in items), items=items)
    return _Value("", "object", value)


def _join(a: Kind, b: Kind) -> Kind | None:
    """Return the kind that holds values of both, None where there is none."""
    if a == b:
        return a
    if a in _ORDER and b in _ORDER:
        return a if _ORDER[a] > _ORDER[b] else b
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        parts = tuple(_join(x, y) for x, y in zip(a, b, strict=True))
        return None if None in parts else parts
    return None


class _Program:
    """All functions of one translation."""

    def __init__(self, bound: Mapping[str, types.FunctionType], label: str) -> None:
        self.bound = bound
        self.label = label
        self.done: dict[Any, tuple[str, Kind]] = {}
        self.running: list[types.FunctionType] = []
        self.lines: list[str] = []
        self.names: list[str] = []
        self.origin: dict[int, tuple[str, int]] = {}

    def add(self, function: types.FunctionType, arguments: Sequence[_Value]) -> tuple[str, Kind]:
        """Translate a function for arguments of some kinds; returns its name in the text and what it returns."""
        key = (function, tuple(repr(a) if a.kind == "object" or a.items else a.kind for a in arguments))
        if key in self.done:
            return self.done[key]
        if function in self.running:
            _refuse(self.label, function, None, f"{function.__name__} calls itself; a kernel must not be recursive")
        self.running.append(function)
        name = f"f{len(self.done) + len(self.running)}_{function.__name__.strip('<>')}"
        body = _Function(self, function, arguments, name)
        lines, returns = body.write()
        self.running.pop()
        start = len(self.lines)
        for number, (text, line) in enumerate(lines):
            self.origin[start + number + 1] = (body.file, line)
            self.lines.append(text)
        self.lines += ["", ""]
        self.names.append(name)
        self.done[key] = (name, returns)
        return self.done[key]


def _refuse(label: str, function: types.FunctionType, line: int | None, what: str) -> NoReturn:
    code = function.__code__
    raise LawError(
        f"{label}: {function.__name__} cannot be compiled by Warp: {what}. Valid in a kernel: {_VALID}",
        file=code.co_filename,
        line=line or code.co_firstlineno,
        field=function.__name__,
    )


def _tree_of(label: str, function: types.FunctionType) -> tuple[ast.FunctionDef, int]:
    """Return a function's definition and the line that its own line 1 has in the file."""
    try:
        lines, first = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError, IndentationError):
        _refuse(label, function, None, "its source text is not available, or it is a lambda inside an expression")
    if len(tree.body) != 1 or not isinstance(tree.body[0], ast.FunctionDef):
        _refuse(label, function, None, "it must be written as a def")
    return tree.body[0], first


class _Function:
    """One function for arguments of given kinds."""

    def __init__(self, program: _Program, function: types.FunctionType, arguments: Sequence[_Value], name: str) -> None:
        self.program = program
        self.function = function
        self.name = name
        self.tree, self.first = _tree_of(program.label, function)
        self.file = function.__code__.co_filename
        self.line = self.first
        plain = self.tree.args
        if plain.vararg or plain.kwarg or plain.kwonlyargs:
            self.refuse(self.tree, "it takes *arguments, **arguments or keyword-only arguments")
        self.parameters = [a.arg for a in (*plain.posonlyargs, *plain.args)]
        self.given = dict(zip(self.parameters, arguments, strict=True))
        self.stored = {
            node.id for node in ast.walk(self.tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        self.kinds: dict[str, Kind] = {}
        self.returns: Kind = None
        self.outer = inspect.getclosurevars(function).nonlocals
        self.lines: list[tuple[str, int]] = []
        self.depth = 1
        self.temporaries = 0
        self.unrolling = 0
        self.loops = 0
        self.lazy = 0
        self.unrolled: dict[str, _Value] = {}

    def refuse(self, node: ast.AST | None, what: str) -> NoReturn:
        line = self.first + getattr(node, "lineno", 1) - 1
        _refuse(self.program.label, self.function, line, what)

    def write(self) -> tuple[list[tuple[str, int]], Kind]:
        """Return the lines with their origin, and what the function returns."""
        for name, value in self.given.items():
            if value.kind != "object" and not value.items:
                self.kinds[name] = value.kind
        for _ in range(8):
            before = (dict(self.kinds), self.returns)
            self.lines, self.depth, self.temporaries = [], 1, 0
            self.block(self.tree.body)
            if before == (self.kinds, self.returns):
                break
        else:
            self.refuse(self.tree, "the kinds of its numbers depend on each other in a circle")
        returns = VOID if self.returns is None else self.returns
        if returns != VOID and not _always_returns(self.tree.body):
            self.refuse(self.tree, "it must return on every path")
        if isinstance(returns, tuple) and any(r not in _ORDER for r in returns):
            self.refuse(self.tree, "it must return numbers, or one tuple of numbers")
        head, line = [], self.first
        formal = []
        for name in self.parameters:
            value = self.given[name]
            if value.kind == "object" or value.items:
                continue
            inside = self.local(name)
            kind = value.kind
            formal.append(f"{inside if name not in self.stored else inside + '_given'}: {_annotation(kind)}")
            if name in self.stored:
                start = _Value(f"{inside}_given", kind)
                head.append((f"    {inside} = {_copy(self.as_kind(start, self.kinds[name], self.tree))}", line))
        for name in sorted(self.stored - set(self.parameters)):
            head += [(f"    {place} = {zero}", line) for place, zero in self.zeros(name)]
        lines = [(f"def {self.name}({', '.join(formal)}):", line), *head, *self.lines]
        if len(lines) == 1:
            lines.append(("    pass", line))
        return lines, returns

    def zeros(self, name: str) -> Iterator[tuple[str, str]]:
        zero = {BOOL: "wp.bool(False)", INT: "wp.int32(0)", REAL: "real(0.0)"}
        kind = self.kinds.get(name)
        parts = kind if isinstance(kind, tuple) else (kind,)
        for i, part in enumerate(parts):
            if part in zero:
                yield (f"{self.local(name)}__{i}" if isinstance(kind, tuple) else self.local(name)), zero[part]

    # -- statements ---------------------------------------------------------------------------------------------

    def put(self, text: str) -> None:
        self.lines.append(("    " * self.depth + text, self.line))

    def temporary(self) -> str:
        self.temporaries += 1
        return f"t__{self.temporaries}"

    def local(self, name: str) -> str:
        return f"{name}__v" if name in _RESERVED else name

    def block(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            self.line = self.first + statement.lineno - 1
            method = getattr(self, f"_do_{type(statement).__name__}", None)
            if method is None:
                self.refuse(statement, f"{_named(statement)} is not available")
            method(statement)

    def _do_Pass(self, node: ast.Pass) -> None:
        self.put("pass")

    def _do_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return
        value = self.value(node.value)
        if value.text and isinstance(node.value, ast.Call):
            self.put(value.text)

    def _do_Assign(self, node: ast.Assign) -> None:
        value = self.value(node.value)
        for target in node.targets:
            self.assign(target, value)

    def _do_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.assign(node.target, self.value(node.value))

    def _do_AugAssign(self, node: ast.AugAssign) -> None:
        now = ast.copy_location(_loaded(node.target), node)
        self.assign(node.target, self.value(ast.copy_location(ast.BinOp(now, node.op, node.value), node)))

    def assign(self, target: ast.expr, value: _Value) -> None:
        if value.kind == VOID or (value.kind == "object"):
            self.refuse(target, "a name is given something that is no number")
        if isinstance(target, ast.Tuple | ast.List):
            if len(value.items) != len(target.elts):
                self.refuse(target, f"{len(target.elts)} names are given {len(value.items) or 1} numbers")
            parts = value.items
            if any(p.known is None for p in parts) and len(parts) > 1:  # a, b = b, a
                names = []
                for part in parts:
                    names.append(_Value(self.temporary(), part.kind) if part.kind in _ORDER else part)
                    if part.kind in _ORDER and not part.text.startswith("t__"):
                        self.put(f"{names[-1].text} = {_copy(part.text)}")
                    else:
                        names[-1] = part
                parts = tuple(names)
            for element, part in zip(target.elts, parts, strict=True):
                self.assign(element, part)
        elif isinstance(target, ast.Subscript):
            place = self.element(target)
            self.put(f"{place} = {self.as_kind(value, REAL, target)}")
        elif isinstance(target, ast.Name):
            if target.id in self.unrolled:
                self.refuse(target, f"{target.id} is the name of a loop over a tuple and cannot be assigned")
            kind = tuple(i.kind for i in value.items) if value.items else value.kind
            old = self.kinds.get(target.id)
            joined = kind if old is None else _join(old, kind)
            if joined is None:
                self.refuse(target, f"{target.id} is a number here and something else there")
            self.kinds[target.id] = joined
            name = self.local(target.id)
            if isinstance(joined, tuple):
                for i, (part, item) in enumerate(zip(joined, value.items, strict=True)):
                    self.put(f"{name}__{i} = {_copy(self.as_kind(item, part, target))}")
            elif joined == ARRAY:
                self.put(f"{name} = {value.text}")
            else:
                self.put(f"{name} = {_copy(self.as_kind(value, joined, target))}")
        else:
            self.refuse(target, f"{_named(target)} cannot be assigned")

    def _do_Return(self, node: ast.Return) -> None:
        if self.unrolling:
            self.refuse(node, "return inside a loop over a tuple is not available")
        if node.value is None:
            self.put("return")
            return
        value = self.value(node.value)
        kind = tuple(i.kind for i in value.items) if value.items else value.kind
        if kind == "object" or (kind not in _ORDER and not isinstance(kind, tuple)):
            self.refuse(node, "it returns something that is no number")
        joined = kind if self.returns is None else _join(self.returns, kind)
        if joined is None:
            self.refuse(node, "it returns one number here and several there")
        self.returns = joined
        if isinstance(joined, tuple):
            parts = [self.as_kind(i, k, node) for i, k in zip(value.items, joined, strict=True)]
            self.put(f"return {', '.join(parts)}")
        else:
            self.put(f"return {self.as_kind(value, joined, node)}")

    def _do_If(self, node: ast.If) -> None:
        condition = self.condition(node.test)
        if condition.known is not None:
            self.block(node.body if condition.known else node.orelse)
            return
        self.put(f"if {condition.text}:")
        self.nested(node.body)
        if node.orelse:
            self.put("else:")
            self.nested(node.orelse)

    def nested(self, body: Sequence[ast.stmt], first: str = "") -> None:
        self.depth += 1
        count = len(self.lines)
        if first:
            self.put(first)
        self.block(body)
        if len(self.lines) == count:
            self.put("pass")
        self.depth -= 1

    def _do_While(self, node: ast.While) -> None:
        if node.orelse:
            self.refuse(node, "while with else is not available")
        self.lazy += 1
        condition = self.condition(node.test)
        self.lazy -= 1
        self.loops += 1
        self.put(f"while {condition.text}:")
        self.nested(node.body)
        self.loops -= 1

    def _do_Break(self, node: ast.Break) -> None:
        self.leave(node, "break")

    def _do_Continue(self, node: ast.Continue) -> None:
        self.leave(node, "continue")

    def leave(self, node: ast.stmt, word: str) -> None:
        if self.unrolling:
            self.refuse(node, f"{word} inside a loop over a tuple is not available")
        self.put(word)

    def _do_For(self, node: ast.For) -> None:
        if node.orelse:
            self.refuse(node, "for with else is not available")
        counted = isinstance(node.iter, ast.Call) and self.builtin(node.iter.func) is range
        if counted and isinstance(node.iter, ast.Call):
            bounds = [self.value(a) for a in node.iter.args]
            if node.iter.keywords or not 1 <= len(bounds) <= 3 or any(b.kind not in _ORDER for b in bounds):
                self.refuse(node, "range must have one to three whole numbers")
            if isinstance(node.target, ast.Name):
                self.kinds[node.target.id] = _join(self.kinds.get(node.target.id, INT), INT)
                counter = f"{self.local(node.target.id)}__n"
                self.put(f"for {counter} in range({', '.join(self.as_kind(b, INT, node) for b in bounds)}):")
                first = self.as_kind(_Value(counter, INT), self.kinds[node.target.id], node)
                self.loops += 1
                self.nested(node.body, f"{self.local(node.target.id)} = {_copy(first)}")
                self.loops -= 1
                return
        items = self.sequence(node.iter)
        names = {n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)}
        self.unrolling += 1
        for item in items:
            self.bind(node.target, item)
            self.block(node.body)
        for name in names:
            self.unrolled.pop(name, None)
        self.unrolling -= 1

    def bind(self, target: ast.expr, value: _Value) -> None:
        if isinstance(target, ast.Name):
            self.unrolled[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List) and len(target.elts) == len(value.items):
            for element, item in zip(target.elts, value.items, strict=True):
                self.bind(element, item)
        else:
            self.refuse(target, "the loop's names do not fit what it runs over")

    def sequence(self, node: ast.expr) -> tuple[_Value, ...]:
        """Return the elements of what a loop runs over, known now."""
        if isinstance(node, ast.Call) and {k.arg for k in node.keywords} <= {"strict"}:
            function = self.builtin(node.func)
            if function is enumerate and len(node.args) == 1:
                return tuple(
                    _Value("", (INT, x.kind), items=(_static(i), x)) for i, x in enumerate(self.sequence(node.args[0]))
                )
            if function is zip:
                rows = zip(*(self.sequence(a) for a in node.args), strict=False)
                return tuple(_Value("", tuple(x.kind for x in row), items=row) for row in rows)
            if function is reversed and len(node.args) == 1:
                return self.sequence(node.args[0])[::-1]
            if function is range:
                bounds = [self.value(a).known for a in node.args]
                if all(isinstance(b, int) for b in bounds):
                    return tuple(_static(i) for i in range(*bounds))
        value = self.value(node)
        if not value.items:
            self.refuse(node, "a loop runs over something whose length is not known before the step")
        return value.items

    # -- expressions --------------------------------------------------------------------------------------------

    def value(self, node: ast.expr) -> _Value:
        method = getattr(self, f"_of_{type(node).__name__}", None)
        if method is None:
            self.refuse(node, f"{_named(node)} is not available")
        return method(node)

    def as_kind(self, value: _Value, kind: Kind, node: ast.AST) -> str:
        """Return the text of a value as another kind."""
        if value.kind == kind and kind in (*_ORDER, ARRAY):
            if kind == INT and isinstance(value.known, int) and abs(value.known) > _MAX_INT:
                self.refuse(node, f"the whole number {value.known} is larger than {_MAX_INT}")
            return value.text
        if value.kind not in _ORDER or kind not in _ORDER:
            self.refuse(node, "a number is expected, and something else is given")
        if kind == REAL:
            return _literal(float(value.known)) if value.known is not None else f"real({value.text})"
        if kind == INT:
            return str(int(value.known)) if value.known is not None else f"wp.int32({value.text})"
        return f"({value.text} != {'real(0.0)' if value.kind == REAL else '0'})"

    def condition(self, node: ast.expr) -> _Value:
        value = self.value(node)
        if value.known is not None and value.kind in _ORDER:
            return _Value(repr(bool(value.known)), BOOL, bool(value.known))
        return _Value(self.as_kind(value, BOOL, node), BOOL)

    def _of_Constant(self, node: ast.Constant) -> _Value:
        value = _number(node.value)
        if value is None:
            self.refuse(node, f"{node.value!r} is no number")
        return value

    def _of_Name(self, node: ast.Name) -> _Value:
        name = node.id
        if name in self.unrolled:
            return self.unrolled[name]
        if name in self.stored or name in self.kinds:
            kind = self.kinds.get(name)
            if kind is None and name in self.given:
                return self.given[name]
            if kind is None:
                self.refuse(node, f"{name} is used before it has a value")
            text = self.local(name)
            if isinstance(kind, tuple):
                return _Value("", kind, items=tuple(_Value(f"{text}__{i}", k) for i, k in enumerate(kind)))
            return _Value(text, kind)
        if name in self.given:
            return self.given[name]
        if name in self.program.bound:
            return _Value("", "object", self.program.bound[name])
        for space in (self.outer, self.function.__globals__, vars(builtins)):
            if name in space:
                return _static(space[name])
        self.refuse(node, f"the name {name!r} is not defined")
        return None

    def _of_Attribute(self, node: ast.Attribute) -> _Value:
        owner = self.value(node.value)
        if owner.kind != "object" or not hasattr(owner.known, node.attr):
            self.refuse(node, f"the attribute {ast.unparse(node)} is not a constant or a function of a module")
        return _static(getattr(owner.known, node.attr))

    def _of_Tuple(self, node: ast.Tuple) -> _Value:
        items = tuple(self.value(e) for e in node.elts)
        return _Value("", tuple(i.kind for i in items), items=items)

    _of_List = _of_Tuple

    def _of_Subscript(self, node: ast.Subscript) -> _Value:
        owner = self.value(node.value)
        if owner.items:
            index = self.value(node.slice).known
            if not isinstance(index, int) or not -len(owner.items) <= index < len(owner.items):
                self.refuse(node, "the index of a tuple must be a whole number that is known before the step")
            return owner.items[index]
        return _Value(self.element(node), REAL)

    def element(self, node: ast.Subscript) -> str:
        """Return the text of an element of an array."""
        owner = self.value(node.value)
        if owner.kind != ARRAY:
            self.refuse(node, f"{ast.unparse(node.value)} is no array")
        if isinstance(node.slice, ast.Slice | ast.Tuple):
            self.refuse(node, "a part of an array, or an array of two dimensions, is not available")
        index = self.value(node.slice)
        if index.known is not None and (not isinstance(index.known, int) or index.known < 0):
            self.refuse(node, f"the index {index.known} is not a whole number >= 0")
        return f"{owner.text}[{self.as_kind(index, INT, node)}]"

    def _of_UnaryOp(self, node: ast.UnaryOp) -> _Value:
        if isinstance(node.op, ast.Not):
            condition = self.condition(node.operand)
            if condition.known is not None:
                return _Value(repr(not condition.known), BOOL, not condition.known)
            return _Value(f"(not {condition.text})", BOOL)
        value = self.value(node.operand)
        if value.kind not in _ORDER or isinstance(node.op, ast.Invert):
            self.refuse(node, f"{ast.unparse(node)} is not available")
        if value.known is not None:
            return _static(-value.known if isinstance(node.op, ast.USub) else +value.known)
        if value.kind == BOOL:
            value = _Value(self.as_kind(value, INT, node), INT)
        return value if isinstance(node.op, ast.UAdd) else _Value(f"(-{value.text})", value.kind)

    def _of_BinOp(self, node: ast.BinOp) -> _Value:
        a, b = self.value(node.left), self.value(node.right)
        if type(node.op) not in _ARITHMETIC or a.kind not in _ORDER or b.kind not in _ORDER:
            self.refuse(node, f"{ast.unparse(node)} is not available")
        sign, function = _ARITHMETIC[type(node.op)]
        if a.known is not None and b.known is not None:
            try:
                return _static(function(a.known, b.known))
            except (ArithmeticError, ValueError) as error:
                self.refuse(node, f"{ast.unparse(node)}: {error}")
        whole = a.kind != REAL and b.kind != REAL
        if whole and sign in "+-*":
            return _Value(f"({self.as_kind(a, INT, node)} {sign} {self.as_kind(b, INT, node)})", INT)
        x, y = self.as_kind(a, REAL, node), self.as_kind(b, REAL, node)
        if sign in "+-*/":
            return _Value(f"({x} {sign} {y})", REAL)
        if sign == "**":
            return self.power(x, b, y)
        floor = f"wp.floor({x} / {y})"
        text = floor if sign == "//" else f"({x} - {floor} * {y})"
        return _Value(f"wp.int32({text})", INT) if whole else _Value(text, REAL)

    def power(self, x: str, exponent: _Value, y: str) -> _Value:
        n = exponent.known
        if n is not None and float(n).is_integer() and 0 < n <= 4 and x.isidentifier():
            return _Value(f"({' * '.join([x] * int(n))})", REAL)
        return _Value(f"wp.pow({x}, {y})", REAL)

    def _of_BoolOp(self, node: ast.BoolOp) -> _Value:
        self.lazy += 1
        values = [self.value(v) for v in node.values]
        self.lazy -= 1
        if any(v.kind != BOOL for v in values):
            self.refuse(node, "and, or must stand between conditions, not between numbers")
        ends = isinstance(node.op, ast.Or)  # the value that decides
        left = []
        for value in values:
            if value.known is None:
                left.append(value)
            elif value.known is ends:
                left.append(value)
                break
        if not left:
            return _Value(repr(not ends), BOOL, not ends)
        if len(left) == 1:
            return left[0]
        return _Value("(" + (" or " if ends else " and ").join(v.text for v in left) + ")", BOOL)

    def _of_Compare(self, node: ast.Compare) -> _Value:
        left, parts = node.left, []
        for op, right in zip(node.ops, node.comparators, strict=True):
            parts.append(self.comparison(op, left, right, node))
            left = right
        unknown = [p for p in parts if p.known is None]
        if any(p.known is False for p in parts):
            return _Value("False", BOOL, False)
        if not unknown:
            return _Value("True", BOOL, True)
        return unknown[0] if len(unknown) == 1 else _Value("(" + " and ".join(p.text for p in unknown) + ")", BOOL)

    def comparison(self, op: ast.cmpop, left: ast.expr, right: ast.expr, node: ast.Compare) -> _Value:
        a, b = self.value(left), self.value(right)
        if isinstance(op, ast.In | ast.NotIn) and b.items and a.kind in _ORDER:
            equal = [self.equal(a, item, node) for item in b.items]
            text = "(" + " or ".join(equal) + ")"
            return _Value(text if isinstance(op, ast.In) else f"(not {text})", BOOL)
        kind = _join(a.kind, b.kind)
        if type(op) not in _COMPARISONS or kind not in _ORDER:
            self.refuse(node, f"{ast.unparse(node)} is not available")
        sign, function = _COMPARISONS[type(op)]
        if a.known is not None and b.known is not None:
            result = bool(function(a.known, b.known))
            return _Value(repr(result), BOOL, result)
        kind = INT if kind == BOOL else kind
        return _Value(f"({self.as_kind(a, kind, node)} {sign} {self.as_kind(b, kind, node)})", BOOL)

    def equal(self, a: _Value, b: _Value, node: ast.AST) -> str:
        kind = _join(_join(a.kind, b.kind), INT)
        return f"({self.as_kind(a, kind, node)} == {self.as_kind(b, kind, node)})"

    def _of_IfExp(self, node: ast.IfExp) -> _Value:
        condition = self.condition(node.test)
        if condition.known is not None:
            return self.value(node.body if condition.known else node.orelse)
        self.lazy += 1
        a, b = self.value(node.body), self.value(node.orelse)
        self.lazy -= 1
        kind = _join(a.kind, b.kind)
        if kind not in _ORDER:
            self.refuse(node, "both sides of an inline if must be numbers")
        x, y = self.as_kind(a, kind, node), self.as_kind(b, kind, node)
        return _Value(f"({_copy(x)} if {condition.text} else {_copy(y)})", kind)

    def builtin(self, node: ast.expr) -> Any:
        """Return what a name that is called means."""
        if isinstance(node, ast.Name | ast.Attribute):
            value = self.value(node)
            return value.known if value.kind == "object" else None
        return None

    def _of_Call(self, node: ast.Call) -> _Value:
        function = self.value(node.func)
        if function.kind != "object":
            self.refuse(node, f"{ast.unparse(node.func)} is no function")
        called = function.known
        if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            self.refuse(node, "a call with * or ** is not available")
        arguments = [self.value(a) for a in node.args]
        named = {k.arg: self.value(k.value) for k in node.keywords if k.arg is not None}
        plain = python_function(called)
        if plain is not None:
            return self.call(plain, arguments, named, node)
        if named:
            self.refuse(node, f"{ast.unparse(node.func)} is called with names")
        return self.known_function(called, arguments, node)

    def known_function(self, called: Any, arguments: list[_Value], node: ast.Call) -> _Value:
        name = getattr(called, "__name__", type(called).__name__)
        if called is len and len(arguments) == 1 and arguments[0].items:
            return _static(len(arguments[0].items))
        if called in (min, max, sum) and len(arguments) == 1 and arguments[0].items:
            arguments = list(arguments[0].items)
        if any(a.kind not in _ORDER for a in arguments) or not arguments:
            self.refuse(node, f"{ast.unparse(node.func)} is not a function of numbers that Warp can compile")
        known = [a.known for a in arguments]
        of_math = isinstance(called, types.BuiltinFunctionType) and called.__module__ == "math"
        if (of_math or called in (min, max, abs, int, float, bool, pow, round, sum)) and None not in known:
            try:
                return _static(sum(known) if called is sum else called(*known))
            except (ArithmeticError, ValueError, TypeError) as error:
                self.refuse(node, f"{ast.unparse(node)}: {error}")
        x = [self.as_kind(a, REAL, node) for a in arguments]
        if called in (min, max) and len(x) > 1:
            text = x[0]
            for other in x[1:]:
                text = f"{'least' if called is min else 'largest'}({text}, {other})"
            return _Value(text, REAL) if any(a.kind == REAL for a in arguments) else _Value(f"wp.int32({text})", INT)
        if called is sum:
            return _Value(f"({' + '.join(x)})", REAL)
        if len(x) == 1:
            if called is abs:
                whole = arguments[0].kind != REAL
                return _Value(
                    f"wp.abs({self.as_kind(arguments[0], INT, node) if whole else x[0]})", INT if whole else REAL
                )
            if called in (float, int, bool):
                kind = {float: REAL, int: INT, bool: BOOL}[called]
                return _Value(self.as_kind(arguments[0], kind, node), kind)
            if called is round:
                return _Value(f"wp.int32(wp.rint({x[0]}))", INT)
        if called is pow and len(x) == 2:
            return self.power(x[0], arguments[1], x[1])
        if of_math or isinstance(called, np.ufunc):
            name = _NUMPY.get(name, name)
            if name == "log" and len(x) == 2:
                return _Value(f"(wp.log({x[0]}) / wp.log({x[1]}))", REAL)
            template = _FUNCTIONS.get(name) or _CONDITIONS.get(name)
            if template is not None and len(x) != 1 + ("{1}" in template):
                self.refuse(node, f"{name} is called with {len(x)} numbers")
            if template is not None:
                return _Value(template.format(*x), BOOL if name in _CONDITIONS else REAL)
        self.refuse(node, f"the function {name} is not available in Warp")
        return None

    def call(
        self, function: types.FunctionType, arguments: list[_Value], named: dict[str, _Value], node: ast.Call
    ) -> _Value:
        try:
            bound = inspect.signature(function).bind(*arguments, **named)
        except TypeError as error:
            self.refuse(node, f"{function.__name__}: {error}")
        given = []
        for parameter in inspect.signature(function).parameters.values():
            value = bound.arguments.get(parameter.name)
            given.append(_static(parameter.default) if value is None else value)
        name, returns = self.program.add(function, given)
        texts = [self.as_kind(a, a.kind, node) for a in given if a.kind != "object" and not a.items]
        text = f"{name}({', '.join(texts)})"
        if not isinstance(returns, tuple):
            return _Value(text, returns)
        if self.lazy:
            self.refuse(
                node, f"{function.__name__} returns several numbers inside an inline if, and, or; call it before"
            )
        parts = tuple(_Value(self.temporary(), kind) for kind in returns)
        self.put(f"{', '.join(p.text for p in parts)} = {text}")
        return _Value("", returns, items=parts)


def _copy(text: str) -> str:
    """Return the text of an assigned value so that Warp makes a variable of it, not a constant."""
    if text in ("True", "False"):
        return f"wp.bool({text})"
    if text.lstrip("-(").rstrip(")").isdigit():
        return f"wp.int32({text})"
    return text


def _annotation(kind: Kind) -> str:
    return {BOOL: "wp.bool", INT: "wp.int32", REAL: "real", ARRAY: "wp.array(dtype=real)"}[kind]


def _named(node: ast.AST) -> str:
    names = {"Lambda": "lambda", "With": "with", "Try": "try", "Assert": "assert", "ListComp": "a comprehension",
             "GeneratorExp": "a comprehension", "Dict": "a dict", "JoinedStr": "text", "Raise": "raise",
             "Slice": "a slice",
             "NamedExpr": ":=", "FunctionDef": "a function inside a function", "Global": "global", "Delete": "del",
             "Set": "a set", "Import": "import", "ImportFrom": "import", "Starred": "*"}  # fmt: skip
    return names.get(type(node).__name__, type(node).__name__)


def _loaded(node: ast.expr) -> ast.expr:
    """Return a target of an assignment as an expression that is read."""
    copy = ast.parse(ast.unparse(node), mode="eval").body
    for part in ast.walk(copy):
        ast.copy_location(part, node)
    return copy


def _always_returns(body: Sequence[ast.stmt]) -> bool:
    for statement in body:
        if isinstance(statement, ast.Return):
            return True
        if isinstance(statement, ast.If) and _always_returns(statement.body) and _always_returns(statement.orelse):
            return True
    return False


def translate(
    entries: Mapping[types.FunctionType, Sequence[Kind]], bound: Mapping[str, types.FunctionType], label: str
) -> Translation:
    """Translate functions and all that they call.

    Args:
        entries: function -> kinds of its arguments, REAL or ARRAY each.
        bound: functions that stand for some global names.
        label: name of the law, for messages.

    Raises:
        LawError: something that Warp cannot compile, with its file and line.
    """
    program = _Program(bound, label)
    program.lines = [*PRELUDE.splitlines(), "", ""]
    program.names = ["least", "largest"]
    names = {f: program.add(f, [_Value("", kind) for kind in kinds])[0] for f, kinds in entries.items()}
    return Translation("\n".join(program.lines), tuple(program.names), names, program.origin)
