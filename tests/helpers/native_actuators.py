"""Models whose actuators are MuJoCo's own: a continuum robot with four cables, and every transmission and kind."""

CABLES = {
    "motor": '<motor name="pull_{c}" tendon="cable_{c}" ctrlrange="-20 0"/>',
    "position": '<position name="pull_{c}" tendon="cable_{c}" kp="500" ctrlrange="0.1 0.2"/>',
}


def continuum_robot(kind="motor", disks=4):
    """Return the MJCF of a chain of disks with four spatial tendons through holes in them.

    Args:
        kind: "motor", whose control is the force of a cable, or "position", whose control is its length.
        disks: number of disks, each on two elastic hinges.
    """
    holes = ((0.02, 0.0), (0.0, 0.02), (-0.02, 0.0), (0.0, -0.02))
    chain, base = "", ""
    for c, (x, y) in enumerate(holes):
        base += f'<site name="base_{c}" pos="{x} {y} 0"/>'
    for k in range(disks):
        chain += f'<body name="disk_{k}" pos="0 0 0.04"><geom type="cylinder" size="0.022 0.002" mass="0.02"/>'
        for axis in ("1 0 0", "0 1 0"):
            chain += f'<joint name="bend_{"xy"[axis == "0 1 0"]}_{k}" axis="{axis}" stiffness="1" damping="0.02"/>'
        chain += "".join(f'<site name="hole_{k}_{c}" pos="{x} {y} 0"/>' for c, (x, y) in enumerate(holes))
    cables = ""
    for c in range(4):
        path = "".join(f'<site site="hole_{k}_{c}"/>' for k in range(disks))
        cables += f'<spatial name="cable_{c}"><site site="base_{c}"/>{path}</spatial>'
    return (
        '<mujoco model="tdcr"><option timestep="0.001" integrator="implicitfast"/>'
        f'<default><geom contype="0" conaffinity="0"/></default><worldbody>{base}{chain}{"</body>" * disks}'
        f'</worldbody><tendon>{cables}</tendon>'
        f'<actuator>{"".join(CABLES[kind].format(c=c) for c in range(4))}</actuator></mujoco>'
    )  # fmt: skip


TRANSMISSIONS = {
    "hinge": 'joint="hinge"',
    "slide": 'joint="slide"',
    "ball": 'joint="ball" gear="0 1 0"',
    "free": 'joint="free" gear="1 0 0 0 0 0"',
    "ball in parent": 'jointinparent="ball" gear="0 1 0"',
    "spatial tendon": 'tendon="spatial"',
    "fixed tendon": 'tendon="fixed"',
    "site": 'site="tip" gear="1 0 0 0 0 0"',
    "site in site": 'site="tip" refsite="origin" gear="1 0 0 0 0 0"',
    "slider-crank": 'cranksite="crank" slidersite="slider" cranklength="0.5"',
    "body": 'body="lid"',
    "rotation of a ball": 'joint="ball" kp="3"',
    "rotation of a site": 'site="tip" refsite="origin" kp="3"',
}
"""Name -> attributes of an actuator in `model_of`."""
KINDS = {
    "motor": "",
    "position": 'kp="5"',
    "velocity": 'kv="2"',
    "intvelocity": 'kp="5"',
    "damper": 'kv="2" ctrlrange="0 3"',
    "cylinder": 'area="0.5"',
    "muscle": 'lengthrange="-1 1" force="8"',
    "general": 'gainprm="2" biastype="affine" biasprm="0 -1 0" dyntype="filter" dynprm="0.1"',
    "adhesion": 'gain="40" ctrlrange="0 1"',
    "dcmotor": 'motorconst="0.1" resistance="1"',
    "pid": 'kp="5" kv="1"',
    "orientation": "",
}
"""Kind -> its parameters."""


EVERY = {"ball in parent": "general", "slide": "intvelocity", "body": "adhesion", "slider-crank": "position",
         "hinge": "pid", "site": "velocity", "spatial tendon": "muscle", "rotation of a ball": "orientation",
         "rotation of a site": "orientation"}  # fmt: skip
"""Transmission -> kind of its actuator in `every_transmission`; a motor where there is none."""


def every_transmission():
    """Return the MJCF of a mechanism with an actuator of each transmission, called ``driven_0`` and so on."""
    kinds = [(t, EVERY.get(t, "motor")) for t in TRANSMISSIONS]
    return _model("".join(f'<{k} name="driven_{i}" {TRANSMISSIONS[t]} {KINDS[k]}/>' for i, (t, k) in enumerate(kinds)))


def model_of(transmission, kind):
    """Return the MJCF of a mechanism with one actuator of a transmission and a kind; at the start everything moves."""
    return _model(f'<{kind} name="driven" {TRANSMISSIONS[transmission]} {KINDS[kind]}/>')


def _model(actuators):
    return f"""<mujoco><option timestep="0.002" integrator="implicitfast"/><worldbody>
      <site name="origin"/><geom name="table" type="plane" size="5 5 0.1" pos="0 0 -2"/>
      <body name="arm"><joint name="hinge" axis="0 1 0" damping="0.1"/><geom size="0.1" pos="0.3 0 0" contype="0"
          conaffinity="0"/><site name="crank" pos="0.3 0 0"/>
        <body name="hand" pos="0.6 0 0"><joint name="ball" type="ball" damping="0.1"/><geom size="0.1" contype="0"
            conaffinity="0" pos="0.05 0 0"/><site name="tip" pos="0.1 0 0"/></body></body>
      <body name="sled" pos="0 1 0"><joint name="slide" type="slide" axis="1 0 0" damping="0.1"/>
        <geom size="0.1" contype="0" conaffinity="0"/><site name="end"/></body>
      <body name="lid" pos="0 -2 -1.9"><joint name="free" type="free"/><geom size="0.1"/></body>
      <site name="slider" pos="0.7 0 0" zaxis="1 0 0"/>
      </worldbody><tendon><spatial name="spatial"><site site="origin"/><site site="crank"/><site site="end"/></spatial>
      <fixed name="fixed"><joint joint="hinge" coef="1"/><joint joint="slide" coef="2"/></fixed></tendon>
      <actuator>{actuators}</actuator>
      <keyframe><key name="rest" qvel="{" ".join(["0.3"] * 11)}"/></keyframe></mujoco>"""
