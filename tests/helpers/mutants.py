"""Break the source in small ways, one at a time, and see whether the mirrored tests notice.

    python tests/helpers/mutants.py --count 300 --seed 0 --output build/mutants.jsonl

A mutant has one change (`KINDS`). It is killed if a test of its room fails or hangs with it; tests that are slow,
nightly, or need a network or files of others are left out, and so are tests that do not execute the changed line. What
only draws, prints or serves a page is not broken (`PRESENTATION`), nor are messages, annotations and thresholds against
rounding. Kernels are broken and tested as plain Python. Works on a copy; nothing of the checkout changes. A run that
was interrupted goes on where it ended. `tests/data/mutants.yaml` has the survivors that were seen, with a judgement.
"""

from __future__ import annotations

import argparse
import ast
import functools
import hashlib
import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import zip_longest
from pathlib import Path

import mutant_runner

ROOT = Path(__file__).resolve().parents[2]
ROOMS = (
    "model", "laws", "muscles", "spring_tables", "symbolic", "devices", "sensors", "camera", "objects", "rods",
    "parallel", "tendons", "tubes", "control", "feet/model",
)  # fmt: skip
"""What is broken; each room gives the same number of mutants."""
PRESENTATION = (
    "parallel/page/", "rods/commands/", "rods/figures.py", "rods/notebook.py", "model/notebook.py", "tendons/page/",
    "tendons/commands.py", "tubes/commands.py",
)  # fmt: skip
"""What only draws, prints or serves a page."""
INTERPRETED = {
    "src/pliant/laws/": ("tests/laws/test_*.py",),
    "src/pliant/muscles/kernels.py": ("tests/muscles/test_kernels.py", "tests/muscles/test_law.py"),
    "src/pliant/rods/kernels/": ("tests/rods/test_kernels.py", "tests/rods/test_layout.py", "tests/rods/test_rod_*.py"),
    "src/pliant/camera/kernels.py": ("tests/camera/test_kernels.py",),
}
"""Sources with kernels, and the tests that run them as plain Python."""
COPIED = ("src", "tests", "docs", "examples", "benchmarks", "conftest.py", "pyproject.toml", "Makefile", "README.md")
KINDS = (
    "operator", "sign", "constant", "comparison", "check", "condition", "statement", "index", "absolute", "extreme",
)  # fmt: skip
ROUNDING = 1e-6
"""Constants up to this one are thresholds against rounding [1]."""
OPERATORS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
COMPARISONS = {
    ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
}  # fmt: skip
EXTREMES = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum"}
ABSOLUTES = ("abs", "fabs")
SILENT = ("log", "logger", "warnings")
"""Names of what only tells."""


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """One change of one file."""

    file: str
    """Path in the repository."""
    line: int
    """First line of the change."""
    last_line: int
    """Last line of the change."""
    function: str
    """Function or class that contains it, with those around it."""
    kind: str
    """One of `KINDS`."""
    before: str
    """Text that is replaced."""
    after: str
    """Text in its place."""
    start: int
    """Where the text begins in the file [bytes]."""
    number: int = 0
    """Which of the equal changes of this function."""

    def apply(self, source: bytes) -> bytes:
        """Return the broken source."""
        old = self.before.encode()
        assert source[self.start : self.start + len(old)] == old
        return source[: self.start] + self.after.encode() + source[self.start + len(old) :]

    @property
    def key(self) -> str:
        """What names the mutant as long as its function does not change."""
        return "|".join((self.file, self.function, self.kind, self.before, self.after, str(self.number)))


def _constant(value: float) -> float:
    if value in (0, 1):
        return type(value)(1 - value)
    return value + 1 if isinstance(value, int) else 2.0 * value


def _number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def _name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _tells(node: ast.AST) -> bool:
    """Return whether a statement or call only writes a message, or is a text."""
    node = node.value if isinstance(node, ast.Expr) else node
    if isinstance(node, ast.Call):
        first = node.func
        while isinstance(first, ast.Attribute):
            first = first.value
        return _name(first) in SILENT
    return isinstance(node, ast.Constant | ast.JoinedStr) and not _number(node)


def _is_removable(node: ast.AST) -> bool:
    """Return whether code after a statement can run without it."""
    if isinstance(node, ast.Assign):
        return all(isinstance(target, ast.Subscript | ast.Attribute) for target in node.targets)
    return isinstance(node, ast.AugAssign) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))


