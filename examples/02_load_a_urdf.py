"""A URDF with the tags of the ROS-Gazebo compliant-actuator toolbox, written here, is loaded, checked and run.

You will see what `check` finds (step-size bound, defaults), then the joint settling at its equilibrium.
"""

import tempfile
from pathlib import Path

import pliant
from pliant.engine import MujocoEngine

URDF = """<?xml version="1.0"?>
<robot name="one_joint">
  <link name="world"/>
  <link name="arm">
    <inertial>
      <origin xyz="0.04 0 0"/>
      <mass value="0.2"/>
      <inertia ixx="0.002" iyy="0.002" izz="0.002" ixy="0" ixz="0" iyz="0"/>
    </inertial>
  </link>
  <joint name="elbow" type="revolute">
    <parent link="world"/>
    <child link="arm"/>
    <axis xyz="0 -1 0"/>
    <limit lower="-3.14" upper="3.14" effort="300" velocity="100"/>
    <dynamics damping="0.065" friction="0.0"/>
  </joint>
  <gazebo>
    <plugin name="elbow_vsa" filename="libqbmove_plugin.so">
      <joint>elbow</joint>
      <operation_mode>6</operation_mode>     # text behind a tag is ignored, as in Gazebo
      <pub_eltau>true</pub_eltau>
      <pub_state>true</pub_state>
      <sub_ext_tau>true</sub_ext_tau>
      <spring_k1>0.0026</spring_k1>
      <spring_k2>0.0011</spring_k2>
    </plugin>
  </gazebo>
</robot>
"""


def main() -> None:
    """Load, check, run two seconds."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "one_joint.urdf"
        path.write_text(URDF)
        robot = pliant.load(path)
    for problem in robot.check():
        print(problem)
    robot.set("elbow.motor_1.damping", 0.3)  # any parameter by its path, as with --set
    engine = MujocoEngine(robot)
    engine.port("elbow/reference_1")[0] = 0.5  # mode 6: equilibrium position [rad]
    engine.port("elbow/reference_2")[0] = 0.4  # and stiffness preset [rad]
    engine.step(2000)
    q, k = engine.port("elbow/position")[0], engine.port("elbow/stiffness")[0]
    print(f"after {engine.time_ns * 1e-9:g} s: elbow at {q:.4f} rad, stiffness {k:.3f} N m/rad")


if __name__ == "__main__":
    main()
