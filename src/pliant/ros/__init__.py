"""ROS 1 and ROS 2: wires without ROS, nodes, the topics of every device, bags."""
