"""YARP 4's own clients of lasers and cameras against those of serve.py: every call is answered, with its values.

Build the client first (scan_and_images/README.md), then:

export PLIANT_YARP_SCAN=/path/to/scan_and_images PLIANT_YARP=/path/to/bin
python -m pytest conformance/yarp/test_scan_and_images.py
"""

import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from stock import World, folder_of

pytestmark = pytest.mark.network
CLIENT = os.environ.get("PLIANT_YARP_SCAN", "")


@pytest.mark.parametrize("ours", [True, False], ids=["pliant yarpserver", "yarpserver"])
def test_every_call_of_the_stock_clients_is_answered(ours, tmp_path):
    if not CLIENT or not Path(CLIENT).exists():
        pytest.skip("no client of YARP: set PLIANT_YARP_SCAN (scan_and_images/README.md)")
    world = World(folder_of("yarpserver"), tmp_path, ours)
    try:
        world.serve("name=robot", "sensors")
        done = subprocess.run([CLIENT], env=world.environment, capture_output=True, text=True, timeout=300, check=False)
    finally:
        world.close()
    lines = done.stdout.splitlines()
    assert [line for line in lines if line.startswith("FAILED")] == [], done.stderr[-2000:]
    assert sum(line.startswith("ok ") for line in lines) == 30
    found = {}
    for line in lines:
        if line.startswith("value "):
            name, *numbers = line.split()[1:]
            found.setdefault(name, []).append([float(number) for number in numbers])
    assert [row[0] for row in found.pop("range")] == pytest.approx([3.0 / math.cos(0.5), 3.0, 3.0 / math.cos(0.5)])
    focal = 24.0 / math.tan(math.radians(30.0))
    wide = math.degrees(2.0 * math.atan(32.0 / focal))
    expected = {
        "rays": [3], "distances": [0.05, 30.0], "angles": [-math.degrees(0.5), math.degrees(0.5)],
        "resolution": [math.degrees(0.5)], "rate": [50.0], "scanner": [1], "image": [64, 48], "size": [64, 48],
        "resolution_rgb": [64, 48], "fov": [wide, 60.0], "focal": [focal], "mirrored": [0], "setting": [64, 48, 10.0],
        "deep": [64, 64, 3.0], "sensor": [2], "depth_size": [64, 48], "depth_fov": [wide, 60.0], "planes": [0.1, 8.0],
        "depth_focal": [focal],
    }  # fmt: skip
    assert {name: rows[0] for name, rows in found.items()} == {
        name: pytest.approx(numbers, rel=1e-3) for name, numbers in expected.items()
    }
