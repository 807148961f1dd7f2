"""A robot as the tree that viewers and planners read: links, joints, shapes, and ros2_control's tags."""
