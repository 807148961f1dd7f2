"""A running simulation at the ports of YARP: devices, commands, requests, clock, both dialects."""

import mujoco
import numpy as np
import pytest
from fuzz import until
from yarp_replies import decode_measurements, decode_metadata
from yarp_simulation import TWO_JOINTS, bench, served

from pliant.base.errors import BridgeError
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.model import Interface, Robot
from pliant.model.sensors import ForceTorque, Imu
from pliant.robots.loading import load
from pliant.simulation import Simulation, sync
from pliant.simulation.bridges import make_bridge
from pliant.yarp.bridge.calls import NameClient
from pliant.yarp.client import YarpNetwork
from pliant.yarp.model.services import (
    AxisReference,
    BaseState,
    ClockPort,
    ControlBoardServer,
    ExternalWrench,
    VectorServer,
    YarpInterface,
)
from pliant.yarp.wire import Bottle, Vocab, bottle, parse_bottle
from pliant.yarp.wire.joints import JointState, StreamCommand
from pliant.yarp.wire.values import FAIL, OK

pytestmark = pytest.mark.network


def test_a_device_without_ports_of_its_kind_is_served_by_its_field_table():
    with served(load("qbmove-1dof")) as world:
        yarp = world.yarp
        reader = yarp.open_input("/reader", strict=False)
        yarp.connect("/qbmove_1dof/joint/state:o", "/reader")
        first, second = reader.read(), reader.read()
        assert isinstance(first.content.find("position"), float)
        assert second.stamp.count > first.stamp.count
        assert second.stamp.time == pytest.approx(first.stamp.time + 0.01 * (second.stamp.count - first.stamp.count))
        writer = yarp.open_output("/writer")
        yarp.connect("/writer", "/qbmove_1dof/joint/command:i")
        writer.write_bottle(parse_bottle("(equilibrium_position 0.3)"))
        until(lambda: reader.read().content.find("reference_1") == 0.3, "the command arrives")


def test_requests_of_a_device_are_calls_with_named_arguments():
    with served(load("qbmove-1dof")) as world:
        name = "/qbmove_1dof/joint/rpc:i"
        listed = world.yarp.rpc(name, bottle("help"))
        assert {row[0] for row in listed.items[1:]} >= {"set_mode", "set_gains"}
        assert world.yarp.rpc(name, parse_bottle("set_mode (mode spring_eq_preset)")).items[0] == OK
        for wrong in ("set_mode (mode nonsense)", "nonsense", "set_mode (nonsense 1)"):
            assert world.yarp.rpc(name, parse_bottle(wrong)).items[0] == FAIL


def test_the_clock_sends_every_step_and_its_calls_hold_and_step_the_simulation():
    with served(load("qbmove-1dof")) as world:
        yarp = world.yarp
        reader = yarp.open_input("/reader")
        yarp.connect("/clock", "/reader")
        times = [reader.read().content.items for _ in range(50)]
        stamps = [1_000_000_000 * s + ns for s, ns in times]
        step = round(1e9 * world.simulation.engine.dt)
        assert np.unique(np.diff(stamps)).tolist() == [step]

        def call(text):
            return yarp.rpc("/clock/rpc", parse_bottle(text))

        assert call("getStepSize").items == (world.simulation.engine.dt,)
        assert call("pauseSimulation") == bottle(Vocab.of("done"))
        until(lambda: world.simulation.paused, "the pause")
        until(lambda: call("getSimulationTime") == call("getSimulationTime"), "time stands still")
        before = call("getSimulationTime")[0]
        assert call("stepSimulationAndWait 7") == Bottle()
        assert call("getSimulationTime")[0] == pytest.approx(before + 7 * world.simulation.engine.dt, abs=1e-12)
        assert call("stepSimulation 0") == bottle(FAIL)
        assert call("nonsense") == bottle(FAIL)
        call("resetSimulation")
        call("continueSimulation")
        until(lambda: call("getSimulationTime")[0] < before, "the reset")


