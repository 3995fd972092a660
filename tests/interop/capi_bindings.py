"""The Python binding of the C API that a user writes once: the structures and functions of takt.h for ctypes."""

import ctypes
import sys
from ctypes import (POINTER, byref, c_char, c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint8, c_uint16, c_uint32,
                    c_uint64, c_void_p)

OK = 0


def status(room, code):
    return -(room * 65536 + code)


NO_WAYPOINTS, ONE_WAYPOINT, TIMES_NOT_INCREASING, NOT_FINITE, WRONG_SIZE, OUT_OF_DOMAIN, NO_VELOCITIES, NO_STOP = (
    status(2, code) for code in range(1, 9))
TARGET_OUTSIDE_LIMITS, NOT_IN_PHASE = status(2, 10), status(2, 11)
POSITION_LIMIT, VELOCITY_LIMIT, ACCELERATION_LIMIT, JERK_LIMIT = (status(12, code) for code in range(20, 24))
CONTROL_NOT_FINITE, CONTROL_MIN_ABOVE_MAX, CONTROL_BAD_PERIOD, CONTROL_OUT_OF_DOMAIN, CONTROL_WRONG_SIZE = (
    status(3, code) for code in range(1, 6))
MOBILE_NOT_FINITE, MOBILE_NOT_POSITIVE, MOBILE_OUT_OF_DOMAIN, MOBILE_STALE = (status(4, code) for code in (1, 2, 3, 6))
NULL_POINTER, WRONG_STRUCT_SIZE, BAD_ARGUMENT, BAD_LIMITS, OUT_OF_MEMORY, INTERNAL, BUFFER_TOO_SMALL, MISALIGNED, TIMEOUT = (
    status(16, code) for code in range(1, 10))
CONNECT_FAILED, CONNECTION_CLOSED = status(15, 2), status(15, 3)
NO_SUCH_SEGMENT, NOT_SEALED, SEAT_TAKEN = status(15, 6), status(15, 11), status(15, 15)
NO_SUCH_EXCHANGE, WRONG_KIND, WRONG_SCHEMA, BAD_SCHEMA = (status(7, code) for code in (8, 9, 10, 13))
BAD_REFERENCE, NOT_OWNER, RING_FULL, RING_EMPTY = (status(7, code) for code in (30, 33, 40, 41))
STOP, GIVEN, SMOOTH = 1, 2, 3
ACTIVE, SUCCEEDED, ABORTED, REJECTED, PREEMPTED = 1, 3, 4, 5, 6
STARTING, READY, STOPPING, STOPPED, DOWN = range(5)
SECOND = 1_000_000_000


class JointLimits(ctypes.Structure):
    _fields_ = [(name, c_double) for name in
                ("position_min", "position_max", "velocity", "acceleration", "jerk", "effort")]


class MotionState(ctypes.Structure):
    _fields_ = [("position", c_double), ("velocity", c_double), ("acceleration", c_double)]


class Waypoints(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("through", c_int32), ("joints", c_size_t), ("count", c_size_t),
                ("times_ns", POINTER(c_int64)), ("positions", POINTER(c_double)),
                ("velocities", POINTER(c_double)), ("accelerations", POINTER(c_double))]


class Violation(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("quantity", c_int32), ("joint", c_uint64), ("time_ns", c_int64),
                ("value", c_double), ("limit", c_double)]


class PidGains(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("form", c_int32)] + [(name, c_double) for name in (
        "proportional", "integral", "derivative", "setpoint_weight", "derivative_weight", "derivative_filter",
        "tracking_time", "dead_band", "integral_min", "integral_max", "output_min", "output_max")]


class RateLimits(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("reserved", c_uint32)] + [(name, c_double) for name in (
        "min", "max", "forward_acceleration", "forward_braking", "reverse_acceleration", "reverse_braking", "second")]


class OmniWheel(ctypes.Structure):
    _fields_ = [(name, c_double) for name in ("x", "y", "direction", "radius")]


