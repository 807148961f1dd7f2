"""The laws as functions of NVIDIA Warp, for GPUs: made from the same scalar kernels as the engine's machine code."""

from pliant.learn.laws.functions import PRECISIONS, WarpLaw, load_warp, simulate, warp_device, warp_law
from pliant.learn.laws.translate import Translation, translate

__all__ = ["PRECISIONS", "Translation", "WarpLaw", "load_warp", "simulate", "translate", "warp_device", "warp_law"]
