"""Worlds and models of SDFormat, as Gazebo reads them."""
