"""Run the quick tests: those of the core, and those of the rooms that a change touches.

    python tests/helpers/quick.py [BASE] [-- options of pytest]

A change is what differs from the merge base with ``origin/main`` or ``main``, or from the last commit where there is no
difference; files that are not committed count. A file of ``src/pliant/X`` or ``tests/X`` touches the room ``tests/X``,
a single module ``src/pliant/x.py`` its ``tests/test_x.py`` or ``tests/x``, a file of ``tests/helpers`` every test that
imports it. The tests of the core are the modules that are marked ``quick``, wherever they lie.
"""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 90
"""Longest time that the run should take on two cores [s]."""
MARKED = re.compile(r"^pytestmark = .*\bmark\.quick\b", re.MULTILINE)


def git(*words: str) -> list[str]:
    """Return the lines that git prints; none where it fails."""
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else []


def changed_files(base: str | None = None) -> list[str]:
    """Return the files that a change touches, as paths from the root of the repository.

    Args:
        base: commit to compare with; None: see the docstring of this module.
    """
    new = git("ls-files", "--others", "--exclude-standard")
    bases = [base] if base else ["origin/main", "main"]
    found = next((lines[0] for one in bases if (lines := git("merge-base", one, "HEAD"))), None)
    differ = git("diff", "--name-only", found) if found else []
    return [*differ, *new] or git("diff", "--name-only", "HEAD~1")


def touched(files: Iterable[str], root: Path = ROOT) -> set[Path]:
    """Return the folders and modules of tests that belong to changed files.

    Args:
        files: paths from the root of the repository.
        root: of the repository.
    """
    tests, found = root / "tests", set()
    for path in map(Path, files):
        match path.parts:
            case ("src", "pliant", room, _, *_):
                found.add(tests / room)
            case ("src", "pliant", module):
                found |= {tests / f"test_{Path(module).stem}.py", tests / Path(module).stem}
            case ("tests", "helpers", helper):
                uses = re.compile(rf"^(?:from|import) {re.escape(Path(helper).stem)}\b", re.MULTILINE)
                found |= {p for p in tests.rglob("test_*.py") if uses.search(p.read_text(encoding="utf-8"))}
            case ("tests", room, _, *_):
                found.add(tests / room)
            case ("tests", module) if module.startswith("test_"):
                found.add(tests / module)
    return {path for path in found if path.is_file() or any(path.rglob("test_*.py"))}


def selected(files: Iterable[str], root: Path = ROOT) -> list[Path]:
    """Return what pytest is to run for changed files, none of it inside another."""
    marked = {p for p in (root / "tests").rglob("test_*.py") if MARKED.search(p.read_text(encoding="utf-8"))}
    paths = touched(files, root) | marked
    return sorted(path for path in paths if not paths & set(path.parents))


def main(arguments: list[str]) -> int:
    at = arguments.index("--") if "--" in arguments else len(arguments)
    files = changed_files(*arguments[:at][:1])
    rooms = sorted(str(path.relative_to(ROOT)) for path in touched(files))
    print(f"{len(files)} files changed; beside the core: {', '.join(rooms) or 'nothing'}", flush=True)
    wanted = [str(path.relative_to(ROOT)) for path in selected(files)]
    command = [sys.executable, "-m", "pytest", "-m", "not slow and not nightly", *wanted, *arguments[at + 1 :]]
    begin = time.monotonic()
    code = subprocess.run(command, cwd=ROOT, env=dict(os.environ), check=False).returncode
    if (took := time.monotonic() - begin) > LIMIT_S:
        print(f"{took:.0f} s, more than {LIMIT_S}: mark long tests of these rooms 'slow' (pytest --durations=20)")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
