"""A small sample of the fuzzing in helpers/fuzz.py, over every wire; docs/ros/ros.md has the long run by hand."""

import random

import pytest
from fuzz import Mutator, fuzz, http_frame

pytestmark = pytest.mark.network
FRAMES = {"ros1": 600, "ros2": 3000, "fci": 600, "zenoh": 2000, "yarp": 1500}


@pytest.mark.parametrize("name", FRAMES)
def test_mutated_frames_leave_every_thread_alive_memory_bounded_and_a_client_served(name):
    if name == "zenoh":
        pytest.importorskip("zenoh", reason="no eclipse-zenoh; type: pip install 'pliant[zenoh]'")
    done = fuzz(name, FRAMES[name], seed=1)
    assert done.sent >= FRAMES[name]
    assert done.grown < 400e6  # most of it is what is imported and compiled


def test_equal_seeds_give_equal_frames():
    def made(seed):
        chance = random.Random(seed)
        body = Mutator(chance, [b"<a/>", b"<bc/>"])
        return [http_frame(chance, body) for _ in range(200)]

    assert made(1) == made(1)
    assert made(1) != made(2)
