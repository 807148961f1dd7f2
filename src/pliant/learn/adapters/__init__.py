"""The laws as actuators of other simulators: mjlab and Isaac Lab, one file each."""
