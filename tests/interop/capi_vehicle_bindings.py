"""The Python binding for driving a vehicle by takt.h, which a user writes once: channels, client, drive and
sockets."""

from ctypes import (POINTER, Structure, byref, c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint8, c_uint16, c_uint32,
                    c_uint64, c_void_p)

from capi_bindings import OK, DriveCommand, OdometryOptions, Pose, Twist, TwistLawOptions, takt

DATAGRAM = 128
LITTLE_ENDIAN, NETWORK = 1, 2


class Units(Structure):
    _fields_ = [(name, c_double) for name in ("wheel_rate", "speed", "angle", "odometer", "steer", "full_throttle",
                                              "full_brake", "charge", "current", "voltage")]


class Options(Structure):
    _fields_ = [("struct_size", c_uint32), ("required", c_uint32)] + [(name, c_int64) for name in (
        "freshness_ns", "status_period_ns", "send_period_ns", "command_timeout_ns")] + [
        ("on_command_timeout", c_int32), ("on_fault", c_int32)] + [(name, c_double) for name in (
            "max_steering", "max_throttle", "max_reverse", "service_brake", "brake_rate", "standstill")] + [
        ("settling_ns", c_int64), ("longest_braking_ns", c_int64), ("units", Units), ("unix_ns_at_zero", c_int64),
        ("byte_order", c_int32), ("speed_is_magnitude", c_int32)]


class State(Structure):
    _fields_ = [("struct_size", c_uint32), ("state", c_int32), ("cause", c_int32), ("system", c_uint32),
                ("category", c_int32), ("reserved", c_uint32), ("command", DriveCommand)]


class Counters(Structure):
    _fields_ = [("struct_size", c_uint32), ("reserved", c_uint32)] + [(name, c_uint64) for name in (
        "received", "refused", "malformed", "taken", "lost", "late", "duplicated", "impossible", "restarts",
        "unknown_blocks", "sent", "missed", "handshakes", "commands", "commands_limited", "commands_refused",
        "command_timeouts", "stops")]


class Key(Structure):
    _fields_ = [("id", c_uint8), ("bytes", c_uint8 * 16)]


for name, result, *arguments in (
        ("create_plain", c_int32, POINTER(c_void_p)),
        ("create_commander", c_int32, POINTER(Key), c_void_p, POINTER(c_void_p)),
        ("create_vehicle", c_int32, POINTER(Key), c_size_t, c_void_p, POINTER(c_void_p)),
        ("destroy", None, c_void_p)):
    function = getattr(takt, "takt_channel_" + name)
    function.restype, function.argtypes = result, arguments

for name, result, *arguments in (
        ("options_init", None, POINTER(Options)),
        ("create", c_int32, POINTER(Options), c_void_p, c_void_p, POINTER(c_void_p)),
        ("destroy", None, c_void_p),
        ("receive", c_int32, c_void_p, c_char_p, c_size_t, c_int64),
        ("next_send_ns", c_int64, c_void_p),
        ("poll", c_int32, c_void_p, c_int64, POINTER(c_uint8), c_size_t, POINTER(c_size_t)),
        ("drive", c_int32, c_void_p, POINTER(DriveCommand), c_int64),
        ("stop", c_int32, c_void_p, c_int32, c_int64),
        ("recover", c_int32, c_void_p, c_int64),
        ("forget", c_int32, c_void_p, c_int64),
        ("state_init", None, POINTER(State)),
        ("get_state", c_int32, c_void_p, POINTER(State)),
        ("system", c_int32, c_void_p, c_uint32, c_int64, POINTER(c_int32), POINTER(c_int64), POINTER(c_int32)),
        ("value", c_int32, c_void_p, c_uint32, c_char_p, POINTER(c_int64)),
        ("counters_init", None, POINTER(Counters)),
        ("get_counters", c_int32, c_void_p, POINTER(Counters))):
    function = getattr(takt, "takt_vehicle_client_" + name)
    function.restype, function.argtypes = result, arguments


class TwistLimits(Structure):
    _fields_ = [(name, c_double) for name in ("forward", "backward", "left", "rotation", "acceleration", "braking",
                                              "rotational_acceleration")]


class DriveOptions(Structure):
    _fields_ = [("struct_size", c_uint32), ("reserved", c_uint32), ("limits", TwistLimits), ("wheel_radius", c_double),
                ("track", c_double), ("turn", c_int32), ("way", c_int32)]


class Estimate(Structure):
    _fields_ = [("stamp_ns", c_int64), ("pose", Pose), ("twist", Twist), ("covariance", c_double * 9)]


class Faults(Structure):
    _fields_ = [("struct_size", c_uint32), ("halted", c_uint32), ("late_ns", c_int64)] + [
        (name, c_double) for name in ("lost", "corrupt", "lying")] + [("silent", c_int32), ("reserved", c_uint32)]


