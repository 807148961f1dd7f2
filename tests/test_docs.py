"""The documentation is true: its blocks run and print what is printed there, its links and options exist.

How a block is marked, in a comment that a reader of the site does not see, on the line before the fence:

* ``<!-- run -->`` a console block: every line that begins with ``$ `` is run, pliant in a forked process; the lines
  below it, if there are any, must be what it prints (``...`` stands for any text, blanks and line ends count alike).
  ``exit=N`` after ``run`` names the exit code that is expected of the last command. A python block is executed; names
  live on to the next block of the page.
* ``<!-- output -->`` a text block: what the python block before it prints.
* ``<!-- file: NAME -->`` any block: it becomes that file in the page's folder.

The blocks of a page run in order, in one folder of their own. Of a block without a mark, the names and keywords of
pliant in its Python and its command lines are checked without running it.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import inspect
import io
import itertools
import os
import re
import shlex
import subprocess
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path

import pytest
from daily import by_day
from forks import forks

from pliant.base.errors import MissingDependency, PliantError
from pliant.robots import list_robots

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(
    r"(?P<mark><!--[^\n]*-->\n)?(?P<indent> *)```(?P<kind>\w*)[^\n]*\n(?P<text>.*?)\n(?P=indent)```", re.DOTALL
)
COLUMNS = "100"
CATALOGUE = [robot.name for robot in list_robots()]
"""Robots before any test has added one of its own."""


@dataclass(frozen=True)
class Block:
    """A marked block of a page."""

    mark: str
    kind: str
    text: str
    line: int


def blocks(page: Path) -> list[Block]:
    """Return the blocks of a page, marked or not."""
    text = page.read_text()
    found = []
    for match in FENCE.finditer(text):
        mark = (match["mark"] or "").strip().removeprefix("<!--").removesuffix("-->").strip()
        indent = len(match["indent"])
        body = "\n".join(line[indent:] for line in match["text"].split("\n"))
        found.append(Block(mark, match["kind"], body, text.count("\n", 0, match.start()) + 1))
    return found


def matches(expected: str, found: str) -> bool:
    """Compare printed text with the page's: blanks count alike, ``...`` stands for anything.

    What a first run says while it compiles is no part of it.
    """
    found = re.sub(r"^pliant: compiling .*\n", "", found, flags=re.MULTILINE)
    parts = [" ".join(part.split()) for part in expected.split("...")]
    pattern = r"[\s\S]*?".join(re.escape(part).replace(r"\ ", r"\s+") for part in parts)
    return re.fullmatch(rf"\s*{pattern}\s*", " ".join(found.split())) is not None


def console(command: str) -> tuple[int, str]:
    """Run one command line; pliant runs in this process."""
    words = shlex.split(command)
    if words[0] != "pliant":
        command = command.replace("python ", f"{shlex.quote(sys.executable)} ", 1)
        done = subprocess.run(command, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout
    from pliant.cli import main

    # A child that has everything imported already: a second each saved, and nothing left behind in this process.
    log = Path(".printed")
    child = os.fork()
    if child == 0:
        code = 70
        with log.open("w") as out, contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            try:
                sys.argv = words
                main(words[1:])
            except SystemExit as end:
                code = int(end.code or 0)
            except BaseException:
                traceback.print_exc()
        os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    text = log.read_text()
    log.unlink()
    return code, text


def run_page(page: Path) -> None:
    """Run the marked blocks of a page in the present folder."""
    sys.path.insert(0, str(Path.cwd()))
    namespace: dict[str, object] = {"__name__": "__main__"}
    printed = ""
    for block in blocks(page):
        where = f"{page.name}:{block.line}"
        if block.mark.startswith("file:"):
            Path(block.mark.removeprefix("file:").strip()).write_text(block.text + "\n")
        elif block.mark == "output":
            assert matches(block.text, printed), f"{where}: the page shows\n{block.text}\nthe block prints\n{printed}"
        elif block.mark.split()[:1] == ["run"] and block.kind == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(block.text, where, "exec"), namespace)
            printed = out.getvalue()
        elif block.mark.split()[:1] == ["run"]:
            wanted = re.search(r"exit=(\d+)", block.mark)
            text = block.text.replace("\\\n", " ")
            commands = re.findall(r"^\$ (.*)\n?((?:(?!\$ ).*\n?)*)", text, re.MULTILINE)
            assert commands, f"{where}: no line begins with '$ '"
            for number, (command, expected) in enumerate(commands):
                code, out_text = console(command)
                last = number == len(commands) - 1
                goal = int(wanted[1]) if wanted and last else 0
                assert code == goal, f"{where}: {command}\nended with {code}, not {goal}:\n{out_text}"
                if expected.strip():
                    shown = f"{where}: {command}\nthe page shows\n{expected}\nit prints\n{out_text}"
                    assert matches(expected, out_text), shown


NIGHTLY = {
    "batches", "command-line", "control-board", "films", "identify", "learning", "recording", "ros2_control",
    "scenarios", "shadow", "softfoot", "tendons", "tour", "tubes", "visual-servoing",
}  # fmt: skip
"""Pages whose blocks run for many seconds; the tests of their rooms have the same commands."""
RUNNABLE = [page for page in PAGES if any(b.mark.split()[:1] == ["run"] for b in blocks(page))]


@pytest.fixture(scope="module")
def pages():
    """Return a process with everything imported, which saves each page more than a second."""
    environment = {**os.environ, "COLUMNS": COLUMNS, "TERM": "dumb", "NO_COLOR": "1"}
    modules = ("test_docs", "pliant.cli", "pliant.devices", "pliant.engine", "pliant.simulation")
    with forks(*modules, environment=environment) as found:
        yield found


PAGE = "import sys, test_docs; test_docs.run_page(test_docs.Path(sys.argv[1]))"


@pytest.mark.parametrize("page", by_day(RUNNABLE, lambda page: page.stem not in NIGHTLY), ids=lambda p: p.stem)
def test_the_blocks_of_a_page_run_and_print_what_it_shows(page, pages, tmp_path):
    folder = tmp_path / "page"
    folder.mkdir()
    pages.run(PAGE, folder, str(page.resolve()))


def python_faults(text: str, where: str) -> list[str]:
    """Return what a reader who types a block of Python would stumble over, found without running it.

    Names of pliant's modules must exist, and keywords of calls must be parameters of what is called.
    """
    tree = ast.parse(text, where)
    known: dict[str, object] = {}
    faults = []

    def resolve(node: ast.expr) -> object:
        """Return the module, class or function of an expression; None for anything else."""
        if isinstance(node, ast.Name):
            return known.get(node.id)
        if not isinstance(node, ast.Attribute):
            return None
        owner = resolve(node.value)
        if not inspect.ismodule(owner):
            return None
        found = getattr(owner, node.attr, None)
        if found is None:
            faults.append(f"{where}: {ast.unparse(node)} does not exist")
        return found

    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for item in (item for item in node.names if item.name.split(".")[0] == "pliant"):
                module = importlib.import_module(item.name)
                known[item.asname or "pliant"] = module if item.asname else importlib.import_module("pliant")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "pliant":
            try:
                module = importlib.import_module(node.module or "")
            except MissingDependency:
                continue
            for item in node.names:
                found = getattr(module, item.name, None)
                if found is None and exists(f"{node.module}.{item.name}"):
                    found = importlib.import_module(f"{node.module}.{item.name}")
                known[item.asname or item.name] = found
                if found is None:
                    faults.append(f"{where}: {node.module} has no {item.name}")
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            resolve(node)
        called = resolve(node.func) if isinstance(node, ast.Call) else None
        if not isinstance(node, ast.Call) or not callable(called):
            continue
        parameters = inspect.signature(called).parameters.values()
        if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
            wrong = {item.arg for item in node.keywords if item.arg} - {parameter.name for parameter in parameters}
            faults += [f"{where}: {ast.unparse(node.func)} takes no {name}" for name in sorted(wrong)]
    return sorted(set(faults))


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_the_python_of_a_page_can_be_typed_and_names_what_exists(page):
    found = [block for block in blocks(page) if block.kind == "python"]
    for block in found:
        compile(block.text, f"{page.name}:{block.line}", "exec")
    found = [block for block in found if not block.mark]  # the others are run
    assert [fault for block in found for fault in python_faults(block.text, f"{page.name}:{block.line}")] == []


def typed_commands(block: Block) -> list[list[str]]:
    """Return the words of each call of pliant in a block of a shell; what is printed there has no ``$``."""
    text = block.text.replace("\\\n", " ")
    lines = re.findall(r"^\$ (.*)$", text, re.MULTILINE) or text.split("\n")
    found = []
    for line in lines:
        lexer = shlex.shlex(line, posix=True, punctuation_chars="&|;<>")
        lexer.whitespace_split = True
        for symbol, group in itertools.groupby(lexer, lambda word: set(word) <= set("&|;<>")):
            words = [] if symbol else list(itertools.dropwhile(lambda word: re.match(r"[A-Z_]+=", word), group))
            if words and words[0].split("/")[-1] == "pliant":
                found.append(words[1:])
    return found


def command_fault(words: list[str]) -> str:
    """Return why the command line refuses words of a page; "" where it takes them."""
    from cyclopts import CycloptsError

    from pliant.cli.application import app, load_commands
    from pliant.simulation.bridges import check_bridge

    load_commands()
    try:
        app.parse_args(words, exit_on_error=False, print_error=False)
        for flag, value in itertools.pairwise(words):
            if flag == "--bridge":
                check_bridge(value)
    except MissingDependency:
        return ""
    except (CycloptsError, PliantError) as error:
        return f"pliant {shlex.join(words)}: {error}"
    return ""


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_the_command_line_takes_the_commands_of_a_page(page):
    # Blocks with a mark are run.
    shells = [block for block in blocks(page) if block.kind in ("console", "sh", "bash", "") and not block.mark]
    faults = [command_fault(words) for block in shells for words in typed_commands(block)]
    assert [fault for fault in faults if fault] == []


def test_blocks_that_cannot_be_typed_are_seen():
    text = "pip install x\npliant run biped --bridge ros2:looback=true   # all\nA=1 pliant rum x & pliant list"
    block = Block("", "sh", text, 1)
    commands = typed_commands(block)
    assert commands == [["run", "biped", "--bridge", "ros2:looback=true"], ["rum", "x"], ["list"]]
    assert [bool(command_fault(words)) for words in commands] == [True, True, False]
    assert command_fault(["run", "biped", "--durration", "3"])
    text = "import pliant\nfrom pliant.ros import nothing\npliant.loud('x')\npliant.robots.build_robot('x', optons={})"
    faults = python_faults(text, "page")
    assert len(faults) == 3
    assert all(name in " ".join(faults) for name in ("nothing", "pliant.loud", "optons"))


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as the site makes them."""
    text = FENCE.sub("", page.read_text())
    found: set[str] = set()
    for heading in re.findall(r"^#+ +(.*)$", text, re.MULTILINE):
        slug = re.sub(r"[^\w\s-]", "", heading.replace("`", "").lower()).strip()
        found.add(re.sub(r"[-\s]+", "-", slug))
    return found


