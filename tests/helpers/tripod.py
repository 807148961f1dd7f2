"""The description of a small parallel robot with fewer actuators than freedoms, as a person would give it to a page."""

TRIPOD = """
name: tripod
home: {xyz: [0, 0, 0.48], q: [0, 0, 0]}
plate: {mass: 50 g}
controlled: [z, rx, ry]
limb:
  rod: {length: 0.5, radius: 1 mm}
  joints: [{type: prismatic, axis: [0, 0, 1], limits: [-0.1, 0.1]}]
  plate_joint: {type: universal, axis: [1, 0, 0], axis_2: [0, 1, 0]}
limbs:
  - {name: front, base: {xyz: [0.10, 0, 0]}, plate_joint: {xyz: [0.06, 0, 0]}}
  - {name: left, base: {xyz: [-0.05, 0.0866, 0], rpy: [0, 0, 120 deg]}, plate_joint: {xyz: [-0.03, 0.052, 0], rpy: [0, 0, 120 deg]}}
  - {name: right, base: {xyz: [-0.05, -0.0866, 0], rpy: [0, 0, 240 deg]}, plate_joint: {xyz: [-0.03, -0.052, 0], rpy: [0, 0, 240 deg]}}
"""  # noqa: E501