def changes(node: ast.AST) -> Iterator[tuple[str, ast.AST, ast.AST]]:
    """Yield kind, replaced node and replacement of each way to break a node."""
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        if not any(isinstance(x, ast.Constant | ast.JoinedStr) and not _number(x) for x in (node.left, node.right)):
            yield "operator", node, ast.BinOp(node.left, OPERATORS[type(node.op)](), node.right)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield "sign", node, node.operand
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
        operators = [COMPARISONS[type(node.ops[0])](), *node.ops[1:]]
        yield "comparison", node, ast.Compare(node.left, operators, node.comparators)
    elif isinstance(node, ast.BoolOp):
        yield "condition", node, ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    elif isinstance(node, ast.Call) and _name(node.func) in ABSOLUTES and len(node.args) == 1:
        yield "absolute", node, node.args[0]
    elif isinstance(node, ast.Call) and _name(node.func) in EXTREMES and not node.keywords:
        other = EXTREMES[_name(node.func)]
        func = (
            ast.Name(other) if isinstance(node.func, ast.Name) else ast.Attribute(node.func.value, other)  # type: ignore[attr-defined]
        )
        yield "extreme", node, ast.Call(func, node.args, [])
    elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple) and len(node.slice.elts) == 2:
        first, second = node.slice.elts
        if (
            not isinstance(first, ast.Slice)
            and not isinstance(second, ast.Slice)
            and ast.dump(first) != ast.dump(second)
        ):
            yield "index", node.slice, ast.Tuple([second, first])
    elif isinstance(node, ast.If) and isinstance(node.body[0], ast.Raise) and not node.orelse:
        yield "check", node.test, ast.Constant(False)
    elif isinstance(node, ast.If | ast.IfExp) and not isinstance(node.test, ast.Compare):
        yield "condition", node.test, ast.UnaryOp(ast.Not(), node.test)
    elif _is_removable(node):
        yield "statement", node, ast.Pass()
    elif _number(node):
        value = node.value  # type: ignore[attr-defined]
        if value == 0 or abs(value) > ROUNDING:
            yield "constant", node, ast.Constant(_constant(value))


def mutants_of(file: str, source: bytes) -> Iterator[Mutant]:
    """Yield the mutants of the functions of a file; messages, annotations and imports stay."""
    lines = [0]
    for line in source.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    count = Counter[str]()

    def walk(node: ast.AST, function: str) -> Iterator[Mutant]:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            function = f"{function}.{node.name}" if function else node.name
        for kind, old, new in changes(node):
            start, end = (
                lines[r - 1] + c
                for r, c in ((old.lineno, old.col_offset), (old.end_lineno, old.end_col_offset))  # type: ignore[attr-defined]
            )
            after = ast.unparse(ast.fix_missing_locations(new))
            after = after if kind in ("check", "constant", "statement", "index") else f"({after})"
            mutant = Mutant(
                file=file, line=old.lineno, last_line=old.end_lineno, function=function, kind=kind,  # type: ignore[attr-defined]
                before=source[start:end].decode(), after=after, start=start,
            )  # fmt: skip
            count[mutant.key] += 1
            yield Mutant(**{**asdict(mutant), "number": count[mutant.key] - 1})
        skipped = {
            id(x) for name in ("annotation", "returns", "decorator_list") for x in _list(getattr(node, name, []))
        }
        for child in ast.iter_child_nodes(node):
            told = isinstance(child, ast.Raise | ast.JoinedStr) or _tells(child) or id(child) in skipped
            field = isinstance(node, ast.ClassDef) and not isinstance(child, ast.FunctionDef)
            shown = isinstance(child, ast.FunctionDef) and (
                child.name in ("__repr__", "__str__") or "_repr_" in child.name
            )
            if not (told or field or shown):
                yield from walk(child, function)

    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield from walk(node, "")


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


@functools.cache
def mutants_by_room() -> list[list[Mutant]]:
    """Return the mutants of each of `ROOMS`."""
    rooms = []
    for room in ROOMS:
        every = []
        for path in sorted((ROOT / "src" / "pliant" / room).rglob("*.py")):
            file = str(path.relative_to(ROOT))
            if not file.startswith(tuple(f"src/pliant/{name}" for name in PRESENTATION)):
                every += mutants_of(file, path.read_bytes())
        rooms.append(every)
    return rooms


def choose(count: int, seed: int, only: str = "") -> list[Mutant]:
    """Return so many mutants, drawn with a seed, of all rooms in turn.

    The order depends on the mutants themselves: a change of one function does not draw others elsewhere.

    Args:
        count: number of mutants.
        seed: of the draw.
        only: draw only those with this in ``FILE:LINE``.
    """

    def rank(mutant: Mutant) -> bytes:
        return hashlib.sha256(f"{seed}|{mutant.key}".encode()).digest()

    rooms = [sorted((m for m in every if only in f"{m.file}:{m.line}"), key=rank) for every in mutants_by_room()]
    return [mutant for turn in zip_longest(*rooms) for mutant in turn if mutant is not None][:count]


def is_interpreted(file: str) -> bool:
    """Return whether a source file has kernels, which are broken as plain Python."""
    return file.startswith(tuple(INTERPRETED))


