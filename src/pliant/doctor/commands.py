"""`pliant doctor`: what this machine has for pliant, what it lacks, and what to do about it."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import re
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from pliant.base.errors import BridgeError, LawError, MissingDependency, PliantError, nearest
from pliant.base.finding import Finding
from pliant.base.wing import resolve
from pliant.cli.options import Debug, Json
from pliant.cli.output import counted, emit, make_console, plain, print_table
from pliant.simulation.bridges import check_bridge, find_bridge, list_bridges

GL_LIMIT = 8.0
"""Longest time that all graphics libraries together get for a picture each; they are tried at the same time [s]."""
EXTRAS_OF_DEVELOPERS = {"test", "lint", "docs"}
CLIENTS = {
    "pylibfranka": "libfranka for Python",
    "franky": "franky",
    "panda_py": "panda-python",
    "rclpy": "ROS 2 nodes",
    "rospy": "ROS 1 nodes",
    "yarp": "YARP's Python bindings",
}
CAP_SYS_NICE = 1 << 23
STYLES = {"ok": "green", "note": "dim", "warning": "yellow", "error": "red"}

PROBE = """
import sys
import mujoco
backend = sys.argv[1]
context = __import__("mujoco." + backend, fromlist=["GLContext"]).GLContext(64, 48)
context.make_current()
model = mujoco.MjModel.from_xml_string(
    "<mujoco><worldbody><light pos='0 0 2'/><geom size='.3' rgba='1 0 0 1'/></worldbody></mujoco>")
data = mujoco.MjData(model)
mujoco.mj_forward(model, data)
scene = mujoco.MjvScene(model, 10)
mujoco.mjv_updateScene(model, data, mujoco.MjvOption(), None, mujoco.MjvCamera(), mujoco.mjtCatBit.mjCAT_ALL, scene)
render = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100)
mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, render)
import numpy as np
picture = np.zeros((48, 64, 3), np.uint8)
mujoco.mjr_render(mujoco.MjrRect(0, 0, 64, 48), scene, render)
mujoco.mjr_readPixels(picture, None, mujoco.MjrRect(0, 0, 64, 48), render)
print("drawn" if np.ptp(picture) > 50 else "blank")
"""
"""Draws a red ball; a driver that breaks takes only its own process with it."""


def doctor(
    *,
    bridge: Annotated[
        str, Parameter(help="Look at what is served instead, as a client sees it: NAME or NAME:KEY=VALUE,...")
    ] = "",
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Report versions, graphics, caches, bridges and optional packages of this machine, or what a bridge serves.

    The exit code is 3 if something prevents robots from running, or nothing is served.

    Examples:
        pliant doctor
    """
    findings = look_at(bridge) if bridge else examine()
    errors = [f for f in findings if f.status == "error"]
    if json:
        emit({"ok": not errors, "findings": [asdict(f) for f in findings]})
        return 3 if errors else 0
    from rich.table import Table

    console = make_console()
    for group in dict.fromkeys(f.group for f in findings):
        table = Table(title=group, title_justify="left", box=None, show_header=False)
        for f in findings:
            if f.group == group:
                style = STYLES[f.status]
                text = plain(f.found) + (f" -> {plain(f.advice)}" if f.advice else "")
                table.add_row(f"[{style}]{f.status}[/{style}]", f"[bold]{plain(f.name)}[/bold]", text)
        print_table(console, table, prose=True)
        console.print()
    warnings = sum(f.status == "warning" for f in findings)
    console.print(f"{counted(len(errors), 'error')}, {counted(warnings, 'warning')}")
    return 3 if errors else 0


def look_at(bridge: str) -> list[Finding]:
    """Return findings on what a bridge serves.

    Args:
        bridge: its name, with options behind a colon: ``fci:port=1337``.

    Raises:
        BridgeError: no bridge of that name, an option that it does not have, or a bridge that cannot be looked at.
    """
    options = check_bridge(bridge)
    probe, name = find_bridge(bridge).probe, bridge.partition(":")[0]
    if not probe:
        able = [other for other in list_bridges() if find_bridge(other).probe]
        raise BridgeError(f"what the bridge {name!r} serves cannot be looked at; {nearest(name, able)}", field="bridge")
    return list(resolve(probe, f"the bridge {name!r}")(options))


