"""YARP's own client of multiple analog sensors against every sensor of the biped and the icub.

Build the client first (sensor_client/README.md), then:

PLIANT_YARP_SENSORS=/path/to/sensor_client python -m pytest conformance/yarp/test_sensor_client.py
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from running import running

pytestmark = pytest.mark.network
CLIENT = os.environ.get("PLIANT_YARP_SENSORS", "")


@pytest.fixture(scope="module", params=["biped", "icub"])
def robot(request, tmp_path_factory):
    """Give the environment of programs of YARP and the prefixes of the robot's servers of sensors."""
    if not CLIENT or not Path(CLIENT).exists():
        pytest.skip("no client of YARP: set PLIANT_YARP_SENSORS (sensor_client/README.md)")
    if request.param == "icub":
        pytest.importorskip("icub_models", reason="no iCub: pip install icub-models")
    with running(tmp_path_factory.mktemp("yarp"), request.param) as environment:
        done = subprocess.run(
            [sys.executable, "-m", "pliant", "yarp", "list"],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        ports = [word for word in done.stdout.split() if word.endswith("/measures:o")]
        yield environment, [port.removesuffix("/measures:o") for port in ports]


def read(environment, prefix, name):
    """Return the lines of the client and its exit status."""
    done = subprocess.run(
        [CLIENT, prefix, name], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    return [line.split() for line in done.stdout.splitlines()], done.returncode


def test_every_sensor_is_read_by_the_stock_client(robot):
    environment, prefixes = robot
    assert len(prefixes) >= 2
    for number, prefix in enumerate(prefixes):
        lines, status = read(environment, prefix, f"/reader_{number}")
        sensors = [line for line in lines if line[:1] == ["sensor"]]
        assert sensors, (prefix, lines)
        for _, group, name, frame, found, stamp, *numbers in sensors:
            where = (prefix, group, name)
            assert found == "0", where
            assert frame, where
            assert float(stamp) > 0.0, where
            assert len(numbers) == {"wrench": 6, "temperature": 1}.get(group, 3), where
        assert status == 0, (prefix, lines)


def test_a_client_that_connects_again_is_read_again(robot):
    environment, prefixes = robot
    for _ in range(3):
        lines, status = read(environment, prefixes[0], "/again")
        assert status == 0, lines
