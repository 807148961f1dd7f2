"""Hardware of ros2_control that talks over topics, by the sources of TopicBasedSystem and JointStateTopicSystem."""

import itertools
import math

import pytest
from control_tags import TOPICS, chain
from ros_runs import RosRun

from pliant.base.errors import BridgeError
from pliant.robots.loading import load

MIXED = {"lift": ("position", "velocity"), "spin": ("velocity",), "push": ("effort",)}


@pytest.fixture
def robot(tmp_path):
    def make(*args, **kwargs):
        path = tmp_path / "arm.urdf"
        path.write_text(chain(*args, **kwargs))
        return load(path)

    return make


@pytest.fixture
def mixed(robot):
    with RosRun(robot(MIXED, params=TOPICS), clock=False) as run:
        run.simulation.step(5)
        yield run


def send(run, topic="/arm/commands", names=tuple(MIXED), **values):
    """Publish a message as the plugin does: one value for each joint that has the interface."""
    run.wire.hear(topic, name=list(names), **values)


def states(run, topic="/arm/states"):
    last = run.wire.out[topic].last()
    return {
        name: tuple(last[key][i] for key in ("position", "velocity", "effort")) for i, name in enumerate(last["name"])
    }


@pytest.mark.parametrize("plugin", ["topic_based_ros2_control/TopicBasedSystem", "any/JointStateTopicSystem"])
def test_the_plugins_have_their_default_topics(robot, plugin):
    with RosRun(robot({"lift": ("position",)}, plugin=plugin), clock=False) as run:
        run.simulation.step()
        assert "/robot_joint_commands" in run.wire.into
        assert list(states(run, "/robot_joint_states")) == ["lift"]


def test_position_velocity_and_effort_are_commanded_in_the_plugins_compact_arrays(mixed):
    # `spin` and `push` have no position, `push` no velocity: the arrays are shorter than the names.
    send(mixed, position=[0.4], velocity=[0.0, 0.5], effort=[0.0])
    mixed.simulation.step(1500)
    found = states(mixed)
    assert found["lift"][0] == pytest.approx(0.4, abs=2e-3)
    assert found["spin"][1] == pytest.approx(0.5, abs=0.02)
    send(mixed, position=[0.4], velocity=[0.0, 0.0], effort=[0.3])
    before = states(mixed)["push"][1]
    mixed.simulation.step(50)
    assert states(mixed)["push"][2] == pytest.approx(0.3, abs=1e-6)
    assert states(mixed)["push"][1] > before


def test_arrays_as_long_as_the_names_are_meant_by_name_and_in_any_order(mixed):
    send(mixed, names=("push", "lift", "spin"), position=[9.0, -0.3, 9.0], velocity=[9.0, 9.0, 0.2])
    mixed.simulation.step(1500)
    assert states(mixed)["lift"][0] == pytest.approx(-0.3, abs=2e-3)
    assert states(mixed)["spin"][1] == pytest.approx(0.2, abs=0.02)
    assert any("push has position and velocity, and is moved by its effort interface" in t for t in mixed.wire.said)


def test_states_are_of_every_step_and_in_the_order_of_the_file(mixed):
    messages = mixed.wire.out["/arm/states"].messages()
    assert [m["name"] for m in messages] == [list(MIXED)] * 5
    stamps = [m["header"]["stamp"] for m in messages]
    assert [b - a for a, b in itertools.pairwise(stamps)] == [1_000_000] * 4


def test_nan_is_no_command(mixed):
    send(mixed, position=[0.4], velocity=[0.0, 0.0], effort=[0.0])
    mixed.simulation.step(1000)
    send(mixed, position=[math.nan], velocity=[math.nan, math.nan], effort=[math.nan])
    mixed.simulation.step(500)
    assert states(mixed)["lift"][0] == pytest.approx(0.4, abs=2e-3)
    assert mixed.wire.said == []


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"names": ("lift", "spinn"), "position": [0.1]}, "'spinn' is no joint of the component; did you mean 'spin'"),
        ({"names": ("lift", "lift"), "position": [0.1, 0.1]}, "have one twice"),
        ({"position": [0.1, 0.2]}, "position has 2 values for 3 names, of which 1 have this interface"),
        ({"velocity": [0.0, math.inf]}, "velocity of spin is infinite"),
    ],
)
def test_a_wrong_message_is_refused_whole_with_a_sentence(mixed, values, says):
    send(mixed, **values)
    mixed.simulation.step(300)
    assert any(says in text and text.startswith("/arm/commands") for text in mixed.wire.said)
    assert states(mixed)["lift"][0] == pytest.approx(0.0, abs=1e-6)


def test_joint_states_are_left_to_the_other_controller_manager(mixed):
    assert not [t for t in mixed.wire.out if t == "/joint_states"]
    assert not [name for name in mixed.wire.services if name.startswith("/controller_manager")]
    assert not [topic for topic in mixed.wire.into if "forward" in topic]


def test_joints_that_mimic_are_sent_and_not_commanded(robot):
    described = robot({"lift": ("position",), "follow": ("position",)}, params=TOPICS, mimics={"follow": "lift"})
    with RosRun(described, clock=False) as run:
        run.simulation.step()
        send(run, names=("lift", "follow"), position=[0.5, 0.5])
        run.simulation.step(2000)
        assert states(run)["follow"][0] == pytest.approx(0.5, abs=0.02)
        assert run.wire.said == []


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"joint_commands_topic": "/a b"}, "joint_commands_topic is '/a b'; must be a name"),
        ({"joint_states_topic": ""}, "joint_states_topic is ''; must be a name"),
        ({"joint_states_topic": "/robot_joint_commands"}, "are both /robot_joint_commands; must be two topics"),
    ],
)
def test_names_that_ros_does_not_take_are_refused(robot, params, says):
    with pytest.raises(BridgeError, match="arm") as caught:
        RosRun(robot({"lift": ("position",)}, params=params), clock=False)
    assert says in str(caught.value)


def test_a_stiff_joint_has_no_topics_of_the_toolbox(robot):
    with RosRun(robot({"lift": ("position",), "push": ("effort",)}), clock=False) as run:
        run.simulation.step()
        toolbox = ("link_state", "torque_el1_state", "motor_1_state", "robot_state", "stiffness_state")
        assert not [topic for topic in run.wire.out if topic.endswith(toolbox)]
        assert not [topic for topic in run.wire.into if topic.endswith(("reference_1", "external_torque"))]
        assert run.wire.out["/joint_states"].last()["name"] == ["lift", "push"]


def test_values_are_handed_on_by_a_controller_for_each_interface(robot):
    with RosRun(robot(MIXED), clock=False) as run:
        run.simulation.step(2)
        base = "/toBEassigned/forward_{}_controller/commands"
        run.wire.hear(base.format("position"), data=[0.3])
        run.wire.hear(base.format("velocity"), data=[0.4])
        run.wire.hear(base.format("effort"), data=[0.0])
        run.simulation.step(1500)
        values = run.simulation.sample("board").values
        assert values["position"][0] == pytest.approx(0.3, abs=2e-3)
        assert run.simulation.engine.port("spin/velocity").item() == pytest.approx(0.4, abs=0.02)
        run.wire.hear(base.format("position"), data=[0.3, 0.2])
        assert "2 values came; must be 1, one for each of ['lift']" in run.wire.said[-1]
        run.wire.hear(base.format("effort"), data=[math.inf])
        assert "push is infinite" in run.wire.said[-1]
