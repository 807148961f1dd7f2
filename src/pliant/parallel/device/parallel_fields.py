"""Names, shapes and units of what a parallel robot measures and of the commands that it takes."""

from __future__ import annotations

from pliant.devices.fields import FieldInfo


def parallel_fields(n: int, planar: bool) -> tuple[dict[str, FieldInfo], dict[str, dict[str, FieldInfo]]]:
    """Return samples and commands of a robot with n actuated joints."""
    size = 3 if planar else 6
    pose_text = "(x, y, theta)" if planar else "(x, y, z, qx, qy, qz, qw)"
    wrench = FieldInfo((size,), "N, N m", "wrench on the plate about its origin, world axes")
    joints = FieldInfo((n,), "m or rad", "actuated joint values, in the order of the limbs")
    place = FieldInfo((3 if planar else 7,), "m, rad" if planar else "m", f"plate pose {pose_text}")
    angles = FieldInfo((6,), "m, rad", "plate pose (x, y, z, roll, pitch, yaw), R = Rz(yaw) Ry(pitch) Rx(roll)")
    samples = {
        "joint_values": joints,
        "joint_velocities": FieldInfo((n,), "m/s or rad/s", "velocities of the actuated joints"),
        "pose": place,
        "twist": FieldInfo((size,), "m/s, rad/s", "velocity of the plate's origin and turning, world axes"),
        "wrench": wrench,
        "stable": FieldInfo(
            description="1 where the equilibrium asked for is stable, 0 where not or where a motion is free"
        ),
        "deviation": FieldInfo((), "m", "distance of the plate's origin from that equilibrium"),
    }
    commands = {
        "dgm_parameters": {"joints_values": joints, "wrench": wrench},
        "igm_parameters": {"pose": place, "wrench": wrench},
        "controller_wrench": {"wrench": wrench},
        **({} if planar else {"plate_pose": {"xyz_rpy": angles, "wrench": wrench}}),
    }
    return samples, commands
