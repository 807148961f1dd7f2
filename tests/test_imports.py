"""The core and its wings: the core names no wing, wings import the core and few others, no files import each other.

docs/design.md has both tables: the rooms of the core in their order, and which part of a wing may import another wing.
"""

import ast
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

import pytest

pytestmark = pytest.mark.quick

SOURCE = Path(__file__).resolve().parents[1] / "src" / "pliant"

# Rooms of the core. Each may import from itself and from the rows above it; rooms in one row do not see each other.
ROWS = [
    {"base"},
    {"laws"},
    {"model"},
    {"engine"},
    {"formats"},
    {"devices"},
    {"recording"},
    {"simulation"},
    {"robots"},
    {"cli"},
    {"__main__"},
]
LEVEL = {room: level for level, row in enumerate(ROWS) for room in row}
WINGS = {path.parent.name for path in SOURCE.glob("*/wing.py")} - {"base"}
BETWEEN_WINGS = {
    ("bags", "ros"),
    ("bags.node", "replay"),
    ("compare.commands", "films"),
    ("compare.runs", "plots"),
    ("experiments", "films"),
    ("experiments", "tasks"),
    ("identification.excitation", "command_tables"),
    ("identification.randomized", "batch"),
    ("identification.report", "experiments"),
    ("learn", "batch"),
    ("learn.backend", "sweep"),
    ("learn.bench", "tasks"),
    ("learn.compliance", "tasks"),
    ("learn.compliance.report", "experiments"),
    ("learn.envs.pictures", "camera"),
    ("export", "ros2_control"),
    ("feet.fit", "identification"),
    ("feet.standing_bench", "batch"),
    ("feet.trials", "batch"),
    ("franka.client.policy", "learn"),
    ("franka.log", "shadow"),
    ("franka.page", "page"),
    ("franka.panel", "page"),
    ("franka.robots", "vision"),
    ("franka_ros", "franka"),
    ("franka_ros", "ros"),
    ("joints.benches", "muscles"),
    ("lerobot", "franka"),
    ("page", "events"),
    ("parallel", "rods"),
    ("parallel.page", "page"),
    ("parallel.ros", "ros"),
    ("rods", "tasks"),
    ("ros", "ros2_control"),
    ("ros.package", "export"),
    ("ros.policy", "learn"),
    ("shadow", "batch"),
    ("shadow.log", "identification"),
    ("sweep", "batch"),
    ("sweep", "tasks"),
    ("sweep", "command_tables"),
    ("gazebo_yarp", "control_boards"),
    ("gazebo_yarp", "yarp"),
    ("gazebo_yarp.plugins", "objects"),
    ("yarp", "control_boards"),
    ("yarp.policy", "learn"),
    ("tendons", "rods"),
    ("tendons.page", "page"),
    ("tubes", "rods"),
    ("vision", "camera"),
    ("walking.robots", "feet"),
    ("walking.trials", "tasks"),
    ("ros_zenoh", "ros"),
}
"""Part of a wing -> the other wing that it may import. Papers may import all wings."""
PURE = {
    "camera",
    "control",
    "laws",
    "muscles",
    "parallel",
    "rods",
    "spring_tables",
    "symbolic",
    "tasks",
    "tendons",
    "tubes",
    "vision",
}
"""Rooms and wings whose modules see neither MuJoCo nor the engine, but for those of `NOT_PURE`; so does every wire."""
NOT_PURE = {
    "camera": {"device", "renderer", "wing"},
    "muscles": {"wing"},
    "parallel": {"device", "entry", "format", "model", "page", "ros", "wing"},
    "rods": {"commands", "design", "figures", "model", "wing"},
    "spring_tables": {"wing"},
    "symbolic": {"wing"},
    "tasks": {"options", "wing"},
    "tendons": {"commands", "device", "entry", "format", "model", "page", "wing"},
    "tubes": {"commands", "listed", "wing"},
    "vision": {"client", "pictures_bridge", "tags", "wing"},
}
LOADERS = {
    "base/lazy.py",
    "base/plugins.py",
    "base/wing.py",
    "learn/envs/make.py",
    "experiments/runner.py",
    "recording/mcap_reader.py",
    "robots/catalogue.py",
}
"""Files that import by a name that is not written in the call: modules of the user, of other packages, of a folder, or
on first use."""


@dataclass(frozen=True)
class Import:
    """One import, wherever it stands: at the top, in a function, below TYPE_CHECKING, in importlib, in a table."""

    module: str
    """Dotted name of what is imported."""
    names: tuple[str, ...]
    """Names that are taken from the module; empty where the module itself is."""
    line: int