def exists(name: str) -> bool:
    """Return whether a dotted name leads to a module, or to a name that its module has."""
    place, words = ROOT / "src", name.split(".")
    while words and (place / words[0]).is_dir():
        place /= words.pop(0)
    file = place / "__init__.py"
    if words and (place / f"{words[0]}.py").exists():
        file = place / f"{words.pop(0)}.py"
    return not words or re.search(rf"\b{words[0]}\b", file.read_text()) is not None


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_the_tables_of_a_page_have_a_head_and_the_modules_that_it_names_exist(page):
    text = FENCE.sub("", page.read_text())
    lines = ["", *text.split("\n"), ""]
    rows = [n for n, line in enumerate(lines) if line.startswith("|") and not lines[n - 1].startswith("|")]
    assert not [lines[n] for n in rows if not re.fullmatch(r"\|[ :|-]+\|", lines[n + 1])]
    folders = r"(?:src|tests|docs|conformance|benchmarks|examples|packaging)"
    assert not [f for f in re.findall(rf"`({folders}/[\w./-]+)`", text) if not (ROOT / f).exists()]
    names = set(re.findall(r"`(pliant(?:\.[A-Za-z_]\w*)+)", text)) - {"pliant.wings"}  # a group of entry points
    assert not [name for name in names if not exists(name)]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_links_inside_the_project_lead_somewhere(page):
    text = FENCE.sub("", page.read_text())
    wrong = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'<img[^>]*src="([^"]+)"', text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists() or (anchor and file.suffix == ".md" and anchor not in anchors(file)):
            wrong.append(target)
    assert not wrong