def test_steps_of_two_clients_and_calls_between_them_are_all_taken():
    with served(bench(), ",name=robot") as world:
        yarp, simulation = world.yarp, world.simulation
        with (
            yarp.open_rpc("/clock/rpc") as first,
            yarp.open_rpc("/clock/rpc") as second,
            yarp.open_rpc("/robot/arm/rpc:i") as arm,
        ):
            first.call(parse_bottle("pauseSimulation"))
            until(lambda: simulation.submit(lambda: simulation.paused).result(10.0), "the pause")
            before = simulation.submit(lambda: simulation.time_ns).result(10.0)
            assert first.call(parse_bottle("stepSimulation 200")) == bottle(Vocab.of("done"))
            assert arm.call(parse_bottle("[get] [axes]")).items[2] == 2
            assert second.call(parse_bottle("stepSimulationAndWait 50")) == Bottle()
            after = simulation.submit(lambda: simulation.time_ns).result(10.0)
            assert after - before == 250 * simulation.dt_ns


def answered(yarp, name, request, dialect):
    with YarpNetwork(str(yarp.names.address), dialect=dialect) as client:
        return client.rpc(name, request)


def test_a_control_board_answers_the_calls_of_both_dialects():
    with served(bench(), ",name=robot") as world:
        three = answered(world.yarp, "/robot/arm/rpc:i", parse_bottle("[get] [axes]"), 3)
        assert three.items[2] == 2
        assert answered(world.yarp, "/robot/arm/rpc:i", parse_bottle("[get] [prot]"), 3).items[1:4] == (1, 9, 0)
        four = answered(world.yarp, "/robot/arm/nws/rpc:i", bottle("getAxesRPC"), 4)
        assert four == bottle((OK,), 2)
        name = answered(world.yarp, "/robot/arm/nws/rpc:i", Bottle(("getAxisNameRPC", 1), layout="tagged"), 4)
        assert name == bottle((OK,), "elbow")
        assert answered(world.yarp, "/robot/arm/nws/rpc:i", bottle("nonsense"), 4) == bottle(FAIL)
        assert answered(world.yarp, "/robot/arm/rpc:i", bottle("nonsense"), 3) == bottle(Vocab.of("nak"))


@pytest.mark.parametrize("dialect", [3, 4])
def test_a_client_of_either_dialect_moves_an_axis_by_the_stream_and_sees_it_in_its_own_dialect(dialect):
    rpc_end, rpc_port = {3: ("/rpc:o", "rpc:i"), 4: ("/nwc/rpc:o", "nws/rpc:i")}[dialect]
    with served(bench(), f",name=robot,dialect={7 - dialect}") as world:
        address = str(world.yarp.names.address)
        with YarpNetwork(address, dialect=dialect) as client:
            caller = client.open_output(f"/client{rpc_end}")
            client.connect(caller.name, f"/robot/arm/{rpc_port}")
            stream = client.open_output("/client/command:o")
            client.connect(stream.name, "/robot/arm/command:i", "fast_tcp")
            reader = client.open_input("/client/stateExt:i", strict=False)
            client.connect("/robot/arm/stateExt:o", reader.name, "fast_tcp")
            received = reader.read()
            assert received.dialect == dialect
            assert len(received.content) == {3: 22, 4: 24}[dialect]
            if dialect == 3:
                request = parse_bottle("[set] [icmd] [cmds] ([posd] [posd])")
            else:
                modes = Bottle((Vocab.of("posd").code,) * 2)
                request = Bottle(("setControlModeAllRPC", modes), layout="tagged")
            reply = answered(client, f"/robot/arm/{rpc_port}", request, dialect)
            assert reply in (bottle(OK), bottle((OK,)))
            until(
                lambda: JointState.decode(reader.read().content).control_mode == (Vocab.of("posd"),) * 2, "the new mode"
            )
            command = StreamCommand(quantity="position_direct", values=(5.0, -3.0)).encode(dialect)
            stream.write_bottle(command)

            def there():
                position = JointState.decode(reader.read().content).joint_position
                return np.abs(np.array(position) - (5.0, -3.0)).max() < 2.0

            until(there, "both axes near their references [deg]")


