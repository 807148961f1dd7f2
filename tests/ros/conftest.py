"""Fixtures of the tests of the ROS 1 bridge."""

import pytest
from fake_master import FakeMaster
from ros1_world import World, template


@pytest.fixture
def master():
    master = FakeMaster()
    yield master
    master.close()


@pytest.fixture
def world(master, tmp_path):
    made = []

    def make(mode=6, options="", **kwargs):
        item = World(master, template(tmp_path, mode), options, **kwargs)
        made.append(item)
        return item

    yield make
    for item in made:
        item.close()


@pytest.fixture
def fast_heartbeat(monkeypatch):
    """Let nodes of ROS 1 look after master and connections every 50 ms, not every second."""
    for module in ("master", "publishers"):
        monkeypatch.setattr(f"pliant.ros.ros1.{module}.HEARTBEAT", 0.05)
