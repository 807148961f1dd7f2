"""The Franka Control Interface: bytes without sockets."""
