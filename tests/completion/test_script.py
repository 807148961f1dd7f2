"""`pliant completion`: bash completes the command line with the script that it prints."""

import shutil
import subprocess

import pytest

from pliant.cli.application import COMMANDS, OF_WINGS, app, load_commands

TRY = """
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_pliant
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def complete(tmp_path_factory):
    """Return what bash offers for the last of some words, in a folder with one file."""
    if shutil.which("bash") is None:
        pytest.skip("needs bash")
    from pliant.completion.script import completion_script

    load_commands()

    folder = tmp_path_factory.mktemp("shell")
    (folder / "quad robot.urdf").write_text("<robot/>")
    (folder / "try.sh").write_text(completion_script(app, "bash") + TRY)

    def run(*words):
        done = subprocess.run(
            ["bash", "--norc", "try.sh", "pliant", *words], cwd=folder, capture_output=True, text=True, check=True
        )
        assert not done.stderr
        return done.stdout.splitlines()

    return run


def test_commands_options_and_names_are_completed(complete):
    assert set(complete("")) == {*COMMANDS, *OF_WINGS}
    assert complete("rep") == ["replay", "reproduce"] or complete("rep") == ["reproduce", "replay"]
    assert complete("run", "qbmove-1dof", "--dura") == ["--duration"]
    assert {"ros1", "ros2", "yarp"} <= set(complete("run", "qbmove-1dof", "--bridge", ""))
    assert complete("run", "x", "--law", "qb") == ["qbmove"]
    assert complete("reproduce", "box", "two") == ["two-dof"]
    assert complete("cpr", "work") == ["workspace"]
    assert "6PFR" in complete("cpr", "solve", "6")
    assert "--wrench" in complete("cpr", "solve", "6PFR", "--w")


def test_files_are_offered_beside_robots_and_for_values(complete):
    assert {"qbmove-1dof", "quad robot.urdf"} <= set(complete("run", "q"))
    assert complete("replay", "quad") == ["quad robot.urdf"]
    assert complete("run", "x", "--scenario", "quad") == ["quad robot.urdf"]


def test_scenarios_of_the_robot_are_offered_beside_files(complete):
    found = complete("run", "qbmove-2dof", "--scenario", "")
    assert set(found) == {"soft-then-stiff", "swing", "quad robot.urdf", "try.sh"}
    assert complete("view", "6PFR", "--scenario", "push") == ["push-on-the-plate"]
    assert complete("run", "arm.urdf", "--scenario", "push") == [""]  # nothing


def test_another_shell_is_refused_with_those_that_can(call):
    code, out, err = call("completion", "tcsh")
    assert code == 1
    assert not out
    assert "there is no completion for 'tcsh'" in err
    code, out, _ = call("completion", "zsh")
    assert code == 0
    assert out.startswith("autoload -U +X bashcompinit")


@pytest.fixture(scope="module")
def fish(tmp_path_factory):
    """Return what fish offers for the last word of a command line, in a folder with one file."""
    if shutil.which("fish") is None:
        pytest.skip("needs fish")
    from pliant.completion.script import completion_script

    load_commands()
    folder = tmp_path_factory.mktemp("fish")
    (folder / "quad robot.urdf").write_text("<robot/>")
    (folder / "pliant.fish").write_text(completion_script(app, "fish"))

    def run(line):
        done = subprocess.run(
            ["fish", "--no-config", "-c", f"source pliant.fish; complete -C '{line}'"],
            cwd=folder, capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert not done.stderr
        return [word.partition("\t")[0] for word in done.stdout.splitlines()]

    return run


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("pliant ", {*COMMANDS, *OF_WINGS}),
        ("pliant repr", {"reproduce"}),
        ("pliant cpr work", {"workspace"}),
        ("pliant cpr solve 6PFR --wr", {"--wrench"}),
        ("pliant run qbmove-1dof --dura", {"--duration"}),
        ("pliant run x --law qb", {"qbmove"}),
        ("pliant run qbmove-2dof --scenario s", {"soft-then-stiff", "swing"}),
        ("pliant reproduce two", {"two-dof"}),
        ("pliant replay quad", {"quad robot.urdf"}),
        ("pliant new exp", {"experiment"}),
    ],
)
def test_fish_offers_the_same_words(fish, line, offered):
    assert {word for word in fish(line) if word != "pliant.fish"} == offered
