"""Laws that are given by their energy: torque, loads and stiffness by symbolic differentiation."""
