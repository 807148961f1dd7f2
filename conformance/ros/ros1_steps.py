"""What real rospy does with pliant's topics. Runs in the interpreter that has rospy; prints one JSON line a step.

Usage: ros1_steps.py STEP NAMESPACE JOINT [SECONDS]
"""

import json
import struct
import sys
import threading
import time

import genpy.dynamic
import rospy
from dynamic_reconfigure.client import Client
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, Float64MultiArray
from std_srvs.srv import Empty, Trigger

STATE = "float32 q\nfloat32 dq\nfloat32 ref_1\nfloat32 ref_2\nfloat32 tau\nfloat32 stiff\n"
StateInfo = genpy.dynamic.generate_dynamic("viactors_plugins/state_info", STATE)["viactors_plugins/state_info"]


def main_job(ns, joint, seconds):
    """Drive a joint and hear every topic of the toolbox."""
    counts = {}
    last = {}

    def hear(topic, kind):
        def arrived(message):
            counts[topic] = counts.get(topic, 0) + 1
            last[topic] = message

        rospy.Subscriber(topic, kind, arrived, queue_size=10000, tcp_nodelay=True)

    base = f"/{ns}/{joint}"
    for name in ("torque_el1_state", "torque_el2_state"):
        hear(f"{base}/{name}", Float64)
    for name in ("motor_1_state", "motor_2_state"):
        hear(f"{base}/{name}", JointState)
        hear(f"/{ns}/{name}", JointState)
    hear(f"{base}/link_state", StateInfo)
    hear(f"/{ns}/robot_state", JointState)
    hear("/joint_states", JointState)
    hear("/clock", Clock)
    one = rospy.Publisher(f"{base}/reference_1", Float64, queue_size=10, latch=True)
    two = rospy.Publisher(f"{base}/reference_2", Float64, queue_size=10, latch=True)
    one.publish(0.7)
    two.publish(0.3)
    begun = rospy.wait_for_message("/clock", Clock, 60).clock.to_sec()
    rospy.sleep(1.0)
    pause, resume = (rospy.ServiceProxy(f"/gazebo/{name}_physics", Empty) for name in ("pause", "unpause"))

    def settled():
        """Pause, and return the time and how many messages of each topic came up to then; threads may lag behind."""
        pause()
        seen, since = dict(counts), time.time()
        while time.time() - since < 1.0:
            time.sleep(0.05)
            if counts != seen:
                seen, since = dict(counts), time.time()
        return last["/clock"].clock.to_sec(), seen

    at, before = settled()
    resume()
    wall, slept = time.time(), rospy.get_time()
    rospy.sleep(seconds)
    wall, slept = time.time() - wall, rospy.get_time() - slept
    end, after = settled()
    rates = {t: (after[t] - before.get(t, 0)) / (end - at) for t in after}
    resume()
    state = last[f"{base}/link_state"]
    return {
        "rates": rates,
        "wall": wall,
        "begun": begun,
        "sim": slept,
        "types": dict(rospy.get_published_topics()),
        "motors": [last[f"{base}/motor_{k}_state"].position[0] for k in (1, 2)],
        "q": state.q,
        "ref": [state.ref_1, state.ref_2],
        "names": list(last[f"/{ns}/robot_state"].name),
        "use_sim_time": rospy.get_param("/use_sim_time"),
    }


def no_loss(ns, joint, seconds):
    """Count aggregated states by their running number."""
    seqs = []
    done = threading.Event()

    def arrived(message):
        seqs.append(message.header.seq)
        if len(seqs) > 1000 * seconds:
            done.set()

    rospy.Subscriber(f"/{ns}/robot_state", JointState, arrived, queue_size=100000, tcp_nodelay=True)
    done.wait(seconds * 3 + 80)
    return {"received": len(seqs), "missing": seqs[-1] - seqs[0] + 1 - len(seqs)}


def count_all(ns, joint, seconds):
    """Listen to every topic of the robot; count until nothing comes any more."""
    kinds = {k.__name__: k for k in (JointState, Float64, Float64MultiArray, Clock)}
    kinds["state_info"] = StateInfo
    end = time.time() + 30
    topics = {}
    before = None
    while (not topics or "/clock" not in topics or topics != before) and time.time() < end:
        before = topics  # the robot registers one topic after the other
        time.sleep(0.5)
        topics = dict(rospy.get_published_topics())
    counts = {}
    latest = [time.time()]

    def hear(topic, kind):
        counts[topic] = 0

        def arrived(_):
            counts[topic] += 1
            latest[0] = time.time()

        rospy.Subscriber(topic, kind, arrived, queue_size=100000, tcp_nodelay=True)

    for topic, name in topics.items():
        kind = kinds.get(name.split("/")[1])
        mine = topic.startswith(f"/{ns}/") or topic in ("/clock", "/joint_states")
        if (kind is not None and mine and not topic.endswith("/joint_states")) or topic == "/joint_states":
            hear(topic, kind)
    while time.time() - latest[0] < 3.0:
        time.sleep(0.2)
    return counts


