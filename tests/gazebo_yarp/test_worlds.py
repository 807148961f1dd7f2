"""Worlds and models of others with plugins of YARP, where a folder of them is named; none of them is part of pliant."""

import os
import re
from pathlib import Path

import pytest

import pliant
from pliant.base.errors import PliantError
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.simulation import Simulation
from pliant.simulation.bridges import make_bridge
from pliant.yarp.bridge.nameserver import NameServer
from pliant.yarp.model.services import yarp_interface

FOLDER = os.environ.get("PLIANT_YARP_WORLDS", "")
PLUGIN = re.compile(rb"gazebo_yarp_|gz-sim-yarp-")
MIN_LOADED = 50 / 59
"""Least part of the files that must load; of the 59 of gazebo-yarp-plugins and gz-sim-yarp-plugins at least 50."""


def files():
    """Return the worlds and models in the folder that have a plugin of YARP."""
    found = [path for kind in ("*.sdf", "*.world", "*.urdf") for path in Path(FOLDER).rglob(kind)]
    return sorted(path for path in found if PLUGIN.search(path.read_bytes()))


def test_worlds_of_others_load_with_their_ports_or_say_which_element_and_why():
    if not FOLDER or not Path(FOLDER).is_dir():
        pytest.skip("no worlds of others: set PLIANT_YARP_WORLDS to a folder with copies of their repositories")
    loaded, refused = [], {}
    for path in files():
        try:
            robot = pliant.load(path, package_paths=[path.parent, FOLDER, *_model_folders()])
        except PliantError as error:
            refused[path] = str(error)
        else:
            assert robot.interface is None or "yarp" in robot.interface.extensions, path
            loaded.append(path)
    print(f"{len(loaded)} of {len(loaded) + len(refused)} files load")
    for path, why in refused.items():
        print(f"{path.relative_to(FOLDER)}: {why}")
        assert path.name in why or "<" in why, why
    assert loaded or refused, f"no file in {FOLDER} has a plugin of YARP"
    assert len(loaded) >= MIN_LOADED * (len(loaded) + len(refused)), refused


@pytest.mark.network
def test_worlds_of_others_run_and_serve_their_ports_or_say_which_element_and_why():
    if not FOLDER or not Path(FOLDER).is_dir():
        pytest.skip("no worlds of others: set PLIANT_YARP_WORLDS to a folder with copies of their repositories")
    served, refused = 0, {}
    with NameServer(0, "127.0.0.1") as names:
        for path in files():
            robot = pliant.load(path, package_paths=[path.parent, FOLDER, *_model_folders()])
            bridge = make_bridge(f"yarp:server={names.address}", robot)
            try:
                engine = MujocoEngine(robot, check=False)
                with Simulation(engine, make_devices(robot), [bridge], pacer="free") as simulation:
                    simulation.start()
                    simulation.step(20)
                    found = {port.name for port, _, _ in bridge.served.ports}
            except PliantError as error:
                refused[path] = str(error)
                continue
            described = yarp_interface(robot.interface)
            for server in () if described is None else described.servers:
                assert any(name == server.port or name.startswith(server.port + "/") for name in found), (path, server)
            served += 1
    print(f"{served} of {served + len(refused)} files run")
    for path, why in refused.items():
        print(f"{path.relative_to(FOLDER)}: {why}")
        assert len(why) > 40
    assert served >= MIN_LOADED * (served + len(refused)), refused


def _model_folders():
    """Return the folders of the repositories in which ``model://`` is searched."""
    return sorted({path.parent.parent for path in Path(FOLDER).rglob("model.config")})