def mirrored(file: str, root: Path = ROOT) -> list[str]:
    """Return the test files of a source file: those of its folder, the ones with its name first."""
    place = Path(file).relative_to("src/pliant")
    folder, stem = root / "tests" / place.parent, place.stem
    above = folder.parent.glob(f"test_{folder.name}*.py")
    while not folder.is_dir():
        above = folder.parent.glob(f"test_{folder.name}*.py")
        folder, stem = folder.parent, folder.name
    every = {*folder.glob("test_*.py"), *above}
    for start, patterns in INTERPRETED.items():
        if file.startswith(start):
            every = {path for pattern in patterns for path in root.glob(pattern)}

    def other(path: Path) -> tuple[bool, Path]:
        return path.stem != f"test_{stem}" and not path.stem.startswith(f"test_{stem}_"), path

    return [str(path.relative_to(root)) for path in sorted(every, key=other)]


def tests_of(mutant: Mutant, copy: Path, kept: Path) -> dict[str, float]:
    """Return the mirrored tests that execute the line, with their times [s]."""
    source, lines = mutant.file.removeprefix("src/"), range(mutant.line, mutant.last_line + 1)
    chosen: dict[str, float] = {}
    for file in mirrored(mutant.file, copy):
        survey = mutant_runner.survey(file, copy, interpreted=is_interpreted(mutant.file), kept=kept)
        chosen |= {test: survey.seconds[test] for test in survey.tests_of(source, lines)}
    return chosen


def killed_by(mutant: Mutant, copy: Path, kept: Path) -> tuple[str, int]:
    """Return which test fails with a mutant, "" if none does, and how many tests execute its line."""
    tests = tests_of(mutant, copy, kept)
    path = copy / mutant.file
    source = path.read_bytes()
    pattern = f"{path.stem}.*.pyc"  # of equal length and second as that of the mutant
    try:
        path.write_bytes(mutant.apply(source))
        for file in (path.parent / "__pycache__").glob(pattern):
            file.unlink()
        if not tests:
            return "", 0
        interpreted = is_interpreted(mutant.file)
        return mutant_runner.first_failure(tests, copy, interpreted=interpreted, scratch=kept), len(tests)
    finally:
        path.write_bytes(source)
        for file in (path.parent / "__pycache__").glob(pattern):
            file.unlink()


def tell(results: list[dict[str, object]]) -> Iterator[str]:
    """Yield the lines of a summary: killed of all, of each room and of each kind."""
    for of in ("", "room", "kind"):
        groups: dict[str, list[bool]] = {}
        for one in results:
            groups.setdefault(str(one.get(of, "all")), []).append(bool(one["killed_by"]))
        for name, killed in sorted(groups.items()):
            share = 100 * sum(killed) / len(killed)
            yield f"{of:4s} {name:12s} {sum(killed)} of {len(killed)} mutants killed ({share:.0f} %)"


def make_copy(scratch: Path) -> Path:
    """Return a copy of the checkout in which a file can be broken."""
    copy = scratch / "pliant"
    copy.mkdir()
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name)
        elif (ROOT / name).exists():
            shutil.copy2(ROOT / name, copy / name)
    return copy


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="part of FILE:LINE")
    parser.add_argument("--output", type=Path, default=Path("build/mutants.jsonl"), help="one line for each mutant")
    parser.add_argument("--again", action="store_true", help="try those that survived once more")
    given = parser.parse_args()
    given.output = given.output.resolve()
    given.output.parent.mkdir(parents=True, exist_ok=True)
    done: dict[str, dict[str, object]] = {}
    if given.output.exists():
        done = {one["key"]: one for one in map(json.loads, given.output.read_text().splitlines())}
    mutant_runner.prepare()
    results = []
    with tempfile.TemporaryDirectory(prefix="pliant-mutants-") as scratch:
        copy = make_copy(Path(scratch))
        for number, mutant in enumerate(choose(given.count, given.seed, given.only), 1):
            one = done.get(mutant.key)
            if one is None or (given.again and not one["killed_by"]):
                test, executing = killed_by(mutant, copy, given.output.parent / "mutants")
                room = mutant.file.split("/")[2]
                one = {"key": mutant.key, "room": room, **asdict(mutant), "killed_by": test, "executing": executing}
                with given.output.open("a") as file:
                    file.write(json.dumps(one) + "\n")
                what = f"{mutant.file}:{mutant.line} {mutant.kind}: {mutant.before} -> {mutant.after}"
                verdict = "killed" if test else f"SURVIVED {executing} tests"
                print(f"{number} {verdict} {what[:200]} {test[:100]}", flush=True)
            results.append(one)
    print("\n".join(tell(results)))


if __name__ == "__main__":
    main()
