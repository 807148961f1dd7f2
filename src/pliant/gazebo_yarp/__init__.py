"""Configuration of YARP: ``.ini`` files, robot interfaces and the plugin tags of robot descriptions."""
