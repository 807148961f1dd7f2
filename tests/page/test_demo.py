"""`make demo` outside a terminal: it ends, and leaves a page whose address and process it has printed."""

import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from running import eventually

pytestmark = pytest.mark.network

MAKEFILE = Path(__file__).parents[2] / "Makefile"
PLIANT = """#!/bin/sh
if [ "$1" = reproduce ]; then
  mkdir -p demo; echo "the report" > demo/index.html
else exec "{python}" -m pliant "$@"; fi
"""
BROKEN = """#!/bin/sh
mkdir -p demo; [ "$1" = reproduce ] || { echo "pliant: no page today"; exit 2; }
"""


def demo(folder: Path, pliant: str, seconds: float) -> subprocess.CompletedProcess[str]:
    """Run `make demo` in a folder whose installed program is a script."""
    for name in ("pyproject.toml", "requirements.lock", "venv/.reproduce", "venv/.demo", "venv/bin/pliant"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(pliant)
    for stamp, date in ((".reproduce", 2e9), (".demo", 2e9 + 1)):  # each newer than what it is made from
        os.utime(folder / "venv" / stamp, (date, date))
    (folder / "venv" / "bin" / "pliant").chmod(0o755)
    command = ["make", "-f", MAKEFILE, "demo", "VENV=venv", f"DEMO_S={seconds:g}"]
    return subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100)


def test_the_demonstration_outside_a_terminal_ends_and_its_page_stays_until_it_is_killed(tmp_path):
    done = demo(tmp_path, PLIANT.format(python=sys.executable), 90.0)
    process = int(re.search(r"served by process (\d+) for 90 s; to end it earlier, type: kill \1\n", done.stdout)[1])
    try:
        assert done.returncode == 0, done.stderr
        assert f"report: file://{tmp_path}/demo/index.html\n" in done.stdout
        url = re.search(r"^view: (http://\S+)$", done.stdout, re.MULTILINE)[1]
        assert b"<title>" in urllib.request.urlopen(url, timeout=20).read()
        assert b"the report" in urllib.request.urlopen(f"{url}report/index.html", timeout=20).read()
    finally:
        os.kill(process, signal.SIGTERM)
    log = tmp_path / "demo" / "page.log"
    eventually(lambda: re.search(r"^(view: ended|pliant: interrupted)$", log.read_text(), re.MULTILINE))


def test_the_demonstration_fails_with_the_page_s_own_words(tmp_path):
    done = demo(tmp_path, BROKEN, 90.0)
    assert done.returncode != 0
    assert "pliant: no page today" in done.stdout
