"""Two compliant actuators are put on the joints of an ordinary MuJoCo model.

You will see the actuators that MuJoCo then has, and MuJoCo's own step running them: a pliant robot compiles to a plain
`mujoco.MjModel`.
"""

import mujoco

import pliant
from pliant.engine import hold_pose, install
from pliant.model import Robot

MJCF = """
<mujoco model="double pendulum">
  <option timestep="0.0005" integrator="implicitfast"/>
  <worldbody>
    <body name="upper" pos="0 0 0.5">
      <joint name="shoulder" axis="0 1 0" damping="0.05"/>
      <geom type="capsule" fromto="0 0 0  0 0 -0.1" size="0.015" mass="0.3"/>
      <body name="lower" pos="0 0 -0.1">
        <joint name="elbow" axis="0 1 0" damping="0.05"/>
        <geom type="capsule" fromto="0 0 0  0 0 -0.1" size="0.015" mass="0.2"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


def main() -> None:
    """Add the actuators, compile, and step with MuJoCo alone."""
    robot = Robot(mujoco.MjSpec.from_string(MJCF))
    robot.add_actuator("shoulder", pliant.CompliantActuator(pliant.QbMove(), mode=6, initial_preset=0.5))
    robot.add_actuator("elbow", pliant.CompliantActuator(pliant.SEA(k=20.0), mode=pliant.Mode.PID_REFS))

    model = robot.compile()
    install(model)  # MuJoCo's callbacks for user actuators are now pliant's
    data = mujoco.MjData(model)
    hold_pose(model, data, {"shoulder": 0.5})  # every motor starts where its joint is

    for i in range(model.nactuator):
        print(f"actuator {model.actuator(i).name!r}: {model.actuator_actnum[i]} states")
    data.ctrl[model.actuator("shoulder").id] = 0.6  # equilibrium position
    data.ctrl[model.actuator("shoulder/ref_2").id] = 0.5  # stiffness preset
    data.ctrl[model.actuator("elbow").id] = -0.4
    mujoco.mj_step(model, data, 6000)
    print(f"after {data.time:g} s: shoulder {data.joint('shoulder').qpos[0]:.3f} rad,", end=" ")
    print(f"elbow {data.joint('elbow').qpos[0]:.3f} rad")


if __name__ == "__main__":
    main()
