"""YARP 4's own client of the world interface against a robot behind simulatedWorld_nws_yarp: every call is answered.

Build the client first (README.md), then:

export PLIANT_YARP_WORLD=/path/to/world_client PLIANT_YARP=/path/to/bin
python -m pytest conformance/yarp/test_world_client.py
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from running import running

pytestmark = pytest.mark.network
CLIENT = os.environ.get("PLIANT_YARP_WORLD", "")
ROBOT = Path(__file__).parents[2] / "tests" / "data" / "yarp" / "robots" / "strider.urdf"
SESSIONS = 10
"""A client of YARP 4 calls as soon as it is connected: whether it is known by then must not depend on the threads."""


def session(environment):
    done = subprocess.run(
        [CLIENT, "/strider/world", "palm"], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    lines = done.stdout.splitlines()
    assert [line for line in lines if line.startswith("FAILED")] == [], done.stderr[-2000:]
    assert sum(line.startswith("ok ") for line in lines) == 26
    values = [line.split()[1:] for line in lines if line.startswith("value ")]
    assert [line.split()[1:] for line in lines if line.startswith("names")] == [
        ["ball", "box", "can", "axes"], ["ball", "box", "tin", "axes"], ["box", "tin", "axes"], [],
    ]  # fmt: skip
    assert [name for name, *_ in values] == ["ball", "box", "ball", "ball"]
    return [[float(number) for number in numbers] for _, *numbers in values]


def test_every_call_of_the_stock_client_is_answered_from_the_first_one_on(tmp_path):
    if not CLIENT or not Path(CLIENT).exists():
        pytest.skip("no client of YARP: set PLIANT_YARP_WORLD (README.md)")
    with running(tmp_path, str(ROBOT)) as environment:
        for _ in range(SESSIONS):
            ball, box, moved, seen = session(environment)
            assert ball == pytest.approx([1, 2, 3, 0.1, 0.2, 0.3], abs=1e-6)
            assert box == pytest.approx([-1, 2, 0.5, 0, 0, 1], abs=1e-6)
            assert moved == pytest.approx([0.5, 0.25, 2, 0, 0.5, 0], abs=1e-6)
            assert seen == pytest.approx([-0.940216593, 2.55581107, 2.5, 0, 0.5, 1], abs=1e-6)
