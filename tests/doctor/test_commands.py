"""`pliant doctor`: what is there, what is missing, what to do."""

import importlib.metadata
import json
import subprocess

import pytest

from pliant.base.errors import MissingDependency
from pliant.cli import main
from pliant.doctor import commands as module


@pytest.fixture
def no_graphics(monkeypatch):
    monkeypatch.setattr(module, "_start_probes", dict)


def run(capsys, *arguments: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as end:
        main(["doctor", *arguments])
    return int(end.value.code or 0), capsys.readouterr().out


def test_the_report_has_versions_graphics_caches_bridges_and_extras(capsys, no_graphics):
    code, text = run(capsys, "--json")
    report = json.loads(text)
    assert (code, report["ok"]) == (0, True)
    groups = [f["group"] for f in report["findings"]]
    assert list(dict.fromkeys(groups)) == ["versions", "machine", "graphics", "caches", "bridges", "extras"]
    names = {f["name"] for f in report["findings"]}
    assert {"numba", "Python", "cores", "real-time scheduling", "compiled laws", "fci", "ros2", "yarp"} <= names


def test_a_missing_dependency_is_an_error_with_the_command_and_exit_code_3(capsys, no_graphics, monkeypatch):
    known = importlib.metadata.version

    def version(package):
        if package == "msgspec":
            raise importlib.metadata.PackageNotFoundError(package)
        return known(package)

    monkeypatch.setattr(importlib.metadata, "version", version)
    code, text = run(capsys, "--json")
    (wrong,) = [f for f in json.loads(text)["findings"] if f["status"] == "error"]
    assert code == 3
    assert (wrong["name"], wrong["advice"].startswith('pip install "msgspec')) == ("msgspec", True)


def test_another_version_of_mujoco_in_the_folder_of_mujoco_core_is_an_error(monkeypatch):
    known = importlib.metadata.version
    versions = {"mujoco": "3.11.0", "mujoco-core": "4.0.0"}
    monkeypatch.setattr(importlib.metadata, "version", lambda package: versions.get(package) or known(package))
    (wrong,) = [f for f in module._versions() if "overwritten" in f.found]
    assert (wrong.status, wrong.advice) == ("error", 'pip install --force-reinstall "mujoco==4.0.0"')
    versions["mujoco"] = "4.0.0"
    assert not [f for f in module._versions() if f.status == "error"]


def test_an_installation_that_is_older_than_its_checkout_is_a_warning(tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.metadata, "requires", lambda _: ["numpy>=2", 'av>=14; extra == "video"'])
    project = tmp_path / "pyproject.toml"
    assert module._older_metadata(project) is None
    project.write_text('[project]\nname = "pliant"\n[project.optional-dependencies]\nvideo = ["av"]\n')
    assert module._older_metadata(project) is None
    project.write_text(project.read_text() + 'plot = ["matplotlib"]\n')
    found = module._older_metadata(project)
    assert (found.status, found.advice) == ("warning", f"pip install -e {tmp_path}")
    assert found.found.endswith("in the extras plot")


def test_an_old_dependency_is_an_error():
    assert module._too_old("3.9.1", "mujoco>=4.0,<5")
    assert not module._too_old("4.0.0rc1", "mujoco>=4.0,<5")
    assert not module._too_old("0.68.1", "numba>=0.63")


def test_a_graphics_library_that_hangs_is_ended(monkeypatch):
    monkeypatch.setattr(module, "GL_LIMIT", 0.3)
    monkeypatch.setattr(module, "PROBE", "import time; time.sleep(600)")
    monkeypatch.setenv("DISPLAY", "")
    found = [f for f in module.examine() if f.group == "graphics"]
    assert any("drew nothing within 0.3 s" in f.found for f in found)
    assert found[-1].status == "warning"


def test_graphics_libraries_are_tried_once_each_at_the_same_time_with_one_limit_for_all(monkeypatch):
    events, clock = [], [100.0]

    class Hanging:
        def __init__(self, command, **_):
            self.backend = command[-1]
            events.append(("start", self.backend))

        def communicate(self, timeout=None):
            events.append(("wait", self.backend, timeout))
            if timeout is not None:
                clock[0] += timeout
                raise subprocess.TimeoutExpired(self.backend, timeout)

        def poll(self):
            return None

        def kill(self):
            events.append(("kill", self.backend))

    monkeypatch.setattr(module.subprocess, "Popen", Hanging)
    monkeypatch.setattr(module.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(module.sys, "platform", "linux")
    monkeypatch.delenv("DISPLAY", raising=False)
    for name in ("_versions", "_machine", "_caches", "_code", "_bridges", "_extras", "_clients"):
        monkeypatch.setattr(module, name, list)
    module.examine()
    assert events[:4] == [
        ("start", "egl"), ("start", "osmesa"), ("wait", "egl", module.GL_LIMIT), ("wait", "osmesa", 0.5)
    ]  # fmt: skip
    assert [e for e in events if e[0] in ("start", "kill")] == [*events[:2], ("kill", "egl"), ("kill", "osmesa")]


def test_a_graphics_library_that_hangs_does_not_hide_one_that_draws(monkeypatch):
    class Probe:
        """Stands for the process of a library; a real one takes longer than a limit on a machine that is busy."""

        returncode = 0

        def __init__(self, command, **_):
            self.backend = command[-1]

        def communicate(self, timeout=None):
            if self.backend == "egl" and timeout is not None:
                raise subprocess.TimeoutExpired(self.backend, timeout)
            return "drawn\n", ""

        def poll(self):
            return None if self.backend == "egl" else 0

        def kill(self):
            pass

    monkeypatch.setattr(module, "GL_LIMIT", 1.0)
    monkeypatch.setattr(module.subprocess, "Popen", Probe)
    for name in ("_versions", "_machine", "_caches", "_code", "_bridges", "_extras", "_clients"):
        monkeypatch.setattr(module, name, list)
    monkeypatch.setattr(module.sys, "platform", "linux")
    monkeypatch.delenv("DISPLAY", raising=False)
    found = {f.name: (f.status, f.found) for f in module.examine() if f.group == "graphics"}
    assert found == {"egl": ("note", "drew nothing within 1 s"), "osmesa": ("ok", "draws")}


def test_a_graphics_library_that_crashes_is_reported_with_its_last_words(monkeypatch):
    monkeypatch.setattr(module, "PROBE", "raise RuntimeError('no such driver')")
    found = [f for f in module.examine() if f.group == "graphics"]
    assert "no such driver" in found[0].found
    assert found[0].status == "warning"
    assert "apt-get" in found[0].advice or not found[0].name.startswith("egl")


def test_a_bridge_that_cannot_run_says_what_it_lacks(monkeypatch):
    def check(name):
        if name == "zenoh":
            raise MissingDependency("eclipse-zenoh", command="pip install 'pliant[zenoh]'", purpose="the zenoh bridge")

    monkeypatch.setattr(module, "check_bridge", check)
    found = {f.name: f for f in module._bridges()}
    assert "pip install 'pliant[zenoh]'" in found["zenoh"].found
    assert (found["zenoh"].status, found["fci"].status) == ("note", "ok")


def test_a_cache_that_cannot_be_used_is_an_error(monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("PLIANT_CACHE", str(tmp_path / "file" / "inside"))
    (found,) = module._caches()
    assert found.status == "error"
    assert "PLIANT_CACHE" in found.found


def test_the_report_for_people_has_a_count_of_problems(capsys, no_graphics, monkeypatch):
    monkeypatch.setattr(module, "_older_metadata", lambda _: None)
    code, text = run(capsys)
    assert code == 0
    assert "0 errors, 1 warning\n" in text
