"""What real rospy does with a parallel robot of pliant. Runs in the interpreter that has rospy; prints one JSON line.

Message and service classes are made at run time from the definitions, as no package of the simulator is installed.

Usage: ros1_cpr_steps.py STEP NAMESPACE
"""

import json
import math
import sys
import threading
import time

import genpy.dynamic
import rosgraph
import rospy
import rostopic
from geometry_msgs.msg import PoseStamped
from rosgraph_msgs.msg import Clock, Log
from sensor_msgs.msg import JointState
from std_msgs.msg import Float32, Float32MultiArray
from std_srvs.srv import Empty

WRENCH = """\
================================================================================
MSG: geometry_msgs/Wrench
geometry_msgs/Vector3 force
geometry_msgs/Vector3 torque
================================================================================
MSG: geometry_msgs/Vector3
float64 x
float64 y
float64 z
"""
POSE = """\
================================================================================
MSG: geometry_msgs/Pose
geometry_msgs/Point position
geometry_msgs/Quaternion orientation
================================================================================
MSG: geometry_msgs/Point
float64 x
float64 y
float64 z
================================================================================
MSG: geometry_msgs/Quaternion
float64 x
float64 y
float64 z
float64 w
"""
SE3 = "float32 x\nfloat32 y\nfloat32 z\nfloat32 roll\nfloat32 pitch\nfloat32 yaw\n"


def made(name, text):
    return genpy.dynamic.generate_dynamic(name, text)[name]


DGM = made("cpr_messages/DGMParams", "float32[] joints_values\ngeometry_msgs/Wrench distal_plate_wrench\n" + WRENCH)
IGM = made(
    "cpr_messages/IGMParams",
    "geometry_msgs/Pose distal_plate_pose\ngeometry_msgs/Wrench distal_plate_wrench\n" + POSE + WRENCH,
)
SE3Pose = made("cpr_messages/SE3Pose", SE3)


FLAT = """\
================================================================================
MSG: cpr_planar_messages/Wrench2D
float32 fx
float32 fy
float32 mz
"""
PLACE = """\
================================================================================
MSG: geometry_msgs/Pose2D
float64 x
float64 y
float64 theta
"""
PlanarIGM = made(
    "cpr_planar_messages/IGMParameters",
    "geometry_msgs/Pose2D pose\ncpr_planar_messages/Wrench2D wrench\n" + PLACE + FLAT,
)
PlanarDGM = made(
    "cpr_planar_messages/DGMParameters", "float32[] joints_values\ncpr_planar_messages/Wrench2D wrench\n" + FLAT
)


class Guess:
    """cpr_messages/GuessVectorHandling."""

    _type = "cpr_messages/GuessVectorHandling"
    _md5sum = "03ffcd2ae4ded377df3728c12b10e6c9"
    _request_class = made("cpr_messages/GuessVectorHandlingRequest", "float32[] given_guess\n")
    _response_class = made("cpr_messages/GuessVectorHandlingResponse", "float32[] actual_guess\n")


STATE = """\
gazebo_msgs/LinkState link_state
bool success
string status_message
================================================================================
MSG: gazebo_msgs/LinkState
string link_name
geometry_msgs/Pose pose
geometry_msgs/Twist twist
string reference_frame
================================================================================
MSG: geometry_msgs/Twist
geometry_msgs/Vector3 linear
geometry_msgs/Vector3 angular
================================================================================
MSG: geometry_msgs/Vector3
float64 x
float64 y
float64 z
"""


def link_state_service():
    import hashlib

    point = hashlib.md5(b"float64 x\nfloat64 y\nfloat64 z").hexdigest()
    turn = hashlib.md5(b"float64 x\nfloat64 y\nfloat64 z\nfloat64 w").hexdigest()
    pose = hashlib.md5(f"{point} position\n{turn} orientation".encode()).hexdigest()
    twist = hashlib.md5(f"{point} linear\n{point} angular".encode()).hexdigest()
    link = f"string link_name\n{pose} pose\n{twist} twist\nstring reference_frame"
    response = f"{hashlib.md5(link.encode()).hexdigest()} link_state\nbool success\nstring status_message"
    request = "string link_name\nstring reference_frame"

    class LinkState:
        _type = "gazebo_msgs/GetLinkState"
        _md5sum = hashlib.md5((request + response).encode()).hexdigest()
        _request_class = made("gazebo_msgs/GetLinkStateRequest", request + "\n")
        _response_class = made("gazebo_msgs/GetLinkStateResponse", STATE + POSE)

    return LinkState


