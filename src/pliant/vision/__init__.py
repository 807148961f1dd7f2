"""Computer vision: camera model, features, interaction matrices, tasks, exact detection."""

from pliant.base.lazy import lazy_names

_EXPORTS: dict[str, str] = {
    "AdaptiveGain": "pliant.vision.tasks",
    "AprilTagDetector": "pliant.vision.apriltag",
    "CameraModel": "pliant.camera.model",
    "Condition": "pliant.camera.conditions",
    "Detection": "pliant.vision.detector",
    "ExactDetector": "pliant.vision.detector",
    "SmoothStart": "pliant.vision.tasks",
    "TAG_FROM_APRILTAG": "pliant.vision.detector",
    "TagDetection": "pliant.vision.apriltag",
    "TargetTracker": "pliant.vision.tracking",
    "Task": "pliant.vision.tasks",
    "VisionError": "pliant.camera.conditions",
    "camera_moved": "pliant.vision.kinematics",
    "circle_ellipse": "pliant.vision.ellipses",
    "circle_plane": "pliant.vision.ellipses",
    "ellipse_interaction": "pliant.vision.ellipses",
    "estimate_planar_pose": "pliant.vision.detector",
    "eye_in_hand_jacobian": "pliant.vision.kinematics",
    "eye_to_hand_jacobian": "pliant.vision.kinematics",
    "facing_pose": "pliant.vision.poses",
    "line_error": "pliant.vision.lines",
    "line_features": "pliant.vision.lines",
    "line_interaction": "pliant.vision.lines",
    "moment_features": "pliant.vision.moments",
    "moment_features_interaction": "pliant.vision.moments",
    "moment_interaction": "pliant.vision.moments",
    "nearest_alike_pose": "pliant.vision.poses",
    "norm_projector": "pliant.vision.tasks",
    "plane_of_target": "pliant.vision.moments",
    "point_interaction": "pliant.vision.points",
    "point_moments": "pliant.vision.moments",
    "polygon_moments": "pliant.vision.moments",
    "pose_features": "pliant.vision.poses",
    "pose_interaction": "pliant.vision.poses",
    "project_points": "pliant.vision.points",
    "shape_interaction": "pliant.vision.moments",
    "shape_of_moments": "pliant.vision.moments",
    "skew_features": "pliant.vision.moments",
    "skew_interaction": "pliant.vision.moments",
    "solve": "pliant.vision.tasks",
    "stack": "pliant.vision.tasks",
    "tag_corners": "pliant.vision.detector",
    "tag_image": "pliant.vision.apriltag",
    "theta_u_interaction": "pliant.vision.poses",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_names(__name__, _EXPORTS)
