"""Expressions of a kernel as text for Warp."""

from __future__ import annotations

import ast
import builtins
import inspect
import textwrap
import types
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, Protocol

import numpy as np

from pliant.base.errors import LawError
from pliant.base.fingerprint import python_function
from pliant.learn.laws.values import (
    ARITHMETIC,
    ARRAY,
    BOOL,
    COMPARISONS,
    CONDITIONS,
    FUNCTIONS,
    INT,
    MAX_INT,
    NUMPY,
    ORDER,
    REAL,
    RESERVED,
    VALID,
    Kind,
    Value,
    assignable,
    join,
    known_value,
    literal,
    node_name,
    number_value,
)


class Program(Protocol):
    """All functions of one translation, as an expression sees them."""

    bound: Mapping[str, types.FunctionType]
    label: str

    def add(self, function: types.FunctionType, arguments: Sequence[Value]) -> tuple[str, Kind]:
        """Translate a function for arguments of some kinds; returns its name in the text and what it returns."""
        ...


def refuse(label: str, function: types.FunctionType, line: int | None, what: str) -> NoReturn:
    code = function.__code__
    raise LawError(
        f"{label}: {function.__name__} cannot be compiled by Warp: {what}. Valid in a kernel: {VALID}",
        file=code.co_filename,
        line=line or code.co_firstlineno,
        field=function.__name__,
    )


def tree_of(label: str, function: types.FunctionType) -> tuple[ast.FunctionDef, int]:
    """Return a function's definition and the line that its own line 1 has in the file."""
    try:
        lines, first = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError, IndentationError):
        refuse(label, function, None, "its source text is not available, or it is a lambda inside an expression")
    if len(tree.body) != 1 or not isinstance(tree.body[0], ast.FunctionDef):
        refuse(label, function, None, "it must be written as a def")
    return tree.body[0], first


