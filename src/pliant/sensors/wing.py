"""Declaration of the wing ``sensors``."""

from pliant.base.wing import Wing

WING = Wing(
    name="sensors",
    summary="The devices of inertial units, force/torque sensors and laser scanners",
    devices=("pliant.sensors.imu:Imu", "pliant.sensors.force_torque:ForceTorque", "pliant.sensors.laser:Laser"),
)
