"""Robots as ros2_control has them: URDFs with its tags, read and served, and the tree of a robot with such tags."""
