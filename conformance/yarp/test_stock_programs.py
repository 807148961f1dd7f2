"""The programs and Python bindings of YARP against pliant's name server and a running simulation, see README.md.

PLIANT_YARP=/path/to/venv/bin python -m pytest conformance/yarp/test_stock_programs.py
"""

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from stock import World, folder_of

pytestmark = pytest.mark.network


@pytest.fixture(scope="module")
def programs():
    return folder_of()


@pytest.fixture(scope="module", params=["pliant yarpserver", "yarpserver"])
def world(programs, request, tmp_path_factory):
    made = World(programs, tmp_path_factory.mktemp("yarp"), request.param.startswith("pliant"))
    made.serve()
    yield made
    made.close()


def test_yarp_where_finds_the_name_server(world):
    assert f"port {world.server[1]}" in world.run("where")


def test_yarp_name_registers_asks_and_removes(world):
    assert "registration name /by_hand ip " in world.run("name", "register", "/by_hand")
    assert "property a = b c" in world.run("name", "set", "/by_hand", "a", "b", "c")
    assert "present true" in world.run("name", "check", "/by_hand", "a", "c")
    assert "registration name /by_hand" in world.run("name", "query", "/by_hand")
    world.run("name", "unregister", "/by_hand")
    assert "registration name /by_hand" not in world.run("name", "list")


def test_yarp_rpc_is_answered_by_the_control_board_and_the_clock(world):
    if "version 4" in world.run("version"):
        said = world.run("rpc", "/robot/arm/nws/rpc:i", text="getAxesRPC\ngetAxisNameRPC 1\nnonsense\n")
        assert re.search(r"Response: \(\[ok\]\) 2\b", said), said
        assert re.search(r"Response: \(\[ok\]\) elbow\b", said), said
        assert "Response: [fail]" in said
    else:
        said = world.run("rpc", "/robot/arm/rpc:i", text="[get] [axes]\n[get] [name] 1\nnonsense\n")
        assert re.search(r"Response: \[is\] \[axes\] 2 \[tsta\] \d+ [\d.]+ \[ok\]", said)
        assert re.search(r"Response: \[is\] \[name\] elbow ", said)
        assert "Response: [nak]" in said
    assert re.search(r"Response: [\d.]+", world.run("rpc", "/clock/rpc", text="getSimulationTime\n"))


@pytest.mark.parametrize("carrier", ["tcp", "fast_tcp", "udp", "text", "text_ack"])
def test_a_reader_of_yarp_reads_by_every_carrier(world, carrier):
    said = world.python(f"""
        import yarp
        yarp.Network.init()
        port = yarp.BufferedPortBottle()
        assert port.open("/stock/reader/{carrier}")
        assert yarp.Network.connect("/robot/arm/state:o", "/stock/reader/{carrier}", "{carrier}")
        stamp = yarp.Stamp()
        for _ in range(3):
            bottle = port.read(True)
            port.getEnvelope(stamp)
            print(bottle.size(), stamp.getCount(), stamp.getTime())
        assert yarp.Network.disconnect("/robot/arm/state:o", "/stock/reader/{carrier}")
        port.close()
    """)
    rows = [line.split() for line in said.splitlines() if re.match(r"2 \d+ [\d.]+$", line)]
    assert len(rows) == 3
    assert float(rows[2][2]) > float(rows[0][2])


@pytest.mark.parametrize("carrier", ["tcp", "fast_tcp", "udp", "text", "text_ack"])
def test_a_writer_of_yarp_is_heard_by_every_carrier(world, carrier):
    from pliant.yarp.client import YarpNetwork

    with YarpNetwork(":".join(map(str, world.server))) as network:
        reader = network.open_input(f"/pliant/reader/{carrier}")
        world.python(f"""
            import time, yarp
            yarp.Network.init()
            port = yarp.Port()
            assert port.open("/stock/writer/{carrier}")
            assert yarp.Network.connect("/stock/writer/{carrier}", "{reader.name}", "{carrier}")
            bottle = yarp.Bottle()
            bottle.fromString("1 2.5 hello (a [set])")
            for _ in range(5):
                port.write(bottle)
                time.sleep(0.05)
            port.close()
        """)
        from pliant.yarp.wire import format_bottle

        assert format_bottle(reader.read().content) == "1 2.5 hello (a [set])"


def test_a_program_with_yarp_clock_runs_on_simulated_time(world):
    said = world.python(
        """
        import yarp
        yarp.Network.init()
        before = yarp.now()
        yarp.delay(0.5)
        print("passed", yarp.now() - before)
    """,
        YARP_CLOCK="/clock",
    )
    passed = float(re.search(r"passed ([\d.]+)", said)[1])
    assert passed == pytest.approx(0.5, abs=0.005)  # steps of 1 ms


def test_a_loop_with_yarp_clock_has_periods_of_exactly_one_step_in_lockstep(world):
    world.serve("name=held,clock=/held/clock,lockstep=true")
    said = world.python(
        """
        import time, yarp
        yarp.Network.init()
        steps = yarp.RpcClient()
        steps.open("/stock/steps")
        assert yarp.Network.connect("/stock/steps", "/held/clock/rpc")
        request, reply = yarp.Bottle(), yarp.Bottle()

        def ask(text):
            request.fromString(text)
            assert steps.write(request, reply)

        def wait_until(moment):
            while yarp.now() < moment - 1e-9:
                time.sleep(1e-4)

        while not yarp.isClockInitialized():
            ask("stepSimulationAndWait 1")
            time.sleep(0.01)
        ask("getSimulationTime")
        wait_until(reply.get(0).asFloat64())
        now, periods = yarp.now(), []
        for _ in range(300):
            ask("stepSimulationAndWait 1")
            wait_until(now + 0.001)
            periods.append(round(1e6 * (yarp.now() - now)))
            now = yarp.now()
        print("exactly 1 ms:", periods.count(1000), "of", len(periods))
    """,
        YARP_CLOCK="/held/clock",
    )
    assert "exactly 1 ms: 300 of 300" in said


def test_yarp_connect_persist_is_kept(world):
    from pliant.yarp.client import YarpNetwork

    with YarpNetwork(":".join(map(str, world.server))) as network:
        network.open_input("/kept/reader")
        world.run("connect", "--persist", "/robot/arm/state:o", "/kept/reader")
        world.wait(lambda: network.is_connected("/robot/arm/state:o", "/kept/reader"))
        world.run("disconnect", "--persist", "/robot/arm/state:o", "/kept/reader")
        if not world.ours:  # the server of 3.5 keeps the present connection
            network.disconnect("/robot/arm/state:o", "/kept/reader")
        world.wait(lambda: not network.is_connected("/robot/arm/state:o", "/kept/reader"))
