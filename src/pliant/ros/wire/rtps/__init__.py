"""RTPS, the wire of DDS: messages, submessages, and the parameter lists by which participants find each other."""
