"""Robots and worlds of gazebo-yarp-plugins: plugin tags, ``.ini`` files and robot interfaces."""
