"""One rod between any two bodies of any robot, or between a body and the world: statics and dynamic model."""
