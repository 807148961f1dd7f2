"""The pins of what pliant needs: all of it, once for each system, and with hashes in a second file (`make lock`)."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

pytestmark = pytest.mark.quick

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
SYSTEMS = {
    f"{platform} {machine} Python {minor}": {
        "sys_platform": platform,
        "platform_system": {"linux": "Linux", "darwin": "Darwin", "win32": "Windows"}[platform],
        "platform_machine": machine,
        "python_version": minor,
        "python_full_version": f"{minor}.9",
    }
    for platform, machine in (("linux", "x86_64"), ("linux", "aarch64"), ("darwin", "arm64"), ("win32", "AMD64"))
    for minor in ("3.11", "3.12", "3.13")
}


def pins(name: str) -> list[Requirement]:
    """Return the requirements of a lock file, without the hashes."""
    text = re.sub(r"\s*\\\n\s+--hash=sha256:[0-9a-f]{64}", "", (ROOT / name).read_text())
    return [Requirement(line) for line in text.splitlines()]


def unmet(wanted: list[str], locked: list[Requirement]) -> list[str]:
    """Return the requirements that have not one pin on each system where they hold, or one that they refuse."""
    wrong = []
    for text in wanted:
        need = Requirement(text)
        if need.name == PROJECT["name"]:  # extras of pliant itself
            for extra in need.extras:
                wrong += unmet(EXTRAS[extra], locked)
            continue
        for system, environment in SYSTEMS.items():
            if need.marker is not None and not need.marker.evaluate(environment):
                continue
            same = [p for p in locked if canonicalize_name(p.name) == canonicalize_name(need.name)]
            there = [p for p in same if p.marker is None or p.marker.evaluate(environment)]
            versions = [str(p.specifier).removeprefix("==") for p in there]
            if len(versions) != 1 or not need.specifier.contains(versions[0], prereleases=True):
                wrong.append(f"{text} on {system}: pinned {versions}")
    return wrong


@pytest.mark.parametrize("extra", [None, *EXTRAS], ids=lambda extra: extra or "default")
def test_every_requirement_has_one_pin_that_it_accepts_on_each_system(extra):
    wanted = PROJECT["dependencies"] if extra is None else EXTRAS[extra]
    assert not unmet(wanted, pins("requirements.lock"))


def test_a_requirement_without_a_pin_or_with_one_too_old_is_seen():
    locked = [Requirement("here==1.0"), Requirement("linux-only==1.0 ; sys_platform == 'linux'")]
    assert not unmet(["here>=1", "Linux_Only; sys_platform == 'linux'"], locked)
    assert len(unmet(["here>=1.1"], locked)) == len(SYSTEMS)
    assert len(unmet(["absent"], locked)) == len(SYSTEMS)
    assert len(unmet(["linux-only"], locked)) == 6


def test_every_line_of_the_lock_is_a_pin_of_an_exact_version():
    assert not [p for p in pins("requirements.lock") if not re.fullmatch(r"==[^*,]+", str(p.specifier)) or p.url]


def test_the_lock_with_hashes_has_the_same_pins_and_a_hash_for_each():
    plain, hashed = pins("requirements.lock"), pins("requirements-hashed.lock")
    assert [str(p) for p in hashed] == [str(p) for p in plain]
    blocks = re.findall(r"^\S.*(?:\n +--hash=.*)*", (ROOT / "requirements-hashed.lock").read_text(), re.MULTILINE)
    assert len(blocks) == len(plain)
    assert not [block for block in blocks if "--hash=sha256:" not in block]


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-hashed.lock"])
def test_a_lock_names_no_server_and_no_folder(name):
    text = re.sub(r"--hash=sha256:[0-9a-f]{64}", "", (ROOT / name).read_text())
    assert not re.findall(r".*(?:://|--|@|/).*", text)
