"""The plugins of the compliant-actuator toolbox and their tags: what each element in one sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pliant.gazebo.block_tags import block_tags
from pliant.laws import Law, get_law
from pliant.model.parameters import MODE_NAMES


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginKind:
    """Meaning of the tags of one of the toolbox's plugins."""

    name: str
    """The X of libX_plugin.so."""
    law_name: str
    """Name of the law of the spring."""
    springs: Mapping[str, str]
    """Parameter of the law by tag."""
    motors: tuple[str, ...]
    """Prefix of the motor tags, one entry a motor; of muscles, of the tags of their valves."""
    controllers: tuple[str, ...]
    """Prefix of the controller tags, one entry a motor."""
    unused: tuple[str, ...] = ()
    """Tags that the original reads and never uses."""
    files: tuple[str, ...] = ()
    """Tags of ``springs`` that name a file, relative to the description."""
    flags: tuple[str, ...] = ()
    """Tags of ``springs`` that are true or false."""

    @property
    def law(self) -> type[Law]:
        """Law of the spring."""
        return get_law(self.law_name)

    @property
    def motor_tags(self) -> Mapping[str, str]:
        """Path in a motor, or in the drive of a muscle, by tag without prefix."""
        return DRIVE_TAGS if self.law.second_input == "pressure" else MOTOR_TAGS

    @property
    def tags(self) -> list[str]:
        """Every tag that may stand in the plugin element."""
        return [*REQUIRED_TAGS, *self.springs, *self.unused, *self.motor_paths, *self.blocks]

    @property
    def motor_paths(self) -> dict[str, str]:
        """Path of a parameter of the actuator by tag, for its motors, then for their controllers."""
        return _paths("motor", self.motors, self.motor_tags) | _paths("pid", self.controllers, CONTROLLER_TAGS)

    @property
    def blocks(self) -> dict[str, str]:
        """Path of a parameter of the actuator by tag, for what the toolbox has no tags for."""
        return block_tags(self.motors, _paths("motor", self.motors, MOTOR_TAGS).values())


def _paths(block: str, prefixes: tuple[str, ...], tags: Mapping[str, str]) -> dict[str, str]:
    """Return the paths in the numbered blocks of an actuator by tag."""
    return {prefix + tag: f"{block}_{k}.{path}" for k, prefix in enumerate(prefixes, 1) for tag, path in tags.items()}


REQUIRED_TAGS = {
    "joint": "the name of a joint of the robot",
    "operation_mode": ", ".join(f"{mode.value} {name}" for name, mode in MODE_NAMES.items()),
    "pub_eltau": "true or false (publish the elastic torques)",
    "pub_state": "true or false (publish the link state)",
    "sub_ext_tau": "true or false (listen to external torques)",
}
"""What each tag that must be there holds."""
MOTOR_TAGS = {
    "J": "inertia",
    "D": "damping",
    "tauMax": "max_torque",
    "maxVel": "max_velocity",
    "minPos": "min_position",
    "maxPos": "max_position",
    "tauFric": "friction.torque",
}
DRIVE_TAGS = {
    "supply": "supply_pressure",
    "ambient": "ambient_pressure",
    "conductance": "conductance",
    "criticalRatio": "critical_ratio",
    "timeConstant": "time_constant",
    "deadVolume": "dead_volume",
    "exponent": "exponent",
}
CONTROLLER_TAGS = {"P": "kp", "I": "ki", "D": "kd"}

PLUGINS: dict[str, PluginKind] = {
    kind.name: kind
    for kind in (
        PluginKind(
            name="sea",
            law_name="sea",
            springs={"spring_k": "k", "max_def": "max_deflection"},
            motors=("mot_",),
            controllers=("ctrl_",),
        ),
        PluginKind(
            name="qbmove",
            law_name="qbmove",
            springs={
                "spring_a1": "a1",
                "spring_k1": "k1",
                "spring_a2": "a2",
                "spring_k2": "k2",
                "max_def": "max_deflection",
            },
            motors=("mot_1_", "mot_2_"),
            controllers=("ctrl_1_", "ctrl_2_"),
        ),
        PluginKind(
            name="bavs",
            law_name="bavs",
            springs={
                "spring_a": "a",
                "spring_b": "b",
                "spring_k": "k",
                "spring_k_e": "k_e",
                "max_def": "max_deflection",
            },
            motors=("mot_1_", "mot_2_"),
            controllers=("ctrl_1_", "ctrl_2_"),
        ),
        PluginKind(
            name="awas_ii",
            law_name="awas_ii",
            springs={"spring_Ks": "Ks", "spring_L": "L", "spring_r_t": "r_t", "max_def": "max_deflection"},
            motors=("mot_",),
            controllers=("ctrl_",),
            unused=("spring_l_0",),
        ),
        PluginKind(
            name="pam",
            law_name="pam",
            springs={
                "muscle_radius": "radius",
                "muscle_length": "length",
                "braid_angle": "braid_angle",
                "end_correction": "end_correction",
                "muscle_contraction": "contraction",
                "pulley_radius": "pulley_radius",
                "max_def": "max_deflection",
            },
            motors=("valve_1_", "valve_2_"),
            controllers=("ctrl_1_", "ctrl_2_"),
        ),
        PluginKind(
            name="sea_table",
            law_name="sea_table",
            springs={"spring_table": "table", "spring_odd": "odd", "spring_scale": "torque_scale"},
            files=("spring_table",),
            flags=("spring_odd",),
            motors=("mot_",),
            controllers=("ctrl_",),
        ),
    )
}
"""The plugins by the X of libX_plugin.so: four of the toolbox, and pliant's own of the same form."""
