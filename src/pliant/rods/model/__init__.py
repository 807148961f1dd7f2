"""Rods in MuJoCo: chains, their damping and cost, rods between bodies of a robot."""
