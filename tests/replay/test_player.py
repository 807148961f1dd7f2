"""Replays of recordings and of bags, on a clock of their own."""

import bag_files as bags
import pytest
from fake_bridge import Recall
from fake_engine import SpringJoint, SpringMassEngine

from pliant.bags import open_bag
from pliant.base.errors import RecordingError
from pliant.recording import Recorder, read_recording
from pliant.replay.player import WallClock, open_replay, replay
from pliant.simulation import RecordedTopic, Simulation

MS = 1_000_000
F64 = "std_msgs/msg/Float64"


class Wall:
    """A clock that only sleeping moves."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        assert 0.0 < seconds <= 0.25
        self.now += seconds


class Listener(Recall):
    """A bridge that notes when it gets what."""

    def __init__(self, wall=None):
        super().__init__()
        self.wall = wall or Wall()
        self.ticks, self.got, self.devices, self.stops = [], [], None, 0

    def start(self, devices):
        self.devices = dict(devices)

    def tick(self, stamp_ns):
        self.ticks.append(stamp_ns)

    def publish(self, sample):
        self.got.append((self.wall.now, sample))

    def stop(self):
        self.stops += 1


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    path = tmp_path_factory.mktemp("replay") / "run.mcap"
    joints = [SpringJoint(0, "elbow", sample_period=0.01), SpringJoint(1, "wrist", sample_period=0.02)]
    with Simulation(SpringMassEngine(2), joints, recorder=Recorder(path)) as run:
        run.run(1.0)
    return path


def play(source, **options):
    wall = Wall()
    listener = Listener(wall)
    samples = list(replay(source, bridges=[listener], wall=WallClock(wall, wall.sleep), **options))
    assert [s for _, s in listener.got] == samples
    assert listener.stops == 1
    return listener


def test_speed_start_and_duration_cut_and_pace_a_recording(recorded):
    whole = play(recorded)
    assert whole.ticks == [k * 10 * MS for k in range(1, 101)]
    assert len(whole.got) == 150
    assert set(whole.devices) == {"elbow", "wrist"}
    piece = play(recorded, speed=0.5, start=0.2, duration=0.3)
    assert piece.ticks == [k * 10 * MS for k in range(21, 52)]
    assert piece.got[0][0] == 0.0
    assert piece.got[-1][0] == pytest.approx(0.6)
    for at, sample in piece.got:
        assert at == pytest.approx((sample.stamp_ns * 1e-9 - 0.21) / 0.5, abs=1e-9)


def test_a_delay_comes_before_the_first_sample(recorded):
    assert play(recorded, speed=1.0, delay=2.0, duration=0.1).got[0][0] == pytest.approx(2.0)


def test_it_begins_when_it_may(recorded):
    wall = Wall()
    listener = Listener(wall)
    asked = []

    def ready():
        assert listener.devices
        asked.append(wall.now)
        return len(asked) > 3

    list(
        replay(
            recorded,
            bridges=[listener],
            speed=1.0,
            delay=1.0,
            duration=0.1,
            ready=ready,
            wall=WallClock(wall, wall.sleep),
        )
    )
    assert asked == pytest.approx([0.0, 0.02, 0.04, 0.06])
    assert listener.got[0][0] == pytest.approx(1.06)


def test_a_loop_begins_again_at_its_start_until_it_is_closed(recorded):
    wall = Wall()
    listener = Listener(wall)
    playing = replay(
        recorded, bridges=[listener], speed=1.0, start=0.5, duration=0.1, loop=True, wall=WallClock(wall, wall.sleep)
    )
    for _ in range(40):
        next(playing)
    playing.close()
    assert listener.stops == 1
    assert listener.ticks[:11] == [k * 10 * MS for k in range(51, 62)]
    assert listener.ticks[11:22] == listener.ticks[:11]


def test_a_bridge_that_waits_for_answers_is_refused(recorded):
    listener = Listener()
    listener.lockstep = True
    with pytest.raises(RecordingError, match="waits for answers; a replay has none"):
        replay(recorded, bridges=[listener])


def test_what_was_served_can_be_asked_before_the_bridges_stop(recorded):
    listener = Listener()
    seen = []
    playing = replay(recorded, bridges=[listener], before_stop=lambda: seen.append(listener.stops))
    next(playing)
    playing.close()
    assert seen == [0]
    assert listener.stops == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"speed": 0.0}, "the speed of the replay is 0.0; must be a number above 0"),
        ({"speed": "2"}, "the speed of the replay is '2'"),
        ({"start": -1.0}, "the start of the replay is -1.0; must be a number >= 0"),
        ({"duration": float("nan")}, "the duration of the replay is nan"),
        ({"delay": float("inf")}, "the delay of the replay is inf"),
        ({"start": 5.0}, "starts at 5 s; the recording has 0.99 s"),
        ({"start": 0.99, "loop": True}, "a replay of no length cannot be repeated"),
        ({"duration": 0.0, "loop": True}, "a replay of 0 s cannot be repeated"),
    ],
)
def test_wrong_options_are_refused_before_a_bridge_starts(recorded, options, message):
    listener = Listener()
    with pytest.raises(RecordingError, match=message):
        replay(recorded, bridges=[listener], **options)
    assert listener.devices is None


def rows(store):
    for k in range(5):
        yield "/clock", "rosgraph_msgs/msg/Clock", k * 100 * MS, bags.clock(store, (70 + k) * 10 * MS)
        yield "/arm/elbow/reference_1", F64, k * 100 * MS + 50 * MS, bags.number(store, k)


@pytest.mark.parametrize("kind", ["bag", "mcap", "db3"])
def test_a_bag_gives_its_messages_and_its_clock(kind, tmp_path):
    listener = play(bags.write_any(tmp_path, rows, kind), speed=2.0)
    assert listener.ticks == [(70 + k) * 10 * MS for k in range(5)]
    assert set(listener.devices) == {"/arm/elbow/reference_1"}
    assert isinstance(listener.devices["/arm/elbow/reference_1"], RecordedTopic)
    assert [at for at, _ in listener.got] == pytest.approx([0.025 + 0.05 * k for k in range(5)])
    with open_bag(tmp_path / "run" if kind != "bag" else tmp_path / "run.bag") as bag:
        bodies = [m.body for m in bag.messages(["/arm/elbow/reference_1"])]
    assert [s.values["body"] for _, s in listener.got] == bodies


def test_a_bag_without_a_clock_gives_its_log_time(tmp_path):
    def some(store):
        for k in range(6):
            yield "/arm/elbow/reference_1", F64, k * MS // 2, bags.number(store, k)

    listener = play(bags.write_any(tmp_path, some, "bag"))
    assert listener.ticks == [bags.EPOCH + k * MS for k in range(3)]
    assert len(listener.got) == 6


def test_the_names_of_the_recorded_robot_are_known(tmp_path):
    from pliant.model.interface import Interface, JointInterface, PluginManager
    from pliant.recording.recording import recorded_names

    manager = PluginManager(
        namespace="left", sample_time=0.002, joints=("elbow",), ref_1=("reference_1",), ref_2=("disabled",), file="/x/y"
    )
    joints = {"elbow": JointInterface(joint="elbow", publish_state=False, file="/home/me/robot.urdf", line=3)}
    text = recorded_names(Interface(namespace="left", joints=joints, manager=manager))
    assert "/home" not in text
    assert "/x/y" not in text
    path = tmp_path / "run.mcap"
    recorder = Recorder(path, metadata={"interface": text})
    with Simulation(SpringMassEngine(), [SpringJoint(0, "elbow")], recorder=recorder) as run:
        run.step(10)
    found = open_replay(path).interface
    assert found.namespace == "left"
    assert not found.joints["elbow"].publish_state
    assert found.joints["elbow"].publish_elastic_torque
    assert (found.manager.sample_time, found.manager.joints) == (0.002, ("elbow",))
    recording = read_recording(path)
    for wrong in ("{", "[]", "{}", '{"namespace": 1, "joints": 3}', text.replace("0.002", "-1")):
        recording.metadata["interface"] = wrong
        with pytest.raises(RecordingError, match="the names of the robot's topics are damaged"):
            open_replay(recording)