@functools.cache
def files(source: Path = SOURCE) -> dict[str, Path]:
    """Return every file by the name of its module."""
    found = {}
    for path in sorted(source.rglob("*.py")):
        parts = ("pliant", *path.relative_to(source).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@functools.cache
def imports_of(path: Path, source: Path = SOURCE) -> list[Import]:
    """Return every import of a file."""
    nodes = nodes_of(path)
    package = ("pliant", *path.relative_to(source).parent.parts)
    found: list[Import] = []
    for node in nodes:
        if isinstance(node, ast.Import):
            found += [Import(alias.name, (), node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - (node.level - 1)] if node.level else ()
            module = ".".join((*base, *([node.module] if node.module else [])))
            found.append(Import(module, tuple(alias.name for alias in node.names), node.lineno))
    return [*found, *imports_by_text(nodes)]


@functools.cache
def nodes_of(path: Path) -> list[ast.AST]:
    """Return the nodes of a file that may name a module: imports, calls of importlib, and texts."""
    return [
        node
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path)))
        if isinstance(node, ast.Import | ast.ImportFrom | ast.JoinedStr)
        or is_import_call(node)
        or (isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("pliant."))
    ]


def imports_by_text(nodes: list[ast.AST]) -> Iterator[Import]:
    """Yield the modules that a file names in text, to import them by importlib.

    These are the texts that a call to import is given, "pliant.module:function" in tables, and f-strings that begin
    with "pliant."; each field of an f-string stands for any name.
    """
    for node in nodes:
        if is_import_call(node) and node.args and isinstance(node.args[0], ast.Constant):
            yield Import(str(node.args[0].value), (), node.lineno)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            match = re.fullmatch(r"(pliant(?:\.\w+)+):(\w+)", node.value)
            if match:
                yield Import(match[1], (match[2],), node.lineno)
        elif isinstance(node, ast.JoinedStr):
            text = "".join(str(v.value) if isinstance(v, ast.Constant) else "*" for v in node.values)
            if re.fullmatch(r"pliant(\.[\w*]+)+", text):
                yield Import(text, (), node.lineno)


def is_import_call(node: ast.AST) -> TypeGuard[ast.Call]:
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name in ("import_module", "__import__")


def targets(found: Import, source: Path = SOURCE) -> Iterator[str]:
    """Yield the modules whose code an import needs; a name that a package re-exports is followed to its module."""
    modules = files(source)
    if "*" in found.module:
        pattern = re.escape(found.module).replace(r"\*", r"\w+")
        yield from (m for m in modules if re.fullmatch(pattern, m))
    elif not found.names or found.names == ("*",):
        if found.module in modules:
            yield found.module
    else:
        yield from (defining_module(found.module, name, source) for name in found.names if found.module in modules)


@functools.cache
def defining_module(module: str, name: str, source: Path = SOURCE) -> str:
    """Return the module that defines a name which is imported from a module."""
    modules = files(source)
    if f"{module}.{name}" in modules:
        return f"{module}.{name}"
    if modules[module].name == "__init__.py":
        table = public_names(modules[module])
        if name in table and table[name] in modules:
            return defining_module(table[name], name, source)
        for found in imports_of(modules[module], source):
            if name in found.names and found.module in modules and found.module != module:
                return defining_module(found.module, name, source)
    return module


@functools.cache
def graph(source: Path = SOURCE) -> dict[str, dict[str, int]]:
    """Return for every module the modules it imports, with the line.

    The top-level package is left out: its table of public names is resolved on first use, so it may name every room,
    and no file below imports it for anything but such a name.
    """
    table = public_names(source / "__init__.py")
    edges: dict[str, dict[str, int]] = {}
    for module, path in files(source).items():
        edges[module] = {}
        for found in imports_of(path, source) if module != "pliant" else ():
            for target in targets(found, source):
                if target == "pliant":
                    public = [defining_module(table[n], n, source) for n in found.names if n in table]
                    edges[module].update(dict.fromkeys(public, found.line))
                elif target != module:
                    edges[module].setdefault(target, found.line)
    return edges


def public_names(path: Path) -> dict[str, str]:
    """Return the table of a package whose names resolve on first use: public name -> module."""
    tree = ast.parse(path.read_text(encoding="utf-8")) if path.exists() else ast.Module([], [])
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "_EXPORTS" and node.value is not None:
            return ast.literal_eval(node.value)
    return {}


