"""The Franka arms: kinematics, identified dynamics, models, and the controller in their cabinet."""
