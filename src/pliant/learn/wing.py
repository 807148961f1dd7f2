"""Declaration of the wing ``learn``."""

from pliant.base.wing import Wing

WING = Wing(
    name="learn",
    summary="Batches in MuJoCo Warp, Gymnasium environments, and policies on simulated or real robots",
    extra="learn",
    builds_on=("batch",),
    commands={"bench": "pliant.learn.bench:bench", "policy": "pliant.learn.commands:policy"},
    batches=("pliant.learn.backend:WARP",),
    benchmarks=("envs.py", "worlds.py"),
)
