"""Write the bill of materials and the licences of everything that pliant installs.

    python packaging/sbom.py build/sbom

Writes ``pliant.cdx.json`` (CycloneDX 1.5: names, versions, hashes, licences) and ``licences.md`` (a table). Packages,
versions and hashes are those of requirements-hashed.lock, with all extras; licences are read from the metadata of the
packages in the environment that runs this script. A package that is not installed there has the licence "unknown", and
the exit code is 1 where a package of the default installation has none.
"""

import importlib.metadata
import json
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
UNKNOWN = "unknown"
MAX_LICENCE = 60
"""Longest text that is taken for the name of a licence; some packages give the whole text."""
PIN = re.compile(r"^([A-Za-z0-9][\w.-]*)==([^\s;\\]+)")
HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def normal(name: str) -> str:
    """Return a name as the package index compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(lock: str) -> dict[tuple[str, str], list[str]]:
    """Return (name, version) -> SHA-256 of the files, of each pin of a lock file; a package may have two versions."""
    found: dict[tuple[str, str], list[str]] = {}
    for line in lock.splitlines():
        match = PIN.match(line)
        if match:
            newest = found.setdefault((normal(match[1]), match[2]), [])
        if found:
            newest += HASH.findall(line)
    return found


def licence(name: str) -> str:
    """Return the licence of an installed package in its own words; "unknown" where it is not installed or says none."""
    try:
        about = importlib.metadata.metadata(name)
    except importlib.metadata.PackageNotFoundError:
        return UNKNOWN
    for text in (about.get("License-Expression"), about.get("License")):
        if text and text.strip().upper() != "UNKNOWN" and len(text.strip()) <= MAX_LICENCE and "\n" not in text.strip():
            return text.strip()
    names = [c.split(" :: ")[-1] for c in about.get_all("Classifier") or () if c.startswith("License ::")]
    return "; ".join(n for n in names if n != "OSI Approved") or UNKNOWN


def default_packages(known: set[str]) -> set[str]:
    """Return the packages of the default installation that are in the lock, with what they need in turn."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    todo = [normal(re.split(r"[\s\[<>=!~;]", r, maxsplit=1)[0]) for r in project["dependencies"]]
    found: set[str] = set()
    while todo:
        name = todo.pop()
        if name in found or name not in known:
            continue
        found.add(name)
        try:
            needed = importlib.metadata.requires(name) or []
        except importlib.metadata.PackageNotFoundError:
            continue
        todo += [
            normal(re.split(r"[\s\[<>=!~;(]", r, maxsplit=1)[0])
            for r in needed
            if not re.search(r"extra ==|win32|Windows", r)
        ]
    return found


def bill(packages: dict[tuple[str, str], list[str]], licences: dict[str, str], version: str) -> dict:
    """Return the CycloneDX document."""
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": "pliant", "version": version, "licenses": [
            {"license": {"id": "Apache-2.0"}}]}},
        "components": [
            {
                "type": "library", "name": name, "version": pin, "purl": f"pkg:pypi/{name}@{pin}",
                "licenses": [{"license": {"name": licences[name]}}],
                "hashes": [{"alg": "SHA-256", "content": one} for one in hashes],
            }
            for (name, pin), hashes in sorted(packages.items())
        ],
    }  # fmt: skip


def main(folder: Path) -> int:
    """Write both files; return the exit code."""
    packages = pins((ROOT / "requirements-hashed.lock").read_text())
    licences = {name: licence(name) for name, _ in packages}
    default = default_packages(set(licences))
    version = re.search(r'__version__ = "([^"]+)"', (ROOT / "src/pliant/__init__.py").read_text())[1]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pliant.cdx.json").write_text(json.dumps(bill(packages, licences, version), indent=1) + "\n")
    rows = [
        f"| {name} | {pin} | {licences[name]} | {'default' if name in default else 'extra'} |"
        for name, pin in sorted(packages)
    ]
    head = [
        "# Licences of what pliant installs",
        "",
        "| package | version | licence | installation |",
        "|---|---|---|---|",
    ]
    (folder / "licences.md").write_text("\n".join([*head, *rows]) + "\n")
    missing = sorted(name for name in default if licences[name] == UNKNOWN)
    unknown = sum(found == UNKNOWN for found in licences.values())
    print(f"{len(packages)} packages, {len(default)} of them by default; {unknown} licences unknown; files in {folder}")
    if missing:
        print(f"no licence is known of {', '.join(missing)}, which the default installation has", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else "build/sbom")))
