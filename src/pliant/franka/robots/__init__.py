"""The Franka arms: parameters with their sources, kinematics, identified dynamics and models."""