class Expressions:
    """One function for arguments of given kinds: its expressions."""

    def __init__(self, program: Program, function: types.FunctionType, arguments: Sequence[Value], name: str) -> None:
        self.program = program
        self.function = function
        self.name = name
        self.tree, self.first = tree_of(program.label, function)
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
        self.unrolled: dict[str, Value] = {}

    def refuse(self, node: ast.AST | None, what: str) -> NoReturn:
        line = self.first + getattr(node, "lineno", 1) - 1
        refuse(self.program.label, self.function, line, what)

    def put(self, text: str) -> None:
        self.lines.append(("    " * self.depth + text, self.line))

    def temporary(self) -> str:
        self.temporaries += 1
        return f"t__{self.temporaries}"

    def local(self, name: str) -> str:
        return f"{name}__v" if name in RESERVED else name

    def value(self, node: ast.expr) -> Value:
        method = getattr(self, f"_of_{type(node).__name__}", None)
        if method is None:
            self.refuse(node, f"{node_name(node)} is not available")
        return method(node)

    def as_kind(self, value: Value, kind: Kind, node: ast.AST) -> str:
        """Return the text of a value as another kind."""
        if value.kind == kind and kind in (*ORDER, ARRAY):
            if kind == INT and isinstance(value.known, int) and abs(value.known) > MAX_INT:
                self.refuse(node, f"the whole number {value.known} is larger than {MAX_INT}")
            return value.text
        if value.kind not in ORDER or kind not in ORDER:
            self.refuse(node, "a number is expected, and something else is given")
        if kind == REAL:
            return literal(float(value.known)) if value.known is not None else f"real({value.text})"
        if kind == INT:
            return str(int(value.known)) if value.known is not None else f"wp.int32({value.text})"
        return f"({value.text} != {'real(0.0)' if value.kind == REAL else '0'})"

    def condition(self, node: ast.expr) -> Value:
        value = self.value(node)
        if value.known is not None and value.kind in ORDER:
            return Value(repr(bool(value.known)), BOOL, bool(value.known))
        return Value(self.as_kind(value, BOOL, node), BOOL)

    def _of_Constant(self, node: ast.Constant) -> Value:
        value = number_value(node.value)
        if value is None:
            self.refuse(node, f"{node.value!r} is no number")
        return value

    def _of_Name(self, node: ast.Name) -> Value:
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
                return Value("", kind, items=tuple(Value(f"{text}__{i}", k) for i, k in enumerate(kind)))
            return Value(text, kind)
        if name in self.given:
            return self.given[name]
        if name in self.program.bound:
            return Value("", "object", self.program.bound[name])
        for space in (self.outer, self.function.__globals__, vars(builtins)):
            if name in space:
                return known_value(space[name])
        self.refuse(node, f"the name {name!r} is not defined")
        return None

    def _of_Attribute(self, node: ast.Attribute) -> Value:
        owner = self.value(node.value)
        if owner.kind != "object" or not hasattr(owner.known, node.attr):
            self.refuse(node, f"the attribute {ast.unparse(node)} is not a constant or a function of a module")
        return known_value(getattr(owner.known, node.attr))

    def _of_Tuple(self, node: ast.Tuple) -> Value:
        items = tuple(self.value(e) for e in node.elts)
        return Value("", tuple(i.kind for i in items), items=items)

    _of_List = _of_Tuple

    def _of_Subscript(self, node: ast.Subscript) -> Value:
        owner = self.value(node.value)
        if owner.items:
            index = self.value(node.slice).known
            if not isinstance(index, int) or not -len(owner.items) <= index < len(owner.items):
                self.refuse(node, "the index of a tuple must be a whole number that is known before the step")
            return owner.items[index]
        return Value(self.element(node), REAL)

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

    def _of_UnaryOp(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            condition = self.condition(node.operand)
            if condition.known is not None:
                return Value(repr(not condition.known), BOOL, not condition.known)
            return Value(f"(not {condition.text})", BOOL)
        value = self.value(node.operand)
        if value.kind not in ORDER or isinstance(node.op, ast.Invert):
            self.refuse(node, f"{ast.unparse(node)} is not available")
        if value.known is not None:
            return known_value(-value.known if isinstance(node.op, ast.USub) else +value.known)
        if value.kind == BOOL:
            value = Value(self.as_kind(value, INT, node), INT)
        return value if isinstance(node.op, ast.UAdd) else Value(f"(-{value.text})", value.kind)

    def _of_BinOp(self, node: ast.BinOp) -> Value:
        a, b = self.value(node.left), self.value(node.right)
        if type(node.op) not in ARITHMETIC or a.kind not in ORDER or b.kind not in ORDER:
            self.refuse(node, f"{ast.unparse(node)} is not available")
        sign, function = ARITHMETIC[type(node.op)]
        if a.known is not None and b.known is not None:
            try:
                return known_value(function(a.known, b.known))
            except (ArithmeticError, ValueError) as error:
                self.refuse(node, f"{ast.unparse(node)}: {error}")
        whole = a.kind != REAL and b.kind != REAL
        if whole and sign in "+-*":
            return Value(f"({self.as_kind(a, INT, node)} {sign} {self.as_kind(b, INT, node)})", INT)
        x, y = self.as_kind(a, REAL, node), self.as_kind(b, REAL, node)
        if sign in "+-*/":
            return Value(f"({x} {sign} {y})", REAL)
        if sign == "**":
            return self.power(x, b, y)
        floor = f"wp.floor({x} / {y})"
        text = floor if sign == "//" else f"({x} - {floor} * {y})"
        return Value(f"wp.int32({text})", INT) if whole else Value(text, REAL)

    def power(self, x: str, exponent: Value, y: str) -> Value:
        n = exponent.known
        if n is not None and float(n).is_integer() and 0 < n <= 4 and x.isidentifier():
            return Value(f"({' * '.join([x] * int(n))})", REAL)
        return Value(f"wp.pow({x}, {y})", REAL)

    def _of_BoolOp(self, node: ast.BoolOp) -> Value:
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
            return Value(repr(not ends), BOOL, not ends)
        if len(left) == 1:
            return left[0]
        return Value("(" + (" or " if ends else " and ").join(v.text for v in left) + ")", BOOL)

    def _of_Compare(self, node: ast.Compare) -> Value:
        left, parts = node.left, []
        for op, right in zip(node.ops, node.comparators, strict=True):
            parts.append(self.comparison(op, left, right, node))
            left = right
        unknown = [p for p in parts if p.known is None]
        if any(p.known is False for p in parts):
            return Value("False", BOOL, False)
        if not unknown:
            return Value("True", BOOL, True)
        return unknown[0] if len(unknown) == 1 else Value("(" + " and ".join(p.text for p in unknown) + ")", BOOL)

    def comparison(self, op: ast.cmpop, left: ast.expr, right: ast.expr, node: ast.Compare) -> Value:
        a, b = self.value(left), self.value(right)
        if isinstance(op, ast.In | ast.NotIn) and b.items and a.kind in ORDER:
            equal = [self.equal(a, item, node) for item in b.items]
            text = "(" + " or ".join(equal) + ")"
            return Value(text if isinstance(op, ast.In) else f"(not {text})", BOOL)
        kind = join(a.kind, b.kind)
        if type(op) not in COMPARISONS or kind not in ORDER:
            self.refuse(node, f"{ast.unparse(node)} is not available")
        sign, function = COMPARISONS[type(op)]
        if a.known is not None and b.known is not None:
            result = bool(function(a.known, b.known))
            return Value(repr(result), BOOL, result)
        kind = INT if kind == BOOL else kind
        return Value(f"({self.as_kind(a, kind, node)} {sign} {self.as_kind(b, kind, node)})", BOOL)

    def equal(self, a: Value, b: Value, node: ast.AST) -> str:
        kind = join(join(a.kind, b.kind), INT)
        return f"({self.as_kind(a, kind, node)} == {self.as_kind(b, kind, node)})"

    def _of_IfExp(self, node: ast.IfExp) -> Value:
        condition = self.condition(node.test)
        if condition.known is not None:
            return self.value(node.body if condition.known else node.orelse)
        self.lazy += 1
        a, b = self.value(node.body), self.value(node.orelse)
        self.lazy -= 1
        kind = join(a.kind, b.kind)
        if kind not in ORDER:
            self.refuse(node, "both sides of an inline if must be numbers")
        x, y = self.as_kind(a, kind, node), self.as_kind(b, kind, node)
        return Value(f"({assignable(x)} if {condition.text} else {assignable(y)})", kind)

    def builtin(self, node: ast.expr) -> Any:
        """Return what a name that is called means."""
        if isinstance(node, ast.Name | ast.Attribute):
            value = self.value(node)
            return value.known if value.kind == "object" else None
        return None

    def _of_Call(self, node: ast.Call) -> Value:
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

    def known_function(self, called: Any, arguments: list[Value], node: ast.Call) -> Value:
        name = getattr(called, "__name__", type(called).__name__)
        if called is len and len(arguments) == 1 and arguments[0].items:
            return known_value(len(arguments[0].items))
        if called in (min, max, sum) and len(arguments) == 1 and arguments[0].items:
            arguments = list(arguments[0].items)
        if any(a.kind not in ORDER for a in arguments) or not arguments:
            self.refuse(node, f"{ast.unparse(node.func)} is not a function of numbers that Warp can compile")
        known = [a.known for a in arguments]
        of_math = isinstance(called, types.BuiltinFunctionType) and called.__module__ == "math"
        if (of_math or called in (min, max, abs, int, float, bool, pow, round, sum)) and None not in known:
            try:
                return known_value(sum(known) if called is sum else called(*known))
            except (ArithmeticError, ValueError, TypeError) as error:
                self.refuse(node, f"{ast.unparse(node)}: {error}")
        x = [self.as_kind(a, REAL, node) for a in arguments]
        if called in (min, max) and len(x) > 1:
            text = x[0]
            for other in x[1:]:
                text = f"{'least' if called is min else 'largest'}({text}, {other})"
            return Value(text, REAL) if any(a.kind == REAL for a in arguments) else Value(f"wp.int32({text})", INT)
        if called is sum:
            return Value(f"({' + '.join(x)})", REAL)
        if len(x) == 1:
            if called is abs:
                whole = arguments[0].kind != REAL
                return Value(
                    f"wp.abs({self.as_kind(arguments[0], INT, node) if whole else x[0]})", INT if whole else REAL
                )
            if called in (float, int, bool):
                kind = {float: REAL, int: INT, bool: BOOL}[called]
                return Value(self.as_kind(arguments[0], kind, node), kind)
            if called is round:
                return Value(f"wp.int32(wp.rint({x[0]}))", INT)
        if called is pow and len(x) == 2:
            return self.power(x[0], arguments[1], x[1])
        if of_math or isinstance(called, np.ufunc):
            name = NUMPY.get(name, name)
            if name == "log" and len(x) == 2:
                return Value(f"(wp.log({x[0]}) / wp.log({x[1]}))", REAL)
            template = FUNCTIONS.get(name) or CONDITIONS.get(name)
            if template is not None and len(x) != 1 + ("{1}" in template):
                self.refuse(node, f"{name} is called with {len(x)} numbers")
            if template is not None:
                return Value(template.format(*x), BOOL if name in CONDITIONS else REAL)
        self.refuse(node, f"the function {name} is not available in Warp")
        return None

    def call(
        self, function: types.FunctionType, arguments: list[Value], named: dict[str, Value], node: ast.Call
    ) -> Value:
        try:
            bound = inspect.signature(function).bind(*arguments, **named)
        except TypeError as error:
            self.refuse(node, f"{function.__name__}: {error}")
        given = []
        for parameter in inspect.signature(function).parameters.values():
            value = bound.arguments.get(parameter.name)
            given.append(known_value(parameter.default) if value is None else value)
        name, returns = self.program.add(function, given)
        texts = [self.as_kind(a, a.kind, node) for a in given if a.kind != "object" and not a.items]
        text = f"{name}({', '.join(texts)})"
        if not isinstance(returns, tuple):
            return Value(text, returns)
        if self.lazy:
            self.refuse(
                node, f"{function.__name__} returns several numbers inside an inline if, and, or; call it before"
            )
        parts = tuple(Value(self.temporary(), kind) for kind in returns)
        self.put(f"{', '.join(p.text for p in parts)} = {text}")
        return Value("", returns, items=parts)