class TwistLawOptions(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("reserved", c_uint32)] + [(name, c_double) for name in (
        "wheelbase", "max_steering", "steering_rate", "command_threshold", "measured_threshold", "standstill",
        "hysteresis", "holding_brake")] + [("throttle", c_double * 3), ("brake", c_double * 3)]


class DriveCommand(ctypes.Structure):
    _fields_ = [(name, c_double) for name in ("steering", "throttle", "brake")]


class Pose(ctypes.Structure):
    _fields_ = [(name, c_double) for name in ("x", "y", "heading")]


class Twist(ctypes.Structure):
    _fields_ = [(name, c_double) for name in ("forward", "left", "rotation")]


class OdometryOptions(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("reserved", c_uint32), ("timeout_ns", c_int64)] + [
        (name, c_double) for name in ("forward_by_way", "left_by_way", "heading_by_way", "heading_by_rotation")]


class DirectionalLimits(ctypes.Structure):
    _fields_ = [(name, c_double) for name in
                ("velocity_min", "velocity_max", "acceleration_min", "acceleration_max", "jerk")]


class SpliceOptions(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("reserved", c_uint32), ("at_ns", c_int64), ("start_ns", c_int64),
                ("joints", POINTER(c_size_t))]


class Splice(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("kept", c_int32), ("waypoint", c_uint64), ("joins_ns", c_int64),
                ("delay_ns", c_int64)]


class Cursor(ctypes.Structure):
    _fields_ = [("segment", c_uint64)]


class ClientOptions(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("port", c_uint32), ("host", c_char_p), ("timeout_ns", c_int64)]


class JointTolerance(ctypes.Structure):
    _fields_ = [("position", c_double), ("velocity", c_double), ("acceleration", c_double)]


class MotionOptions(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("fit", c_int32), ("group", c_char_p), ("joint_names", POINTER(c_char_p)),
                ("at_end", c_int32), ("on_disconnect", c_int32), ("when_busy", c_int32), ("reserved", c_int32),
                ("path_tolerance", POINTER(JointTolerance)), ("goal_tolerance", POINTER(JointTolerance)),
                ("goal_time_ns", c_int64), ("start_ns", c_int64)]


class Reply(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("state", c_int32), ("reason", c_int32), ("reserved", c_uint32),
                ("goal", c_uint64), ("duration_ns", c_int64), ("time_ns", c_int64), ("value", c_double),
                ("limit", c_double), ("joint", c_char * 64), ("message", c_char * 256)]


class RobotState(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("state", c_int32), ("reason", c_int32), ("active_goals", c_uint32),
                ("time_ns", c_int64), ("cycles", c_uint64), ("overruns", c_uint64)]


class Exchange(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("kind", c_int32), ("capacity", c_uint32), ("schema", c_char_p)]


RING, BYTE_RING, LATEST, BROADCAST, BROADCAST_RING, JOINT_SEATS = 2, 4, 5, 6, 7, 10
NONE, OLD, NEW = range(3)
ENDS = "ring_producer", "ring_consumer", "value_writer", "value_reader", "stream_writer", "stream_reader"
MODE_OFF, MODE_POSITION, MODE_VELOCITY, MODE_EFFORT = range(4)
RESTING, RETURNING, GRANTED, DRIVEN = range(4)
SEAT_NONE, SEAT_GRANTED, SEAT_REFUSED, SEAT_SILENT = range(4)
NO_OWNER = 255


class JointReference(ctypes.Structure):
    _fields_ = [(name, c_double) for name in ("position", "velocity", "acceleration", "effort")] + [
        ("mode", c_int32), ("reserved", c_int32)]


class JointMeasurement(ctypes.Structure):
    _fields_ = [(name, c_double) for name in ("position", "velocity", "effort")]


class JointSafety(ctypes.Structure):
    _fields_ = [("behaviour", c_int32), ("reserved", c_int32), ("position", c_double), ("speed", c_double)]


