"""What a camera sees, in numbers: camera model, features, interaction matrices, tasks, exact detection."""

from pliant.base.camera import CameraModel
from pliant.base.conditions import Condition, VisionError
from pliant.vision.apriltag import AprilTagDetector, TagDetection, tag_image
from pliant.vision.detector import TAG_FROM_APRILTAG, Detection, ExactDetector, estimate_planar_pose, tag_corners
from pliant.vision.ellipses import circle_ellipse, circle_plane, ellipse_interaction
from pliant.vision.kinematics import camera_moved, eye_in_hand_jacobian, eye_to_hand_jacobian
from pliant.vision.lines import line_error, line_features, line_interaction
from pliant.vision.moments import (
    moment_features,
    moment_features_interaction,
    moment_interaction,
    plane_of_target,
    point_moments,
    polygon_moments,
    shape_interaction,
    shape_of_moments,
    skew_features,
    skew_interaction,
)
from pliant.vision.points import point_interaction, project_points
from pliant.vision.poses import facing_pose, nearest_alike_pose, pose_features, pose_interaction, theta_u_interaction
from pliant.vision.tasks import AdaptiveGain, SmoothStart, Task, norm_projector, solve, stack

__all__ = [
    "TAG_FROM_APRILTAG",
    "AdaptiveGain",
    "AprilTagDetector",
    "CameraModel",
    "Condition",
    "Detection",
    "ExactDetector",
    "SmoothStart",
    "TagDetection",
    "Task",
    "VisionError",
    "camera_moved",
    "circle_ellipse",
    "circle_plane",
    "ellipse_interaction",
    "estimate_planar_pose",
    "eye_in_hand_jacobian",
    "eye_to_hand_jacobian",
    "facing_pose",
    "line_error",
    "line_features",
    "line_interaction",
    "moment_features",
    "moment_features_interaction",
    "moment_interaction",
    "nearest_alike_pose",
    "norm_projector",
    "plane_of_target",
    "point_interaction",
    "point_moments",
    "polygon_moments",
    "pose_features",
    "pose_interaction",
    "project_points",
    "shape_interaction",
    "shape_of_moments",
    "skew_features",
    "skew_interaction",
    "solve",
    "stack",
    "tag_corners",
    "tag_image",
    "theta_u_interaction",
]
