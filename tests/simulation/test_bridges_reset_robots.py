"""After a reset: the bridges of control boards (YARP) and of Franka arms, with their own clients."""

import numpy as np
import pytest
from fci_clients import Client, serve
from fuzz import until
from yarp_simulation import bench, served

from pliant.franka.wire import fci
from pliant.yarp.wire import parse_bottle

pytestmark = pytest.mark.network

READ = ("[get] [icmd] [cmod] 0", "[get] [icmd] [cmod] 1", "[get] [vel] 0", "[get] [acc] 1", "[get] [llim] 0")
SET = ("[set] [icmd] [cmod] 0 posd", "[set] [icmd] [cmod] 1 vel", "[set] [vel] 0 7.0", "[set] [acc] 1 3.0")


def test_after_a_reset_the_boards_of_yarp_are_as_in_a_fresh_run():
    with served(bench()) as world:
        port, simulation = "/bench/arm/rpc:i", world.simulation

        def read():
            return [world.yarp.rpc(port, parse_bottle(text)).items[:-4] for text in READ]  # without the stamp

        first = read()
        for _ in range(2):  # what a client sets works again after a reset
            for text in SET:
                world.yarp.rpc(port, parse_bottle(text))
            disturbed = read()
            assert sum(a != b for a, b in zip(first, disturbed, strict=True)) >= 2, (first, disturbed)
            world.yarp.rpc("/clock/rpc", parse_bottle("resetSimulation"))
            until(lambda: read() == first, "what a client reads is that of the start")
            assert simulation.time > 0.0


LOAD = fci.SetLoad(mass=1.0, F_x_Cload=(0.0, 0.0, 0.1), I_load=(0.01, 0.0, 0.0, 0.0, 0.01, 0.0, 0.0, 0.0, 0.01))


def test_after_a_reset_an_arm_is_as_in_a_fresh_run_and_its_client_moves_it_again():
    with serve() as server, Client(server) as client:
        first = client.newest()
        for _ in range(2):  # what a client sets works again after a reset
            assert client.ask(LOAD).status == "success"
            client.swing(50)
            assert client.newest().m_load == 1.0
            server.simulation.request("simulation", "reset").result(60.0)
            until(lambda: client.newest().m_load == 0.0, "the load is that of the start")
            state = client.newest()
            assert state.robot_mode == fci.RobotMode.IDLE
            np.testing.assert_allclose(state.q, first.q, rtol=0.0, atol=1e-3)
            client.swing(50)


def test_a_reset_in_a_motion_ends_it_and_the_client_starts_the_next_one():
    with serve() as server, Client(server) as client:
        number, state = client.begin(2, 4)
        for _ in range(20):
            client.command(state, tau_J_d=np.zeros(7))
            state = client.state()
        reset = server.simulation.request("simulation", "reset")
        while state.robot_mode == fci.RobotMode.MOVE:
            client.command(state, tau_J_d=np.zeros(7))
            state = client.state()
        reset.result(60.0)
        assert client.answer(number).status != "success"
        client.swing(50)