def options() -> dict[str, set[str]]:
    """Return the options of every command of pliant."""
    from pliant.cli.application import app, load_commands

    load_commands()

    def of(command) -> set[str]:
        inner = [name for name in command if not name.startswith("-")]
        if inner:  # a group of commands: the options of all of them
            return set().union(*(of(command[name]) for name in inner))
        names = {n for argument in command.assemble_argument_collection() for n in argument.names}
        return {n for n in names if n.startswith("-")} | {"--help", "--quiet"}

    return {name: of(app[name]) for name in app if not name.startswith("-")}


def test_every_module_whose_docstrings_a_page_shows_exists():
    named = {name for page in PAGES for name in re.findall(r"^::: (\S+)", page.read_text(), re.M)}
    places = [ROOT / "src" / Path(*name.split(".")) for name in named]
    assert len(named) > 20
    assert [place for place in places if not place.with_suffix(".py").exists() and not place.is_dir()] == []


def test_every_option_that_a_page_mentions_exists():
    known = options()
    programs = "".join(path.read_text() for path in (ROOT / "benchmarks").glob("*.py"))
    every = set().union(*known.values(), re.findall(r'"(--[a-z-]+)"', programs)) | {"--version", "--quiet"}
    wrong = []
    for page in PAGES:
        text = page.read_text().replace("\\\n", " ")
        for command, rest in re.findall(r"\bpliant (\w+)([^`\n|;]*)", text):
            for option in re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", rest):
                if option not in known.get(command, every):
                    wrong.append(f"{page.name}: pliant {command} {option}")
        for option in re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*(?= |`|=|,|$)", text):
            if option not in every:
                wrong.append(f"{page.name}: {option}")
    assert not wrong


def selects(expression: str, paths: list[str]) -> bool:
    """Return whether a file of tests names all that an expression of `pytest -k`, without `not`, asks for."""
    wanted = set(re.findall(r"\w+", expression)) - {"and", "or"}
    files = [file for path in paths for file in ([ROOT / path, *(ROOT / path).rglob("test_*.py")])]
    return any(wanted <= set(re.findall("|".join(wanted), f"{f}{f.read_text()}")) for f in files if f.is_file())


def test_every_command_of_the_page_how_we_know_exists():
    from pliant.experiments import list_experiments

    text = (ROOT / "docs" / "how-we-know.md").read_text()
    rows = [
        line for line in text.splitlines() if line.startswith("| ") and not line.startswith(("| claim", "| benchmark"))
    ]
    assert len(rows) > 20
    commands = [re.search(r"`([^`]+)` \|$", row) for row in rows]
    assert not [row for row, command in zip(rows, commands, strict=True) if command is None], "rows without a command"
    experiments = {found.name for found in list_experiments()}
    for command in commands:
        program, *words = shlex.split(command[1])
        if program == "pliant":
            assert words[0] == "reproduce"
            names = words[1 : words.index("--set")] if "--set" in words else words[1:]
            assert names, command[1]
            assert set(names) <= experiments, command[1]
        else:
            files = [word for word in words if "/" in word]
            assert program == "python"
            assert files, command[1]
            assert all((ROOT / file).exists() for file in files), command[1]
            assert "-k" not in words or selects(words[words.index("-k") + 1], files), f"{command[1]} selects no test"


def test_the_command_line_page_has_every_command_and_option():
    text = (ROOT / "docs" / "command-line.md").read_text()
    sections = {m[1]: m[2] for m in re.finditer(r"^## pliant (\w+)\n(.*?)(?=^## |\Z)", text, re.S | re.M)}
    known = options()
    assert not sorted(set(known) - set(sections)), "commands without a section '## pliant NAME'"
    assert not [n for n in known if f"| [`{n}`](#pliant-{n}) |" not in text], "commands that the first table lacks"
    general = {"--help", "--json", "--debug", "--quiet"}
    missing = {
        name: sorted(
            o
            for o in found - general
            if f"`{o}" not in sections[name] and o.startswith("--") and not o.startswith(("--no-", "--empty-"))
        )
        for name, found in known.items()
    }
    # A positional argument also has a long form, which nobody needs.
    missing = {n: [o for o in v if o[2:].upper() not in sections[n]] for n, v in missing.items()}
    assert not {n: v for n, v in missing.items() if v}


def test_the_readme_names_every_robot_of_the_catalogue_but_single_parallel_ones():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    counted = [path.stem for path in (ROOT / "src/pliant/rods/catalogue").glob("*.yaml")]
    assert len(counted) == 12
    assert "twelve, from `3RR` to `Stewart_Gough_6PFR`" in text
    assert [name for name in CATALOGUE if name not in counted and f"`{name}`" not in text] == []
