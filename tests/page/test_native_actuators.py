"""MuJoCo's own actuators of every transmission on the page: each control has a slider, and what it sets is done."""

import numpy as np
import pytest
from native_actuators import continuum_robot, every_transmission
from running import enter, eventually, free_port, running

from pliant.page import PageServer

pytestmark = pytest.mark.network


@pytest.mark.parametrize("model", [every_transmission, continuum_robot], ids=["every transmission", "cables"])
def test_every_control_of_every_actuator_is_set_by_its_slider(model, tmp_path):
    (tmp_path / "robot.xml").write_text(model())
    with (
        PageServer(port=free_port()) as server,
        running(str(tmp_path / "robot.xml"), server=server) as (simulation, view),
    ):
        # The sliders are made anew once, when it is known what each device holds.
        eventually(lambda: view.health()["filled"])
        sliders = {
            uuid: handle
            for uuid, handle in list(server.gui._gui_input_handle_from_uuid.items())
            if str(handle.label).startswith("control")
        }
        wanted = sum(device.commands["control"]["control"].size for device in simulation.devices.values())
        assert len(sliders) == wanted >= 4
        expected = []
        for k, (uuid, handle) in enumerate(sliders.items()):
            value = handle.min + (0.2 + 0.4 * k / wanted) * (handle.max - handle.min)
            enter(server, uuid, value)
            expected.append(handle.value)
        ports = [simulation.engine.port(f"{name}/control") for name in simulation.devices]
        eventually(lambda: np.allclose(np.concatenate(ports), expected, rtol=0.0, atol=0.0))
        assert view.health()["last_error"] == ""