def services(ns, joint, seconds):
    """Pause, step, reset, go on; set a gain as rqt_reconfigure does."""
    clock = []
    rospy.Subscriber("/clock", Clock, lambda m: clock.append(m.clock.to_nsec()), queue_size=1000)
    rospy.wait_for_message("/clock", Clock, 20)
    rospy.ServiceProxy("/gazebo/pause_physics", Empty)()
    rospy.ServiceProxy("/gazebo/reset_simulation", Empty)()
    step = rospy.ServiceProxy("/pliant/step_once", Trigger, persistent=True)
    answers = [step().success for _ in range(20)]
    end = time.time() + 10
    while clock[-1] != 20_000_000 and time.time() < end:
        time.sleep(0.01)
    paused_at = clock[-1]
    rospy.ServiceProxy("/gazebo/unpause_physics", Empty)()
    client = Client(f"/{ns}/{joint}", timeout=10)
    config = client.update_configuration({"kp_1": 90.0})
    descriptions = client.get_parameter_descriptions(timeout=10)
    refused = ""
    try:
        rospy.ServiceProxy("/pliant/step_once", Trigger)()
        refused = rospy.ServiceProxy("/pliant/step_once", Trigger)().message
    except rospy.ServiceException as error:
        refused = str(error)
    return {
        "answers": all(answers),
        "paused_at": paused_at,
        "kp_1": config["kp_1"],
        "described": [d["name"] for d in descriptions],
        "refused": refused,
    }


def lock_step(ns, joint, seconds):
    """A controller in lock-step: each state is answered by references; digest of all states."""
    import hashlib

    digest = hashlib.sha256()
    count = int(1000 * seconds)
    done = threading.Event()
    seen = [0, 0.0, 0.0]
    last, sent, took = [-1], [0.0], []
    publisher = rospy.Publisher(f"/{ns}/reference_1", Float64MultiArray, queue_size=None, tcp_nodelay=True)
    answer = Float64MultiArray()

    def control(message):
        if seen[0] >= count:
            done.set()
            return
        if seen[0] <= 2:  # the first contact takes its time, and is not measured
            seen[1] = time.perf_counter()
        stamp = message.header.stamp.to_nsec()
        if seen[0] > 2:
            took.append(time.perf_counter() - sent[0])
        if stamp != last[0]:  # until the first answer the first state is sent again and again
            digest.update(struct.pack("<q", stamp))
            digest.update(struct.pack(f"<{len(message.position)}d", *message.position))
            seen[0] += 1
        last[0] = stamp
        # A feedback law, so that any difference grows.
        answer.data = [0.3 - 0.2 * p - 0.02 * v for p, v in zip(message.position, message.velocity)]
        seen[2] = sent[0] = time.perf_counter()
        publisher.publish(answer)

    subscriber = rospy.Subscriber(f"/{ns}/robot_state", JointState, control, queue_size=1, tcp_nodelay=True)
    while not publisher.get_num_connections() or not subscriber.get_num_connections():
        time.sleep(0.01)
    done.wait(120)
    wall = seen[2] - seen[1]
    took.sort()
    p10, p50, p99 = (1e6 * took[len(took) * part // 100] for part in (10, 50, 99))
    return {
        "digest": digest.hexdigest(),
        "count": seen[0],
        "rtf": (seen[0] - 3) * 1e-3 / wall,
        "p10_us": p10,
        "p50_us": p50,
        "p99_us": p99,
    }


def native_actuators(ns, joint, seconds):
    """Hear every field of some actuators, as many as ``seconds``, and command each until it obeys."""
    heard, publishers = {}, {}

    end, found = time.time() + 60, {}
    while sum(topic.endswith("/control") for topic in found) < seconds and time.time() < end:
        time.sleep(0.1)
        found = {t: kind for t, kind in rospy.get_published_topics() if t.startswith(f"/{ns}/{joint}")}
    for topic, kind in found.items():
        heard[topic] = []
        kind = Float64 if kind == "std_msgs/Float64" else Float64MultiArray
        rospy.Subscriber(topic, kind, lambda message, topic=topic: heard[topic].append(message.data))
        if topic.endswith("/control"):
            publishers[topic] = rospy.Publisher(topic.replace("/control", "/command/control"), kind, queue_size=10)
    wanted = {}
    while not all(heard.values()) and time.time() < end:
        time.sleep(0.1)
    for topic, publisher in publishers.items():
        first = heard[topic][0]
        wanted[topic] = 0.05 if isinstance(first, float) else [0.05] * len(first)
        while list_of(heard[topic][-1]) != list_of(wanted[topic]) and time.time() < end:
            publisher.publish(wanted[topic]) if isinstance(first, float) else publisher.publish(data=wanted[topic])
            time.sleep(0.05)
    return {
        "heard": {topic: len(values) for topic, values in heard.items()},
        "obeyed": {topic: list_of(heard[topic][-1]) == list_of(wanted[topic]) for topic in publishers},
    }


def list_of(value):
    return [value] if isinstance(value, float) else list(value)


def main():
    name, ns, joint = sys.argv[1:4]
    seconds = float(sys.argv[4]) if len(sys.argv) > 4 else 3.0
    rospy.init_node(f"steps_{name}", anonymous=True, disable_signals=True)
    print("RESULT " + json.dumps(globals()[name](ns, joint, seconds)), flush=True)
    rospy.signal_shutdown("done")


if __name__ == "__main__":
    main()
