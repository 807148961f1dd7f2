"""Break the source in small ways, one at a time, and see whether the mirrored tests notice.

    python tests/helpers/mutants.py --count 300 --seed 0 --output mutants.yaml

A mutant has one changed operator, sign, constant or comparison, or one check removed. It is killed if a test of the
mirrored file fails, or else one of the other files of that folder; tests that are slow, nightly, or need a network or
files of others are left out. Works on a copy; nothing of the checkout changes. `tests/data/mutants.yaml` has the
survivors that were seen, with a judgement.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("model", "laws", "devices", "rods", "control", "feet/model")
"""What is broken."""
COPIED = ("src", "tests", "docs", "examples", "conftest.py", "pyproject.toml")
MARKERS = "not slow and not nightly and not network and not shared"
TIMEOUT_S = 600
OPERATORS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
COMPARISONS = {
    ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """One change of one file."""

    file: str
    """Path in the repository."""
    line: int
    """Line of the change."""
    kind: str
    """"operator", "sign", "constant", "comparison" or "check"."""
    before: str
    """Text that is replaced."""
    after: str
    """Text in its place."""
    start: int
    """Where the text begins in the file [bytes]."""

    def apply(self, source: bytes) -> bytes:
        """Return the broken source."""
        old = self.before.encode()
        assert source[self.start : self.start + len(old)] == old
        return source[: self.start] + self.after.encode() + source[self.start + len(old) :]


def changed(node: ast.AST) -> tuple[str, ast.AST, ast.AST] | None:
    """Return kind, replaced node and replacement of a node that can be broken."""
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        if not any(isinstance(x, ast.Constant | ast.JoinedStr) and not _number(x) for x in (node.left, node.right)):
            return "operator", node, ast.BinOp(node.left, OPERATORS[type(node.op)](), node.right)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return "sign", node, node.operand
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
        return "comparison", node, ast.Compare(node.left, [COMPARISONS[type(node.ops[0])]()], node.comparators)
    elif isinstance(node, ast.If) and isinstance(node.body[0], ast.Raise) and not node.orelse:
        return "check", node.test, ast.Constant(False)
    elif _number(node):
        value = node.value  # type: ignore[attr-defined]
        return "constant", node, ast.Constant(value + 1 if isinstance(value, int) else 1.5 * value + (value == 0.0))
    return None


def _number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def mutants_of(file: str, source: bytes) -> Iterator[Mutant]:
    """Yield the mutants of the functions of a file; messages, annotations and imports stay."""
    lines = [0]
    for line in source.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    functions = [n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef | ast.ClassDef)]
    todo: list[ast.AST] = list(functions)
    while todo:
        node = todo.pop()
        found = changed(node)
        inside_class = isinstance(node, ast.ClassDef)
        if found is not None:
            kind, old, new = found
            start, end = (
                lines[r - 1] + c for r, c in ((old.lineno, old.col_offset), (old.end_lineno, old.end_col_offset))
            )  # type: ignore[attr-defined]
            after = ast.unparse(ast.fix_missing_locations(new))
            after = after if kind in ("check", "constant") else f"({after})"
            before = source[start:end].decode()
            yield Mutant(file=file, line=old.lineno, kind=kind, before=before, after=after, start=start)  # type: ignore[attr-defined]
        skipped = {
            id(x) for name in ("annotation", "returns", "decorator_list") for x in _list(getattr(node, name, []))
        }
        for child in ast.iter_child_nodes(node):
            message = isinstance(child, ast.Raise | ast.JoinedStr) or id(child) in skipped
            field = inside_class and not isinstance(child, ast.FunctionDef)
            if not message and not field:
                todo.append(child)


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def choose(count: int, seed: int, only: str = "") -> list[Mutant]:
    """Return so many mutants of all rooms, drawn with a seed; ``only``: those of files with this in their path."""
    every = []
    for room in ROOMS:
        for path in sorted((ROOT / "src" / "pliant" / room).rglob("*.py")):
            file = str(path.relative_to(ROOT))
            every += sorted(mutants_of(file, path.read_bytes()), key=lambda m: (m.start, m.kind, m.after))
    every = [m for m in every if only in f"{m.file}:{m.line}"]
    return random.Random(seed).sample(every, min(count, len(every)))


def mirrored(file: str, root: Path = ROOT) -> list[list[Path]]:
    """Return the test files of a source file: those with its name; then of its folder, or of its folder's name."""
    place = Path(file).relative_to("src/pliant")
    folder, stem = root / "tests" / place.parent, place.stem
    above = folder.parent.glob(f"test_{folder.name}*.py")
    while not folder.is_dir():
        above = folder.parent.glob(f"test_{folder.name}*.py")
        folder, stem = folder.parent, folder.name
    every = sorted({*folder.glob("test_*.py"), *above})
    named = [path for path in every if path.stem == f"test_{stem}" or path.stem.startswith(f"test_{stem}_")]
    return [part for part in (named, [path for path in every if path not in named]) if part]


def killed_by(mutant: Mutant, copy: Path) -> str:
    """Return which test files fail with a mutant, "" if none does."""
    path = copy / mutant.file
    source = path.read_bytes()
    path.write_bytes(mutant.apply(source))
    environment = {**os.environ, "PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("PYTEST_ADDOPTS", None)
    try:
        for files in mirrored(mutant.file, copy):
            command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:xdist", "-m", MARKERS, *map(str, files)]
            try:
                done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, timeout=TIMEOUT_S)
            except subprocess.TimeoutExpired:
                return "time limit"
            if done.returncode == 4:  # wrong use of pytest, which says nothing of the mutant
                raise RuntimeError(done.stderr.decode(errors="replace"))
            if done.returncode not in (0, 5):  # 5: no test was chosen
                text = done.stdout.decode(errors="replace")
                return next((line for line in text.splitlines() if line.startswith(("FAILED", "ERROR"))), files[0].name)
        return ""
    finally:
        path.write_bytes(source)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="part of FILE:LINE")
    parser.add_argument("--output", type=Path, help="file of the survivors, YAML")
    given = parser.parse_args()
    survivors, kinds = [], Counter[tuple[str, bool]]()
    with tempfile.TemporaryDirectory(prefix="pliant-mutants-") as scratch:
        copy = Path(scratch) / "pliant"
        copy.mkdir()
        for name in COPIED:
            (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, copy / name)
        for number, mutant in enumerate(choose(given.count, given.seed, given.only), 1):
            test = killed_by(mutant, copy)
            kinds[mutant.kind, bool(test)] += 1
            what = f"{mutant.file}:{mutant.line} {mutant.kind}: {mutant.before} -> {mutant.after}"
            print(f"{number} {'killed' if test else 'SURVIVED'} {what[:200]} {test[:100]}", flush=True)
            if not test:
                survivors.append({k: v for k, v in asdict(mutant).items() if k != "start"} | {"judgement": ""})
            if given.output:
                given.output.write_text(yaml.safe_dump(survivors, sort_keys=False, width=120))
    total, dead = sum(kinds.values()), sum(n for (_, killed), n in kinds.items() if killed)
    print(f"{dead} of {total} mutants killed ({100 * dead / max(1, total):.0f} %)")
    for kind in sorted({kind for kind, _ in kinds}):
        print(f"  {kind}: {kinds[kind, True]} of {kinds[kind, True] + kinds[kind, False]}")


if __name__ == "__main__":
    main()