def test_a_wrong_command_is_counted_told_and_changes_nothing(caplog):
    with served(bench(), ",name=robot") as world:
        stream = world.yarp.open_output("/client/command:o")
        world.yarp.connect(stream.name, "/robot/arm/command:i")
        port = next(p for p, _, _ in world.bridge.served.ports if p.name.endswith("command:i"))
        for text in ("1 2", "([posd]) (1.0 2.0 3.0)", "([dpo] 7) (1.0)", "([vmo] 0) (nan)", "([vmo] 0) (1.0)"):
            before = port.rejected
            stream.write_bottle(parse_bottle(text))
            until(lambda before=before: port.rejected == before + 1, text)
        assert world.bridge.health()["complaints"] == 5
    told = [r.getMessage() for r in caplog.records if r.name == "pliant.yarp"]
    assert len(told) == 5
    assert all(text.startswith("/robot/arm/command:i: ") for text in told)


def test_an_inertial_unit_and_a_force_sensor_stream_measures_and_tell_their_names():
    robot = bench()
    robot.devices += [Imu(name="imu", body="upper"), ForceTorque(name="ft", body="lower")]
    with served(robot, ",name=robot") as world:
        yarp = world.yarp
        names = decode_metadata(yarp.rpc("/robot/imu/rpc:o", bottle("getMetadata")))
        assert {group: row[0].name for group, row in names.items()}["gyroscopes"] == "imu"
        reader = yarp.open_input("/reader", strict=False)
        yarp.connect("/robot/imu/measures:o", "/reader")
        measured = decode_measurements(reader.read().content)
        assert set(measured) == set(names)
        assert len(measured["linear_accelerometers"][0].values) == 3
        yarp.disconnect("/robot/imu/measures:o", "/reader")
        yarp.connect("/robot/ft/analog:o", "/reader")
        until(lambda: len(reader.read().content) == 6, "the six numbers")
        yarp.disconnect("/robot/ft/analog:o", "/reader")
        yarp.connect("/robot/ft/measures:o", "/reader")
        until(lambda: len(reader.read().content) == 12, "the twelve groups")
        force = decode_measurements(reader.read().content)["six_axis_force_torques"][0].values[:3]
        # The lower arm hangs on the sensor, and pulls its parent down.
        assert np.linalg.norm(force) == pytest.approx(9.81, rel=0.2)


def test_a_name_server_that_answers_is_used_and_a_missing_one_is_told():
    from pliant.yarp.bridge.nameserver import NameServer

    robot = load("qbmove-1dof")
    with NameServer(port=0) as server:
        address = server.address
        bridge = make_bridge(f"yarp:server={address},own_server=never", robot)
        with Simulation(MujocoEngine(robot, check=False), make_devices(robot), [bridge], pacer=sync()) as simulation:
            simulation.start()
            assert bridge.server is None
            assert NameClient(address).query("/clock") is not None
        assert [c.name for c in NameClient(address).list()] == ["/root", "fallback"]
        with pytest.raises(BridgeError, match=r"answers at .* already"):
            make_bridge(f"yarp:server={address},own_server=always", robot).start({})
    with pytest.raises(BridgeError, match="pliant yarpserver --socket"):
        make_bridge(f"yarp:server={address},own_server=never", robot).start({})


def described():
    """Return the bench with ports that its files name, as those of robots for gazebo-yarp-plugins do."""
    robot = bench()
    base = BaseState(name="base", link="lower")
    robot.devices.append(base)
    axes = (AxisReference("arm", 0), AxisReference("arm", 1))
    servers = (
        ControlBoardServer(name="part", port="/sim/part", axes=axes),
        VectorServer(name="vector", port="/simulated/base", device="base"),
    )
    yarp = YarpInterface(robot="sim", devices=(base, ClockPort(name="clock", port="/sim/clock")), servers=servers)
    robot.interface = Interface(extensions={"yarp": yarp})
    return robot


