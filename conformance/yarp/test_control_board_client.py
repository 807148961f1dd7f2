"""YARP's own client of control boards against the biped: every call is answered, and the values are the board's.

Build the client first (control_board_client/README.md), then:

PLIANT_YARP_CLIENT=/path/to/control_board_client python -m pytest conformance/yarp/test_control_board_client.py
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from running import running

pytestmark = pytest.mark.network
CLIENT = os.environ.get("PLIANT_YARP_CLIENT", "")


@pytest.fixture(scope="module")
def biped(tmp_path_factory):
    if not CLIENT or not Path(CLIENT).exists():
        pytest.skip("no client of YARP: set PLIANT_YARP_CLIENT (control_board_client/README.md)")
    with running(tmp_path_factory.mktemp("yarp"), "biped") as environment:
        yield environment


@pytest.mark.parametrize("carrier", ["tcp", "udp", "fast_tcp"])
def test_every_call_of_the_stock_client_returns_true(biped, carrier):
    done = subprocess.run(
        [CLIENT, "/biped/left_arm", f"/tester_{carrier}", carrier],
        env=biped, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert [line for line in lines if line.startswith("FAILED")] == []
    assert sum(line.startswith("ok ") for line in lines) > 250
    values = dict(line.split()[1:3] for line in lines if line.startswith("value ") and "timeout" not in line)
    assert values.pop("name") == "l_shoulder_pitch"
    found = {key: float(value) for key, value in values.items()}
    assert found["axes"] == 4
    assert found["target_ahead"] == pytest.approx(5.0, abs=0.01)
    assert found["moved"] == pytest.approx(5.0, abs=0.5)
    assert found["direct"] == pytest.approx(2.0, abs=0.2)
    expected = {
        "revolute": 1, "moving": 1, "stamp_positive": 1, "speed": 40, "stiffness": 0.5, "damping": 0.02, "offset": 0.1,
        "compliant": 1, "torque": 0.25, "duty": 0.2, "current": 0.2, "error_limit": 9, "counts": 4096,
        "temperature": 25, "gear": 100, "ktau": 0.5,
    }  # fmt: skip
    assert {key: found[key] for key in expected} == pytest.approx(expected)
    later = {"pid_offset": 0.5, "feedforward": 0.25, "extra_infos": 4, "braked": 0, "fault": 0, "velocity_direct": 1.5}
    if "velocity_direct" in found:  # YARP 4
        assert {key: found[key] for key in later} == pytest.approx(later)
    assert found["encoder"] == pytest.approx(10.0, abs=0.5)