def examine() -> list[Finding]:
    """Return all findings; a graphics library is tried in a process of its own."""
    probes = _start_probes()
    try:
        found = [*_versions(), *_machine(), *_caches(), *_code(), *_bridges(), *_extras(), *_clients()]
        graphics = list(_graphics(probes))
    finally:
        for process in probes.values():
            if process.poll() is None:
                process.kill()
            process.communicate()
    at = next((i for i, f in enumerate(found) if f.group == "caches"), len(found))
    return [*found[:at], *graphics, *found[at:]]


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _requirements() -> list[tuple[str, str, str]]:
    """Return (package, whole requirement without markers, extra) of everything that pliant may need."""
    found = []
    for text in importlib.metadata.requires("pliant") or ():
        requirement, _, marker = text.partition(";")
        extra = re.search(r"extra\s*==\s*['\"]([\w-]+)", marker)
        name = re.match(r"[\w.-]+", requirement.strip())
        found.append((name[0] if name else "", requirement.strip(), extra[1] if extra else ""))
    return found


def _too_old(version: str, requirement: str) -> bool:
    """Return whether a version is below the lower bound of a requirement; compares the numbers in front."""
    bound = re.search(r">=\s*([\d.]+)", requirement)

    def numbers(text: str) -> list[int]:
        head = re.match(r"[\d.]*", text)
        return [int(n) for n in (head[0] if head else "").split(".") if n]

    return bound is not None and numbers(version) < numbers(bound[1])


def _versions() -> Iterator[Finding]:
    group = "versions"
    where = Path(__file__).resolve().parents[1]
    yield Finding(group=group, name="pliant", status="ok", found=f"{_version('pliant') or 'not installed'} in {where}")
    yield Finding(
        group=group, name="Python", status="ok", found=f"{platform.python_version()} on {platform.platform(terse=True)}"
    )
    for package, requirement, extra in _requirements():
        if extra:
            continue
        version = _version(package)
        if version is None:
            yield Finding(
                group=group, name=package, status="error", found="not installed", advice=f'pip install "{requirement}"'
            )
        elif _too_old(version, requirement):
            advice = f'pip install --upgrade "{requirement}"'
            yield Finding(group=group, name=package, status="error", found=f"{version}, too old", advice=advice)
        else:
            yield Finding(group=group, name=package, status="ok", found=version)
    if (found := _older_metadata(where.parents[1] / "pyproject.toml")) is not None:
        yield found
    whole, core = _version("mujoco"), _version("mujoco-core")
    if whole is not None and core is not None and whole != core:
        yield Finding(
            group=group, name="mujoco", status="error",
            found=f"{whole} in the same folder as mujoco-core {core}, which has overwritten its files",
            advice=f'pip install --force-reinstall "mujoco=={core}"',
        )  # fmt: skip


def _older_metadata(project: Path) -> Finding | None:
    """Return a warning where a checkout names other extras than its installation; what follows here may be wrong."""
    if not project.is_file():
        return None
    named = set(tomllib.loads(project.read_text(encoding="utf-8"))["project"].get("optional-dependencies", {}))
    installed = {extra for _, _, extra in _requirements() if extra}
    if named == installed:
        return None
    return Finding(
        group="versions", name="installation", status="warning",
        found=f"older than the checkout: it differs in the extras {', '.join(sorted(named ^ installed))}",
        advice=f"pip install -e {project.parent}",
    )  # fmt: skip


def _machine() -> Iterator[Finding]:
    group = "machine"
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    yield Finding(
        group=group,
        name="cores",
        status="ok" if cores > 1 else "note",
        found=f"{cores}{load}",
        advice="" if cores > 1 else "with one core a bridge in real time and its client disturb each other",
    )
    yield _real_time_rights(group)


def _real_time_rights(group: str) -> Finding:
    name = "real-time scheduling"
    if not sys.platform.startswith("linux"):
        return Finding(group=group, name=name, status="note", found="only on Linux")
    import resource

    priority = resource.getrlimit(resource.RLIMIT_RTPRIO)[0]
    status = Path("/proc/self/status").read_text(encoding="utf-8", errors="replace")
    effective = re.search(r"^CapEff:\s*([0-9a-f]+)", status, re.MULTILINE)
    if priority != 0 or (effective and int(effective[1], 16) & CAP_SYS_NICE):
        return Finding(group=group, name=name, status="ok", found="this user may ask for it")
    return Finding(
        group=group,
        name=name,
        status="note",
        found="this user may not ask for it",
        advice="a line `@realtime - rtprio 90` in /etc/security/limits.conf gives it to the group realtime",
    )