def circles(edges: dict[str, dict[str, int]]) -> list[list[str]]:
    """Return the sets of modules that reach each other (Tarjan's strongly connected components)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(module: str) -> None:
        index[module] = low[module] = len(index)
        stack.append(module)
        for target in edges.get(module, {}):
            if target not in index:
                visit(target)
                low[module] = min(low[module], low[target])
            elif target in stack:
                low[module] = min(low[module], index[target])
        if low[module] == index[module]:
            members = stack[stack.index(module) :]
            del stack[stack.index(module) :]
            if len(members) > 1:
                found.append(sorted(members))

    for module in edges:
        if module not in index:
            visit(module)
    return sorted(found)


def printed(members: list[str], edges: dict[str, dict[str, int]], source: Path = SOURCE) -> str:
    """Return the arrows within a circle, each with file and line."""
    return "\n".join(
        f"{files(source)[a].relative_to(source)}:{edges[a][b]}: {a} imports {b}"
        for a in members
        for b in members
        if b in edges[a]
    )


def room_of(module: str) -> str:
    return module.split(".")[1]


def is_pure(module: str) -> bool:
    parts = module.split(".")[1:]
    if len(parts) > 1 and parts[1] == "wire":
        return True
    return parts[0] in PURE and not (len(parts) > 1 and parts[1] in NOT_PURE.get(parts[0], ()))


def wrong_arrows(source: Path = SOURCE) -> list[str]:
    """Return every import that goes upwards, to a wing or out of a pure module, with file and line."""
    wrong = []
    for module, path in files(source).items():
        if module == "pliant":
            continue
        here, where = room_of(module), path.relative_to(source)
        if here not in LEVEL and here not in WINGS:
            wrong.append(f"{where}: {here} is neither a room that docs/design.md names nor a wing")
            continue
        pure = is_pure(module)
        if pure:
            outside = [i for i in imports_of(path, source) if i.module.split(".")[0] == "mujoco"]
            wrong += [f"{where}:{i.line}: {module} must not see MuJoCo" for i in outside]
        for target, line in graph(source)[module].items():
            there = room_of(target)
            if there == here or (there not in LEVEL and there not in WINGS):
                continue
            text = f"{where}:{line}: {here} may not import {there} ({target})"
            if there in WINGS:
                own = module.removeprefix("pliant.")
                allowed = here == "papers" or any(
                    other == there and (own == part or own.startswith(f"{part}.")) for part, other in BETWEEN_WINGS
                )
                if here in LEVEL or not allowed:
                    wrong.append(text)
                elif pure and not is_pure(target):
                    wrong.append(f"{where}:{line}: {module} must not see {target}, which may see MuJoCo")
            elif here in LEVEL and LEVEL[there] >= LEVEL[here]:
                wrong.append(text)
            elif pure and there not in {"base", "laws"} - {here}:
                wrong.append(f"{where}:{line}: {module} may import only base and laws, not {there}")
    return wrong


def test_the_core_names_no_wing_in_any_text():
    names = re.compile(rf"\bpliant\.({'|'.join(sorted(WINGS))})\b")
    found = [
        f"{path.relative_to(SOURCE)}:{number}: {line.strip()}"
        for module, path in files().items()
        if module == "pliant" or room_of(module) in LEVEL
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if names.search(line)
    ]
    assert not found, "\n".join(found)


def test_the_documentation_has_the_table_of_imports_between_wings():
    text = (SOURCE.parents[1] / "docs" / "design.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([\w.]+)` \| `(\w+)` \|", text, flags=re.MULTILINE)
    assert set(rows) == BETWEEN_WINGS


def test_the_documentation_lists_the_wings():
    text = (SOURCE.parents[1] / "docs" / "design.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| \[?`(\w+)`\]?[^|]*\| [^`]", text, flags=re.MULTILINE)) >= WINGS


def test_imports_go_only_downwards():
    assert not wrong_arrows(), "\n".join(wrong_arrows())


def test_the_documentation_lists_the_rooms_in_the_order_that_is_checked():
    text = (SOURCE.parents[1] / "docs" / "design.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| ((?:`\w+` ?)+) \|", text, flags=re.MULTILINE)
    documented = {int(number): set(re.findall(r"\w+", rooms)) for number, rooms in rows}
    assert documented == {level: row for level, row in enumerate(ROWS, start=1) if row != {"__main__"}}


def test_no_files_import_each_other():
    edges = graph()
    found = circles(edges)
    assert not found, "\n\n".join(printed(c, edges) for c in found)


def test_modules_are_imported_by_a_computed_name_only_in_the_files_that_look_names_up():
    computed = set()
    for module, path in files().items():
        calls = [n for n in nodes_of(path) if is_import_call(n)]
        if module != "pliant" and any(not (c.args and isinstance(c.args[0], ast.Constant)) for c in calls):
            computed.add(str(path.relative_to(SOURCE)))
    assert computed <= LOADERS


def test_no_public_name_that_resolves_on_first_use_is_that_of_a_module_beside_it():
    # Importing the module would put it in the place of the name.
    for module, path in files().items():
        if path.name == "__init__.py":
            hidden = [name for name in public_names(path) if f"{module}.{name}" in files()]
            assert not hidden, f"{module}: {hidden}"


def missing_modules(folders: list[Path], source: Path = SOURCE) -> list[str]:
    """Return every import of a module of pliant that does not exist, inside functions too, with file and line."""
    known = set(files(source)) | {"pliant"}
    missing = []
    for path in sorted(p for folder in folders for p in folder.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        lines = re.findall(r"^[^\n#]*\bimport\b.*", text, re.MULTILINE)
        if {name for line in lines for name in re.findall(r"(?<![\w./])pliant(?:\.\w+)*", line)} <= known:
            continue  # the tree of a file is only built where a line may name an unknown module
        for node in ast.walk(ast.parse(text, str(path))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module or ""]
            missing += [f"{path}:{node.lineno}: {n}" for n in names if n.split(".")[0] == "pliant" and n not in known]  # type: ignore[attr-defined]
    return missing


def test_every_import_of_pliant_names_a_module_that_exists():
    root = SOURCE.parents[1]
    folders = [SOURCE, *(root / name for name in ("tests", "examples", "benchmarks", "conformance"))]
    assert not missing_modules(folders), "\n".join(missing_modules(folders))


# -- this test itself, on packages that break the order ------------------------------------------------------------


def house(folder: Path, **contents: str) -> Path:
    """Write a small package; a name with two underscores is a file in a folder."""
    for name, text in {"": "", **contents}.items():
        path = folder.joinpath(*name.split("__")).with_suffix(".py") if name else folder / "__init__.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        (path.parent / "__init__.py").touch()
        path.write_text(text)
    return folder


@pytest.mark.parametrize(
    "text",
    [
        "from pliant.cli.run import main",
        "def f():\n    from pliant.cli import run",
        "def f():\n    import pliant.cli.run as r",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from pliant.cli.run import main",
        "from ..cli.run import main",
        "import importlib\nimportlib.import_module('pliant.cli.run')",
        "from importlib import import_module\ndef f(x):\n    import_module(f'pliant.cli.{x}')",
        "def f(x):\n    name = f'pliant.{x}.run'",
        "TABLE = {'run': 'pliant.cli.run:main'}",
    ],
)
def test_an_arrow_upwards_is_seen_however_it_is_written(tmp_path, text):
    source = house(tmp_path, cli__run="main = 1", model__robot=text)
    (wrong,) = wrong_arrows(source)
    assert "model may not import cli (pliant.cli.run)" in wrong
    assert wrong.startswith("model/robot.py:")


def test_a_pure_wing_may_not_import_what_sees_mujoco_of_a_wing_that_it_builds_on(tmp_path):
    source = house(tmp_path, rods__checks="x = 1", rods__model__chain="y = 1", tubes__robot="")
    text = "from pliant.rods.checks import x\nfrom pliant.rods.model.chain import y"
    (source / "tubes" / "robot.py").write_text(text)
    (wrong,) = wrong_arrows(source)
    assert wrong.startswith("tubes/robot.py:2: pliant.tubes.robot must not see pliant.rods.model.chain")


def test_a_name_is_followed_through_packages_to_the_file_that_defines_it(tmp_path):
    source = house(
        tmp_path,
        model__robot="from pliant import check\nclass Robot: ...",
        model__check="def f():\n    from pliant.model import Robot",
    )
    (source / "model" / "__init__.py").write_text("from pliant.model.robot import Robot\nfrom .check import f")
    (source / "__init__.py").write_text('_EXPORTS: dict[str, str] = {"check": "pliant.model.check"}')
    (circle,) = circles(graph(source))
    assert circle == ["pliant.model.check", "pliant.model.robot"]
    assert printed(circle, graph(source), source).splitlines() == [
        "model/check.py:2: pliant.model.check imports pliant.model.robot",
        "model/robot.py:1: pliant.model.robot imports pliant.model.check",
    ]


def test_a_module_that_does_not_exist_is_seen_inside_a_function(tmp_path):
    source = house(tmp_path, model__robot="def f():\n    from pliant.model.robt import Robot")
    assert missing_modules([source], source) == [f"{source / 'model' / 'robot.py'}:2: pliant.model.robt"]
