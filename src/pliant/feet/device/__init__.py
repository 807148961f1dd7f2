"""Devices of the press and of the sensing sole."""
