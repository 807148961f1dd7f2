"""Devices of MuJoCo Warp, as sweeps find them; Warp itself is imported when one of them is used."""

from pliant.sweep.backends import BackendEntry

WARP = BackendEntry(
    devices={
        "cuda": "a GPU, with MuJoCo Warp",
        "cuda:N": "GPU number N",
        "warp-cpu": "MuJoCo Warp without a GPU, for tests",
    },
    target="pliant.learn.warp_measures:WarpBackend",
)
"""Worlds in MuJoCo Warp."""
