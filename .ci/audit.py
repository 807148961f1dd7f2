"""Compare every pin of ``requirements.lock`` with the advisories of the Open Source Vulnerabilities database.

    python .ci/audit.py [LOCK]

Exit codes: 0 no pin has an advisory; 1 some have; 2 not audited, because the database did not answer, its answer is
incomplete, or the file has no pins. An audit that was left out never passes. It needs the network, so `.ci/run` has no
stage for it: `make audit` runs it. `PLIANT_AUDIT_URL` names another database with the same interface.
"""

import json
import os
import re
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
URL = "https://api.osv.dev/v1/querybatch"
"""Where all pins are asked for in one request: https://google.github.io/osv.dev/post-v1-querybatch/."""
TIMEOUT_S = 30.0
MAX_ANSWER = 50_000_000
"""Largest answer [bytes]."""
PIN = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^\]]*\])?==([^\s;\\]+)")


class NotAudited(Exception):
    """The pins were not compared."""


def pins(text: str) -> list[tuple[str, str]]:
    """Return name and version of every pin of a lock file; environments do not matter, all are audited."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith(("#", " ", "-"))]
    found = [PIN.match(line) for line in lines]
    wrong = [line for line, match in zip(lines, found, strict=True) if match is None]
    if wrong or not found:
        raise NotAudited(f"not a pin: {wrong[0]!r}; must be NAME==VERSION" if wrong else "the lock file has no pins")
    return sorted({(match[1], match[2]) for match in found if match})


def ask(question: dict[str, Any]) -> Any:
    """Return the answer of the database to a question."""
    request = urllib.request.Request(
        os.environ.get("PLIANT_AUDIT_URL", URL),
        data=json.dumps(question).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
        text = answer.read(MAX_ANSWER + 1)
    if len(text) > MAX_ANSWER:
        raise NotAudited(f"the answer is larger than {MAX_ANSWER} bytes")
    return json.loads(text)


def advisories(
    wanted: list[tuple[str, str]], ask: Callable[[dict[str, Any]], Any] = ask
) -> dict[tuple[str, str], list[str]]:
    """Return the names of the advisories of each pin that has some.

    Raises:
        NotAudited: there is no answer, or not one for each pin.
    """
    queries = [{"package": {"name": name, "ecosystem": "PyPI"}, "version": version} for name, version in wanted]
    try:
        results = ask({"queries": queries})["results"]
        if len(results) != len(wanted):
            raise NotAudited(f"{len(results)} answers for {len(wanted)} pins")
        if any(result.get("next_page_token") for result in results):
            raise NotAudited("the answer has further pages")
        found = [sorted(str(one["id"]) for one in result.get("vulns", ())) for result in results]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as fault:
        raise NotAudited(f"{type(fault).__name__}: {fault}") from None
    return {pin: names for pin, names in zip(wanted, found, strict=True) if names}


def main(lock: Path = ROOT / "requirements.lock") -> int:
    """Print the advisories of a lock file; return the exit code."""
    try:
        wanted = pins(lock.read_text())
        found = advisories(wanted)
    except (NotAudited, OSError) as fault:
        print(f"not audited: {fault}", file=sys.stderr)
        return 2
    for (name, version), names in found.items():
        print(f"{name} {version}: {', '.join(names)}")
    print(f"{len(wanted)} pins of {lock.name} audited, {len(found)} with advisories")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
