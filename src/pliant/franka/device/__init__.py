"""The Franka arm as a device: control cabinet, hand, and the physics that they measure and drive."""
