"""Build source archive and wheels, install a wheel into an empty environment, and use it there as a user would.

1. The source archive holds every tracked file, and its own tests of the package pass in it.
2. The wheel without machine code: it holds the tracked files of ``src/pliant`` and nothing else, and its default
   dependencies stay below the limit of size.
3. The wheel with the machine code of one robot: that robot runs with an empty cache and compiles nothing.

Source archive and wheel without machine code are built twice, with one `SOURCE_DATE_EPOCH` and from files of other
dates: both are the same bit by bit. (Machine code is compiled for the processor, and the compiler names functions by
their addresses: the wheel with code is not compared.)
"""

import hashlib
import importlib.metadata
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIMIT_MB = 450
ROBOT = "qbmove-1dof"
BUILDERS = ("pip", "setuptools")
"""What an environment has besides pliant and its dependencies."""
PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input")


EPOCH = "1700000000"
"""`SOURCE_DATE_EPOCH` of the builds that are compared."""
TEMPORARY = tempfile.gettempdir()
TESTS = ("tests/test_packaging.py", "tests/test_lock.py", "tests/test_ci.py")
"""What is run in the source archive: tests of its own files."""


def run(*command: object, folder: str | Path = TEMPORARY, **environment: str) -> str:
    """Run a command outside the checkout; returns what it printed, ends this script where it fails."""
    text = [str(c) for c in command]
    clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PLIANT_STAGE")} | environment
    start = time.monotonic()
    done = subprocess.run(text, cwd=folder, env=clean, capture_output=True, text=True, timeout=120)
    print(f"{time.monotonic() - start:6.1f} s  {' '.join(text[1:])[-100:]}", flush=True)
    if done.returncode:
        sys.exit(f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout + done.stderr


def check(true: bool, message: str) -> None:
    if not true:
        sys.exit(message)


def contents(wheel: Path) -> set[str]:
    return {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}


def tracked(under: str = "") -> set[str]:
    """Return the tracked files of the repository that are there, or those of a folder."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", under or "."], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return {name for name in listed.stdout.split("\0") if (ROOT / name).is_file()}


def build_source(python: Path, folder: Path) -> Path:
    """Build the source archive twice, compare it with itself and with the repository, and test it; return its folder.

    The second build is made of the first one unpacked, whose files have other dates.
    """
    environment = {"SOURCE_DATE_EPOCH": EPOCH, "PLIANT_PRECOMPILE": "none"}
    sums = []
    source = ROOT
    for number in (1, 2):
        out = folder / f"build{number}"
        run(python, "-m", "hatchling", "build", "-t", "sdist", "-t", "wheel", "-d", out, folder=source, **environment)
        sums.append({file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in out.iterdir()})
        if number == 1:
            (archive,) = out.glob("*.tar.gz")
            with tarfile.open(archive) as packed:
                names = {"/".join(name.split("/")[1:]) for name in packed.getnames()}
                packed.extractall(folder / "source", filter="data")
            (source,) = (folder / "source").iterdir()
            for file in source.rglob("*"):
                os.utime(file)
    check(sums[0] == sums[1], f"two builds of the same files differ: {sums}")
    missing = tracked() - names
    check(not missing, f"the source archive lacks {sorted(missing)}")
    run(sys.executable, "-m", "pytest", "-p", "no:xdist", *TESTS, folder=source, PYTHONPATH=str(source / "src"))
    return source


def megabytes(folder: Path) -> dict[str, float]:
    """Return the size of each distribution that is installed in a folder [MB], bytecode included.

    Files that two distributions share count for one of them, files of none as "others".
    """
    sizes: dict[str, float] = {}
    left = {path: path.stat().st_size / 1e6 for path in folder.rglob("*") if path.is_file()}
    for distribution in importlib.metadata.distributions(path=[str(folder)]):
        files = {Path(os.path.normpath(folder / str(file))) for file in distribution.files or ()}
        sizes[distribution.metadata["Name"]] = sum(left.pop(file, 0.0) for file in files)
    return sizes | {"others": sum(left.values())}


def check_size(folder: Path) -> None:
    """Print what each distribution takes; end this script where they take more than the limit."""
    sizes = megabytes(folder)
    counted = {name: size for name, size in sizes.items() if name not in BUILDERS}
    rest = 0.0
    for name, size in sorted(counted.items(), key=lambda item: -item[1]):
        if size < 1.0:
            rest += size
        else:
            print(f"{size:8.1f} MB  {name}")
    print(f"{rest:8.1f} MB  each below 1 MB")
    total = sum(counted.values())
    print(f"{total:8.1f} MB  in all, at most {LIMIT_MB} MB")
    check(total <= LIMIT_MB, f"the default dependencies take {total:.0f} MB; must be <= {LIMIT_MB} MB")


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="pliant-package-") as scratch:
        folder = Path(scratch)
        python = folder / "venv" / "bin" / "python"
        run(sys.executable, "-m", "venv", folder / "venv")
        run(sys.executable, "-m", "venv", folder / "build")
        builder = folder / "build" / "bin" / "python"
        run(builder, *PIP, "install", "hatchling")
        build_source(builder, folder)
        (plain,) = (folder / "build1").glob("pliant-*-py3-none-any.whl")
        wanted = {name.removeprefix("src/") for name in tracked("src/pliant")}
        check(contents(plain) == wanted, f"the wheel and the repository differ in {contents(plain) ^ wanted}")

        run(python, *PIP, "install", "--constraint", ROOT / "requirements.lock", plain)
        check_size(next((folder / "venv" / "lib").glob("python*")) / "site-packages")

        pliant = folder / "venv" / "bin" / "pliant"
        check(ROBOT in run(pliant, "list"), f"pliant list does not have {ROBOT}")
        cache = {"PLIANT_CACHE": str(folder / "cache")}
        report = json.loads(run(pliant, "doctor", "--json", **cache))
        check(report["ok"], f"pliant doctor: {[f for f in report['findings'] if f['status'] == 'error']}")

        run(python, *PIP, "install", "hatchling")
        build = ("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder / "full")
        run(python, *PIP, *build, ROOT, PLIANT_PRECOMPILE=ROBOT)
        (full,) = (folder / "full").glob("pliant-*.whl")
        compiled = {name for name in contents(full) - wanted if name.startswith("pliant/_compiled/")}
        check(compiled == contents(full) - wanted and len(compiled) > 4, f"the wheel has {contents(full) - wanted}")
        run(python, *PIP, "install", "--no-deps", "--force-reinstall", full)
        said = run(pliant, "run", ROBOT, "--duration", "0.5", **cache)
        check("compiling" not in said, f"code that the wheel brings is compiled again:\n{said}")
        kept = [p.name for p in (folder / "cache").rglob("*.ll")]
        check(not kept, f"code that the wheel brings is compiled again: {kept}")


if __name__ == "__main__":
    main()
