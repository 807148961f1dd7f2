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
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pliant.learn.laws.expressions import Expressions, refuse
from pliant.learn.laws.values import (
    ARRAY,
    BOOL,
    INT,
    ORDER,
    REAL,
    VOID,
    Kind,
    Value,
    annotation,
    assignable,
    join,
    known_value,
    node_name,
)

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


class _Program:
    """All functions of one translation."""

    def __init__(self, bound: Mapping[str, types.FunctionType], label: str) -> None:
        self.bound = bound
        self.label = label
        self.done: dict[object, tuple[str, Kind]] = {}
        self.running: list[types.FunctionType] = []
        self.lines: list[str] = []
        self.names: list[str] = []
        self.origin: dict[int, tuple[str, int]] = {}

    def add(self, function: types.FunctionType, arguments: Sequence[Value]) -> tuple[str, Kind]:
        """Translate a function for arguments of some kinds; returns its name in the text and what it returns."""
        key = (function, tuple(repr(a) if a.kind == "object" or a.items else a.kind for a in arguments))
        if key in self.done:
            return self.done[key]
        if function in self.running:
            refuse(self.label, function, None, f"{function.__name__} calls itself; a kernel must not be recursive")
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


class _Function(Expressions):
    """One function for arguments of given kinds: its statements."""

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
        if isinstance(returns, tuple) and any(r not in ORDER for r in returns):
            self.refuse(self.tree, "it must return numbers, or one tuple of numbers")
        head, line = [], self.first
        formal = []
        for name in self.parameters:
            value = self.given[name]
            if value.kind == "object" or value.items:
                continue
            inside = self.local(name)
            kind = value.kind
            formal.append(f"{inside if name not in self.stored else inside + '_given'}: {annotation(kind)}")
            if name in self.stored:
                start = Value(f"{inside}_given", kind)
                head.append((f"    {inside} = {assignable(self.as_kind(start, self.kinds[name], self.tree))}", line))
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

    def block(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            self.line = self.first + statement.lineno - 1
            method = getattr(self, f"_do_{type(statement).__name__}", None)
            if method is None:
                self.refuse(statement, f"{node_name(statement)} is not available")
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

    def assign(self, target: ast.expr, value: Value) -> None:
        if value.kind == VOID or (value.kind == "object"):
            self.refuse(target, "a name is given something that is no number")
        if isinstance(target, ast.Tuple | ast.List):
            if len(value.items) != len(target.elts):
                self.refuse(target, f"{len(target.elts)} names are given {len(value.items) or 1} numbers")
            parts = value.items
            if any(p.known is None for p in parts) and len(parts) > 1:  # a, b = b, a
                names = []
                for part in parts:
                    names.append(Value(self.temporary(), part.kind) if part.kind in ORDER else part)
                    if part.kind in ORDER and not part.text.startswith("t__"):
                        self.put(f"{names[-1].text} = {assignable(part.text)}")
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
            joined = kind if old is None else join(old, kind)
            if joined is None:
                self.refuse(target, f"{target.id} is a number here and something else there")
            self.kinds[target.id] = joined
            name = self.local(target.id)
            if isinstance(joined, tuple):
                for i, (part, item) in enumerate(zip(joined, value.items, strict=True)):
                    self.put(f"{name}__{i} = {assignable(self.as_kind(item, part, target))}")
            elif joined == ARRAY:
                self.put(f"{name} = {value.text}")
            else:
                self.put(f"{name} = {assignable(self.as_kind(value, joined, target))}")
        else:
            self.refuse(target, f"{node_name(target)} cannot be assigned")

    def _do_Return(self, node: ast.Return) -> None:
        if self.unrolling:
            self.refuse(node, "return inside a loop over a tuple is not available")
        if node.value is None:
            self.put("return")
            return
        value = self.value(node.value)
        kind = tuple(i.kind for i in value.items) if value.items else value.kind
        if kind == "object" or (kind not in ORDER and not isinstance(kind, tuple)):
            self.refuse(node, "it returns something that is no number")
        joined = kind if self.returns is None else join(self.returns, kind)
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
            if node.iter.keywords or not 1 <= len(bounds) <= 3 or any(b.kind not in ORDER for b in bounds):
                self.refuse(node, "range must have one to three whole numbers")
            if isinstance(node.target, ast.Name):
                self.kinds[node.target.id] = join(self.kinds.get(node.target.id, INT), INT)
                counter = f"{self.local(node.target.id)}__n"
                self.put(f"for {counter} in range({', '.join(self.as_kind(b, INT, node) for b in bounds)}):")
                first = self.as_kind(Value(counter, INT), self.kinds[node.target.id], node)
                self.loops += 1
                self.nested(node.body, f"{self.local(node.target.id)} = {assignable(first)}")
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

    def bind(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self.unrolled[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List) and len(target.elts) == len(value.items):
            for element, item in zip(target.elts, value.items, strict=True):
                self.bind(element, item)
        else:
            self.refuse(target, "the loop's names do not fit what it runs over")

    def sequence(self, node: ast.expr) -> tuple[Value, ...]:
        """Return the elements of what a loop runs over, known now."""
        if isinstance(node, ast.Call) and {k.arg for k in node.keywords} <= {"strict"}:
            function = self.builtin(node.func)
            if function is enumerate and len(node.args) == 1:
                return tuple(
                    Value("", (INT, x.kind), items=(known_value(i), x))
                    for i, x in enumerate(self.sequence(node.args[0]))
                )
            if function is zip:
                rows = zip(*(self.sequence(a) for a in node.args), strict=False)
                return tuple(Value("", tuple(x.kind for x in row), items=row) for row in rows)
            if function is reversed and len(node.args) == 1:
                return self.sequence(node.args[0])[::-1]
            if function is range:
                bounds = [self.value(a).known for a in node.args]
                if all(isinstance(b, int) for b in bounds):
                    return tuple(known_value(i) for i in range(*bounds))
        value = self.value(node)
        if not value.items:
            self.refuse(node, "a loop runs over something whose length is not known before the step")
        return value.items


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
    names = {f: program.add(f, [Value("", kind) for kind in kinds])[0] for f, kinds in entries.items()}
    return Translation("\n".join(program.lines), tuple(program.names), names, program.origin)
