"""Devices of Warp that the tests use: its CPU device, and the GPU of a machine that has one."""

from pathlib import Path

WARP_DEVICES = ["cpu", "cuda:0"] if Path("/dev/nvidia0").exists() else ["cpu"]
"""Names of the devices. Warp itself is not imported: that takes seconds."""

BATCHES = {"cpu": None, **{f"warp-{device}": device for device in WARP_DEVICES}}
"""Kind of batch -> its device of Warp, None for `CpuBatch`."""
