"""Check types with pyright: `python tests/helpers/check_types.py [arguments of pyright]`.

An error of any rule fails the check, and so does a warning in a room that is not in `WARN`. pyproject.toml lowers the
rules that the rooms of `WARN` break to warnings.
"""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src" / "pliant"
WARN = (
    "bags",
    "experiments",
    "franka",
    "franka_ros",
    "gazebo_yarp",
    "learn",
    "papers",
    "parallel",
    "rods",
    "ros",
    "tendons",
    "tubes",
    "yarp",
)
"""Rooms in which warnings do not fail yet; a room that has none leaves."""
PLATFORM = ("reportMissingImports",)
"""Rules that depend on the packages of this platform."""


def failures(diagnostics: Iterable[Mapping]) -> tuple[list[str], Counter[str]]:
    """Return the diagnostics that fail the check, and the number of warnings of each room that do not.

    Args:
        diagnostics: ``generalDiagnostics`` of pyright's JSON.
    """
    failed, others = [], Counter()
    for found in diagnostics:
        file, rule, place = Path(found["file"]), found.get("rule", ""), found["range"]["start"]
        room = file.relative_to(SOURCE).parts[0] if file.is_relative_to(SOURCE) else ""
        if found["severity"] == "error" or (room not in WARN and rule not in PLATFORM):
            failed.append(f"{file}:{place['line'] + 1}:{place['character'] + 1}: {found['message']} ({rule})")
        else:
            others[room] += 1
    return failed, others


def main(arguments: list[str]) -> int:
    """Run pyright; return 1 where something fails."""
    pyright = Path(sys.executable).with_name("pyright")
    done = subprocess.run([pyright, "--outputjson", *arguments], stdout=subprocess.PIPE, text=True, check=False)
    try:
        report = json.loads(done.stdout)
    except ValueError:
        print(f"pyright ended with code {done.returncode} and no report: {done.stdout[:2000]}", file=sys.stderr)
        return 1
    failed, others = failures(report["generalDiagnostics"])
    print(*failed, sep="\n", end="\n" * bool(failed))
    rest = ", ".join(f"{room} {count}" for room, count in sorted(others.items()))
    print(
        f"types: {len(failed)} failures in {report['summary']['filesAnalyzed']} files; other warnings: {rest or 'none'}"
    )
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
