"""A sample of the fuzzing in helpers/fuzz.py, over every wire and every open port; the nightly one is longer."""

import random
import time

import pytest
from fuzz import Mutator, fuzz, http_frame

pytestmark = pytest.mark.network
FRAMES = {"ros1": 300, "ros2": 1000, "fci": 300, "zenoh": 600, "yarp": 600, "dynamixel": 200, "foxglove": 100}
PACKAGES = {"zenoh": "zenoh", "foxglove": "foxglove"}
NIGHTLY_FRAMES = 12_000
SEED = int(time.time())


@pytest.mark.parametrize("frames", [0, pytest.param(NIGHTLY_FRAMES, marks=pytest.mark.nightly)], ids=["few", "many"])
@pytest.mark.parametrize("name", FRAMES)
def test_mutated_frames_and_strangers_leave_every_thread_alive_memory_bounded_and_a_client_served(name, frames):
    if name in PACKAGES:
        pytest.importorskip(PACKAGES[name], reason=f"type: pip install 'pliant[{name}]'")
    seed = SEED if frames else 1
    print(f"python tests/helpers/fuzz.py {frames} {name} --seed {seed}")
    done = fuzz(name, frames or FRAMES[name], seed=seed)
    assert done.sent >= (frames or FRAMES[name])
    assert done.grown < 400e6  # most of it is what is imported and compiled


def test_equal_seeds_give_equal_frames():
    def made(seed):
        chance = random.Random(seed)
        body = Mutator(chance, [b"<a/>", b"<bc/>"])
        return [http_frame(chance, body) for _ in range(200)]

    assert made(1) == made(1)
    assert made(1) != made(2)
