"""LeRobot's own programs, unmodified, with the arm of pliant: record, load, replay, train, evaluate.

PLIANT_LEROBOT names a virtual environment (make_lerobot_venv.sh makes one). PLIANT_LEROBOT_EPISODES is the number of
episodes, 3 here and 50 in the long form; they are counted in robot time, so that every machine records the same.
"""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

FOLDER = os.environ.get("PLIANT_LEROBOT", "")
EPISODES = int(os.environ.get("PLIANT_LEROBOT_EPISODES", "3"))
EPISODE_S, FPS = 5, 20
LIMIT_S = 900.0 + 60.0 * EPISODES
REPORT = re.compile(r"episode (\d+): (\d+) actions, end effector at (\S+), (\S+), (\S+) m, box at \S+ m: (\w+)")
SO_100 = """
import sys
from lerobot.datasets.lerobot_dataset import LeRobotDataset
names = ["shoulder_pan.pos", "shoulder_lift.pos", "elbow_flex.pos", "wrist_flex.pos", "wrist_roll.pos", "gripper.pos"]
row = {"dtype": "float32", "shape": (6,), "names": names}
made = LeRobotDataset.create("local/so", 20, root=sys.argv[1], robot_type="so100_follower",
                             features={"action": row, "observation.state": row}, use_videos=False)
import numpy as np
for _ in range(5):
    made.add_frame({"action": np.zeros(6, "float32"), "observation.state": np.zeros(6, "float32"), "task": "none"})
made.save_episode()
made.finalize()
"""
LOAD = """
import json, sys
from lerobot.datasets.lerobot_dataset import LeRobotDataset
data = LeRobotDataset("local/push", root=sys.argv[1], video_backend="pyav")
frame = data[len(data) // 2]
print(json.dumps({"episodes": data.num_episodes, "frames": len(data), "robot": data.meta.robot_type,
                  "shapes": {k: list(v.shape) for k, v in frame.items() if hasattr(v, "shape")}}))
"""

pytestmark = [
    pytest.mark.skipif(
        not Path(FOLDER, "bin", "lerobot-record").is_file(),
        reason="PLIANT_LEROBOT names no environment; sh conformance/lerobot/make_lerobot_venv.sh FOLDER makes one",
    ),
    pytest.mark.network,
    pytest.mark.timeout(4.0 * LIMIT_S),
]


def run(folder, program, *words, code=0):
    """Run a program of the environment; return its output."""
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    env |= {"HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "hf"), "CUDA_VISIBLE_DEVICES": ""}
    words = [Path(FOLDER, "bin", program), *map(str, words)]
    done = subprocess.run(
        words, env=env, cwd=folder, timeout=LIMIT_S, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    text = done.stdout.decode(errors="replace")
    assert (done.returncode == 0) == (code == 0), text[-3000:]
    return text


def reports(text):
    """Return number -> (actions, end of the end effector, verdict) of the episodes in an output."""
    return {int(n): (int(count), (x, y, z), verdict) for n, count, x, y, z, verdict in REPORT.findall(text)}


def record(folder, name, *words, episodes=EPISODES):
    return run(
        folder, "lerobot-record", "--robot.type=pliant", "--robot.clock=robot", f"--dataset.repo_id=local/{name}",
        f"--dataset.root={folder / name}", "--dataset.single_task=Push the box to the line", f"--dataset.fps={FPS}",
        f"--dataset.num_episodes={episodes}", f"--dataset.episode_time_s={EPISODE_S}", "--dataset.reset_time_s=0",
        "--dataset.vcodec=h264", "--dataset.push_to_hub=false", "--play_sounds=false", *words,
    )  # fmt: skip


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lerobot")
    return folder, reports(record(folder, "push", "--teleop.type=pliant"))


def test_the_scripted_teleoperator_records_pushes_that_load(recorded):
    folder, seen = recorded
    found = json.loads(run(folder, "python", "-c", LOAD, folder / "push").splitlines()[-1])
    assert sorted(seen) == list(range(EPISODES))
    assert found["episodes"] == EPISODES
    assert found["frames"] == sum(count for count, _, _ in seen.values())
    assert found["robot"] == "pliant"
    assert found["shapes"]["action"] == [8]
    for camera in ("wrist", "table"):
        assert found["shapes"][f"observation.images.{camera}"] == [3, 96, 128]
    assert {count for count, _, _ in seen.values()} == {EPISODE_S * FPS}
    assert {verdict for _, _, verdict in seen.values()} == {"success"}


def test_a_replay_ends_in_the_same_pose(recorded):
    folder, seen = recorded
    text = run(
        folder, "lerobot-replay", "--robot.type=pliant", "--robot.clock=robot", "--robot.episode=1",
        "--dataset.repo_id=local/push",
        f"--dataset.root={folder / 'push'}", "--dataset.episode=1", "--play_sounds=false",
    )  # fmt: skip
    count, end, verdict = reports(text)[1]
    assert (count, verdict) == (seen[1][0], seen[1][2])
    assert [float(v) for v in end] == pytest.approx([float(v) for v in seen[1][1]], abs=2e-4)


def test_an_act_policy_is_trained_and_evaluated(recorded):
    folder, _ = recorded
    out = folder / "act"
    small = {"dim_model": 64, "n_heads": 4, "dim_feedforward": 128, "n_encoder_layers": 1, "n_vae_encoder_layers": 1,
             "latent_dim": 8, "chunk_size": 20, "n_action_steps": 20, "pretrained_backbone_weights": "null",
             "device": "cpu", "push_to_hub": "false"}  # fmt: skip
    run(
        folder, "lerobot-train", "--dataset.repo_id=local/push", f"--dataset.root={folder / 'push'}",
        "--dataset.video_backend=pyav", "--policy.type=act",
        *(f"--policy.{k}={v}" for k, v in small.items()),
        "--steps=10", "--save_freq=10",
        "--batch_size=4", "--num_workers=0", "--eval_freq=0", "--wandb.enable=false", f"--output_dir={out}",
    )  # fmt: skip
    policy = f"--policy.path={out / 'checkpoints' / 'last' / 'pretrained_model'}"
    seen = reports(record(folder, "eval_push", policy, "--robot.episode=100", episodes=1))
    assert list(seen) == [100]
    assert seen[100][0] == EPISODE_S * FPS


def test_a_dataset_of_another_robot_is_refused_by_name(tmp_path):
    run(tmp_path, "python", "-c", SO_100, tmp_path / "so")
    text = run(
        tmp_path, "lerobot-replay", "--robot.type=pliant", "--robot.views=none", "--dataset.repo_id=local/so",
        f"--dataset.root={tmp_path / 'so'}", "--dataset.episode=0", "--play_sounds=false", code=1,
    )  # fmt: skip
    assert "the action is of another robot: it has elbow_flex.pos" in text
    assert "--robot.type=pliant --robot.action=joint" in text
