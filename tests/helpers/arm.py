"""The robot of these tests: one link, one compliant joint."""

MODEL = """
<mujoco><option timestep="0.001"/><worldbody>
<body name="link"><joint name="elbow" axis="0 1 0" damping="0.05"/>
<geom type="capsule" fromto="0 0 0 0 0 -0.1" size="0.01" mass="0.5"/></body>
</worldbody></mujoco>
"""
