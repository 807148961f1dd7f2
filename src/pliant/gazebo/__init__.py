"""Tags of Gazebo in robot files: the compliant-actuator toolbox's plugins, and sensors with their ROS plugins."""