class Heard:
    """The newest message of a topic, and how many came."""

    def __init__(self, topic, kind):
        self.last, self.count = None, 0
        self.condition = threading.Condition()
        rospy.Subscriber(topic, kind, self.arrived, queue_size=1000, tcp_nodelay=True)

    def arrived(self, message):
        with self.condition:
            self.last, self.count = message, self.count + 1
            self.condition.notify_all()

    def until(self, good, seconds=60.0):
        end = time.monotonic() + seconds
        with self.condition:
            while self.last is None or not good(self.last):
                left = end - time.monotonic()
                if left <= 0.0:
                    return False
                self.condition.wait(left)
            return True


def connected(publisher):
    end = time.monotonic() + 30.0
    while not publisher.get_num_connections() and time.monotonic() < end:
        time.sleep(0.01)
    return publisher


def near(values, goal, tolerance):
    return all(abs(a - b) < tolerance for a, b in zip(values, goal))


def drive(ns):
    """Move the robot by joint values and by a pose; call the services."""
    values = Heard("/joint_values", Float32MultiArray)
    states = Heard("/joint_states", JointState)
    place = Heard(f"/{ns}/plate_pose", PoseStamped)
    log = Heard("/rosout", Log)
    lines_type = rostopic.get_topic_type(f"/{ns}/rods", blocking=True)[0]
    dgm = connected(rospy.Publisher("/dgm_parameters", DGM, queue_size=10))
    igm = connected(rospy.Publisher("/igm_parameters", IGM, queue_size=10))
    message = DGM()
    message.joints_values = [0.03] * 6
    dgm.publish(message)
    direct = values.until(lambda m: near(m.data, [0.03] * 6, 1e-3))
    goal = IGM()
    goal.distal_plate_pose.position.z = 1.15
    goal.distal_plate_pose.orientation.w = 1.0
    igm.publish(goal)
    inverse = place.until(lambda m: abs(m.pose.position.z - 1.15) < 2e-3)
    guess = rospy.ServiceProxy("/parameters_vector_services", Guess)
    guess.wait_for_service(20)
    vector = list(guess([]).actual_guess)
    raised = list(vector)
    raised[44] = 1.12
    moved = list(guess(raised).actual_guess)
    try:
        guess([1.0, 2.0])
        refusal = ""
    except rospy.ServiceException as error:
        refusal = str(error)
    link = rospy.ServiceProxy("/gazebo/get_link_state", link_state_service())
    state = link("distal_plate::distal_plate", "world")
    wrong = link("nothing", "world")
    bad = DGM()
    bad.joints_values = [0.0] * 4
    dgm.publish(bad)
    logged = log.until(lambda m: "joints_values has 4 numbers" in m.msg)
    master = rosgraph.Master("/checking")
    return {
        "direct": direct,
        "logged": logged,
        "inverse": inverse,
        "names": list(states.last.name),
        "layout": len(values.last.layout.dim),
        "vector": vector,
        "moved": moved,
        "refusal": refusal,
        "state": [state.success, state.link_state.pose.position.z],
        "wrong": [wrong.success, wrong.status_message],
        "types": dict(master.getTopicTypes()),
        "lines": lines_type,
        "parameters": {
            name: rospy.get_param(name)
            for name in ("/robot_name", "/limb_name_prefix", "/number_of_limbs", "/underactuation_vector", "/rod")
        },
        "extends": rospy.get_param("/limb6/is_extendible"),
        "guess": len(rospy.get_param("/initial_guess")),
    }