def test_the_option_name_replaces_the_robots_part_of_the_names_that_its_files_give():
    with served(described(), ",name=two") as world:
        names = {contact.name for contact in world.yarp.list()}
        assert {"/two/part/rpc:i", "/two/part/stateExt:o", "/two/clock", "/two/clock/rpc"} <= names
        assert "/simulated/base" in names  # it only begins with the same letters
        assert not any(name.startswith("/sim/") for name in names)
        assert world.yarp.rpc("/two/part/rpc:i", parse_bottle("get axes")).items[:3] == (Vocab.of("is"), "axes", 2)


def test_the_time_is_at_the_port_of_the_robots_clock_plugin_unless_an_option_names_another():
    assert make_bridge("yarp", described()).clock_port == "/sim/clock"
    assert make_bridge("yarp:clock=/other", described()).clock_port == "/other"
    assert make_bridge("yarp:clock=", described()).clock_port == ""
    assert make_bridge("yarp", bench()).clock_port == "/clock"
    assert make_bridge("yarp:lockstep=true", described()).awaited == ("/sim/clock/rpc",)
    with served(described()) as world:
        assert world.yarp.rpc("/sim/clock/rpc", parse_bottle("getSimulationTime"))[0] >= 0.0


def test_a_second_run_on_one_name_server_is_told_how_to_get_other_names():
    with served(bench(), ",name=one") as world:
        address = world.bridge.server.address
        with pytest.raises(BridgeError, match=r"port /clock is open already.*name=NAME,clock=/NAME/clock"):
            make_bridge(f"yarp:server={address},name=two", bench()).start({})
        second = make_bridge(f"yarp:server={address},name=two,clock=/two/clock", bench())
        try:
            second.start({device.name: device for device in make_devices(bench())})
            assert world.yarp.exists("/two/arm/rpc:i")
        finally:
            second.stop()
        assert not any(contact.name.startswith("/two") for contact in world.yarp.list())
        assert world.yarp.exists("/one/arm/rpc:i")


@pytest.mark.parametrize(
    "option", ["dialect=5", "queue=0", "own_server=maybe", "period=-1", "clock=/a b", "server=a b"]
)
def test_a_wrong_option_is_refused(option):
    with pytest.raises(BridgeError, match=option.partition("=")[0]):
        make_bridge(f"yarp:{option}", None).start({})


def test_base_states_are_sent_as_vectors_and_links_are_pushed_at_a_port():
    robot = Robot(mujoco.MjSpec.from_string(TWO_JOINTS))
    robot.devices += [BaseState(name="base", link="lower"), ExternalWrench(name="wrench", port="/pushes/rpc:i")]
    with served(robot, ",name=robot") as world:
        yarp = world.yarp
        reader = yarp.open_input("/reader", strict=False)
        yarp.connect("/robot/base/analog:o", "/reader")
        first = list(reader.read().content)
        assert len(first) == 18
        assert first[:3] == pytest.approx([0.0, 0.0, -0.3], abs=1e-6)
        assert yarp.rpc("/pushes/rpc:i", parse_bottle("lower 5.0 0 0 0 0 0 0.5")) == bottle("[ACK] lower")
        until(lambda: reader.read().content[0] > 0.02, "the push moves the link")
        refused = yarp.rpc("/pushes/rpc:i", parse_bottle("lowr 5.0 0 0 0 0 0 0.5"))
        assert str(refused[0]).startswith("[ERROR]")
        assert "lower" in str(refused[0])


def test_a_complaint_that_quotes_a_peer_can_be_written_anywhere(caplog):
    told = []
    with served(bench(), ",name=robot") as world:
        world.bridge.on_complaint = told.append
        world.bridge.served.ports[0][0].complain("no connection to /x\udcff\x1b[2J")
    assert told == ["no connection to /x\\udcff\\x1b[2J"]
    caplog.text.encode()
