"""The catalogue of robots and what it builds."""

import sys
from dataclasses import dataclass

import pytest
from guest_wings import guest_robots

from pliant.base.errors import ModelError, PliantError
from pliant.base.options import option
from pliant.base.plugins import import_user_module
from pliant.robots import CatalogueRobot, build_robot, find_robot, list_robots


def test_options_arrive_as_text_from_the_command_line():
    robot = build_robot("qbmove-1dof", {"preset": "0.6", "mode": "6", "friction": "0.025"})
    actuator = robot.actuators["joint"]
    assert actuator.initial_preset == 0.6
    assert actuator.mode == 6
    assert actuator.link_friction.torque == 0.025


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"mountin": "hanging"}, "did you mean 'mounting'"),
        ({"mounting": "upright"}, "must be one of hanging, horizontal"),
        ({"load_mass": "heavy"}, r"must be a number from 0 to 100 \[kg\]"),
        ({"load_mass": -1.0}, "must be a number from 0 to 100"),
        ({"load_mass": float("nan")}, "must be a number from 0 to 100"),
        ({"mode": 7}, "must be a whole number from 0 to 6"),
        ({"mode": "2.5"}, "must be a whole number"),
    ],
)
def test_a_bad_option_says_what_is_valid(options, text):
    with pytest.raises(ModelError, match=text):
        build_robot("sea-1dof", options)


def test_an_unknown_robot_names_the_nearest():
    with pytest.raises(ModelError, match="did you mean 'sea-1dof'"):
        find_robot("sea-1df")
    with pytest.raises(ModelError, match=r"no robot .* in all\); `pliant list` shows all"):
        find_robot("../catalogue")


@pytest.mark.parametrize("name", ["parts", "lookup", "no-such"])
def test_a_module_beside_the_robots_is_no_robot(name):
    with pytest.raises(ModelError, match=f"no robot '{name}'"):
        find_robot(name)


@dataclass(frozen=True, kw_only=True)
class SizeOptions:
    size: float = option(1.0, unit="m", low=0.0)
    """Size of it."""


def build_size(options: SizeOptions):
    robot = build_robot("sea-1dof")
    robot.spec.modelname = f"size {options.size}"
    return robot


def test_a_builder_that_takes_a_dataclass_needs_no_other_declaration():
    robot = CatalogueRobot(name="x", summary="", function=build_size, source="")
    assert robot.options is SizeOptions
    assert robot.build(size="2").spec.modelname == "size 2.0"
    with pytest.raises(ModelError, match=r"x: size is -1; must be a number >= 0 \[m\]"):
        robot.build(size=-1)


def test_a_builder_that_returns_no_robot_is_refused_with_its_place():
    robot = CatalogueRobot(name="x", summary="", function=lambda: None, source="")
    with pytest.raises(
        ModelError, match=r"robot 'x' \(.*test_lookup\.py:\d+\) returned a NoneType; must return a pliant"
    ):
        robot.build()


def test_an_option_of_an_unknown_type_is_refused_with_its_place():
    def build(size: dict = {}):  # noqa: B006
        return None

    with pytest.raises(PliantError, match=r"test_lookup\.py:\d+: the option 'size' has the type dict"):
        CatalogueRobot(name="x", summary="", function=build, source="")


def their_arm(length: float = 1.0, elbow: bool = True):
    """Somebody's arm."""
    return build_robot("sea-1dof", {"load_distance": length})


@pytest.fixture
def _here(monkeypatch):
    """Let wings name this module."""
    monkeypatch.setitem(sys.modules, "robots_of_a_test", sys.modules[__name__])


@pytest.mark.usefixtures("_here")
def test_other_packages_add_robots_and_a_broken_one_hides_nothing():
    with guest_robots(their_arm="robots_of_a_test:their_arm", broken="no_module_of_a_test:arm"):
        names = {robot.name for robot in list_robots()}
        assert {"their-arm", "broken", "sea-1dof"} <= names
        robot = find_robot("their-arm")
        assert robot.summary == "Somebody's arm."
        assert robot.build(length="0.5", elbow="no").joints == ["joint"]
        with pytest.raises(ModelError, match="did you mean 'length'"):
            robot.build(lenght=1.0)
        with pytest.raises(PliantError, match=r"the wing 'guest_robots' .*'broken'.*no_module_of_a_test"):
            find_robot("broken").build()


@pytest.mark.usefixtures("_here")
def test_a_robot_that_a_wing_does_not_have_where_it_says_hides_nothing():
    with guest_robots(arm="pliant.joints.benches.build"):
        assert "qbmove-1dof" in {robot.name for robot in list_robots()}
        with pytest.raises(PliantError, match="the wing 'guest_robots' has no robot 'arm' there"):
            find_robot("arm").build()


def test_a_name_that_a_wing_and_a_module_of_the_user_give_is_refused_with_both_places(tmp_path, monkeypatch):
    file = tmp_path / "their_qbmove.py"
    file.write_text(
        "from pliant.robots import CatalogueRobot\n"
        "def arm(): ...\n"
        "ROBOT = CatalogueRobot(name='qbmove-2dof', summary='', function=arm, source='')\n"
    )
    monkeypatch.setattr("pliant.base.plugins._MODULES", {})
    import_user_module(file)
    with pytest.raises(ModelError, match=r"registered twice, at .*qbmove_2dof/build.py:\d+ and .*their_qbmove.py:2;"):
        list_robots()


def test_an_option_that_is_set_without_its_group_is_told_with_it():
    from pliant.robots.loading import load_with_settings

    with pytest.raises(ModelError, match=r"nothing is named .friction.*option of this name: robot\.friction=0.01"):
        load_with_settings("qbmove-2dof", {"friction": 0.01})


@pytest.mark.parametrize(
    ("name", "namespace"),
    [("biped", "biped"), ("franka", "franka"), ("franka-torso", "franka_torso"), ("qbmove-1dof", "qbmove_1dof")],
)
def test_topics_of_a_robot_of_the_catalogue_stand_below_its_name(name, namespace):
    assert build_robot(name).interface.namespace == namespace