class Truth(Structure):
    _fields_ = [("struct_size", c_uint32), ("state", c_int32), ("pose", Pose), ("twist", Twist), ("command", DriveCommand),
                ("travelled", c_double)] + [(name, c_uint64) for name in (
                    "sent", "refused", "malformed", "obeyed", "outdated", "halts", "held")]


class UdpOptions(Structure):
    _fields_ = [("struct_size", c_uint32), ("busy_poll", c_int32), ("local_address", c_char_p), ("peer_address", c_char_p),
                ("local_port", c_uint16), ("peer_port", c_uint16), ("reserved", c_uint32)]


class UdpDatagram(Structure):
    _fields_ = [("buffer", POINTER(c_uint8)), ("size", c_size_t), ("bytes", c_size_t)]


class UdpCounters(Structure):
    _fields_ = [("struct_size", c_uint32), ("reserved", c_uint32)] + [(name, c_uint64) for name in (
        "sent", "refused", "unreachable", "received", "too_long", "dropped", "foreign")]


for name, result, *arguments in (
        ("vehicle_drive_options_init", None, POINTER(DriveOptions)),
        ("vehicle_description_create", c_int32, POINTER(DriveOptions), POINTER(Options), POINTER(TwistLawOptions),
         POINTER(OdometryOptions), c_void_p, POINTER(c_void_p)),
        ("vehicle_description_load", c_int32, c_char_p, POINTER(c_void_p), c_char_p, c_size_t),
        ("vehicle_description_require", c_int32, c_void_p, c_uint32),
        ("vehicle_description_destroy", None, c_void_p),
        ("vehicle_drive_create", c_int32, c_void_p, c_void_p, POINTER(c_void_p)),
        ("vehicle_drive_destroy", None, c_void_p),
        ("vehicle_drive_client", c_void_p, c_void_p),
        ("vehicle_drive_twist", c_int32, c_void_p, POINTER(Twist), c_int64),
        ("vehicle_drive_estimate", c_int32, c_void_p, POINTER(Estimate)),
        ("vehicle_drive_set_pose", c_int32, c_void_p, POINTER(Pose), POINTER(c_double)),
        ("simulated_vehicle_create", c_int32, c_void_p, c_void_p, c_uint64, c_int64, POINTER(c_void_p)),
        ("simulated_vehicle_destroy", None, c_void_p),
        ("simulated_vehicle_receive", c_int32, c_void_p, c_char_p, c_size_t, c_int64),
        ("simulated_vehicle_next_send_ns", c_int64, c_void_p),
        ("simulated_vehicle_poll", c_int32, c_void_p, c_int64, POINTER(c_uint8), c_size_t, POINTER(c_size_t)),
        ("simulated_vehicle_recover", None, c_void_p),
        ("vehicle_faults_init", None, POINTER(Faults)),
        ("simulated_vehicle_set_faults", c_int32, c_void_p, POINTER(Faults)),
        ("simulated_vehicle_state_init", None, POINTER(Truth)),
        ("simulated_vehicle_get_state", c_int32, c_void_p, POINTER(Truth)),
        ("udp_options_init", None, POINTER(UdpOptions)),
        ("udp_open", c_int32, POINTER(UdpOptions), POINTER(c_void_p), c_char_p, c_size_t),
        ("udp_close", None, c_void_p),
        ("udp_send", c_int32, c_void_p, c_char_p, c_size_t),
        ("udp_receive", c_int32, c_void_p, c_int64, c_char_p, c_size_t, POINTER(c_size_t)),
        ("udp_receive_batch", c_int32, c_void_p, c_int64, POINTER(UdpDatagram), c_size_t, POINTER(c_size_t)),
        ("udp_counters_init", None, POINTER(UdpCounters)),
        ("udp_get_counters", c_int32, c_void_p, POINTER(UdpCounters)),
        ("udp_local_port", c_uint16, c_void_p),
        ("udp_sender_port", c_uint16, c_void_p),
        ("udp_settle", c_int32, c_void_p, c_uint16),
        ("udp_descriptor", c_int32, c_void_p)):
    function = getattr(takt, "takt_" + name)
    function.restype, function.argtypes = result, arguments


def options(**changes):
    made = Options()
    takt.takt_vehicle_client_options_init(byref(made))
    made.units.speed = 0.01
    made.units.angle = made.units.odometer = made.units.steer = 0.001
    made.units.full_throttle = made.units.full_brake = 100
    made.byte_order = NETWORK
    for name, value in changes.items():
        setattr(made, name, value)
    return made


def plain():
    channel = c_void_p()
    assert takt.takt_channel_create_plain(byref(channel)) == OK
    return channel


def commander():
    channel, key = c_void_p(), Key(1, (c_uint8 * 16)(*range(16)))
    assert takt.takt_channel_create_commander(byref(key), None, byref(channel)) == OK
    return channel