def control(_):
    """Give the controller a goal and hear what it says."""
    wanted, current = Heard("/desired_values", SE3Pose), Heard("/current_values", SE3Pose)
    clock = Heard("/time", Float32)
    igm = connected(rospy.Publisher("/igm_parameters", IGM, queue_size=10))
    goal = IGM()
    goal.distal_plate_pose.position.x = 0.02
    goal.distal_plate_pose.position.z = 1.1
    goal.distal_plate_pose.orientation.w = 1.0
    igm.publish(goal)
    arrived = current.until(lambda m: m.x > 0.01)
    height = connected(rospy.Publisher("/desired_value", Float32, queue_size=10))
    height.publish(Float32(1.11))
    heard = wanted.until(lambda m: abs(m.z - 1.11) < 1e-6)
    return {"arrived": arrived, "heard": heard, "x": wanted.last.x, "time": clock.last.data}


def remove(_):
    """Take the robot away and bring it back."""
    values = Heard("/joint_values", Float32MultiArray)
    there = values.until(lambda m: len(m.data) == 6)
    rospy.ServiceProxy("/remove_robot", Empty)()
    clock = Heard("/clock", Clock)
    passed = [clock.until(lambda m: True)]
    # What was under way has arrived after 0.2 s of the simulation's time; then nothing comes for 0.5 s more.
    for seconds in (0.2, 0.5):
        before, until = values.count, clock.last.clock.to_sec() + seconds
        passed.append(clock.until(lambda m, until=until: m.clock.to_sec() >= until))
    silent = values.count - before
    rospy.ServiceProxy("/gazebo/reset_simulation", Empty)()
    before = values.count
    end = time.monotonic() + 30.0
    while values.count < before + 20 and time.monotonic() < end:
        time.sleep(0.02)
    return {"there": there, "passed": all(passed), "silent": silent, "back": values.count >= before + 20}


def planar(ns):
    """Move a planar robot by a pose, and by the joint values where it began."""
    values = Heard("/joint_values", Float32MultiArray)
    place = Heard(f"/{ns}/plate_pose", PoseStamped)
    dgm = connected(rospy.Publisher("/dgm_parameters", PlanarDGM, queue_size=10))
    igm = connected(rospy.Publisher("/igm_parameters", PlanarIGM, queue_size=10))
    values.until(lambda m: len(m.data) > 0)
    begin = list(values.last.data)
    place.until(lambda m: True)
    goal = PlanarIGM()
    goal.pose.x = place.last.pose.position.x + 0.03
    goal.pose.y = place.last.pose.position.y
    goal.pose.theta = 2.0 * math.atan2(place.last.pose.orientation.z, place.last.pose.orientation.w)
    igm.publish(goal)
    inverse = place.until(lambda m: abs(m.pose.position.x - goal.pose.x) < 5e-3)
    back = PlanarDGM()
    back.joints_values = begin
    dgm.publish(back)
    direct = values.until(lambda m: near(m.data, begin, 2e-3))
    return {"inverse": inverse, "direct": direct, "vector": rospy.get_param("/underactuation_vector")}


def lockstep(ns):
    """Answer each step with joint values that depend on its time alone."""
    dgm = rospy.Publisher("/dgm_parameters", DGM, queue_size=100, tcp_nodelay=True)
    stamps = []

    def answer(message):
        now = message.header.stamp.to_sec()
        stamps.append(now)
        command = DGM()
        command.joints_values = [0.0086 + 0.01 * now * (1 + i) for i in range(6)]
        dgm.publish(command)

    connected(dgm)
    rospy.Subscriber(f"/{ns}/plate_pose", PoseStamped, answer, queue_size=100, tcp_nodelay=True)
    end = time.monotonic() + 120.0
    while (not stamps or stamps[-1] < 0.4995) and time.monotonic() < end:
        time.sleep(0.01)
    return {"steps": len(set(stamps))}


if __name__ == "__main__":
    rospy.init_node("cpr_script", anonymous=True, disable_signals=True)
    steps = {"drive": drive, "control": control, "remove": remove, "lockstep": lockstep, "planar": planar}
    result = steps[sys.argv[1]](sys.argv[2])
    print("RESULT " + json.dumps(result), flush=True)
    rospy.signal_shutdown("done")
