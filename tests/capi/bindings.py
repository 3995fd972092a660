"""The C API for Python's ctypes, read from takt.cdef beside the library that the first argument names. The class of the structure
takt_joint_limits is JointLimits. Constants keep their names; those that the tests use most have short names, too."""

import pathlib
import sys
from ctypes import byref, c_double, c_int64, sizeof

from cdef import Interface

sys.path.append(str(pathlib.Path(__file__).parent.parent / "interop"))  # for the peers, which other tests use too

INTERFACE = Interface(pathlib.Path(sys.argv[1]).with_name("takt.cdef").read_text(), sys.argv[1])
takt = INTERFACE.library
globals().update(INTERFACE.constants)
globals().update({"".join(word.capitalize() for word in name.split("_")[1:]): structure
                  for name, structure in INTERFACE.structures.items()})


def status(room, code):
    return -(room * 65536 + code)


def constants(prefix, names):
    """The numbers of TAKT_<prefix>_<name> for each of the names."""
    return [INTERFACE.constants[f"TAKT_{prefix}_{name}"] for name in names.split()]


OK = INTERFACE.constants["TAKT_OK"]
(NO_WAYPOINTS, ONE_WAYPOINT, TIMES_NOT_INCREASING, NOT_FINITE, WRONG_SIZE, OUT_OF_DOMAIN, NO_VELOCITIES,
 TARGET_OUTSIDE_LIMITS, NOT_IN_PHASE) = constants(
     "ERROR_TRAJECTORY", "NO_WAYPOINTS ONE_WAYPOINT TIMES_NOT_INCREASING NOT_FINITE WRONG_SIZE OUT_OF_DOMAIN NO_VELOCITIES "
     "TARGET_OUTSIDE_LIMITS NOT_IN_PHASE")
POSITION_LIMIT, VELOCITY_LIMIT, ACCELERATION_LIMIT, JERK_LIMIT = constants(
    "ERROR_MOTION", "POSITION_LIMIT VELOCITY_LIMIT ACCELERATION_LIMIT JERK_LIMIT")
CONTROL_NOT_FINITE, CONTROL_MIN_ABOVE_MAX, CONTROL_BAD_PERIOD, CONTROL_OUT_OF_DOMAIN, CONTROL_WRONG_SIZE = constants(
    "ERROR_CONTROL", "NOT_FINITE MIN_ABOVE_MAX BAD_PERIOD OUT_OF_DOMAIN WRONG_SIZE")
MOBILE_NOT_FINITE, MOBILE_NOT_POSITIVE, MOBILE_OUT_OF_DOMAIN, MOBILE_STALE = constants(
    "ERROR_MOBILE", "NOT_FINITE NOT_POSITIVE OUT_OF_DOMAIN STALE")
NULL_POINTER, WRONG_STRUCT_SIZE, BAD_ARGUMENT, BAD_LIMITS, OUT_OF_MEMORY, BUFFER_TOO_SMALL, MISALIGNED, TIMEOUT = constants(
    "ERROR_CAPI", "NULL_POINTER WRONG_STRUCT_SIZE BAD_ARGUMENT BAD_LIMITS OUT_OF_MEMORY BUFFER_TOO_SMALL MISALIGNED TIMEOUT")
CONNECT_FAILED, CONNECTION_CLOSED, NO_SUCH_SEGMENT, NOT_SEALED, SLOT_TAKEN = constants(
    "ERROR_PLATFORM", "CONNECT_FAILED CONNECTION_CLOSED NO_SUCH_SEGMENT NOT_SEALED SLOT_TAKEN")
NO_SUCH_EXCHANGE, WRONG_KIND, WRONG_SCHEMA, BAD_SCHEMA, BAD_REFERENCE, NOT_OWNER, RING_FULL, RING_EMPTY = constants(
    "ERROR_SHM", "NO_SUCH_EXCHANGE WRONG_KIND WRONG_SCHEMA BAD_SCHEMA BAD_REFERENCE NOT_OWNER FULL EMPTY")
STOP, GIVEN, SMOOTH = constants("THROUGH", "STOP GIVEN SMOOTH")
ACTIVE, SUCCEEDED, ABORTED, REJECTED, PREEMPTED = constants("GOAL", "ACTIVE SUCCEEDED ABORTED REJECTED PREEMPTED")
STARTING, READY, STOPPING, STOPPED, DOWN = constants("ROBOT", "STARTING READY STOPPING STOPPED DOWN")
RING, BYTE_RING, LATEST, BROADCAST, BROADCAST_RING, JOINT_SLOTS = constants(
    "EXCHANGE", "RING BYTE_RING LATEST BROADCAST BROADCAST_RING JOINT_SLOTS")
NONE, OLD, NEW = constants("FRESHNESS", "NONE OLD NEW")
MODE_OFF, MODE_POSITION, MODE_VELOCITY, MODE_EFFORT = constants("JOINT_MODE", "OFF POSITION VELOCITY EFFORT")
RESTING, RETURNING, GRANTED, DRIVEN = constants("JOINT_PHASE", "RESTING RETURNING GRANTED DRIVEN")
ANSWER_NONE, ANSWER_GRANTED, ANSWER_REFUSED, ANSWER_SILENT = constants("JOINT_ANSWER", "NONE GRANTED REFUSED SILENT")
NO_OWNER = INTERFACE.constants["TAKT_NO_OWNER"]
ENDS = "ring_producer", "ring_consumer", "value_writer", "value_reader", "stream_writer", "stream_reader"
SECOND = 1_000_000_000


def initialise(structure):
    """Sets the size of a structure, and its defaults."""
    getattr(takt, f"{type(structure).__name__}_init")(byref(structure), sizeof(structure))
    return structure


def doubles(values):
    return (c_double * len(values))(*values)


def flat(rows):
    return doubles([x for row in rows for x in row])


def waypoints(times_ns, rows, velocities=None, accelerations=None, through=0):
    """Rows of one number for each joint. ctypes keeps the arrays alive as long as the structure."""
    w = initialise(Waypoints())
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
