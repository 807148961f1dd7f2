"""What a rospy node hears from a robot's sensors; runs in the interpreter that has rospy, prints one RESULT line."""

import itertools
import json
import struct
import sys
import threading

import rospy
from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import CameraInfo, Image, Imu

KINDS = {
    "/robot/palm": Imu,
    "/robot/wrist": WrenchStamped,
    "/robot/eye/image_raw": Image,
    "/robot/eye/camera_info": CameraInfo,
    "/robot/eye/depth/image_raw": Image,
    "/robot/eye/depth/camera_info": CameraInfo,
}


def transforms(seconds):
    """Return where the frames are that the robot has fixed, by tf2's own listener; None where there is no tf2."""
    try:
        import tf2_ros
    except ImportError:
        return None
    buffer = tf2_ros.Buffer()
    listener = tf2_ros.TransformListener(buffer)
    found = {}
    for frame in ("palm", "eye_optical_frame"):
        t = buffer.lookup_transform("hand", frame, rospy.Time(0), rospy.Duration(seconds)).transform
        found[frame] = [t.translation.x, t.translation.y, t.translation.z]
        found[frame] += [t.rotation.w, t.rotation.x, t.rotation.y, t.rotation.z]
    del listener
    return found


def main():
    seconds, wanted = float(sys.argv[1]), int(sys.argv[2])
    rospy.init_node("listener", anonymous=True, disable_signals=True)
    got = {topic: [] for topic in KINDS}
    enough = threading.Event()

    def hear(message, topic):
        got[topic].append(message)
        if all(len(messages) >= wanted for messages in got.values()):
            enough.set()

    for topic, kind in KINDS.items():
        rospy.Subscriber(topic, kind, hear, topic, queue_size=1000, buff_size=2**24)
    if not enough.wait(seconds):
        raise SystemExit(f"too few messages: { {t: len(m) for t, m in got.items()} }")
    imu, wrench = got["/robot/palm"][-1], got["/robot/wrist"][-1]
    image, info = got["/robot/eye/image_raw"][wanted - 1], got["/robot/eye/camera_info"]
    depth = got["/robot/eye/depth/image_raw"][wanted - 1]
    middle = depth.height // 2 * depth.step + depth.width // 2 * 4
    center = image.height // 2 * image.step + image.width // 2 * 3
    result = {
        "frames": {topic: messages[-1].header.frame_id for topic, messages in got.items()},
        "steps": {
            topic: sorted({b.header.seq - a.header.seq for a, b in itertools.pairwise(messages)})
            for topic, messages in got.items()
        },
        "periods": {
            topic: sorted({(b.header.stamp - a.header.stamp).to_nsec() for a, b in itertools.pairwise(messages)})
            for topic, messages in got.items()
        },
        "acceleration": [imu.linear_acceleration.x, imu.linear_acceleration.y, imu.linear_acceleration.z],
        "covariance": list(imu.angular_velocity_covariance),
        "orientation_covariance": imu.orientation_covariance[0],
        "force": [wrench.wrench.force.x, wrench.wrench.force.y, wrench.wrench.force.z],
        "size": [image.width, image.height, image.step, len(image.data)],
        "encodings": [image.encoding, depth.encoding],
        "center": list(image.data[center : center + 3]),
        "distance": struct.unpack("<f", bytes(depth.data[middle : middle + 4]))[0],
        "K": list(info[0].K),
        "model": info[0].distortion_model,
        "same_stamp": image.header.stamp in {message.header.stamp for message in info},
        "transforms": transforms(seconds),
    }
    print("RESULT " + json.dumps(result), flush=True)


main()
