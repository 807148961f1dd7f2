"""Scans of a laser at its port, as rangefinder clients of YARP read them."""

import math

import mujoco
import numpy as np
import pytest
from yarp_simulation import served

from pliant.base.errors import WireError
from pliant.model import Interface, Laser, Robot
from pliant.yarp.bridge.laser import Rangefinder, encode_scan, limited
from pliant.yarp.client import YarpNetwork
from pliant.yarp.model.services import LaserScan, VectorServer, YarpInterface
from pliant.yarp.wire import Bottle, Vocab, bottle, decode_bottle, format_bottle, parse_bottle
from pliant.yarp.wire.records import PROTOCOL_CALL

XML = """
<mujoco model="bench"><worldbody><geom type="box" size=".5 20 5" pos="3.5 0 0"/>
<body name="base"><joint name="j"/><geom size=".1" mass="1"/></body></worldbody></mujoco>
"""


def test_a_scan_is_a_list_of_limits_ranges_and_status_in_both_dialects():
    for dialect in (3, 4):
        found = decode_bottle(encode_scan((-90.0, 90.0, 0.1, 10.0), [1.0, math.inf], dialect), dialect)
        assert found.items[:4] == (-90.0, 90.0, 0.1, 10.0)
        assert found[4].items == (1.0, math.inf)
        assert found[5] == 1


def test_the_bytes_of_a_scan_are_those_of_yarp():
    """What LaserScan2D of YARP 3.5 writes for these values."""
    recorded = (
        "00010000060000000a00000000000000008056c00a00000000000000008056400a0000009a9999999999b93f0a0000000000000000002440"
        "0a01000003000000000000000000f03f0000000000000040000000000000f07f0100000001000000"
    )
    assert encode_scan((-90.0, 90.0, 0.1, 10.0), [1.0, 2.0, math.inf], 3).hex() == recorded


def test_plugins_clip_or_discard_distances_and_skip_sectors():
    angles = np.linspace(0.0, math.pi, 5)
    ranges = np.array([0.1, 1.0, 2.0, 9.0, math.inf])
    clip = LaserScan(name="a", sensor="s", range_clip=(0.5, 5.0))
    assert limited(clip, angles)(ranges) == [0.5, 1.0, 2.0, 5.0, 5.0]
    sector = (math.pi / 4, math.pi / 2)
    discard = LaserScan(name="a", sensor="s", range_discard=(0.5, 5.0), skipped=(sector,))
    assert limited(discard, angles)(ranges) == [math.inf] * 5
    assert limited(None, angles)(ranges) == ranges.tolist()


@pytest.mark.parametrize(
    ("call", "vocabulary", "values"),
    [
        ("getDistanceRange", "lsdr", "0.1 10.0"),
        ("getScanLimits", "lsar", "-90.0 90.0"),
        ("getHorizontalResolution", "lsas", "45.0"),
        ("getScanRate", "lssr", "40.0"),
        ("getDeviceInfo", "lsnf", '"laser front"'),
        ("getDeviceStatus", "", "1"),
    ],
)
def test_calls_of_a_rangefinder_are_answered_to_programs_of_all_versions(call, vocabulary, values):
    for dialect, done in ((3, "[ok]"), (4, "([ok])")):
        finder = Rangefinder((-90.0, 90.0, 0.1, 10.0), 5, 40.0, "laser front", dialect)
        for typed in (f"{call} [RPC]", f"{call}_RPC", f"__direct__ {call} [RPC]"):
            assert format_bottle(finder.answer(parse_bottle(typed))) == f"{done} {values}"
        if vocabulary:
            for typed in (f"[get] [ilas] [{vocabulary}]", f"get ilas {vocabulary}"):
                reply = decode_bottle(finder.answer(parse_bottle(typed)), 3)
                assert format_bottle(reply) == f"[is] [{vocabulary}] {values}"


def test_a_client_of_a_rangefinder_is_told_the_version_of_its_calls_before_it_opens():
    """The client of YARP 4 does not open without the reply: a list of one, and four int16."""
    finder = Rangefinder((-90.0, 90.0, 0.1, 10.0), 5, 40.0, "laser front", 4)
    assert finder.answer(bottle(PROTOCOL_CALL)).hex() == "00010000010000000000040000000000"


def test_calls_that_would_change_a_rangefinder_are_refused():
    old, new = (Rangefinder((-90.0, 90.0, 0.1, 10.0), 1, 40.0, "laser", dialect) for dialect in (3, 4))
    assert old.answer(parse_bottle("setScanRate [RPC] 3.0")) == bottle(Vocab.of("fail"))
    assert new.answer(parse_bottle("setScanRate [RPC] 3.0")) == bottle(Vocab.of("err2"))
    assert new.answer(parse_bottle("getHorizontalResolution [RPC]"))[1] == 180.0
    for typed in (
        "[set] [ilas] [lsdr] 0.1 2.0",
        "[get] [ilas] [nope]",
        "[get] [ilas]",
        "nonsense",
        "getScanRate 3",
        "",
    ):
        with pytest.raises(WireError, match="a rangefinder"):
            old.answer(parse_bottle(typed))
    assert "getScanLimits_RPC" in old.answer(Bottle(("help",)))


@pytest.mark.network
def test_a_laser_is_served_at_the_port_of_its_server():
    robot = Robot(mujoco.MjSpec.from_string(XML))
    robot.devices.append(Laser(name="scan", body="base", rays=3, min_angle=0.0, max_angle=1.0, rate=100.0))
    described = YarpInterface(
        robot="r",
        devices=(LaserScan(name="dev", sensor="scan"),),
        servers=(VectorServer(name="server", port="/r/laser:o", device="dev"),),
    )
    robot.interface = Interface(extensions={"yarp": described})
    with served(robot) as world, YarpNetwork(str(world.yarp.names.address), dialect=3) as client:
        reader = client.open_input("/reader", strict=False)
        client.connect("/r/laser:o", "/reader")
        content = reader.read().content
        limits = client.rpc("/r/laser:o/rpc:i", parse_bottle("[get] [ilas] [lsar]"))
        assert client.rpc("/r/laser:o/rpc:i", parse_bottle("nonsense")) == bottle(Vocab.of("fail"))
    assert limits.items[2:] == pytest.approx((0.0, math.degrees(1.0)))
    assert content.items[:4] == pytest.approx((0.0, math.degrees(1.0), 0.05, 30.0))
    assert content[4].items == pytest.approx([3.0 / math.cos(a) for a in (0.0, 0.5, 1.0)], abs=1e-9)
