"""Commands about bags of ROS."""
