"""URDFs with ros2_control tags: a chain of hinges in zero gravity with the interfaces that a test wants."""

LINK = """<link name="{name}"><inertial><origin xyz="0.1 0 0"/><mass value="1"/>
  <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>
  <origin xyz="0.2 0 0"/><axis xyz="0 0 1"/><limit lower="-3" upper="3" effort="50" velocity="5"/>{mimic}</joint>"""
TOPICS = {"joint_commands_topic": "/arm/commands", "joint_states_topic": "/arm/states"}


def chain(joints, plugin="maker/Hardware", params=(), more="", mimics=()):
    """Return the text of a robot.

    Args:
        joints: joint -> its command interfaces, from the base on.
        plugin: the hardware plugin.
        params: params of the hardware.
        more: further elements of the ros2_control element.
        mimics: joint -> the joint that it mimics.
    """
    mimics = dict(mimics)
    text = LINK.format(name="base")
    for i, name in enumerate(joints):
        mimic = f'<mimic joint="{mimics[name]}"/>' if name in mimics else ""
        text += LINK.format(name=f"link_{i}")
        text += JOINT.format(name=name, parent=f"link_{i - 1}" if i else "base", child=f"link_{i}", mimic=mimic)
    given = "".join(f'<param name="{key}">{value}</param>' for key, value in dict(params).items())
    rows = "".join(
        f'<joint name="{name}">'
        + "".join(f'<command_interface name="{c}"/>' for c in commands)
        + "".join(f'<state_interface name="{s}"/>' for s in ("position", "velocity", "effort"))
        + "</joint>"
        for name, commands in joints.items()
    )
    system = f'<ros2_control name="arm" type="system"><hardware><plugin>{plugin}</plugin>{given}</hardware>{rows}{more}'
    gravity = '<mujoco><option gravity="0 0 0"/></mujoco>'
    return f'<robot name="arm">{gravity}{text}{system}</ros2_control></robot>'
