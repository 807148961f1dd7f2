"""The laws as actuators of other simulators: mjlab, Newton, MuJoCo Playground and Isaac Lab, one file each."""