class JointImage(ctypes.Structure):
    _fields_ = [("cycle", c_uint64), ("started", c_uint64), ("stamp_ns", c_int64), ("joints", c_uint32), ("seats", c_uint32)] + [
        (name, c_double * 64) for name in ("position", "velocity", "effort", "ref_position", "ref_velocity", "ref_acceleration",
                                           "ref_effort", "safe")] + [("granted", c_uint64 * 64)] + [
        (name, c_uint8 * 64) for name in ("mode", "owner", "phase")] + [("sent_ns", c_int64 * 32)] + [
        (name, c_uint32 * 32) for name in ("session", "heartbeat", "lost", "rejected")] + [("error", c_uint16 * 32)] + [
        (name, c_uint8 * 32) for name in ("error_joint", "answer", "refused_joint")]


def load(path):
    """Loads the library and sets the types of its functions: (result, *arguments)."""
    library = ctypes.CDLL(path)
    numbers = POINTER(c_double)
    for name, result, *arguments in [
            ("takt_abi_version", c_int32),
            ("takt_version", c_char_p),
            ("takt_status_text", c_char_p, c_int32),
            ("takt_joint_limits_init", None, POINTER(JointLimits)),
            ("takt_waypoints_init", None, POINTER(Waypoints)),
            ("takt_violation_init", None, POINTER(Violation)),
            ("takt_trajectory_create", c_int32, c_void_p, POINTER(c_void_p)),
            ("takt_trajectory_destroy", None, c_void_p),
            ("takt_trajectory_joints", c_size_t, c_void_p),
            ("takt_trajectory_duration_ns", c_int64, c_void_p),
            ("takt_trajectory_sample", c_int32, c_void_p, POINTER(Cursor), c_int64, c_size_t, numbers, numbers, numbers),
            ("takt_trajectory_check", c_int32, c_void_p, POINTER(JointLimits), c_size_t, POINTER(Violation)),
            ("takt_trajectory_fit", c_int32, c_void_p, POINTER(JointLimits), c_size_t, numbers, POINTER(Violation)),
            ("takt_trajectory_append_stop", c_int32, c_void_p, POINTER(JointLimits), c_size_t),
            ("takt_trajectory_create_within", c_int32, c_void_p, POINTER(JointLimits), c_size_t, POINTER(c_int32),
             POINTER(c_void_p)),
            ("takt_trajectory_slow_down", c_int32, c_void_p, c_double),
            ("takt_trajectory_select", c_int32, c_void_p, POINTER(c_size_t), c_size_t, POINTER(c_void_p)),
            ("takt_trajectory_part", c_int32, c_void_p, c_int64, c_int64, POINTER(c_void_p)),
            ("takt_trajectory_stop_each", c_int32, c_void_p, c_int64, POINTER(JointLimits), c_size_t, POINTER(c_int32),
             POINTER(Violation), POINTER(c_void_p)),
            ("takt_splice_options_init", None, POINTER(SpliceOptions)),
            ("takt_splice_init", None, POINTER(Splice)),
            ("takt_trajectory_splice", c_int32, c_void_p, c_void_p, POINTER(SpliceOptions), POINTER(JointLimits), c_size_t,
             POINTER(Splice), POINTER(Violation), POINTER(c_void_p)),
            ("takt_directional_limits_init", None, POINTER(DirectionalLimits), POINTER(JointLimits)),
            ("takt_point_to_point_size", c_size_t, c_size_t),
            ("takt_point_to_point_align", c_size_t),
            ("takt_point_to_point_init_in", c_int32, c_void_p, c_size_t, c_size_t, POINTER(c_void_p)),
            ("takt_point_to_point_plan", c_int32, c_void_p, POINTER(MotionState), POINTER(MotionState),
             POINTER(DirectionalLimits), c_size_t, c_int32, c_int64),
            ("takt_point_to_point_get", c_int32, c_void_p, POINTER(c_int64), POINTER(c_int32)),
            ("takt_point_to_point_sample", c_int32, c_void_p, c_int64, c_size_t, numbers, numbers, numbers),
            ("takt_point_to_point_to_trajectory", c_int32, c_void_p, POINTER(c_void_p)),
            ("takt_trajectory_to_json", c_int32, c_void_p, POINTER(c_char_p), c_char_p, c_size_t, POINTER(c_size_t)),
            ("takt_stop_size", c_size_t),
            ("takt_stop_align", c_size_t),
            ("takt_stop_init_in", c_int32, c_void_p, c_size_t, POINTER(MotionState), POINTER(JointLimits),
             POINTER(c_void_p)),
            ("takt_stop_get", c_int32, c_void_p, POINTER(c_int64), numbers, POINTER(c_int32)),
            ("takt_stop_sample", c_int32, c_void_p, c_int64, POINTER(MotionState)),
            ("takt_pid_gains_init", None, POINTER(PidGains)),
            ("takt_pid_create", c_int32, POINTER(PidGains), POINTER(c_void_p)),
            ("takt_pid_destroy", None, c_void_p),
            ("takt_pid_step", c_int32, c_void_p, c_double, c_double, c_int64, c_double, numbers),
            ("takt_pid_follow", c_int32, c_void_p, c_double, c_double, c_double, c_int64, c_double),
            ("takt_pid_change", c_int32, c_void_p, POINTER(PidGains), c_double, c_double),
            ("takt_pid_reset", None, c_void_p, c_int32),
            ("takt_joint_limiter_create", c_int32, POINTER(JointLimits), POINTER(c_void_p)),
            ("takt_joint_limiter_destroy", None, c_void_p),
            ("takt_joint_limiter_reset", c_int32, c_void_p, POINTER(MotionState)),
            ("takt_joint_limiter_toward_position", c_int32, c_void_p, c_double, c_int64, POINTER(MotionState)),
            ("takt_joint_limiter_toward_velocity", c_int32, c_void_p, c_double, c_int64, POINTER(MotionState)),
            ("takt_rate_limits_init", None, POINTER(RateLimits)),
            ("takt_rate_limiter_create", c_int32, POINTER(RateLimits), POINTER(c_void_p)),
            ("takt_rate_limiter_destroy", None, c_void_p),
            ("takt_rate_limiter_reset", None, c_void_p, c_double),
            ("takt_rate_limiter_step", c_int32, c_void_p, c_double, c_int64, numbers),
            ("takt_filter_create", c_int32, c_int32, c_double, c_double, c_int64, POINTER(c_void_p)),
            ("takt_filter_destroy", None, c_void_p),
            ("takt_filter_step", c_int32, c_void_p, c_double, numbers),
            ("takt_filter_reset", None, c_void_p),
            ("takt_transmission_create", c_int32, numbers, c_size_t, numbers, POINTER(c_void_p)),
            ("takt_transmission_create_differential", c_int32, numbers, numbers, numbers, POINTER(c_void_p)),
            ("takt_transmission_create_four_bar", c_int32, numbers, numbers, numbers, POINTER(c_void_p)),
            ("takt_transmission_destroy", None, c_void_p),
            ("takt_transmission_to_joints", c_int32, c_void_p, c_int32, c_size_t, numbers, numbers),
            ("takt_transmission_to_actuators", c_int32, c_void_p, c_int32, c_size_t, numbers, numbers),
            ("takt_car_twist", c_int32, c_double, c_double, c_double, POINTER(Twist)),
            ("takt_car_drive", c_int32, c_double, c_double, POINTER(Twist), numbers, numbers, POINTER(c_int32)),
            ("takt_tricycle_twist", c_int32, c_double, c_double, c_double, POINTER(Twist)),
            ("takt_tricycle_drive", c_int32, c_double, POINTER(Twist), numbers, numbers),
            ("takt_omni_twist", c_int32, POINTER(OmniWheel), c_size_t, numbers, POINTER(Twist)),
            ("takt_omni_rates", c_int32, POINTER(OmniWheel), c_size_t, POINTER(Twist), numbers),
            ("takt_odometry_move", c_int32, c_void_p, POINTER(Twist)),
            ("takt_twist_law_options_init", None, POINTER(TwistLawOptions)),
            ("takt_twist_law_create", c_int32, POINTER(TwistLawOptions), POINTER(c_void_p)),
            ("takt_twist_law_destroy", None, c_void_p),
            ("takt_twist_law_step", c_int32, c_void_p, POINTER(Twist), c_double, c_int64, POINTER(DriveCommand)),
            ("takt_twist_law_reset", None, c_void_p, c_double),
            ("takt_differential_twist", c_int32, c_double, c_double, c_double, c_double, c_double, POINTER(Twist)),
            ("takt_differential_wheels", c_int32, c_double, c_double, c_double, POINTER(Twist), numbers, numbers),
            ("takt_odometry_options_init", None, POINTER(OdometryOptions)),
            ("takt_odometry_create", c_int32, POINTER(OdometryOptions), POINTER(c_void_p)),
            ("takt_odometry_destroy", None, c_void_p),
            ("takt_odometry_advance", c_int32, c_void_p, POINTER(Twist), c_int64),
            ("takt_odometry_set", c_int32, c_void_p, POINTER(Pose)),
            ("takt_odometry_get", c_int32, c_void_p, POINTER(Pose), numbers),
            ("takt_client_options_init", None, POINTER(ClientOptions)),
            ("takt_client_connect", c_int32, POINTER(ClientOptions), POINTER(c_void_p)),
            ("takt_client_close", None, c_void_p),
            ("takt_client_joints", c_size_t, c_void_p),
            ("takt_client_joint_name", c_char_p, c_void_p, c_size_t),
            ("takt_client_period_ns", c_int64, c_void_p),
            ("takt_reply_init", None, POINTER(Reply)),
            ("takt_motion_options_init", None, POINTER(MotionOptions)),
            ("takt_client_trajectory", c_int32, c_void_p, POINTER(MotionOptions), POINTER(Waypoints), POINTER(Reply)),
            ("takt_client_move", c_int32, c_void_p, POINTER(MotionOptions), numbers, c_size_t, c_int64, POINTER(Reply)),
            ("takt_client_setpoint", c_int32, c_void_p, POINTER(MotionOptions), numbers, numbers, c_size_t, c_int64,
             POINTER(Reply)),
            ("takt_client_cancel", c_int32, c_void_p, c_uint64),
            ("takt_client_cancel_on_path", c_int32, c_void_p, c_uint64),
            ("takt_client_speed", c_int32, c_void_p, c_uint64, c_double),
            ("takt_client_wait", c_int32, c_void_p, c_uint64, c_int64, POINTER(Reply)),
            ("takt_client_estop", c_int32, c_void_p, c_int32),
            ("takt_client_reset", c_int32, c_void_p),
            ("takt_robot_state_init", None, POINTER(RobotState)),
            ("takt_client_state", c_int32, c_void_p, POINTER(RobotState), c_size_t, numbers, numbers),
            ("takt_client_send", c_int32, c_void_p, c_char_p),
            ("takt_segment_open_or_create", c_int32, c_char_p, POINTER(Exchange), c_size_t, POINTER(c_void_p)),
            ("takt_segment_open", c_int32, c_char_p, POINTER(c_void_p)),
            ("takt_segment_remove", c_int32, c_char_p),
            ("takt_segment_close", None, c_void_p),
            ("takt_segment_create_sealed", c_int32, c_char_p, POINTER(Exchange), c_size_t, POINTER(c_void_p)),
            ("takt_segment_receive", c_int32, c_char_p, c_int64, POINTER(c_void_p)),
            ("takt_segment_server_create", c_int32, c_void_p, c_char_p, POINTER(c_void_p)),
            ("takt_segment_server_destroy", None, c_void_p),
            *((f"takt_{end}_create", c_int32, c_void_p, c_char_p, c_char_p, POINTER(c_void_p)) for end in ENDS),
            *((f"takt_{end}_destroy", None, c_void_p) for end in ENDS),
            ("takt_ring_producer_push", c_int32, c_void_p, c_void_p, c_size_t),
            ("takt_ring_producer_push_many", c_int32, c_void_p, c_void_p, c_size_t, c_size_t, POINTER(c_size_t)),
            ("takt_ring_consumer_pop", c_int32, c_void_p, c_void_p, c_size_t),
            ("takt_ring_consumer_pop_many", c_int32, c_void_p, c_void_p, c_size_t, c_size_t, POINTER(c_size_t)),
            ("takt_value_writer_write", c_int32, c_void_p, c_void_p, c_size_t),
            ("takt_value_reader_read", c_int32, c_void_p, c_void_p, c_size_t, POINTER(c_int32)),
            ("takt_stream_writer_write", c_int32, c_void_p, c_void_p, c_size_t),
            ("takt_stream_reader_read", c_int32, c_void_p, c_void_p, c_size_t),
            ("takt_stream_reader_missed", c_uint64, c_void_p),
            ("takt_joint_image_schema", c_char_p),
            ("takt_byte_producer_create", c_int32, c_void_p, c_char_p, POINTER(c_void_p)),
            ("takt_byte_consumer_create", c_int32, c_void_p, c_char_p, POINTER(c_void_p)),
            ("takt_byte_producer_destroy", None, c_void_p),
            ("takt_byte_consumer_destroy", None, c_void_p),
            ("takt_byte_producer_max", c_size_t, c_void_p),
            ("takt_byte_producer_write", c_int32, c_void_p, c_char_p, c_size_t),
            ("takt_byte_consumer_read", c_int32, c_void_p, c_char_p, c_size_t, POINTER(c_size_t)),
            ("takt_joint_client_create", c_int32, c_void_p, c_char_p, c_char_p, c_uint32, POINTER(c_void_p)),
            ("takt_joint_client_destroy", None, c_void_p),
            ("takt_joint_client_update", c_int32, c_void_p, POINTER(c_int32)),
            ("takt_joint_client_image", POINTER(JointImage), c_void_p),
            ("takt_joint_client_owned", c_uint64, c_void_p),
            ("takt_joint_client_granted", c_uint64, c_void_p),
            ("takt_joint_client_answer", c_int32, c_void_p),
            ("takt_joint_client_want", c_int32, c_void_p, c_uint64),
            ("takt_joint_client_reference", c_int32, c_void_p, c_size_t, POINTER(JointReference)),
            ("takt_joint_client_set", c_int32, c_void_p, c_size_t, POINTER(JointReference)),
            ("takt_joint_client_publish", c_int32, c_void_p, c_int64),
            ("takt_joint_hub_create", c_int32, c_void_p, c_char_p, c_char_p, POINTER(JointSafety), c_size_t, c_int64, c_uint32,
             POINTER(c_void_p)),
            ("takt_joint_hub_destroy", None, c_void_p),
            ("takt_joint_hub_take", c_int32, c_void_p, POINTER(JointReference), c_size_t),
            ("takt_joint_hub_publish", c_int32, c_void_p, c_int64, POINTER(JointMeasurement), c_size_t),
            ("takt_joint_hub_image", POINTER(JointImage), c_void_p),
            ("takt_client_receive", c_int32, c_void_p, c_int64, c_char_p, c_size_t, POINTER(c_size_t)),
    ]:
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


takt = load(sys.argv[1])


def doubles(values):
    return (c_double * len(values))(*values)


def flat(rows):
    return doubles([x for row in rows for x in row])


def waypoints(times_ns, rows, velocities=None, accelerations=None, through=0):
    """Rows with one number per joint. ctypes keeps the arrays alive as long as the structure."""
    w = Waypoints()
    takt.takt_waypoints_init(byref(w))
    w.joints, w.count, w.through = len(rows[0]) if rows else 1, len(times_ns), through
    w.times_ns = (c_int64 * len(times_ns))(*times_ns)
    w.positions = flat(rows)
    if velocities is not None:
        w.velocities = flat(velocities)
    if accelerations is not None:
        w.accelerations = flat(accelerations)
    return w


def no_limits(joints):
    limits = (JointLimits * joints)()
    for joint in limits:
        takt.takt_joint_limits_init(byref(joint))
    return limits
