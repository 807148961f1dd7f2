"""Nine servos on one line, driven at 500 Hz by ROBOTIS' SDK from another process: every answer comes, and is right.

The errors of three seconds are counted here; `python benchmarks/dynamixel.py 60` counts those of a minute. The SDK
gives up after 34 ms, and asks for bytes without pause: a machine that is busy with other work is not what this is
about, so one run in three must be without an error.
"""

import importlib.util
from pathlib import Path

import pytest

pytest.importorskip("dynamixel_sdk", reason="no dynamixel-sdk; type: pip install dynamixel-sdk")

PROGRAM = Path(__file__).resolve().parents[2] / "benchmarks" / "dynamixel.py"


@pytest.mark.network
@pytest.mark.alone
def test_nine_servos_are_read_and_written_at_500_hz_without_an_error():
    spec = importlib.util.spec_from_file_location("dynamixel_benchmark", PROGRAM)
    benchmark = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(benchmark)
    counted = []
    for _ in range(3):
        counted.append(benchmark.measure(3.0))
        if not counted[-1]["errors"]:
            break
    assert counted[-1]["errors"] == 0, counted
    assert counted[-1]["dropped"] == 0
    assert counted[-1]["cycles"] == 1500
