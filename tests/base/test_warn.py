"""Warnings: each begins with its word, and none stands inside a table."""

import ast
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import pliant
from pliant.base.warn import print_warning
from pliant.cli.output import emit, make_console, print_table

pytestmark = pytest.mark.quick


def test_a_warning_of_several_lines_is_indented(capsys):
    print_warning("first\nsecond")
    assert capsys.readouterr().err == "warning: first\n         second\n"


@pytest.mark.parametrize(
    ("handler", "printed"),
    [("", "warning: 45 rad\n"), ("logging.getLogger('pliant').addHandler(logging.NullHandler()); ", "")],
)
def test_a_program_without_handlers_sees_that_it_is_a_warning(handler, printed):
    script = f"import logging, pliant; {handler}logging.getLogger('pliant.x').warning('%d rad', 45)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr == printed


def test_an_error_is_not_called_a_warning():
    script = "import logging, pliant; logging.getLogger('pliant.x').error('the thread died')"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr == "the thread died\n"


@pytest.mark.parametrize("kind", ["table", "json"])
def test_no_warning_of_another_thread_stands_inside_what_is_printed(monkeypatch, kind):
    from rich.table import Table

    seen: list[str] = []
    threads: list[threading.Thread] = []

    class Slow:
        """A stream that lets another thread warn while it writes."""

        encoding = "utf-8"

        def write(self, text: str) -> int:
            for line in text.splitlines(keepends=True):
                seen.append(line)
                if not threads:
                    threads.append(threading.Thread(target=print_warning, args=("between",), daemon=True))
                    threads[0].start()
                    threads[0].join(0.2)
            return len(text)

        def flush(self) -> None: ...

    monkeypatch.setattr(sys, "stdout", Slow())
    monkeypatch.setattr(sys, "stderr", Slow())
    if kind == "json":
        emit({"a": 1, "b": 2})
    else:
        table = Table("joint", "angle")
        for k in range(5):
            table.add_row(f"joint {k}", "0.1")
        print_table(make_console(), table)
    threads[0].join(5.0)
    text = "".join(seen)
    assert text.count("warning: between") == 1
    assert text.rstrip().endswith("warning: between"), text


def test_the_library_has_one_printer_of_warnings():
    """A text that begins with the word is printed to standard error nowhere else."""
    root = Path(pliant.__file__).parent
    found = []
    for file in root.rglob("*.py"):
        text = file.read_text()
        if file == root / "base" / "warn.py" or "warning" not in text.lower():
            continue
        for node in ast.walk(ast.parse(text)):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute)):
                continue
            name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
            if name not in ("print", "say", "_say", "write"):
                continue
            texts = [n.value for a in node.args for n in ast.walk(a) if isinstance(n, ast.Constant)]
            if any(isinstance(text, str) and text.lower().lstrip("[yelow] ").startswith("warning") for text in texts):
                found.append(f"{file.relative_to(root)}:{node.lineno}")
    assert not found