def _start_probes() -> dict[str, subprocess.Popen[str]]:
    backends = ["egl", "osmesa"] if sys.platform.startswith("linux") else []
    if sys.platform == "darwin":
        backends = ["cgl"]
    if os.environ.get("DISPLAY") or sys.platform == "win32":
        backends.append("glfw")
    return {
        backend: subprocess.Popen(
            [sys.executable, "-c", PROBE, backend],
            env={**os.environ, "MUJOCO_GL": backend, "PYOPENGL_PLATFORM": "" if backend == "glfw" else backend},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for backend in backends
    }  # fmt: skip


def _graphics(probes: dict[str, subprocess.Popen[str]]) -> Iterator[Finding]:
    from pliant.base.graphics import APT

    group, advice = "graphics", {"egl": APT, "osmesa": "apt-get install libosmesa6"}
    results: dict[str, str] = {}
    deadline = time.monotonic() + GL_LIMIT
    for backend, process in probes.items():
        try:
            out, err = process.communicate(timeout=max(deadline - time.monotonic(), 0.5))  # to read what is there
        except subprocess.TimeoutExpired:
            results[backend] = f"drew nothing within {GL_LIMIT:g} s"
            continue
        last = (err.strip().splitlines() or [f"ended with {process.returncode}"])[-1][:160]
        if "NoneType" in last:  # OpenGL's way to say so
            last = "its library is not installed"
        results[backend] = "draws" if out.strip() == "drawn" else "draws blank pictures" if out.strip() else last
    works = [backend for backend, text in results.items() if text == "draws"]
    for backend, text in results.items():
        status = "ok" if text == "draws" else "note" if works else "warning"
        yield Finding(
            group=group, name=backend, status=status, found=text,
            advice="" if works else advice.get(backend, ""),
        )  # fmt: skip
    if not works:
        yield Finding(group=group, name="pictures", status="warning", found="cameras and films cannot be rendered here")


def _size(folder: Path) -> tuple[int, int]:
    files = [p for p in folder.rglob("*") if p.is_file()] if folder.is_dir() else []
    return len(files), sum(p.stat().st_size for p in files)


def _caches() -> Iterator[Finding]:
    from pliant.base.codecache import cache_folder

    group = "caches"
    try:
        folder = cache_folder()
    except LawError as error:
        yield Finding(group=group, name="compiled laws", status="error", found=str(error))
        return
    count, size = _size(folder)
    kept = not folder.name.startswith("pliant-")
    yield Finding(
        group=group,
        name="compiled laws",
        status="ok" if kept else "warning",
        found=f"{folder}: {count} files, {size / 1e6:.1f} MB" + ("" if kept else ", temporary"),
        advice="" if kept else "name a folder that you can write to in PLIANT_CACHE",
    )


def _code() -> Iterator[Finding]:
    from pliant.base import shipped
    from pliant.laws import registered_laws
    from pliant.laws.compile import is_cached

    group, folder = "caches", shipped.folder()
    if folder is None:
        yield Finding(
            group=group, name="code in the package", status="note", found="none; robots are compiled at first use"
        )
    else:
        count, size = _size(folder)
        fits = shipped.fits()
        yield Finding(
            group=group,
            name="code in the package",
            status="ok" if fits else "note",
            found=f"{count} files, {size / 1e6:.1f} MB, for {shipped.family()}"
            + ("" if fits else "; this processor is older, so rods and arms are compiled at first use"),
        )
    laws = registered_laws()
    missing = sorted(name for name, cls in laws.items() if not is_cached(cls))
    yield Finding(
        group=group,
        name="laws",
        status="ok" if not missing else "note",
        found=f"{len(laws) - len(missing)} of {len(laws)} are compiled"
        + (f"; at first use: {', '.join(missing)}" if missing else ""),
    )


def _bridges() -> Iterator[Finding]:
    for name in list_bridges():
        try:
            check_bridge(name)
            lacking = [m for m in find_bridge(name).needs if importlib.util.find_spec(m) is None]
        except MissingDependency as error:
            yield Finding(group="bridges", name=name, status="note", found=str(error))
        except (PliantError, ImportError) as error:
            yield Finding(group="bridges", name=name, status="warning", found=str(error))
        else:
            yield Finding(
                group="bridges", name=name, status="note" if lacking else "ok",
                found=f"lacks {', '.join(lacking)}" if lacking else "can run",
                advice=f'pip install "pliant[{name}]"' if lacking else "",
            )  # fmt: skip


def _extras() -> Iterator[Finding]:
    extras: dict[str, list[str]] = {}
    for package, _, extra in _requirements():
        if extra and extra not in EXTRAS_OF_DEVELOPERS:
            extras.setdefault(extra, []).append(package)
    for extra, packages in extras.items():
        missing = [p for p in packages if _version(p) is None]
        yield Finding(
            group="extras",
            name=extra,
            status="note" if missing else "ok",
            found=f"lacks {', '.join(missing)}" if missing else ", ".join(f"{p} {_version(p)}" for p in packages),
            advice=f'pip install "pliant[{extra}]"' if missing else "",
        )


def _clients() -> Iterator[Finding]:
    have = [name for name in CLIENTS if importlib.util.find_spec(name) is not None]
    text = ", ".join(f"{CLIENTS[n]} ({n})" for n in have) or "none"
    yield Finding(group="extras", name="clients of robots", status="note" if not have else "ok", found=text)
