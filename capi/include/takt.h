/* takt.h: the C interface of takt, for C99 and later, C++, and every language that can call C.
 *
 * This header is the manual. What holds for all of it:
 *
 * UNITS      SI: rad, rad/s, rad/s^2, rad/s^3, N m for rotary joints; m, m/s, m/s^2, m/s^3, N for linear ones. Times are
 *            integer nanoseconds and say so in their names (_ns).
 *
 * STATUS     Functions that can fail return an int32_t: TAKT_OK (0), or a negative number that takt_status_text() explains.
 *            A function that fails has changed nothing, unless it says otherwise: outputs are not written, objects are as they
 *            were. No function throws, prints, or ends the program, whatever numbers it is given; pointers must be
 *            NULL or valid. Where NULL is not allowed, it is answered by TAKT_ERROR_CAPI_NULL_POINTER.
 *
 * STRUCTS    Structures that may grow begin with struct_size. Set it, and everything else to its default, with the structure's
 *            _init function, then fill in fields. A library that knows more fields than the program uses the defaults for
 *            them; one that knows fewer refuses fields that are not zero (TAKT_ERROR_CAPI_WRONG_STRUCT_SIZE). Structures
 *            without struct_size never change.
 *
 * OWNERSHIP  Objects of set-up are made by _create or _connect functions and freed by the matching _destroy or _close, which
 *            take NULL. Objects that a loop can make, too, live in memory of the caller: at least _size() bytes at an address
 *            that is a multiple of _align(), initialised by _init_in, and simply forgotten when no longer needed. They are never
 *            copied to another address. Other arguments are read during the call only, never kept.
 *
 * THREADS    Functions without an object may be called from any thread at any time. Functions that take an object as pointer to
 *            const may be called for the same object from many threads at a time, all others from one.
 *
 * REAL TIME  A function called "Real-time safe" below does not allocate, free, lock, wait, make a system call or loop without
 *            bound. The others are for set-up and for threads without deadlines.
 */
#ifndef TAKT_H
#define TAKT_H

/* Laid out by hand, as the manual that it is. */
/* clang-format off */

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define TAKT_API __attribute__((visibility("default")))
#else
#define TAKT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- version ---------------------------------------------------------------------------------------------------------- */

/* Counts what was added to this header. A program works with every library of the same soname whose takt_abi_version() is not
 * lower than the TAKT_ABI_VERSION that it was compiled with. */
#define TAKT_ABI_VERSION 9

/* The ABI version of the library that is loaded. Real-time safe. */
TAKT_API int32_t takt_abi_version(void);

/* The version of the library that is loaded, for example "0.1.0". Lives for ever. Real-time safe. */
TAKT_API const char* takt_version(void);

/* ---- status ----------------------------------------------------------------------------------------------------------- */

/* A failure names the room of takt that it comes from and the room's code: -(room * 65536 + code). Numbers are never reused. */
#define TAKT_STATUS(room, code) (-((room) * 65536 + (code)))

enum {
  TAKT_OK = 0,

  /* room 2: the numbers from which a trajectory is made */
  TAKT_ERROR_TRAJECTORY_NO_WAYPOINTS = TAKT_STATUS(2, 1),
  TAKT_ERROR_TRAJECTORY_ONE_WAYPOINT = TAKT_STATUS(2, 2),
  TAKT_ERROR_TRAJECTORY_TIMES_NOT_INCREASING = TAKT_STATUS(2, 3),
  TAKT_ERROR_TRAJECTORY_NOT_FINITE = TAKT_STATUS(2, 4),
  TAKT_ERROR_TRAJECTORY_WRONG_SIZE = TAKT_STATUS(2, 5),
  TAKT_ERROR_TRAJECTORY_OUT_OF_DOMAIN = TAKT_STATUS(2, 6),
  TAKT_ERROR_TRAJECTORY_NO_VELOCITIES = TAKT_STATUS(2, 7),
  /* (2, 8) was NO_BOUNDED_STOP: a way to rest is always found */
  TAKT_ERROR_TRAJECTORY_LIMIT_NOT_POSITIVE = TAKT_STATUS(2, 9),
  TAKT_ERROR_TRAJECTORY_TARGET_OUTSIDE_LIMITS = TAKT_STATUS(2, 10),
  TAKT_ERROR_TRAJECTORY_NOT_IN_PHASE = TAKT_STATUS(2, 11),
  TAKT_ERROR_TRAJECTORY_NOT_CONTINUOUS = TAKT_STATUS(2, 12),
  TAKT_ERROR_TRAJECTORY_TOLERANCE_NEGATIVE = TAKT_STATUS(2, 13),
  TAKT_ERROR_TRAJECTORY_NOT_AT_REST_AT_END = TAKT_STATUS(2, 14),
  TAKT_ERROR_TRAJECTORY_TOO_MANY_JOINTS = TAKT_STATUS(2, 15),
  TAKT_ERROR_TRAJECTORY_TOO_MANY_SEGMENTS = TAKT_STATUS(2, 16),

  /* room 3: controllers, filters and limits */
  TAKT_ERROR_CONTROL_NOT_FINITE = TAKT_STATUS(3, 1),
  TAKT_ERROR_CONTROL_MIN_ABOVE_MAX = TAKT_STATUS(3, 2),
  TAKT_ERROR_CONTROL_BAD_PERIOD = TAKT_STATUS(3, 3),
  TAKT_ERROR_CONTROL_OUT_OF_DOMAIN = TAKT_STATUS(3, 4),
  TAKT_ERROR_CONTROL_WRONG_SIZE = TAKT_STATUS(3, 5),

  /* room 4: wheels and where they lead */
  TAKT_ERROR_MOBILE_NOT_FINITE = TAKT_STATUS(4, 1),
  TAKT_ERROR_MOBILE_NOT_POSITIVE = TAKT_STATUS(4, 2),
  TAKT_ERROR_MOBILE_OUT_OF_DOMAIN = TAKT_STATUS(4, 3),
  TAKT_ERROR_MOBILE_BAD_PERIOD = TAKT_STATUS(4, 4),
  TAKT_ERROR_MOBILE_ENCODER_JUMP = TAKT_STATUS(4, 5),
  TAKT_ERROR_MOBILE_STALE = TAKT_STATUS(4, 6),
  TAKT_ERROR_MOBILE_MIN_ABOVE_MAX = TAKT_STATUS(4, 7),

  /* room 5: CAN frames and the messages in them */
  TAKT_ERROR_CAN_UNEXPECTED_ID = TAKT_STATUS(5, 1),
  TAKT_ERROR_CAN_WRONG_FORMAT = TAKT_STATUS(5, 2),
  TAKT_ERROR_CAN_WRONG_LENGTH = TAKT_STATUS(5, 3),
  TAKT_ERROR_CAN_BAD_VALUE = TAKT_STATUS(5, 4),
  TAKT_ERROR_CAN_UNKNOWN_COMMAND = TAKT_STATUS(5, 5),
  TAKT_ERROR_CAN_ID_TOO_LARGE = TAKT_STATUS(5, 6),
  TAKT_ERROR_CAN_PAYLOAD_TOO_LONG = TAKT_STATUS(5, 7),
  TAKT_ERROR_CAN_NOT_FINITE = TAKT_STATUS(5, 8),
  TAKT_ERROR_CAN_OUT_OF_RANGE = TAKT_STATUS(5, 9),
  TAKT_ERROR_CAN_BAD_LAYOUT = TAKT_STATUS(5, 10),
  TAKT_ERROR_CAN_UNKNOWN_NODE = TAKT_STATUS(5, 11),
  TAKT_ERROR_CAN_BAD_DBC = TAKT_STATUS(5, 12),
  TAKT_ERROR_CAN_UNKNOWN_SELECTOR = TAKT_STATUS(5, 13),
  TAKT_ERROR_CAN_WRONG_COUNT = TAKT_STATUS(5, 14),
  TAKT_ERROR_CAN_BAD_PLAN = TAKT_STATUS(5, 15),
  TAKT_ERROR_CAN_BAD_LINE = TAKT_STATUS(5, 16),
  TAKT_ERROR_CAN_NO_ROOM = TAKT_STATUS(5, 17),
  TAKT_ERROR_CAN_FILE_FAILED = TAKT_STATUS(5, 18),

  /* room 6: the vehicle's frames */
  TAKT_ERROR_VEHICLE_TOO_SHORT = TAKT_STATUS(6, 1),
  TAKT_ERROR_VEHICLE_TOO_LONG = TAKT_STATUS(6, 2),
  TAKT_ERROR_VEHICLE_BAD_MAGIC = TAKT_STATUS(6, 3),
  TAKT_ERROR_VEHICLE_TRUNCATED_TLV = TAKT_STATUS(6, 4),
  TAKT_ERROR_VEHICLE_BAD_LEN = TAKT_STATUS(6, 5),
  TAKT_ERROR_VEHICLE_DUPLICATE_SID = TAKT_STATUS(6, 6),
  TAKT_ERROR_VEHICLE_COUNT_MISMATCH = TAKT_STATUS(6, 7),
  TAKT_ERROR_VEHICLE_NO_ROOM = TAKT_STATUS(6, 8),
  TAKT_ERROR_VEHICLE_UNKNOWN_SYSTEM = TAKT_STATUS(6, 9),
  TAKT_ERROR_VEHICLE_UNKNOWN_FIELD = TAKT_STATUS(6, 10),
  TAKT_ERROR_VEHICLE_OUT_OF_RANGE = TAKT_STATUS(6, 11),
  TAKT_ERROR_VEHICLE_BAD_LAYOUT = TAKT_STATUS(6, 12),
  TAKT_ERROR_VEHICLE_NOT_FINITE = TAKT_STATUS(6, 13),
  TAKT_ERROR_VEHICLE_NO_BLOCK = TAKT_STATUS(6, 14),
  TAKT_ERROR_VEHICLE_NO_BYTE_ORDER = TAKT_STATUS(6, 15),
  TAKT_ERROR_VEHICLE_BOTH_PEDALS = TAKT_STATUS(6, 40),
  TAKT_ERROR_VEHICLE_NOT_READY = TAKT_STATUS(6, 41),
  TAKT_ERROR_VEHICLE_STOPPED = TAKT_STATUS(6, 42),
  TAKT_ERROR_VEHICLE_NOT_STANDING = TAKT_STATUS(6, 43),
  TAKT_ERROR_VEHICLE_CAUSE_REMAINS = TAKT_STATUS(6, 44),
  TAKT_ERROR_VEHICLE_LATE = TAKT_STATUS(6, 45),
  TAKT_ERROR_VEHICLE_DUPLICATE = TAKT_STATUS(6, 46),
  TAKT_ERROR_VEHICLE_IMPOSSIBLE_STAMP = TAKT_STATUS(6, 47),
  TAKT_ERROR_VEHICLE_WRONG_VERSION = TAKT_STATUS(6, 60),
  TAKT_ERROR_VEHICLE_UNEXPECTED_KIND = TAKT_STATUS(6, 61),
  TAKT_ERROR_VEHICLE_UNKNOWN_KEY = TAKT_STATUS(6, 62),
  TAKT_ERROR_VEHICLE_UNKNOWN_SESSION = TAKT_STATUS(6, 63),
  TAKT_ERROR_VEHICLE_BAD_TAG = TAKT_STATUS(6, 64),
  TAKT_ERROR_VEHICLE_REPLAYED = TAKT_STATUS(6, 65),
  TAKT_ERROR_VEHICLE_OVERTAKEN = TAKT_STATUS(6, 66),
  TAKT_ERROR_VEHICLE_TOO_OLD = TAKT_STATUS(6, 67),
  TAKT_ERROR_VEHICLE_CLOCK_JUMPED = TAKT_STATUS(6, 68),
  TAKT_ERROR_VEHICLE_NOT_ESTABLISHED = TAKT_STATUS(6, 69),
  TAKT_ERROR_VEHICLE_STALE_HANDSHAKE = TAKT_STATUS(6, 70),
  TAKT_ERROR_VEHICLE_COMMANDER_BUSY = TAKT_STATUS(6, 71),
  TAKT_ERROR_VEHICLE_SEQUENCE_END = TAKT_STATUS(6, 72),
  TAKT_ERROR_VEHICLE_NO_KEY = TAKT_STATUS(6, 73),
  TAKT_ERROR_VEHICLE_NO_ENTROPY = TAKT_STATUS(6, 74),

  /* room 7: shared memory */
  TAKT_ERROR_SHM_NOT_READY = TAKT_STATUS(7, 1),
  TAKT_ERROR_SHM_NOT_A_SEGMENT = TAKT_STATUS(7, 2),
  TAKT_ERROR_SHM_WRONG_VERSION = TAKT_STATUS(7, 3),
  TAKT_ERROR_SHM_WRONG_BYTE_ORDER = TAKT_STATUS(7, 4),
  TAKT_ERROR_SHM_WRONG_WORD_SIZE = TAKT_STATUS(7, 5),
  TAKT_ERROR_SHM_WRONG_SIZE = TAKT_STATUS(7, 6),
  TAKT_ERROR_SHM_BAD_DIRECTORY = TAKT_STATUS(7, 7),
  TAKT_ERROR_SHM_NO_SUCH_EXCHANGE = TAKT_STATUS(7, 8),
  TAKT_ERROR_SHM_WRONG_KIND = TAKT_STATUS(7, 9),
  TAKT_ERROR_SHM_WRONG_SCHEMA = TAKT_STATUS(7, 10),
  TAKT_ERROR_SHM_NO_SUCH_SEAT = TAKT_STATUS(7, 11),
  TAKT_ERROR_SHM_READ_ONLY = TAKT_STATUS(7, 12),
  TAKT_ERROR_SHM_BAD_SCHEMA = TAKT_STATUS(7, 13),
  TAKT_ERROR_SHM_BAD_NAME = TAKT_STATUS(7, 14),
  TAKT_ERROR_SHM_BAD_EXTENT = TAKT_STATUS(7, 15),
  TAKT_ERROR_SHM_TOO_MANY_EXCHANGES = TAKT_STATUS(7, 16),
  TAKT_ERROR_SHM_DOES_NOT_FIT = TAKT_STATUS(7, 17),
  TAKT_ERROR_SHM_MISALIGNED = TAKT_STATUS(7, 18),
  TAKT_ERROR_SHM_WRONG_EXTENT = TAKT_STATUS(7, 19),
  TAKT_ERROR_SHM_BAD_REFERENCE = TAKT_STATUS(7, 30),
  TAKT_ERROR_SHM_UNKNOWN_MODE = TAKT_STATUS(7, 31),
  TAKT_ERROR_SHM_UNKNOWN_JOINT = TAKT_STATUS(7, 32),
  TAKT_ERROR_SHM_NOT_OWNER = TAKT_STATUS(7, 33),
  TAKT_ERROR_SHM_OUT_OF_DOMAIN = TAKT_STATUS(7, 34),
  TAKT_ERROR_SHM_FULL = TAKT_STATUS(7, 40),
  TAKT_ERROR_SHM_EMPTY = TAKT_STATUS(7, 41),
  TAKT_ERROR_SHM_BROKEN = TAKT_STATUS(7, 42),

  /* room 12: why a motion is refused or ends badly */
  TAKT_ERROR_MOTION_MALFORMED = TAKT_STATUS(12, 1),
  TAKT_ERROR_MOTION_MESSAGE_TOO_LARGE = TAKT_STATUS(12, 2),
  TAKT_ERROR_MOTION_MESSAGE_TOO_SLOW = TAKT_STATUS(12, 3),
  TAKT_ERROR_MOTION_UNKNOWN_REQUEST = TAKT_STATUS(12, 4),
  TAKT_ERROR_MOTION_UNKNOWN_JOINT = TAKT_STATUS(12, 5),
  TAKT_ERROR_MOTION_UNKNOWN_GROUP = TAKT_STATUS(12, 6),
  TAKT_ERROR_MOTION_UNKNOWN_GOAL = TAKT_STATUS(12, 7),
  TAKT_ERROR_MOTION_DUPLICATE_JOINT = TAKT_STATUS(12, 8),
  TAKT_ERROR_MOTION_WRONG_SIZE = TAKT_STATUS(12, 9),
  TAKT_ERROR_MOTION_NOT_FINITE = TAKT_STATUS(12, 10),
  TAKT_ERROR_MOTION_TIMES_NOT_INCREASING = TAKT_STATUS(12, 11),
  TAKT_ERROR_MOTION_TOO_MANY_WAYPOINTS = TAKT_STATUS(12, 12),
  TAKT_ERROR_MOTION_NO_WAYPOINTS = TAKT_STATUS(12, 13),
  TAKT_ERROR_MOTION_OUT_OF_DOMAIN = TAKT_STATUS(12, 14),
  TAKT_ERROR_MOTION_POSITION_LIMIT = TAKT_STATUS(12, 20),
  TAKT_ERROR_MOTION_VELOCITY_LIMIT = TAKT_STATUS(12, 21),
  TAKT_ERROR_MOTION_ACCELERATION_LIMIT = TAKT_STATUS(12, 22),
  TAKT_ERROR_MOTION_JERK_LIMIT = TAKT_STATUS(12, 23),
  TAKT_ERROR_MOTION_LIMIT_ABOVE_ROBOT = TAKT_STATUS(12, 24),
  TAKT_ERROR_MOTION_START_MISMATCH = TAKT_STATUS(12, 25),
  TAKT_ERROR_MOTION_NOT_AT_REST_AT_END = TAKT_STATUS(12, 26),
  TAKT_ERROR_MOTION_JOINT_ALREADY_MOVING = TAKT_STATUS(12, 27),
  TAKT_ERROR_MOTION_JOINT_BUSY = TAKT_STATUS(12, 28),
  TAKT_ERROR_MOTION_ROBOT_NOT_READY = TAKT_STATUS(12, 30),
  TAKT_ERROR_MOTION_QUEUE_FULL = TAKT_STATUS(12, 31),
  TAKT_ERROR_MOTION_TOO_MANY_GOALS = TAKT_STATUS(12, 32),
  TAKT_ERROR_MOTION_TOO_MANY_CLIENTS = TAKT_STATUS(12, 33),
  TAKT_ERROR_MOTION_FOLLOWING_ERROR = TAKT_STATUS(12, 40),
  TAKT_ERROR_MOTION_DRIVE_SILENT = TAKT_STATUS(12, 41),
  TAKT_ERROR_MOTION_DRIVE_FAULT = TAKT_STATUS(12, 42),
  TAKT_ERROR_MOTION_EMERGENCY_STOP = TAKT_STATUS(12, 43),
  TAKT_ERROR_MOTION_CLIENT_LOST = TAKT_STATUS(12, 44),
  TAKT_ERROR_MOTION_SETPOINT_TIMEOUT = TAKT_STATUS(12, 45),
  TAKT_ERROR_MOTION_GOAL_TOLERANCE = TAKT_STATUS(12, 46),
  TAKT_ERROR_MOTION_PATH_TOLERANCE = TAKT_STATUS(12, 56),
  TAKT_ERROR_MOTION_SHUTTING_DOWN = TAKT_STATUS(12, 47),
  TAKT_ERROR_MOTION_STREAM_ENDED = TAKT_STATUS(12, 48),
  TAKT_ERROR_MOTION_RECALLED = TAKT_STATUS(12, 49),
  TAKT_ERROR_MOTION_GOAL_BEFORE_FAILED = TAKT_STATUS(12, 50),
  TAKT_ERROR_MOTION_LOOP_OVERRUN = TAKT_STATUS(12, 51),
  TAKT_ERROR_MOTION_DRIVE_OFF = TAKT_STATUS(12, 52),
  TAKT_ERROR_MOTION_UNKNOWN_REASON = TAKT_STATUS(12, 53),
  TAKT_ERROR_MOTION_NOT_IN_PHASE = TAKT_STATUS(12, 54),
  TAKT_ERROR_MOTION_START_TOO_FAR = TAKT_STATUS(12, 55),
  TAKT_ERROR_MOTION_NOT_CONTINUOUS = TAKT_STATUS(12, 57),
  TAKT_ERROR_MOTION_LOOP_LOST = TAKT_STATUS(12, 58),
  TAKT_ERROR_MOTION_OTHER_ROBOT = TAKT_STATUS(12, 59),
  TAKT_ERROR_MOTION_OTHER_VERSION = TAKT_STATUS(12, 60),
  TAKT_ERROR_MOTION_LOOP_TAKEN = TAKT_STATUS(12, 61),
  TAKT_ERROR_MOTION_BUS_DOWN = TAKT_STATUS(12, 62),

  /* room 14: what is simulated */
  TAKT_ERROR_SIM_BAD_PLANT = TAKT_STATUS(14, 1),
  TAKT_ERROR_SIM_BAD_PLACE = TAKT_STATUS(14, 2),
  TAKT_ERROR_SIM_TOO_MANY_NODES = TAKT_STATUS(14, 3),
  TAKT_ERROR_SIM_BAD_VEHICLE = TAKT_STATUS(14, 4),

  /* room 15: the operating system and the network */
  TAKT_ERROR_PLATFORM_LISTEN_FAILED = TAKT_STATUS(15, 1),
  TAKT_ERROR_PLATFORM_CONNECT_FAILED = TAKT_STATUS(15, 2),
  TAKT_ERROR_PLATFORM_CONNECTION_CLOSED = TAKT_STATUS(15, 3),
  TAKT_ERROR_PLATFORM_SEND_FAILED = TAKT_STATUS(15, 4),
  TAKT_ERROR_PLATFORM_RECEIVE_FAILED = TAKT_STATUS(15, 5),
  TAKT_ERROR_PLATFORM_NO_SUCH_SEGMENT = TAKT_STATUS(15, 6),
  TAKT_ERROR_PLATFORM_SEGMENT_EXISTS = TAKT_STATUS(15, 7),
  TAKT_ERROR_PLATFORM_BAD_SEGMENT_NAME = TAKT_STATUS(15, 8),
  TAKT_ERROR_PLATFORM_SEGMENT_FAILED = TAKT_STATUS(15, 9),
  TAKT_ERROR_PLATFORM_MEMORY_FULL = TAKT_STATUS(15, 10),
  TAKT_ERROR_PLATFORM_NOT_SEALED = TAKT_STATUS(15, 11),
  TAKT_ERROR_PLATFORM_WRONG_OWNER = TAKT_STATUS(15, 12),
  TAKT_ERROR_PLATFORM_WRONG_MODE = TAKT_STATUS(15, 13),
  TAKT_ERROR_PLATFORM_SEGMENT_IN_USE = TAKT_STATUS(15, 14),
  TAKT_ERROR_PLATFORM_SEAT_TAKEN = TAKT_STATUS(15, 15),
  TAKT_ERROR_PLATFORM_NOT_ALLOWED = TAKT_STATUS(15, 16),
  TAKT_ERROR_PLATFORM_NO_CAN = TAKT_STATUS(15, 17),
  TAKT_ERROR_PLATFORM_NO_SUCH_CAN_INTERFACE = TAKT_STATUS(15, 18),
  TAKT_ERROR_PLATFORM_CAN_INTERFACE_DOWN = TAKT_STATUS(15, 19),
  TAKT_ERROR_PLATFORM_NO_CAN_FD = TAKT_STATUS(15, 20),
  TAKT_ERROR_PLATFORM_CAN_FAILED = TAKT_STATUS(15, 21),
  TAKT_ERROR_PLATFORM_BAD_CYCLE = TAKT_STATUS(15, 22),
  TAKT_ERROR_PLATFORM_NO_SUCH_CYCLE = TAKT_STATUS(15, 23),
  TAKT_ERROR_PLATFORM_BAD_ADDRESS = TAKT_STATUS(15, 24),
  TAKT_ERROR_PLATFORM_UDP_FAILED = TAKT_STATUS(15, 25),
  TAKT_ERROR_PLATFORM_CAN_QUEUE_TOO_SHORT = TAKT_STATUS(15, 26),
  TAKT_ERROR_PLATFORM_NOT_CAN = TAKT_STATUS(15, 27),
  TAKT_ERROR_PLATFORM_WRONG_CAN_BIT_RATE = TAKT_STATUS(15, 28),
  TAKT_ERROR_PLATFORM_CAN_BUS_OFF = TAKT_STATUS(15, 29),
  TAKT_ERROR_PLATFORM_BAD_LINK_MESSAGE = TAKT_STATUS(15, 30),
  TAKT_ERROR_PLATFORM_NO_PERMISSION = TAKT_STATUS(15, 31),
  TAKT_ERROR_PLATFORM_NO_SUCH_SERIAL_LINE = TAKT_STATUS(15, 32),
  TAKT_ERROR_PLATFORM_SERIAL_LINE_BUSY = TAKT_STATUS(15, 33),
  TAKT_ERROR_PLATFORM_NO_KEY_FILE = TAKT_STATUS(15, 60),
  TAKT_ERROR_PLATFORM_KEY_FILE_EXISTS = TAKT_STATUS(15, 61),
  TAKT_ERROR_PLATFORM_KEY_FILE_OWNER = TAKT_STATUS(15, 62),
  TAKT_ERROR_PLATFORM_KEY_FILE_MODE = TAKT_STATUS(15, 63),
  TAKT_ERROR_PLATFORM_KEY_FILE_SIZE = TAKT_STATUS(15, 64),
  TAKT_ERROR_PLATFORM_KEY_FILE_FAILED = TAKT_STATUS(15, 65),
  TAKT_ERROR_PLATFORM_NO_RANDOMNESS = TAKT_STATUS(15, 66),

  /* room 16: the call itself */
  TAKT_ERROR_CAPI_NULL_POINTER = TAKT_STATUS(16, 1),
  TAKT_ERROR_CAPI_WRONG_STRUCT_SIZE = TAKT_STATUS(16, 2),
  TAKT_ERROR_CAPI_BAD_ARGUMENT = TAKT_STATUS(16, 3),
  TAKT_ERROR_CAPI_BAD_LIMITS = TAKT_STATUS(16, 4),
  TAKT_ERROR_CAPI_OUT_OF_MEMORY = TAKT_STATUS(16, 5),
  TAKT_ERROR_CAPI_INTERNAL = TAKT_STATUS(16, 6),
  TAKT_ERROR_CAPI_BUFFER_TOO_SMALL = TAKT_STATUS(16, 7),
  TAKT_ERROR_CAPI_MISALIGNED = TAKT_STATUS(16, 8),
  TAKT_ERROR_CAPI_TIMEOUT = TAKT_STATUS(16, 9),
  TAKT_ERROR_CAPI_BAD_DESCRIPTION = TAKT_STATUS(16, 10)
};

/* The English text of any status, of those of other rooms too; of a number that is none, a text that begins with "unknown".
 * Never NULL, lives for ever. Real-time safe. */
TAKT_API const char* takt_status_text(int32_t status);

/* ---- joints ----------------------------------------------------------------------------------------------------------- */

/* The most joints that one robot can have. */
#define TAKT_MAX_JOINTS 64

/* What a joint must never exceed. The bounds on velocity, acceleration, jerk and effort are magnitudes and hold both ways; an
 * infinite bound is no bound. A function that takes limits refuses NaN, negative magnitudes and a minimum above its
 * maximum: TAKT_ERROR_CAPI_BAD_LIMITS. */
typedef struct takt_joint_limits {
  double position_min; /* rad or m */
  double position_max;
  double velocity;     /* rad/s or m/s */
  double acceleration; /* rad/s^2 or m/s^2 */
  double jerk;         /* rad/s^3 or m/s^3 */
  double effort;       /* N m or N */
} takt_joint_limits;

/* No limits at all: every bound infinite. NULL is ignored. Real-time safe. */
TAKT_API void takt_joint_limits_init(takt_joint_limits* limits);

/* Position and its first two derivatives. */
typedef struct takt_motion_state {
  double position;     /* rad or m */
  double velocity;     /* rad/s or m/s */
  double acceleration; /* rad/s^2 or m/s^2 */
} takt_motion_state;

/* ---- trajectories ------------------------------------------------------------------------------------------------------ */

/* A motion of many joints through many waypoints, joined by quintic polynomials. Its time starts with 0 at the first. */
typedef struct takt_trajectory takt_trajectory;

/* How a trajectory passes its waypoints. */
enum {
  TAKT_THROUGH_DEFAULT = 0, /* GIVEN if there are velocities, else SMOOTH */
  TAKT_THROUGH_STOP = 1,    /* at rest at each, the ends included */
  TAKT_THROUGH_GIVEN = 2,   /* with the velocities, and accelerations or else zero, that are given */
  TAKT_THROUGH_SMOOTH = 3,  /* minimum jerk, continuous up to the fourth derivative; of what is given, only the derivatives at
                               the first and the last waypoint count (rest, where none are given) */
  TAKT_THROUGH_CUBIC = 4,   /* cubic spline, continuous acceleration; of what is given, only the derivatives at the first and
                               the last waypoint count (a natural spline, where none are given) */
  TAKT_THROUGH_MONOTONE = 5 /* never beyond the waypoints, continuous acceleration; the ends as with SMOOTH */
};

/* The matrices are row-major: the value of joint j at waypoint k is [k * joints + j]. The fields up to `positions`
 * are required; a struct_size that ends there is the smallest that is accepted. */
typedef struct takt_waypoints {
  uint32_t struct_size;        /* set by takt_waypoints_init() */
  int32_t through;             /* TAKT_THROUGH_... */
  size_t joints;               /* 1 .. TAKT_MAX_JOINTS */
  size_t count;                /* waypoints, at least 2; the first is the state that the trajectory starts from */
  const int64_t* times_ns;     /* count, rising by 1 us to 1e6 s; only differences matter */
  const double* positions;     /* count x joints; rad or m; every number finite and at most 1e9 in magnitude */
  const double* velocities;    /* count x joints, or NULL */
  const double* accelerations; /* count x joints, or NULL */
} takt_waypoints;

/* Everything zero but struct_size. NULL is ignored. Real-time safe. */
TAKT_API void takt_waypoints_init(takt_waypoints* waypoints);

/* What exceeds a limit. */
enum {
  TAKT_QUANTITY_NONE = 0,
  TAKT_QUANTITY_POSITION = 1,
  TAKT_QUANTITY_VELOCITY = 2,
  TAKT_QUANTITY_ACCELERATION = 3,
  TAKT_QUANTITY_JERK = 4
};

/* Where a limit is exceeded, and by what. An output: the library writes as many fields as struct_size covers. */
typedef struct takt_violation {
  uint32_t struct_size; /* set by takt_violation_init() */
  int32_t quantity;     /* TAKT_QUANTITY_... */
  uint64_t joint;       /* column */
  int64_t time_ns;      /* from the trajectory's start */
  double value;         /* signed */
  double limit;         /* a magnitude, except for positions */
} takt_violation;

/* Everything zero but struct_size. NULL is ignored. Real-time safe. */
TAKT_API void takt_violation_init(takt_violation* violation);

/* Makes a trajectory; *trajectory is the caller's, to be freed with takt_trajectory_destroy(). Errors:
 * TAKT_ERROR_TRAJECTORY_..., and OUT_OF_DOMAIN also for SMOOTH over durations that differ by more than 1e4 times. */
TAKT_API int32_t takt_trajectory_create(const takt_waypoints* waypoints, takt_trajectory** trajectory);

/* Makes a trajectory from rest to rest with times of its own: as short as the limits of velocity, acceleration and jerk (one entry
 * for each joint) allow, exactly with TAKT_THROUGH_STOP, after a search of up to some seconds (usually milliseconds) with the others.
 * *through, which may be NULL, is as was asked for, or TAKT_THROUGH_STOP where stopping at each waypoint is faster than what the
 * search found. times_ns may be NULL; where it is given, no segment is shorter than it says. Velocities and accelerations are not
 * looked at; positions between the waypoints: takt_trajectory_check(). Errors: as above, and TAKT_ERROR_TRAJECTORY_NO_VELOCITIES
 * for GIVEN, TAKT_ERROR_CAPI_BAD_LIMITS, TAKT_ERROR_TRAJECTORY_OUT_OF_DOMAIN for a limit of zero of a joint that moves, and for
 * a segment without a given time in which no joint moves that has a limit. */
TAKT_API int32_t takt_trajectory_create_within(const takt_waypoints* waypoints, const takt_joint_limits* limits, size_t joints,
                                               int32_t* through, takt_trajectory** trajectory);

/* Frees it. No thread may be using it. */
TAKT_API void takt_trajectory_destroy(takt_trajectory* trajectory);

/* How many joints it moves; 0 for NULL. Real-time safe. */
TAKT_API size_t takt_trajectory_joints(const takt_trajectory* trajectory);

/* From the first waypoint to the last, rounded up, so that a sample at this time is exactly the end; 0 for NULL.
 * Real-time safe. */
TAKT_API int64_t takt_trajectory_duration_ns(const takt_trajectory* trajectory);

/* Where the last sample was. Starts as {0}; belongs to one reader, and to one trajectory. */
typedef struct takt_cursor {
  uint64_t segment;
} takt_cursor;

/* Position, velocity and acceleration of all joints at time_ns from the start; before it the start's, at the end and after it
 * exactly the end's. `joints` is the length of each array and must be the trajectory's: TAKT_ERROR_TRAJECTORY_WRONG_SIZE.
 * Arrays that are not wanted may be NULL. Constant time when time_ns rises from call to call, else O(log waypoints).
 * Real-time safe. */
TAKT_API int32_t takt_trajectory_sample(const takt_trajectory* trajectory, takt_cursor* cursor, int64_t time_ns,
                                        size_t joints, double* positions, double* velocities, double* accelerations);

/* Whether the limits (one for each joint) hold everywhere, between the waypoints too: TAKT_OK, or
 * TAKT_ERROR_MOTION_POSITION_LIMIT, _VELOCITY_LIMIT, _ACCELERATION_LIMIT or _JERK_LIMIT with the worst violation in *violation,
 * which may be NULL. A motion may exceed a limit by 1e-9 of it. The check is exact, from the polynomials' extrema. O(waypoints). */
TAKT_API int32_t takt_trajectory_check(const takt_trajectory* trajectory, const takt_joint_limits* limits, size_t joints,
                                       takt_violation* violation);

/* Slows the whole trajectory down by the smallest factor, at least 1, with which the limits hold; *factor, which may be NULL,
 * says by how much. What no slow-down cures (a position out of range, a limit of zero for a joint that moves) is answered
 * as by takt_trajectory_check(). No thread may be sampling it. O(waypoints). */
TAKT_API int32_t takt_trajectory_fit(takt_trajectory* trajectory, const takt_joint_limits* limits, size_t joints,
                                     double* factor, takt_violation* violation);

/* The same path, `factor` times slower. Errors: TAKT_ERROR_TRAJECTORY_NOT_FINITE, _OUT_OF_DOMAIN (not positive, or too slow or too
 * fast for times between 1 us and 1e6 s). No thread may be sampling it. */
TAKT_API int32_t takt_trajectory_slow_down(takt_trajectory* trajectory, double factor);

/* Makes a trajectory of some of the joints, in the order of `selected`, which holds `count` of their numbers. *result is the
 * caller's, here and below. Errors: TAKT_ERROR_TRAJECTORY_WRONG_SIZE (none, more than TAKT_MAX_JOINTS, or one that does not
 * exist). */
TAKT_API int32_t takt_trajectory_select(const takt_trajectory* trajectory, const size_t* selected, size_t count,
                                        takt_trajectory** result);

/* Makes a trajectory of what there is from from_ns to to_ns; its time starts with 0 there. */
TAKT_API int32_t takt_trajectory_part(const takt_trajectory* trajectory, int64_t from_ns, int64_t to_ns,
                                      takt_trajectory** result);

/* Makes a trajectory that follows this one until at_ns, and then brings each joint to rest by itself, as soon as its acceleration and
 * jerk limits allow. *kept is 1 if the stop keeps all limits, positions too; 0 if it does not, by the violation in *violation:
 * then no stop violates them less. Both may be NULL. For a stop of all joints together: takt_trajectory_part(), then
 * takt_trajectory_append_stop(). Errors: TAKT_ERROR_TRAJECTORY_OUT_OF_DOMAIN (before the start). */
TAKT_API int32_t takt_trajectory_stop_each(const takt_trajectory* trajectory, int64_t at_ns, const takt_joint_limits* limits,
                                           size_t joints, int32_t* kept, takt_violation* violation, takt_trajectory** result);

/* When and where a trajectory is left for another. */
typedef struct takt_splice_options {
  uint32_t struct_size; /* set by takt_splice_options_init() */
  uint32_t reserved;    /* 0 */
  int64_t at_ns;        /* when the running one is left, on its own clock; from 0 on */
  int64_t start_ns;     /* when the first waypoint of the next one has its time, on the same clock */
  const size_t* joints; /* which of the running one's joints those of the next one are, one entry for each; NULL: all */
} takt_splice_options;

/* Everything zero but struct_size. NULL is ignored. Real-time safe. */
TAKT_API void takt_splice_options_init(takt_splice_options* options);

/* What became of it. An output: the library writes as many fields as struct_size covers. */
typedef struct takt_splice {
  uint32_t struct_size; /* set by takt_splice_init() */
  int32_t kept;         /* 1: the bridge keeps all limits; 0: it does not */
  uint64_t waypoint;    /* of the next one, to which the bridge leads */
  int64_t joins_ns;     /* when it arrives there, on the running one's clock */
  int64_t delay_ns;     /* by how much that and all that follows is later than asked for */
} takt_splice;

/* Everything zero but struct_size. NULL is ignored. Real-time safe. */
TAKT_API void takt_splice_init(takt_splice* splice);

/* Makes a trajectory, on the running one's clock, that follows `running` until at_ns; from its state there a jerk-limited bridge,
 * without a step in position, velocity or acceleration, leads to the first waypoint of `next` that is not past then; from that
 * on it follows `next`. Joints that `next` is not about go on with `running`.
 *
 * The bridge arrives at the waypoint's time if the limits of velocity, acceleration and jerk (one entry for each joint of `running`,
 * finite) allow it. If not, it arrives as soon as possible and the rest of `next` is delayed by as much; only where a later
 * waypoint can be joined in time before even that, it is joined. Where the state at at_ns is outside the limits, or the
 * bridge leaves the range of positions, splice->kept is 0 and the worst violation is in *violation. `splice` and
 * `violation` may be NULL. The rest of `next` is the caller's to check. The past stays in the result: takt_trajectory_part().
 * Errors: TAKT_ERROR_TRAJECTORY_WRONG_SIZE, _NOT_FINITE (a limit), _OUT_OF_DOMAIN, _NO_WAYPOINTS (all of `next` is past),
 * _NOT_AT_REST_AT_END (a joint that ends in motion while others go on), _TARGET_OUTSIDE_LIMITS (of the waypoint). */
TAKT_API int32_t takt_trajectory_splice(const takt_trajectory* running, const takt_trajectory* next,
                                        const takt_splice_options* options, const takt_joint_limits* limits, size_t joints,
                                        takt_splice* splice, takt_violation* violation, takt_trajectory** result);

/* Brings a trajectory that does not end at rest to rest, all joints together, by at most three more segments within the acceleration and jerk limits of
 * all joints (the position and velocity limits: takt_trajectory_check() afterwards). One that ends at rest stays as it is. Errors:
 * TAKT_ERROR_TRAJECTORY_OUT_OF_DOMAIN. No thread may be sampling it. */
TAKT_API int32_t takt_trajectory_append_stop(takt_trajectory* trajectory, const takt_joint_limits* limits, size_t joints);

/* The trajectory as JSON by the field names of trajectory_msgs/JointTrajectory, for other programs and for `takt send`: its
 * waypoints with velocities and accelerations, times rounded to nanoseconds. `joint_names` holds one name for each joint. Writes
 * at most `size` bytes to `text`, a NUL among them. *length (may be NULL) is the length without the NUL, also when it does
 * not fit: TAKT_ERROR_CAPI_BUFFER_TOO_SMALL. */
TAKT_API int32_t takt_trajectory_to_json(const takt_trajectory* trajectory, const char* const* joint_names, char* text,
                                         size_t size, size_t* length);

/* ---- point to point ----------------------------------------------------------------------------------------------------- */

/* Jerk-limited motion of all joints from any states to any others, planned within a control period, in the caller's memory. */
typedef struct takt_point_to_point takt_point_to_point;

/* Limits that differ by direction. The minima are negative, the rest is positive; none may be infinite. */
typedef struct takt_directional_limits {
  double velocity_min; /* rad/s or m/s */
  double velocity_max;
  double acceleration_min; /* rad/s^2 or m/s^2 */
  double acceleration_max;
  double jerk; /* rad/s^3 or m/s^3; a magnitude */
} takt_directional_limits;

/* The velocity, acceleration and jerk limits of a joint, the same both ways. NULL is ignored. Real-time safe. */
TAKT_API void takt_directional_limits_init(takt_directional_limits* limits, const takt_joint_limits* both_ways);

/* How joints that move together keep together. */
enum {
  TAKT_SYNCHRONISE_TIME = 0, /* they start and arrive together */
  TAKT_SYNCHRONISE_PHASE = 1 /* they also move in proportion, along the straight line from start to target */
};

/* Bytes that a motion of so many joints needs (0 unless 1 .. TAKT_MAX_JOINTS; about 1.2 kB for each), and the alignment of its
 * address. Constant while the library is loaded. Real-time safe. */
TAKT_API size_t takt_point_to_point_size(size_t joints);
TAKT_API size_t takt_point_to_point_align(void);

/* Makes a motion of 1 .. TAKT_MAX_JOINTS joints, which stand still at zero, in `memory` (`size` bytes); *motion is that memory.
 * Errors: TAKT_ERROR_TRAJECTORY_WRONG_SIZE (joints), TAKT_ERROR_CAPI_BUFFER_TOO_SMALL, _MISALIGNED. Real-time safe. */
TAKT_API int32_t takt_point_to_point_init_in(void* memory, size_t size, size_t joints, takt_point_to_point** motion);

/* Plans the motion from `start` to `target` (one entry of each for each joint), in the shortest duration that is possible for all
 * and not below at_least_ns (0: the shortest): exactly that where it is possible. A start outside the limits comes back inside
 * with the least violation first. Positions between start and target are not limited. After an error the old motion stands.
 * Errors: TAKT_ERROR_TRAJECTORY_WRONG_SIZE, _NOT_FINITE, _OUT_OF_DOMAIN, _LIMIT_NOT_POSITIVE, _TARGET_OUTSIDE_LIMITS,
 * _NOT_IN_PHASE, TAKT_ERROR_CAPI_BAD_ARGUMENT (synchronisation). Real-time safe. */
TAKT_API int32_t takt_point_to_point_plan(takt_point_to_point* motion, const takt_motion_state* start,
                                          const takt_motion_state* target, const takt_directional_limits* limits, size_t joints,
                                          int32_t synchronisation, int64_t at_least_ns);

/* How long it takes (rounded up, so that a sample at this time is exactly the target), and 1 if it keeps the limits, 0 if the start
 * did not allow it. Outputs that are not wanted may be NULL. Real-time safe. */
TAKT_API int32_t takt_point_to_point_get(const takt_point_to_point* motion, int64_t* duration_ns, int32_t* fits);

/* Position, velocity and acceleration of all joints at time_ns from the start; before it the start's, at the end and after it
 * exactly the target's. Arrays that are not wanted may be NULL. Real-time safe. */
TAKT_API int32_t takt_point_to_point_sample(const takt_point_to_point* motion, int64_t time_ns, size_t joints, double* positions,
                                            double* velocities, double* accelerations);

/* Makes a trajectory of it, which can be checked for positions, spliced and sampled as others. *trajectory is the caller's. */
TAKT_API int32_t takt_point_to_point_to_trajectory(const takt_point_to_point* motion, takt_trajectory** trajectory);

/* ---- stops ------------------------------------------------------------------------------------------------------------- */

/* One joint's shortest way from motion to rest within its velocity, acceleration and jerk limits, without a step in position,
 * velocity or acceleration. Planned and sampled in the loop, in the caller's memory. */
typedef struct takt_stop takt_stop;

/* Bytes that a takt_stop needs, and the alignment of its address. Constant while the library is loaded. Real-time safe. */
TAKT_API size_t takt_stop_size(void);
TAKT_API size_t takt_stop_align(void);

/* Plans a stop from `state` in `memory` (`size` bytes); *stop is that memory. When no stop keeps the limits from there, the one
 * with the least violation is planned: see takt_stop_get(). Errors: TAKT_ERROR_TRAJECTORY_NOT_FINITE, _OUT_OF_DOMAIN (a number
 * of the state beyond 1e9), TAKT_ERROR_CAPI_BAD_LIMITS, _BUFFER_TOO_SMALL, _MISALIGNED. Real-time safe. */
TAKT_API int32_t takt_stop_init_in(void* memory, size_t size, const takt_motion_state* state,
                                   const takt_joint_limits* limits, takt_stop** stop);

/* How long it takes (rounded up, so that a sample at this time is at rest); where it ends minus where it began (signed; rad or
 * m); and 1 if it keeps the limits, 0 if none could. Outputs that are not wanted may be NULL. Real-time safe. */
TAKT_API int32_t takt_stop_get(const takt_stop* stop, int64_t* duration_ns, double* distance, int32_t* fits);

/* The state time_ns after the stop began; at the end and after it exactly at rest. Real-time safe. */
TAKT_API int32_t takt_stop_sample(const takt_stop* stop, int64_t time_ns, takt_motion_state* state);

/* ---- control ------------------------------------------------------------------------------------------------------------ */

/* A PID controller. Which formulas it has: takt's, or those of a convention whose gains are brought along. */
typedef struct takt_pid takt_pid;
enum {
  TAKT_PID_TAKT = 0, /* backward Euler; the integral holds while it would drive the output further beyond a limit */
  TAKT_PID_ROS1 = 1, /* control_toolbox of ROS 1; _ANTI_WINDUP: with antiwindup set */
  TAKT_PID_ROS1_ANTI_WINDUP = 2,
  TAKT_PID_ROS2 = 3, /* control_toolbox of ROS 2, by its anti-windup strategy */
  TAKT_PID_ROS2_CONDITIONAL = 4,
  TAKT_PID_ROS2_BACK_CALCULATION = 5,
  TAKT_PID_DATASPEED = 6 /* of the Dataspeed drive-by-wire controller */
};

/* Gains in units of the output u, the error e and seconds. */
typedef struct takt_pid_gains {
  uint32_t struct_size; /* set by takt_pid_gains_init() */
  int32_t form;         /* TAKT_PID_... */
  double proportional;  /* u / e */
  double integral;      /* u / (e s) */
  double derivative;    /* u s / e */
  double setpoint_weight;   /* of the proportional part; takt_pid_gains_init() says 1 */
  double derivative_weight; /* of the set-point in the derivative: 0 none, 1 derivative of the error (the conventions) */
  double derivative_filter; /* s: time constant */
  double tracking_time;     /* s, of back-calculation; 0: from the gains */
  double dead_band;         /* e: smaller errors are not integrated */
  double integral_min;      /* u; infinite: none */
  double integral_max;
  double output_min; /* u; infinite: none */
  double output_max;
} takt_pid_gains;

/* No gains, set-point weight 1, derivative on measurement, no limits. NULL is ignored. Real-time safe. */
TAKT_API void takt_pid_gains_init(takt_pid_gains* gains);

/* *pid is the caller's, to be freed with takt_pid_destroy(). Errors: TAKT_ERROR_CONTROL_NOT_FINITE, _MIN_ABOVE_MAX, _OUT_OF_DOMAIN,
 * TAKT_ERROR_CAPI_BAD_ARGUMENT (form). */
TAKT_API int32_t takt_pid_create(const takt_pid_gains* gains, takt_pid** pid);
TAKT_API void takt_pid_destroy(takt_pid* pid);

/* One period. *output may always be used: after an error it is the last good one. Errors: TAKT_ERROR_CONTROL_BAD_PERIOD (zero,
 * negative, over 10 s), _NOT_FINITE; nothing changes then. Real-time safe. */
TAKT_API int32_t takt_pid_step(takt_pid* pid, double setpoint, double measured, int64_t period_ns, double feed_forward,
                               double* output);

/* A period in which somebody else has the output (manual mode): the integral follows, so that takt_pid_step() goes on without a
 * bump. Errors: as above. Real-time safe. */
TAKT_API int32_t takt_pid_follow(takt_pid* pid, double output, double setpoint, double measured, int64_t period_ns,
                                 double feed_forward);

/* Other gains of the same form, without a bump: the integral takes up what they would give differently for the set-point and the
 * measurement of the last step; without an integral gain the output steps. Errors: those of takt_pid_create(), and
 * TAKT_ERROR_CAPI_BAD_ARGUMENT for another form; the old gains then stand. Real-time safe. */
TAKT_API int32_t takt_pid_change(takt_pid* pid, const takt_pid_gains* gains, double setpoint, double measured);

/* As new; with keep_integral not 0 the integral stays. NULL is ignored. Real-time safe. */
TAKT_API void takt_pid_reset(takt_pid* pid, int32_t keep_integral);

/* Keeps what is commanded to one joint within its limits, jerk included: a joint at speed can always stop inside its range. */
typedef struct takt_joint_limiter takt_joint_limiter;

/* Position limits may be infinite, velocity, acceleration and jerk not. *limiter is the caller's, to be freed with
 * takt_joint_limiter_destroy(). Errors: TAKT_ERROR_CONTROL_NOT_FINITE, _MIN_ABOVE_MAX, _OUT_OF_DOMAIN. */
TAKT_API int32_t takt_joint_limiter_create(const takt_joint_limits* limits, takt_joint_limiter** limiter);
TAKT_API void takt_joint_limiter_destroy(takt_joint_limiter* limiter);

/* Goes on from this state. Errors: TAKT_ERROR_CONTROL_NOT_FINITE: nothing changes. Real-time safe. */
TAKT_API int32_t takt_joint_limiter_reset(takt_joint_limiter* limiter, const takt_motion_state* state);

/* One period towards a position, or with a velocity as long as the range lasts. *reference is the new reference, also after
 * TAKT_ERROR_CONTROL_NOT_FINITE, which begins a stop; after _BAD_PERIOD nothing has changed. Real-time safe. */
TAKT_API int32_t takt_joint_limiter_toward_position(takt_joint_limiter* limiter, double position, int64_t period_ns,
                                                    takt_motion_state* reference);
TAKT_API int32_t takt_joint_limiter_toward_velocity(takt_joint_limiter* limiter, double velocity, int64_t period_ns,
                                                    takt_motion_state* reference);

/* Limits a value, how fast it changes, and how fast that changes. */
typedef struct takt_rate_limiter takt_rate_limiter;

/* In units u of the value. Rates are magnitudes above zero, for values above zero (forward) and below (reverse). */
typedef struct takt_rate_limits {
  uint32_t struct_size; /* set by takt_rate_limits_init() */
  uint32_t reserved;    /* 0 */
  double min;           /* u; not above zero */
  double max;           /* u; not below zero */
  double forward_acceleration; /* u/s */
  double forward_braking;      /* u/s */
  double reverse_acceleration; /* u/s */
  double reverse_braking;      /* u/s */
  double second;               /* u/s^2; periods should then be equal */
} takt_rate_limits;

/* All infinite: no limits. NULL is ignored. Real-time safe. */
TAKT_API void takt_rate_limits_init(takt_rate_limits* limits);

/* At zero and at rest. *limiter is the caller's, to be freed with takt_rate_limiter_destroy(). Errors: TAKT_ERROR_CONTROL_NOT_FINITE,
 * _MIN_ABOVE_MAX, _OUT_OF_DOMAIN, TAKT_ERROR_CAPI_BAD_ARGUMENT (reserved). */
TAKT_API int32_t takt_rate_limiter_create(const takt_rate_limits* limits, takt_rate_limiter** limiter);
TAKT_API void takt_rate_limiter_destroy(takt_rate_limiter* limiter);

/* Goes on from this value, at rest. What is not finite is taken as zero. NULL is ignored. Real-time safe. */
TAKT_API void takt_rate_limiter_reset(takt_rate_limiter* limiter, double value);

/* One period on the way to `target`, which may be infinite. *value may always be used. Errors: TAKT_ERROR_CONTROL_BAD_PERIOD,
 * _NOT_FINITE (NaN): nothing changes then. Real-time safe. */
TAKT_API int32_t takt_rate_limiter_step(takt_rate_limiter* limiter, double target, int64_t period_ns, double* value);

/* A filter of samples at equal times. */
typedef struct takt_filter takt_filter;
enum {
  TAKT_FILTER_FIRST_ORDER = 0, /* low-pass; quality is not looked at */
  TAKT_FILTER_LOW_PASS = 1,    /* second order, as are those below; quality 1/sqrt(2) has the flattest pass band */
  TAKT_FILTER_HIGH_PASS = 2,
  TAKT_FILTER_BAND_PASS = 3,
  TAKT_FILTER_NOTCH = 4
};

/* `kind` is a TAKT_FILTER_..., frequency (Hz) its cut-off or the middle of its band, period_ns the time between samples. *filter is
 * the caller's, to be freed with takt_filter_destroy(). Errors: TAKT_ERROR_CONTROL_NOT_FINITE, _BAD_PERIOD, _OUT_OF_DOMAIN (frequency
 * or quality not above zero; second order: not below half the sampling rate), TAKT_ERROR_CAPI_BAD_ARGUMENT (kind). */
TAKT_API int32_t takt_filter_create(int32_t kind, double frequency, double quality, int64_t period_ns, takt_filter** filter);
TAKT_API void takt_filter_destroy(takt_filter* filter);

/* One sample; the first is taken to have been there for ever. *value may always be used. Errors: TAKT_ERROR_CONTROL_NOT_FINITE: the
 * sample does not count. Real-time safe. */
TAKT_API int32_t takt_filter_step(takt_filter* filter, double sample, double* value);

/* The next sample is the first again. NULL is ignored. Real-time safe. */
TAKT_API void takt_filter_reset(takt_filter* filter);

/* What lies between actuators and as many joints: a gear box, a differential, a four-bar linkage, any linear coupling M:
 * joint positions = M actuator positions + offsets, velocities without offsets, actuator efforts = M^T joint efforts. */
typedef struct takt_transmission takt_transmission;
#define TAKT_MAX_TRANSMISSION 6
enum {
  TAKT_TRANSMISSION_POSITIONS = 0,
  TAKT_TRANSMISSION_VELOCITIES = 1,
  TAKT_TRANSMISSION_EFFORTS = 2
};

/* From M, `size` rows of `size` numbers (1 to TAKT_MAX_TRANSMISSION); or from the two reductions of the actuators n and of the joints m:
 *   differential  q1 = (a1/n1 + a2/n2) / (2 m1) + o1,   q2 = (a1/n1 - a2/n2) / (2 m2) + o2
 *   four-bar      q1 = a1 / (m1 n1) + o1,               q2 = (a2/n2 - a1/(m1 n1)) / m2 + o2
 * `offsets`, one for each joint, may be NULL: zero. *transmission is the caller's, to be freed with takt_transmission_destroy().
 * Errors: TAKT_ERROR_CONTROL_NOT_FINITE, _OUT_OF_DOMAIN (a reduction of zero; a direction of motion is lost), _WRONG_SIZE. */
TAKT_API int32_t takt_transmission_create(const double* matrix, size_t size, const double* offsets,
                                          takt_transmission** transmission);
TAKT_API int32_t takt_transmission_create_differential(const double* actuator_reductions, const double* joint_reductions,
                                                       const double* offsets, takt_transmission** transmission);
TAKT_API int32_t takt_transmission_create_four_bar(const double* actuator_reductions, const double* joint_reductions,
                                                   const double* offsets, takt_transmission** transmission);
TAKT_API void takt_transmission_destroy(takt_transmission* transmission);

/* What the actuators' positions, velocities or efforts (`quantity`) are at the joints, and the other way round; `size` must be the
 * transmission's. Numbers that are none come through. Errors: TAKT_ERROR_CONTROL_WRONG_SIZE, TAKT_ERROR_CAPI_BAD_ARGUMENT (quantity).
 * Real-time safe. */
TAKT_API int32_t takt_transmission_to_joints(const takt_transmission* transmission, int32_t quantity, size_t size,
                                             const double* actuators, double* joints);
TAKT_API int32_t takt_transmission_to_actuators(const takt_transmission* transmission, int32_t quantity, size_t size,
                                                const double* joints, double* actuators);

/* ---- odometry ----------------------------------------------------------------------------------------------------------- */

/* REP 103: x forward, y left, rotation counter-clockwise. */
typedef struct takt_pose {
  double x;       /* m */
  double y;       /* m */
  double heading; /* rad, within half a turn either way */
} takt_pose;

/* Velocities in the vehicle's own frame. */
typedef struct takt_twist {
  double forward;  /* m/s */
  double left;     /* m/s */
  double rotation; /* rad/s */
} takt_twist;

/* The twist of a vehicle with two driven sides, from the rates of its wheels (rad/s), and back: what the wheels must do. Lengths in m.
 * Errors: TAKT_ERROR_MOBILE_NOT_FINITE, _NOT_POSITIVE (a length). Real-time safe. */
TAKT_API int32_t takt_differential_twist(double left_radius, double right_radius, double track, double left, double right,
                                         takt_twist* twist);
TAKT_API int32_t takt_differential_wheels(double left_radius, double right_radius, double track, const takt_twist* twist,
                                          double* left, double* right);

/* The same of a car, as a bicycle whose origin is the middle of its rear axle (max_steering in rad, below pi/2), and of a tricycle
 * whose one front wheel is steered and driven. What a car cannot drive it comes nearest to, with the speed asked for: *exact, which may
 * be NULL, is then 0. Errors: as above, and TAKT_ERROR_MOBILE_OUT_OF_DOMAIN (max_steering). Real-time safe. */
TAKT_API int32_t takt_car_twist(double wheelbase, double speed, double steering, takt_twist* twist);
TAKT_API int32_t takt_car_drive(double wheelbase, double max_steering, const takt_twist* twist, double* speed,
                                double* steering, int32_t* exact);
TAKT_API int32_t takt_tricycle_twist(double wheelbase, double wheel_speed, double steering, takt_twist* twist);
TAKT_API int32_t takt_tricycle_drive(double wheelbase, const takt_twist* twist, double* wheel_speed, double* steering);

/* A wheel that stands at (x, y) and can only push in one direction (rad; 0 = forward). A mecanum wheel of radius r is one of radius
 * r/sqrt(2) that pushes along its roller's other diagonal: front left and rear right at -pi/4, front right and rear left at pi/4. */
typedef struct takt_omni_wheel {
  double x;         /* m */
  double y;         /* m */
  double direction; /* rad */
  double radius;    /* m */
} takt_omni_wheel;

/* The twist of a vehicle with 3 to 8 such wheels, from their rates (rad/s; what they contradict each other by is slip), and back. It is
 * worked out anew with each call. Errors: as above, and TAKT_ERROR_MOBILE_OUT_OF_DOMAIN (the number of wheels, or they cannot make
 * every motion). Real-time safe. */
TAKT_API int32_t takt_omni_twist(const takt_omni_wheel* wheels, size_t count, const double* rates, takt_twist* twist);
TAKT_API int32_t takt_omni_rates(const takt_omni_wheel* wheels, size_t count, const takt_twist* twist, double* rates);

/* Where a vehicle has got to. */
typedef struct takt_odometry takt_odometry;

/* How much a motion adds to the variances, and for how long velocities are taken. */
typedef struct takt_odometry_options {
  uint32_t struct_size; /* set by takt_odometry_options_init() */
  uint32_t reserved;    /* 0 */
  int64_t timeout_ns;   /* a longer period between two velocities is a gap; at most ten seconds; optional from here on: */
  double forward_by_way;      /* m^2 for each m */
  double left_by_way;         /* m^2 for each m */
  double heading_by_way;      /* rad^2 for each m */
  double heading_by_rotation; /* rad^2 for each rad */
} takt_odometry_options;

/* Half a second, no noise. NULL is ignored. */
TAKT_API void takt_odometry_options_init(takt_odometry_options* options);

/* At the origin. `options` may be NULL: as takt_odometry_options_init() says. *odometry is the caller's, to be freed with
 * takt_odometry_destroy(). Errors: TAKT_ERROR_MOBILE_NOT_FINITE, _NOT_POSITIVE, _OUT_OF_DOMAIN. */
TAKT_API int32_t takt_odometry_create(const takt_odometry_options* options, takt_odometry** odometry);
TAKT_API void takt_odometry_destroy(takt_odometry* odometry);

/* The vehicle has moved with these velocities for so long, along an exact arc. Errors: TAKT_ERROR_MOBILE_NOT_FINITE,
 * _BAD_PERIOD, _STALE (longer than the time-out: what it did meanwhile is not known, and the covariance grows as if it had gone on all
 * the time); the pose then stays. Real-time safe. */
TAKT_API int32_t takt_odometry_advance(takt_odometry* odometry, const takt_twist* twist, int64_t period_ns);

/* The vehicle has made this motion, in m and rad in its own frame: what the drives above make of how far wheels turned since the last
 * call. Errors: TAKT_ERROR_MOBILE_NOT_FINITE: nothing changes. Real-time safe. */
TAKT_API int32_t takt_odometry_move(takt_odometry* odometry, const takt_twist* motion);

/* The vehicle is known to be here. Errors: TAKT_ERROR_MOBILE_NOT_FINITE: nothing changes. Real-time safe. */
TAKT_API int32_t takt_odometry_set(takt_odometry* odometry, const takt_pose* pose);

/* The pose, and its covariance over (x, y, heading): nine numbers, row by row. Either may be NULL. Real-time safe. */
TAKT_API int32_t takt_odometry_get(const takt_odometry* odometry, takt_pose* pose, double* covariance);

/* ---- vehicle ------------------------------------------------------------------------------------------------------------ */

/* From a commanded twist to steering angle, throttle and brake of a car-like vehicle. */
typedef struct takt_twist_law takt_twist_law;

typedef struct takt_twist_law_options {
  uint32_t struct_size; /* set by takt_twist_law_options_init() */
  uint32_t reserved;    /* 0 */
  double wheelbase;          /* m */
  double max_steering;       /* rad, below pi/2 */
  double steering_rate;      /* rad/s */
  double command_threshold;  /* m/s: above it the commanded speed decides on the steering; 0.1 */
  double measured_threshold; /* m/s: above it, and below the other, the measured one does; 0.5 */
  double standstill;         /* m/s: slower, the vehicle stands, or is to stand; 0.05 */
  double hysteresis;         /* m/s: too fast by this, it brakes; 0.1 */
  double holding_brake;      /* 0..1: holds the vehicle where it stands, or is blind; 0.2 */
  double throttle[3];        /* proportional, integral, derivative: from m/s to 0..1 */
  double brake[3];           /* from m/s too fast to 0..1, the proportional one above zero */
} takt_twist_law_options;

/* Everything zero but what is said above. NULL is ignored. Real-time safe. */
TAKT_API void takt_twist_law_options_init(takt_twist_law_options* options);

/* What the vehicle is driven with. */
typedef struct takt_drive_command {
  double steering; /* rad, counter-clockwise: left when driving forward */
  double throttle; /* -1..1; negative drives backwards; zero while it brakes */
  double brake;    /* 0..1 */
} takt_drive_command;

/* *law is the caller's, to be freed with takt_twist_law_destroy(). Errors: TAKT_ERROR_CONTROL_NOT_FINITE, _OUT_OF_DOMAIN (a gain
 * below zero, too),
 * TAKT_ERROR_CAPI_BAD_ARGUMENT (reserved). */
TAKT_API int32_t takt_twist_law_create(const takt_twist_law_options* options, takt_twist_law** law);
TAKT_API void takt_twist_law_destroy(takt_twist_law* law);

/* The command for the next period; `measured` is the speed along the vehicle (m/s, backwards below zero). *command may always be used:
 * after TAKT_ERROR_CONTROL_BAD_PERIOD it is the last one; after _NOT_FINITE (the speed or the twist is not known) the steering stays, the
 * throttle is zero, and the brake as it was but no less than the holding brake. Real-time safe. */
TAKT_API int32_t takt_twist_law_step(takt_twist_law* law, const takt_twist* wanted, double measured, int64_t period_ns,
                                     takt_drive_command* command);

/* As new, but for the steering angle, which the wheels have. NULL is ignored. Real-time safe. */
TAKT_API void takt_twist_law_reset(takt_twist_law* law, double steering);

/* ---- frames of the Furbot ------------------------------------------------------------------------------------------------ */

/* What the vehicle says of itself comes in status frames, one in a datagram to port 18003, and what drives it goes in control
 * frames to port 18004. A status frame has a time stamp and a block of each system, systems being known by these numbers (up to 31
 * where a table of one's own has others). */
enum {
  TAKT_SYSTEM_COMMUNICATION = 0,
  TAKT_SYSTEM_BATTERY = 1,
  TAKT_SYSTEM_MOTION_CONTROL = 2,
  TAKT_SYSTEM_TRACTION = 3,
  TAKT_SYSTEM_STEERING = 4,
  TAKT_SYSTEM_HYDRAULICS = 5,
  TAKT_SYSTEM_SUSPENSION_REAR_LEFT = 6,
  TAKT_SYSTEM_SUSPENSION_REAR_RIGHT = 7,
  TAKT_SYSTEM_SUSPENSION_FRONT_LEFT = 8,
  TAKT_SYSTEM_SUSPENSION_FRONT_RIGHT = 9,
  TAKT_SYSTEM_REAR_FORK = 10,
  TAKT_SYSTEM_FRONT_FORK = 11
};

enum {
  TAKT_SYSTEM_COLD = 0,
  TAKT_SYSTEM_INIT = 1,
  TAKT_SYSTEM_RUNNING = 2,
  TAKT_SYSTEM_HALTED = 3,
  TAKT_SYSTEM_UNKNOWN = 255 /* nothing was said of the system */
};

enum {
  TAKT_FIELD_U8 = 1,
  TAKT_FIELD_U16 = 2,
  TAKT_FIELD_U32 = 4,
  TAKT_FIELD_I8 = 0x81,
  TAKT_FIELD_I16 = 0x82,
  TAKT_FIELD_I32 = 0x84
};

/* A number in a block, its most significant byte first. */
typedef struct takt_vehicle_field {
  const char* name;
  uint32_t offset; /* bytes from the beginning of the block */
  int32_t type;    /* TAKT_FIELD_... */
} takt_vehicle_field;

/* A block; one of its fields is the "state", of one byte. */
typedef struct takt_vehicle_system {
  uint32_t system; /* TAKT_SYSTEM_..., or a number up to 31 */
  uint32_t bytes;  /* of the block, 1..242 */
  const takt_vehicle_field* fields;
  size_t count;
} takt_vehicle_system;

/* Where the numbers stand in the blocks. Of the Furbot's own table only the lengths and the fields of traction are certain: state,
 * mode, speed, left_speed, right_speed, throttle, brake, reverse, odometer. Those of steering (state, current_angle, target_angle)
 * and of the battery (state, charge, current, voltage, highest_temperature, lowest_temperature) are likely, and whatever else has a
 * name in include/takt/vehicle/system_layout.hpp is a guess. Who knows better makes a table. */
typedef struct takt_vehicle_layouts takt_vehicle_layouts;

/* *layouts is the caller's, to be freed with takt_vehicle_layouts_destroy() any time, also before the frames that use it. Errors:
 * TAKT_ERROR_VEHICLE_BAD_LAYOUT (also: no systems; traction, steering or battery without one of the fields above). */
TAKT_API int32_t takt_vehicle_layouts_create(const takt_vehicle_system* systems, size_t count, takt_vehicle_layouts** layouts);
TAKT_API void takt_vehicle_layouts_destroy(takt_vehicle_layouts* layouts);

/* A status frame, at first without blocks. *status is the caller's, to be freed with takt_vehicle_status_destroy(). `layouts` may
 * be NULL for the Furbot's own. */
typedef struct takt_vehicle_status takt_vehicle_status;
TAKT_API int32_t takt_vehicle_status_create(const takt_vehicle_layouts* layouts, takt_vehicle_status** status);
TAKT_API void takt_vehicle_status_destroy(takt_vehicle_status* status);

/* Takes a datagram whole or not at all. Blocks of systems that the table does not have are skipped, counted and kept. Errors:
 * TAKT_ERROR_VEHICLE_TOO_SHORT, _TOO_LONG (above 256 bytes), _BAD_MAGIC, _TRUNCATED_TLV, _BAD_LEN, _DUPLICATE_SID, _COUNT_MISMATCH.
 * Real-time safe. */
TAKT_API int32_t takt_vehicle_status_decode(takt_vehicle_status* status, const uint8_t* datagram, size_t bytes);

/* Writes the frame: *bytes of `out`, which has room for `size`; 256 are always enough. Error: TAKT_ERROR_VEHICLE_NO_ROOM. Real-time
 * safe. */
TAKT_API int32_t takt_vehicle_status_encode(const takt_vehicle_status* status, uint8_t* out, size_t size, size_t* bytes);

/* The time stamp, ms; the systems that have a block, bit n for system n; the number of blocks of systems that the table does not
 * have; and a system's state, TAKT_SYSTEM_UNKNOWN without a block, and whatever the vehicle said with one. NULL is a frame without
 * blocks. Real-time safe. */
TAKT_API uint32_t takt_vehicle_status_stamp(const takt_vehicle_status* status);
TAKT_API uint32_t takt_vehicle_status_present(const takt_vehicle_status* status);
TAKT_API uint32_t takt_vehicle_status_unknown_blocks(const takt_vehicle_status* status);
TAKT_API int32_t takt_vehicle_status_state(const takt_vehicle_status* status, uint32_t system);

/* A block as it came; *block points into the status, until that is changed. Errors: TAKT_ERROR_VEHICLE_NO_BLOCK. Real-time safe. */
TAKT_API int32_t takt_vehicle_status_block(const takt_vehicle_status* status, uint32_t system, const uint8_t** block,
                                           size_t* bytes);

/* A field as a raw count, by its name. Errors: TAKT_ERROR_VEHICLE_UNKNOWN_SYSTEM, _UNKNOWN_FIELD, _NO_BLOCK. Real-time safe. */
TAKT_API int32_t takt_vehicle_status_value(const takt_vehicle_status* status, uint32_t system, const char* field, int64_t* value);

/* What a vehicle, or a simulated one, says. A block that was not there is of zeros but for the field that is set. Errors:
 * TAKT_ERROR_VEHICLE_UNKNOWN_SYSTEM, _UNKNOWN_FIELD, _BAD_LEN (of the block), _OUT_OF_RANGE (the value does not fit), _NO_ROOM.
 * Real-time safe. */
TAKT_API int32_t takt_vehicle_status_set_stamp(takt_vehicle_status* status, uint32_t stamp);
TAKT_API int32_t takt_vehicle_status_set_block(takt_vehicle_status* status, uint32_t system, const uint8_t* block, size_t bytes);
TAKT_API int32_t takt_vehicle_status_set_value(takt_vehicle_status* status, uint32_t system, const char* field, int64_t value);

/* What drives the vehicle, in raw counts. */
typedef struct takt_vehicle_control {
  uint32_t stamp; /* ms */
  int32_t steer;
  int32_t throttle;
  uint32_t brake;
} takt_vehicle_control;

#define TAKT_VEHICLE_CONTROL_BYTES 20

/* The order of the bytes in the payload of a control frame. The Furbot's original sender wrote little-endian. No order is a default:
 * nothing on the wire tells a wrong one, and a vehicle that reads the other order drives with full pedals. */
#define TAKT_BYTE_ORDER_LITTLE_ENDIAN 1
#define TAKT_BYTE_ORDER_NETWORK 2

/* The frame of a control and back; `byte_order` is TAKT_BYTE_ORDER_... . Errors: TAKT_ERROR_VEHICLE_NO_BYTE_ORDER (0),
 * TAKT_ERROR_CAPI_BAD_ARGUMENT (another number), TAKT_ERROR_VEHICLE_TOO_SHORT, _BAD_LEN (longer), _BAD_MAGIC; of encoding _NO_ROOM.
 * Real-time safe. */
TAKT_API int32_t takt_vehicle_control_decode(const uint8_t* datagram, size_t bytes, int32_t byte_order,
                                             takt_vehicle_control* control);
TAKT_API int32_t takt_vehicle_control_encode(const takt_vehicle_control* control, int32_t byte_order, uint8_t* out, size_t size);

/* Time stamps are milliseconds since Unix second 1 531 000 000, and begin anew every 49.7 days: the stamp of a time, the time
 * nearest to the receiver's that has a stamp, and how much later a stamp is than another, within 24.8 days. Times are nanoseconds
 * since 1970. Real-time safe. */
TAKT_API uint32_t takt_vehicle_stamp(int64_t unix_ns);
TAKT_API int64_t takt_vehicle_stamp_unwrap_ns(uint32_t stamp, int64_t receiver_unix_ns);
TAKT_API int64_t takt_vehicle_stamp_difference_ns(uint32_t stamp, uint32_t other);

/* ---- whom a vehicle believes ---------------------------------------------------------------------------------------------- */

/* What stands between a vehicle's frames and the datagrams on the wire. Each end of a connection has a channel of its own:
 *
 *   plain       bytes as they are, for vehicles that know nothing else: whoever can send to such a vehicle drives it
 *   commander,  an authenticated envelope: sessions by mutual challenge, a tag (SipHash-2-4-128) with a key that both have, no
 *   vehicle     frame a second time, no setpoint after a newer one, none that is old. All can read it: nothing is kept secret
 *
 * Both ends send what takt_channel_poll_handshake() writes, as soon as takt_channel_next_handshake_ns() has come, and what
 * takt_channel_seal() makes of their frames; and give all that comes to takt_channel_open(). All times of one channel are of one
 * steady clock; the two ends' clocks need have nothing in common. One that is set, or is told to no function for silence_ns, ends
 * the session but for stops, and the ends shake hands again. include/takt/secure/handshake.hpp says how it works. */
typedef struct takt_channel takt_channel;

#define TAKT_CHANNEL_KEY_BYTES 16
#define TAKT_CHANNEL_OVERHEAD 48      /* bytes around a frame, but none around a plain one */
#define TAKT_CHANNEL_MAX_HANDSHAKE 88 /* bytes of the handshake's longest datagram */

/* A secret that the two ends share, and the number by which frames name it. */
typedef struct takt_channel_key {
  uint8_t id;
  uint8_t bytes[TAKT_CHANNEL_KEY_BYTES];
} takt_channel_key;

/* Reads the key from a file of the program's user, of mode 0600 or 0400, that holds nothing else; `takt key --bytes 16 FILE` makes
 * one. On
 * failure the reason is written to `why`, which may be NULL, as far as it fits into `size` bytes. Errors:
 * TAKT_ERROR_PLATFORM_NO_KEY_FILE, _KEY_FILE_OWNER, _KEY_FILE_MODE, _KEY_FILE_SIZE. */
TAKT_API int32_t takt_channel_key_read(const char* path, uint8_t id, takt_channel_key* key, char* why, size_t size);

/* Set with takt_channel_limits_init(); 0 is the default. The same at both ends; 1 ms <= age <= silence <= renewal <= an hour, and
 * age >= 0.012 renewal: 500 ppm, by which clocks drift apart, must be no more than a quarter of it in a session's life. */
typedef struct takt_channel_limits {
  uint32_t struct_size;
  uint32_t reserved;  /* 0 */
  int64_t age_ns;     /* older frames are refused; an answer in the handshake may take half of it; default 300 ms */
  int64_t silence_ns; /* after which the other end counts as gone; default 500 ms */
  int64_t renewal_ns; /* of a session by the commander, which is dead after six of them; default 10 s */
} takt_channel_limits;
TAKT_API void takt_channel_limits_init(takt_channel_limits* limits);

/* *channel is the caller's, to be freed with takt_channel_destroy(). A vehicle has one key, or two while they are being changed.
 * `limits` may be NULL. Errors: TAKT_ERROR_VEHICLE_NO_KEY (none, more than two, two of one id, or zeros), _OUT_OF_RANGE (limits),
 * TAKT_ERROR_PLATFORM_NO_RANDOMNESS, TAKT_ERROR_CAPI_BAD_ARGUMENT (reserved). */
TAKT_API int32_t takt_channel_create_plain(takt_channel** channel);
TAKT_API int32_t takt_channel_create_commander(const takt_channel_key* key, const takt_channel_limits* limits,
                                               takt_channel** channel);
TAKT_API int32_t takt_channel_create_vehicle(const takt_channel_key* keys, size_t count, const takt_channel_limits* limits,
                                             takt_channel** channel);
TAKT_API void takt_channel_destroy(takt_channel* channel);

/* What is in a datagram: *payload points into it; of 0 bytes, it was for the channel alone. *stop, which may be NULL, is 1 if the
 * commander sealed it as a stop. What is refused changes nothing, but may show that a clock was set, which ends the session: `now_ns`
 * is read after the datagram came. Send what takt_channel_poll_handshake() writes before you give
 * it the next datagram: one answer is kept. Errors: TAKT_ERROR_VEHICLE_TOO_SHORT, _BAD_MAGIC, _BAD_LEN,
 * _WRONG_VERSION, _UNEXPECTED_KIND, _UNKNOWN_KEY, _UNKNOWN_SESSION, _BAD_TAG, _REPLAYED, _OVERTAKEN, _TOO_OLD, _CLOCK_JUMPED,
 * _STALE_HANDSHAKE, _COMMANDER_BUSY. Real-time safe. */
TAKT_API int32_t takt_channel_open(takt_channel* channel, const uint8_t* datagram, size_t bytes, int64_t now_ns,
                                   const uint8_t** payload, size_t* payload_bytes, int32_t* stop);

/* Makes a datagram of a frame, in memory that does not overlap with it. Call it each period, rather than ask first whether it can:
 * so the channel is told the time, and learns of a clock that was set. A `stop` is taken by the vehicle although a newer frame
 * overtook it or it is old: mark only that thus which brings the vehicle to a stand whatever came after it. Errors:
 * TAKT_ERROR_VEHICLE_NOT_ESTABLISHED, _NO_ROOM, _TOO_LONG. Real-time safe. */
TAKT_API int32_t takt_channel_seal(takt_channel* channel, const uint8_t* payload, size_t payload_bytes, int32_t stop,
                                   int64_t now_ns, uint8_t* out, size_t size, size_t* bytes);

/* 1 when takt_channel_seal() takes more than stops; 0 also of NULL. Real-time safe. */
TAKT_API int32_t takt_channel_established(const takt_channel* channel, int64_t now_ns);

/* When the handshake will have something to send: INT64_MIN at once, INT64_MAX never. Other calls may change it. Real-time safe. */
TAKT_API int64_t takt_channel_next_handshake_ns(const takt_channel* channel);

/* The datagram of the handshake that is due; *bytes is 0 if none is. Errors: TAKT_ERROR_VEHICLE_NO_ROOM. Real-time safe. */
TAKT_API int32_t takt_channel_poll_handshake(takt_channel* channel, int64_t now_ns, uint8_t* out, size_t size, size_t* bytes);

/* How many datagrams takt_channel_open() refused with this status (TAKT_ERROR_VEHICLE_...); 0 of a plain channel, which refuses
 * none. Real-time safe. */
TAKT_API uint64_t takt_channel_refused(const takt_channel* channel, int32_t status);

/* ---- driving a vehicle --------------------------------------------------------------------------------------------------- */

/* The client of a vehicle over datagrams: bytes and the time in, bytes out; sockets and clocks are the caller's. Control frames go
 * out at a fixed rate, whatever happens. Until all required systems run, and again until the first command, they hold the vehicle
 * with the full brake; a command is repeated until the next one, or until it is too old. Then, or when the vehicle falls silent or
 * one of its systems does not run, the vehicle is stopped, and goes on only after takt_vehicle_client_recover().
 *
 *     for (;;) {
 *       next = takt_vehicle_client_next_send_ns(client);
 *       if (takt_udp_receive(socket, next > now ? next - now : 0, in, sizeof in, &size) == TAKT_OK)
 *         takt_vehicle_client_receive(client, in, size, now = clock());
 *       takt_vehicle_client_drive(client, &command, now = clock());
 *       while (takt_vehicle_client_poll(client, now, out, sizeof out, &size) == TAKT_OK && size > 0)
 *         takt_udp_send(socket, out, size);
 *     }
 *
 * Times are nanoseconds of one steady clock, which may begin anywhere. A time before one that was told already is taken as that one;
 * by more than a command may be old, and the vehicle is stopped with the full brake, and not driven before the clock has caught up.
 * One thread at a time. */
typedef struct takt_vehicle_client takt_vehicle_client;

/* Room for whatever takt_vehicle_client_poll() writes. */
#define TAKT_VEHICLE_CLIENT_DATAGRAM 128

/* In units that must be measured on the vehicle: none but wheel_rate has a default. Angles count to the left; of a vehicle that
 * counts them to the right, `angle` and `steer` are below zero. */
typedef struct takt_vehicle_units {
  double wheel_rate;    /* rad/s a count of the wheels' speeds; rpm */
  double speed;         /* m/s a count of the vehicle's speed */
  double angle;         /* rad a count of the reported steering */
  double odometer;      /* m a count of the distance travelled */
  double steer;         /* rad a count of the commanded steering */
  double full_throttle; /* counts of the command */
  double full_brake;    /* counts of the command */
  double charge;        /* of a full battery a count; 0.005 */
  double current;       /* A a count; 0.1 */
  double voltage;       /* V a count; 0.1 */
} takt_vehicle_units;

/* Categories of stops as of IEC 60204-1, the most urgent first: 0, the full brake at once; 1, braked gradually to a stand, and then
 * held with the full brake; 2, the same, but held with the brake as it is. */
typedef struct takt_vehicle_client_options {
  uint32_t struct_size;       /* set by takt_vehicle_client_options_init() */
  uint32_t required;          /* systems without which it is not driven, bit n for system n; all twelve */
  int64_t freshness_ns;       /* what the vehicle said longer ago is stale; 100 ms */
  int64_t status_period_ns;   /* of its status frames, to count those that are lost; 10 ms */
  int64_t send_period_ns;     /* of the control frames; 10 ms */
  int64_t command_timeout_ns; /* an hour at most; 200 ms */
  int32_t on_command_timeout; /* category of the stop; 1 */
  int32_t on_fault;           /* category of a stop for the vehicle's sake, or the way's to it; 1 */
  double max_steering;        /* rad either way, below pi/2; 0.5 */
  double max_throttle;        /* 0..1; 1 */
  double max_reverse;         /* 0..1; 1 */
  double service_brake;       /* 0..1: how far the categories 1 and 2 press the brake; 0.5 */
  double brake_rate;          /* 1/s of full braking: how fast they do, within longest_braking_ns; 1 */
  double standstill;          /* m/s: slower, the vehicle stands; 0.05 */
  int64_t settling_ns;        /* for so long it must be slow to be taken to stand; 500 ms */
  int64_t longest_braking_ns; /* if it does not stand by then, full brake; a minute at most; 5 s */
  takt_vehicle_units units;
  int64_t unix_ns_at_zero; /* Unix time where the clock is zero, for the time stamps; 1 531 000 000 s: they count from there */
  int32_t byte_order;      /* TAKT_BYTE_ORDER_..., of the payload of control frames; it must be given: 0 is refused */
  /* not zero: the vehicle's speed and those of its wheels are without sign, which its reverse flag tells; 0 */
  int32_t speed_is_magnitude;
} takt_vehicle_client_options;

/* Sets the defaults named above; units and byte_order become zero. Ignores NULL. Real-time safe. */
TAKT_API void takt_vehicle_client_options_init(takt_vehicle_client_options* options);

/* *client is the caller's, to be freed with takt_vehicle_client_destroy(). `layouts` may be NULL for the Furbot's own. The channel,
 * a plain one or a commander's, stays the caller's: it lives longer than the client, and is used for nothing else meanwhile. Errors:
 * TAKT_ERROR_VEHICLE_NO_BYTE_ORDER, _NOT_FINITE, _OUT_OF_RANGE, _UNKNOWN_SYSTEM (a required one), _BAD_LAYOUT,
 * TAKT_ERROR_CAPI_BAD_ARGUMENT (a category, a byte order, a vehicle's channel). */
TAKT_API int32_t takt_vehicle_client_create(const takt_vehicle_client_options* options, const takt_vehicle_layouts* layouts,
                                            takt_channel* channel, takt_vehicle_client** client);
TAKT_API void takt_vehicle_client_destroy(takt_vehicle_client* client);

/* A datagram that came from the vehicle. Errors, after which nothing has changed but a counter: those of
 * takt_channel_open() and takt_vehicle_status_decode(); TAKT_ERROR_VEHICLE_LATE, _DUPLICATE, _IMPOSSIBLE_STAMP. Real-time safe. */
TAKT_API int32_t takt_vehicle_client_receive(takt_vehicle_client* client, const uint8_t* datagram, size_t bytes, int64_t now_ns);

/* When takt_vehicle_client_poll() has something to send next; INT64_MIN: at once. Ask again after a call of any other function.
 * Real-time safe. */
TAKT_API int64_t takt_vehicle_client_next_send_ns(const takt_vehicle_client* client);

/* Writes the datagram that is due to `out`, which has room for `size`; *bytes is 0 if none is. Call it until it says so. Errors:
 * those of takt_channel_seal(). Real-time safe. */
TAKT_API int32_t takt_vehicle_client_poll(takt_vehicle_client* client, int64_t now_ns, uint8_t* out, size_t size, size_t* bytes);

/* Drives so from now on. Beyond its limits a command is reduced to them. Errors: TAKT_ERROR_VEHICLE_NOT_FINITE, _OUT_OF_RANGE (not
 * within a quarter turn, -1..1, 0..1), _BOTH_PEDALS, _NOT_READY, _STOPPED: the command before holds, and grows older. Real-time
 * safe. */
TAKT_API int32_t takt_vehicle_client_drive(takt_vehicle_client* client, const takt_drive_command* command, int64_t now_ns);

/* Stops the vehicle, in any state; while a stop is active only a more urgent category changes anything. Errors:
 * TAKT_ERROR_CAPI_BAD_ARGUMENT (the category). Real-time safe. */
TAKT_API int32_t takt_vehicle_client_stop(takt_vehicle_client* client, int32_t category, int64_t now_ns);

/* Ends a stop: the vehicle is ready, and held until the next command. Errors: TAKT_ERROR_VEHICLE_CAUSE_REMAINS (something is wrong
 * still), _NOT_STANDING. Real-time safe. */
TAKT_API int32_t takt_vehicle_client_recover(takt_vehicle_client* client, int64_t now_ns);

/* Forgets what the vehicle said, and stops it if it was ready or driven. For when its clock or the caller's was set, and shows another
 * time for good: what it says may be too old until then. Real-time safe. */
TAKT_API int32_t takt_vehicle_client_forget(takt_vehicle_client* client, int64_t now_ns);

enum {
  TAKT_DRIVE_STARTING = 0, /* until all is well */
  TAKT_DRIVE_READY = 1,    /* held until the first command */
  TAKT_DRIVE_DRIVING = 2,
  TAKT_DRIVE_STOPPING = 3,
  TAKT_DRIVE_STOPPED = 4   /* and it stands */
};

enum {
  TAKT_STOP_CAUSE_NONE = 0,
  TAKT_STOP_CAUSE_TOLD = 1,               /* by takt_vehicle_client_stop() */
  TAKT_STOP_CAUSE_COMMAND_TIMEOUT = 2,    /* no new command came in time */
  TAKT_STOP_CAUSE_DISCONNECTED = 3,       /* no session with the vehicle */
  TAKT_STOP_CAUSE_TELEMETRY_SILENT = 4,   /* the vehicle says nothing, or nothing that is still true */
  TAKT_STOP_CAUSE_SYSTEM_STALE = 5,       /* of a required system nothing was heard for too long */
  TAKT_STOP_CAUSE_SYSTEM_NOT_RUNNING = 6, /* a required system is cold, starting or halted */
  TAKT_STOP_CAUSE_CLOCK_WENT_BACK = 7,    /* the caller's: nobody knows how old anything is */
  TAKT_STOP_CAUSE_SPEED_CONTRADICTED = 8  /* of takt_vehicle_drive: the vehicle's speed is not that of its wheels */
};

/* An output: the library writes as many fields as struct_size covers. */
typedef struct takt_vehicle_client_state {
  uint32_t struct_size; /* set by takt_vehicle_client_state_init() */
  int32_t state;        /* TAKT_DRIVE_... */
  int32_t cause;        /* TAKT_STOP_CAUSE_...: of the stop, else why it may not be driven yet */
  uint32_t system;      /* of a cause that is a system's */
  int32_t category;     /* of the stop that is active; -1: none is */
  uint32_t reserved;    /* 0 */
  takt_drive_command command; /* what the vehicle is told now */
} takt_vehicle_client_state;

/* NULL is ignored. Real-time safe. */
TAKT_API void takt_vehicle_client_state_init(takt_vehicle_client_state* state);
/* As the last call of another function found it. Real-time safe. */
TAKT_API int32_t takt_vehicle_client_get_state(const takt_vehicle_client* client, takt_vehicle_client_state* state);

/* What is known of a system, however old; NULL where it is not wanted. *age_ns counts from when the frame would have been here as
 * quickly as the quickest one: a delay that all frames share is not seen. It is INT64_MAX if nothing was ever heard; *fresh is 1 if
 * it is no older than freshness_ns. Errors: TAKT_ERROR_VEHICLE_UNKNOWN_SYSTEM. Real-time safe. */
TAKT_API int32_t takt_vehicle_client_system(const takt_vehicle_client* client, uint32_t system, int64_t now_ns, int32_t* state,
                                            int64_t* age_ns, int32_t* fresh);

/* A field of the last block of a system as a raw count, by its name, however old. Errors as of takt_vehicle_status_value().
 * Real-time safe. */
TAKT_API int32_t takt_vehicle_client_value(const takt_vehicle_client* client, uint32_t system, const char* field, int64_t* value);

/* Since its start. An output: the library writes as many fields as struct_size covers. */
typedef struct takt_vehicle_client_counters {
  uint32_t struct_size; /* set by takt_vehicle_client_counters_init() */
  uint32_t reserved;
  uint64_t received;         /* datagrams */
  uint64_t refused;          /* of these, by the channel */
  uint64_t malformed;        /* no status frames */
  uint64_t taken;            /* status frames, the newest when they came */
  uint64_t lost;             /* by the gaps between their stamps, without those that came late */
  uint64_t late;             /* overtaken by another */
  uint64_t duplicated;       /* came already */
  uint64_t impossible;       /* with a stamp that cannot be */
  uint64_t restarts;         /* times that the vehicle's stamps began anew after a silence */
  uint64_t unknown_blocks;   /* of systems that the layouts do not have */
  uint64_t sent;             /* control frames */
  uint64_t missed;           /* control frames: nobody called takt_vehicle_client_poll() in time, or the channel had an error */
  uint64_t handshakes;       /* datagrams of the channel's own */
  uint64_t commands;         /* taken */
  uint64_t commands_limited; /* of these, reduced to the limits */
  uint64_t commands_refused;
  uint64_t command_timeouts;
  uint64_t stops;
} takt_vehicle_client_counters;

/* NULL is ignored. Real-time safe. */
TAKT_API void takt_vehicle_client_counters_init(takt_vehicle_client_counters* counters);
TAKT_API int32_t takt_vehicle_client_get_counters(const takt_vehicle_client* client, takt_vehicle_client_counters* counters);

/* ---- driving a vehicle by twists ------------------------------------------------------------------------------------------ */

/* A twist in, odometry out: a client that turns twists into commands by the law above, with the speed that the vehicle reports, and
 * works out from what it hears where the vehicle is. In place of takt_vehicle_client_drive() in the loop above:
 *
 *     takt_vehicle_client* client = takt_vehicle_drive_client(drive);
 *     ...
 *       takt_vehicle_drive_twist(drive, &twist, now);
 *       takt_vehicle_drive_estimate(drive, &estimate);
 *
 * As with the client, one thread at a time, and a caller that gives no twist any more has the vehicle stopped. It is stopped, too, with
 * TAKT_STOP_CAUSE_SPEED_CONTRADICTED, when speed and wheels have contradicted each other for longer than what is said stays fresh. */
typedef struct takt_vehicle_drive takt_vehicle_drive;

/* Of twists, which are kept within them on the same curve: all above zero, infinite is no limit. */
typedef struct takt_twist_limits {
  double forward;                 /* m/s */
  double backward;                /* m/s */
  double left;                    /* m/s, either side: a car goes to neither, whatever it says */
  double rotation;                /* rad/s */
  double acceleration;            /* m/s^2, while the magnitude grows */
  double braking;                 /* m/s^2, while it falls */
  double rotational_acceleration; /* rad/s^2 */
} takt_twist_limits;

/* What tells how a vehicle turns, and how far it goes. */
enum {
  TAKT_TURN_BY_WHEELS = 0,   /* the difference of the rear wheels: coarse where they report whole rpm */
  TAKT_TURN_BY_STEERING = 1, /* the steering angle while it is fresh and can be, else the wheels: as good as its unit and the wheelbase
                              * are known. While the wheels contradict it, the heading's variance grows as if they were right */
  TAKT_WAY_BY_WHEELS = 0,    /* the mean rate of the rear wheels */
  TAKT_WAY_BY_ODOMETER = 1   /* where it counts down backwards: blocks that are lost, for as long as the odometry's time-out, lose no
                              * way. While it contradicts both wheels and speed, the wheels */
};

typedef struct takt_vehicle_drive_options {
  uint32_t struct_size;     /* set by takt_vehicle_drive_options_init() */
  uint32_t reserved;        /* 0 */
  takt_twist_limits limits;
  double wheel_radius;      /* m, of the rear wheels */
  double track;             /* m, between them */
  int32_t turn;             /* TAKT_TURN_BY_...; by the wheels */
  int32_t way;              /* TAKT_WAY_BY_...; by the wheels */
} takt_vehicle_drive_options;

/* Zero: all must be given but what is said above. NULL is ignored. Real-time safe. */
TAKT_API void takt_vehicle_drive_options_init(takt_vehicle_drive_options* options);

/* What is known of a vehicle and how it is to be driven: drives are made of it, and simulated vehicles. */
typedef struct takt_vehicle_description takt_vehicle_description;

/* *description is the caller's, to be freed with takt_vehicle_description_destroy() any time. `odometry` may be NULL: half a
 * second, no noise. `layouts` may be NULL for the Furbot's own. Whether there can be such a vehicle shows when a drive is made.
 * Errors: TAKT_ERROR_CAPI_BAD_ARGUMENT (turn, way, a category, a byte order, reserved). */
TAKT_API int32_t takt_vehicle_description_create(const takt_vehicle_drive_options* options,
                                                 const takt_vehicle_client_options* client, const takt_twist_law_options* law,
                                                 const takt_odometry_options* odometry, const takt_vehicle_layouts* layouts,
                                                 takt_vehicle_description** description);

/* The same from a file, as include/takt/robot/vehicle_description.hpp has it, and `takt drive --vehicle` takes it. To `text`, which
 * may be NULL, are written, a line each and as far as they fit into `size` bytes: its mistakes; or, if there is none, what in it
 * was guessed and not measured, to tell whoever drives. Errors: TAKT_ERROR_CAPI_BAD_DESCRIPTION. */
TAKT_API int32_t takt_vehicle_description_load(const char* path, takt_vehicle_description** description, char* text, size_t size);
/* Drives made from it later drive only while these systems run: bit n for system n. Errors:
 * TAKT_ERROR_CAPI_BAD_ARGUMENT (traction, bit 3, is not among them), TAKT_ERROR_VEHICLE_UNKNOWN_SYSTEM: nothing changes. */
TAKT_API int32_t takt_vehicle_description_require(takt_vehicle_description* description, uint32_t systems);
TAKT_API void takt_vehicle_description_destroy(takt_vehicle_description* description);

/* *drive is the caller's, to be freed with takt_vehicle_drive_destroy(); the channel is as for takt_vehicle_client_create().
 * Errors: those of takt_vehicle_client_create(), takt_twist_law_create() and takt_odometry_create(); TAKT_ERROR_MOBILE_NOT_FINITE,
 * _NOT_POSITIVE (limits and lengths); TAKT_ERROR_VEHICLE_OUT_OF_RANGE (traction is not among the required systems, a holding brake
 * of less than one count, a law that steers further than the client lets it). */
TAKT_API int32_t takt_vehicle_drive_create(const takt_vehicle_description* description, takt_channel* channel,
                                           takt_vehicle_drive** drive);
TAKT_API void takt_vehicle_drive_destroy(takt_vehicle_drive* drive);

/* Its client, for every function of the section above but takt_vehicle_client_destroy(): to receive and to poll, to stop, to
 * recover, and for all that is known of the vehicle. It is freed with the drive; NULL for NULL. Real-time safe. */
TAKT_API takt_vehicle_client* takt_vehicle_drive_client(takt_vehicle_drive* drive);

/* Drives so until the next call. Errors: TAKT_ERROR_VEHICLE_NOT_FINITE; TAKT_ERROR_CONTROL_BAD_PERIOD (called twice at one time);
 * those of takt_vehicle_client_drive(): the command before holds, and grows older. Real-time safe. */
TAKT_API int32_t takt_vehicle_drive_twist(takt_vehicle_drive* drive, const takt_twist* wanted, int64_t now_ns);

/* The frames of an estimate, with the names of REP 105: of the pose, and of the twist, which is the middle of the rear axle. */
#define TAKT_ODOMETRY_FRAME "odom"
#define TAKT_ODOMETRY_CHILD_FRAME "base_link"

/* How an estimate is shared: `takt drive --publish` writes it as the LATEST value "odometry" of this schema. */
#define TAKT_ODOMETRY_SCHEMA \
  "stamp i64, x f64, y f64, heading f64, forward f64, left f64, rotation f64, covariance f64[9]"

/* Where a vehicle is. */
typedef struct takt_odometry_estimate {
  int64_t stamp_ns;     /* when it was so, on the caller's clock; 0 before anything was heard */
  takt_pose pose;
  takt_twist twist;     /* measured */
  double covariance[9]; /* of (x, y, heading), row by row: m^2, m rad, rad^2 */
} takt_odometry_estimate;

/* By all that was heard. Real-time safe. */
TAKT_API int32_t takt_vehicle_drive_estimate(const takt_vehicle_drive* drive, takt_odometry_estimate* estimate);

/* The vehicle is known to be here; `covariance` has nine numbers, row by row, or is NULL for zeros. The estimate goes on from there
 * with the next that is heard. Errors: TAKT_ERROR_MOBILE_NOT_FINITE, _OUT_OF_DOMAIN (no covariance: not symmetric, or not positive
 * semi-definite): nothing changes. Real-time safe. */
TAKT_API int32_t takt_vehicle_drive_set_pose(takt_vehicle_drive* drive, const takt_pose* pose, const double* covariance);

/* ---- a simulated vehicle --------------------------------------------------------------------------------------------------- */

/* What is at the other end of the datagrams, to try what drives it before there is a vehicle, in any time that the caller tells: it
 * starts up by itself, obeys control frames as a bicycle with pedals that follow does, tells every 10 ms of all its systems, and
 * halts when no more control frames come. `takt vehicle-sim` is the same as a program. A call takes as long as the time that it
 * makes up for; of more than an hour only the last one happens. One thread at a time. */
typedef struct takt_simulated_vehicle takt_simulated_vehicle;

/* Room for whatever takt_simulated_vehicle_poll() writes. */
#define TAKT_SIMULATED_VEHICLE_DATAGRAM 304

/* At the origin, cold, at start_ns. *vehicle is the caller's, to be freed with takt_simulated_vehicle_destroy(). The channel, a
 * plain one or a vehicle's, stays the caller's: it lives longer, and is used for nothing else meanwhile. The seed decides on what
 * its faults meet. Errors: TAKT_ERROR_SIM_BAD_VEHICLE; TAKT_ERROR_VEHICLE_NOT_FINITE, _OUT_OF_RANGE (units);
 * TAKT_ERROR_CAPI_BAD_ARGUMENT (a commander's channel; a description whose status frames do not come every 10 ms). */
TAKT_API int32_t takt_simulated_vehicle_create(const takt_vehicle_description* description, takt_channel* channel, uint64_t seed,
                                               int64_t start_ns, takt_simulated_vehicle** vehicle);
TAKT_API void takt_simulated_vehicle_destroy(takt_simulated_vehicle* vehicle);

/* As those of takt_vehicle_client. Errors: those of takt_channel_open() and takt_vehicle_control_decode(); of poll
 * TAKT_ERROR_VEHICLE_NO_ROOM. Real-time safe. */
TAKT_API int32_t takt_simulated_vehicle_receive(takt_simulated_vehicle* vehicle, const uint8_t* datagram, size_t bytes,
                                                int64_t now_ns);
TAKT_API int64_t takt_simulated_vehicle_next_send_ns(const takt_simulated_vehicle* vehicle);
TAKT_API int32_t takt_simulated_vehicle_poll(takt_simulated_vehicle* vehicle, int64_t now_ns, uint8_t* out, size_t size,
                                             size_t* bytes);

/* Somebody at the vehicle lets it start again after it has halted. NULL is ignored. Real-time safe. */
TAKT_API void takt_simulated_vehicle_recover(takt_simulated_vehicle* vehicle);

/* What is broken; shares are of the status frames, 0..1. */
typedef struct takt_vehicle_faults {
  uint32_t struct_size; /* set by takt_vehicle_faults_init() */
  uint32_t halted;      /* systems that broke down, bit n for system n */
  int64_t late_ns;      /* so much later leave its datagrams; 0 to 500 ms */
  double lost;          /* share that never leaves */
  double corrupt;       /* share in which a bit is turned over on the way */
  double lying;         /* share in which the length of a block is not what it says */
  int32_t silent;       /* not zero: it says nothing, but hears and drives */
  uint32_t reserved;    /* 0 */
} takt_vehicle_faults;

/* Nothing. NULL is ignored. Real-time safe. */
TAKT_API void takt_vehicle_faults_init(takt_vehicle_faults* faults);
/* From now on. Errors: TAKT_ERROR_CAPI_BAD_ARGUMENT (a share, the delay, reserved): nothing changes. Real-time safe. */
TAKT_API int32_t takt_simulated_vehicle_set_faults(takt_simulated_vehicle* vehicle, const takt_vehicle_faults* faults);

/* The truth, as of the last call. An output: the library writes as many fields as struct_size covers. */
typedef struct takt_simulated_vehicle_state {
  uint32_t struct_size;       /* set by takt_simulated_vehicle_state_init() */
  int32_t state;              /* TAKT_SYSTEM_..., of the vehicle as a whole */
  takt_pose pose;             /* of the middle of the rear axle */
  takt_twist twist;
  takt_drive_command command; /* what steering, drive and brakes give */
  double travelled;           /* m; backwards it counts down */
  uint64_t sent;              /* status frames */
  uint64_t refused;           /* datagrams, by the channel */
  uint64_t malformed;         /* no control frames */
  uint64_t obeyed;            /* control frames that steering and pedals follow */
  uint64_t outdated;          /* control frames, no newer than one before */
  uint64_t halts;             /* for lack of control frames */
  uint64_t held;              /* control frames that came while the vehicle held its own brake: not running, or never yet one
                               * without throttle */
} takt_simulated_vehicle_state;

/* NULL is ignored. Real-time safe. */
TAKT_API void takt_simulated_vehicle_state_init(takt_simulated_vehicle_state* state);
TAKT_API int32_t takt_simulated_vehicle_get_state(const takt_simulated_vehicle* vehicle, takt_simulated_vehicle_state* state);

/* ---- UDP ------------------------------------------------------------------------------------------------------------------ */

/* A UDP socket that talks to one peer. What comes from anybody else the kernel drops; that proves nothing, as a sender's address
 * can be forged, and whom to believe is a channel's affair. Nothing breaks a socket: a peer that is not there, a cable that is cut
 * and a queue that is full are counted, and it goes on when they are over. One thread at a time. takt_udp_send(), _receive() and
 * _receive_batch() neither allocate nor lock; their system calls do not wait, but for as long as they are asked to. */
typedef struct takt_udp_socket takt_udp_socket;

typedef struct takt_udp_options {
  uint32_t struct_size;      /* set by takt_udp_options_init() */
  int32_t busy_poll;         /* not zero: asks the kernel again and again instead of sleeping: a fraction of the latency for a whole
                              * core, which Linux takes away for 50 ms of each second at a real-time priority; 0 */
  const char* local_address; /* in numbers, IPv4 or IPv6, never a name; NULL: "127.0.0.1", from which only this machine is reached */
  const char* peer_address;  /* the same; of another machine: local_address, too, has to be given */
  uint16_t local_port;       /* 0: any free one */
  uint16_t peer_port;        /* 0: any of the peer's, until takt_udp_settle(); before it, such a socket only receives */
  uint32_t reserved;         /* 0 */
} takt_udp_options;

/* Sets the defaults named above. Ignores NULL. Real-time safe. */
TAKT_API void takt_udp_options_init(takt_udp_options* options);

/* *socket is the caller's, to be closed with takt_udp_close(). On failure the reason is written to `why`, which may be NULL, as far
 * as it fits into `size` bytes. Errors: TAKT_ERROR_PLATFORM_BAD_ADDRESS, _UDP_FAILED (the port is taken, the address is none of
 * this machine, ...); TAKT_ERROR_CAPI_BAD_ARGUMENT (reserved). */
TAKT_API int32_t takt_udp_open(const takt_udp_options* options, takt_udp_socket** socket, char* why, size_t size);
TAKT_API void takt_udp_close(takt_udp_socket* socket);

/* Errors: TAKT_ERROR_PLATFORM_SEND_FAILED: it was not sent, and is counted as refused. */
TAKT_API int32_t takt_udp_send(takt_udp_socket* socket, const uint8_t* datagram, size_t bytes);

/* The next datagram, of *bytes bytes; it may have none. One that does not fit into `size` bytes is passed over, and counted.
 * Errors: TAKT_ERROR_CAPI_TIMEOUT: nothing came within timeout_ns; with zero or less it does not wait. */
TAKT_API int32_t takt_udp_receive(takt_udp_socket* socket, int64_t timeout_ns, uint8_t* buffer, size_t size, size_t* bytes);

/* The source port of the last received datagram, for a socket whose peer has port 0; of a batch, the last one's. 0 before the
 * first datagram, for other sockets and for NULL. Real-time safe. */
TAKT_API uint16_t takt_udp_sender_port(const takt_udp_socket* socket);
/* Fixes the peer's port, for a socket whose peer has port 0: only this port is heard and sent to from now on. Call it after
 * the first valid datagram from that port, such as one that a client accepted. Errors: TAKT_ERROR_CAPI_BAD_ARGUMENT (a port
 * of 0, a peer of one port, a socket that settled already), TAKT_ERROR_PLATFORM_UDP_FAILED (the kernel refuses). One system
 * call. */
TAKT_API int32_t takt_udp_settle(takt_udp_socket* socket, uint16_t port);

/* One of a batch. */
typedef struct takt_udp_datagram {
  uint8_t* buffer;
  size_t size;  /* of the buffer; more than 65536 becomes 65536 */
  size_t bytes; /* of what came */
} takt_udp_datagram;

/* Datagrams of a batch at most; what is given beyond them is left alone. */
#define TAKT_UDP_BATCH 32

/* Waits as above for the first, and takes what else is there with the same system call. *came of them are now at the front of
 * `datagrams`, oldest first; which of the buffers each is in is the socket's choice. Errors: TAKT_ERROR_CAPI_TIMEOUT; _BAD_ARGUMENT
 * (a count of 0). */
TAKT_API int32_t takt_udp_receive_batch(takt_udp_socket* socket, int64_t timeout_ns, takt_udp_datagram* datagrams, size_t count,
                                        size_t* came);

/* Since it was opened. An output: the library writes as many fields as struct_size covers. */
typedef struct takt_udp_counters {
  uint32_t struct_size; /* set by takt_udp_counters_init() */
  uint32_t reserved;
  uint64_t sent;
  uint64_t refused;     /* not sent: the queue full, no route, the link down, more bytes than a datagram has */
  uint64_t unreachable; /* how often the peer's machine, or one on the way, said that nobody is there */
  uint64_t received;
  uint64_t too_long;    /* came, but did not fit the buffer */
  uint64_t dropped;     /* by the kernel, because nobody received in time */
  uint64_t foreign;     /* waited already when the socket settled, from another port of the peer; not given */
} takt_udp_counters;

/* NULL is ignored. Real-time safe. */
TAKT_API void takt_udp_counters_init(takt_udp_counters* counters);
/* One system call. */
TAKT_API int32_t takt_udp_get_counters(const takt_udp_socket* socket, takt_udp_counters* counters);

/* The port that it has; 0 for NULL. One system call. */
TAKT_API uint16_t takt_udp_local_port(const takt_udp_socket* socket);

/* To wait with poll() for this socket and others; -1 for NULL. It stays the socket's. Real-time safe. */
TAKT_API int32_t takt_udp_descriptor(const takt_udp_socket* socket);

/* ---- CAN messages of a DBC file ------------------------------------------------------------------------------------------ */

/* A DBC file with its tables: which message a frame is, and its signals as physical values and back. Messages and signals are known
 * by their numbers, from 0, in the order of the file. Texts of the file live as long as the object; they are UTF-8. */
typedef struct takt_dbc takt_dbc;

/* What to do with a value that its field or its range cannot hold. */
enum {
  TAKT_OVERFLOW_ERROR = 0, /* TAKT_ERROR_CAN_OUT_OF_RANGE */
  TAKT_OVERFLOW_CLAMP = 1, /* the nearest that can be sent */
  TAKT_OVERFLOW_WRAP = 2   /* the low bits; the range is not looked at */
};

/* What the file says of a message. An output: the library writes as many fields as struct_size covers. */
typedef struct takt_dbc_message {
  uint32_t struct_size; /* set by takt_dbc_message_init() */
  uint32_t id;          /* 11 bits, or 29 */
  int32_t extended;     /* 1: 29 bits */
  int32_t fd;           /* 1: sent in CAN FD frames */
  int32_t j1939;        /* 1: of SAE J1939, known by its parameter group (see takt_dbc_find()) */
  uint32_t length;      /* bytes of its data */
  uint64_t signals;     /* how many it has */
  int64_t cycle_ns;     /* between two frames; 0: not sent periodically */
  const char* name;
  const char* sender;   /* "" where none is named */
} takt_dbc_message;

/* ... of a signal. */
typedef struct takt_dbc_signal {
  uint32_t struct_size; /* set by takt_dbc_signal_init() */
  int32_t is_selector;  /* 1: its number chooses which others are in the frame */
  const char* name;
  const char* unit;     /* "" where none is given */
  double scale;         /* physical value = number * scale + offset */
  double offset;
  double minimum;       /* both equal: no range is given */
  double maximum;
  uint32_t start;       /* its first bit as in the file: the least significant one, of big-endian fields the most significant */
  uint32_t bits;        /* 1 to 64 */
  int32_t big_endian;   /* 1: Motorola */
  int32_t number;       /* TAKT_NUMBER_... */
  int64_t selector;     /* the signal whose number chooses this one; -1: it is always there */
  uint64_t labels;      /* rows of its value table; see takt_dbc_label_at() */
} takt_dbc_signal;

/* The number format of a signal's field. */
enum { TAKT_NUMBER_UNSIGNED = 0, TAKT_NUMBER_SIGNED = 1, TAKT_NUMBER_FLOAT32 = 2, TAKT_NUMBER_FLOAT64 = 3 };

/* Whether a frame carries a signal, and if not, why. */
enum {
  TAKT_PRESENCE_VALUE = 0,
  TAKT_PRESENCE_NOT_SELECTED = 1,    /* the selector has chosen other signals */
  TAKT_PRESENCE_CUT_OFF = 2,         /* the frame ends before the signal does */
  TAKT_PRESENCE_NOT_AVAILABLE = 3,   /* J1939: 0xFF.. */
  TAKT_PRESENCE_ERROR_INDICATOR = 4, /* J1939: 0xFE.. */
  TAKT_PRESENCE_RESERVED = 5         /* J1939: 0xFB.. to 0xFD.. */
};

/* One decoded signal of a frame. */
typedef struct takt_dbc_reading {
  double value;         /* physical; NaN unless presence is TAKT_PRESENCE_VALUE */
  int64_t number;       /* as it stands in the field: with its sign; of floating-point fields the bits; 0 if it is not there */
  int32_t presence;     /* TAKT_PRESENCE_... */
  int32_t reserved;     /* 0 */
  const char* label;    /* what the value table says of the number; "" where it says nothing */
} takt_dbc_reading;

/* Everything zero but struct_size. NULL is ignored. Real-time safe. */
TAKT_API void takt_dbc_message_init(takt_dbc_message* message);
TAKT_API void takt_dbc_signal_init(takt_dbc_signal* signal);

/* Reads the text of a DBC file, of `bytes` bytes; *dbc is the caller's, to be freed with takt_dbc_destroy(). What makes no sense is
 * skipped with a warning, or, if `strict` is not 0, an error. Error: TAKT_ERROR_CAN_BAD_DBC; then what is wrong, with line and
 * column, is written to `why`, of `size` bytes with the NUL that ends it, as far as it fits; why may be NULL. */
TAKT_API int32_t takt_dbc_create(const char* text, size_t bytes, int32_t strict, char* why, size_t size, takt_dbc** dbc);

/* Frees it. No thread may be using it. */
TAKT_API void takt_dbc_destroy(takt_dbc* dbc);

/* What was skipped and mended, one line each, "line 12, column 5: ..."; "" if all is well, and for NULL. */
TAKT_API const char* takt_dbc_warnings(const takt_dbc* dbc);

/* How many messages it has; 0 for NULL. Real-time safe. */
TAKT_API size_t takt_dbc_messages(const takt_dbc* dbc);

/* What the file says. Error: TAKT_ERROR_CAPI_BAD_ARGUMENT (no such message or signal). Real-time safe. */
TAKT_API int32_t takt_dbc_describe_message(const takt_dbc* dbc, size_t message, takt_dbc_message* description);
TAKT_API int32_t takt_dbc_describe_signal(const takt_dbc* dbc, size_t message, size_t signal, takt_dbc_signal* description);

/* The message of a frame with this identifier, of J1939 whatever its priority and addresses, unless the file has several messages
 * of that parameter group: then only the whole identifier tells them apart. Error: TAKT_ERROR_CAN_UNEXPECTED_ID. Real-time safe. */
TAKT_API int32_t takt_dbc_find(const takt_dbc* dbc, uint32_t id, int32_t extended, size_t* message);

/* By name, compared one by one. Error: TAKT_ERROR_CAPI_BAD_ARGUMENT (there is none). */
TAKT_API int32_t takt_dbc_find_message(const takt_dbc* dbc, const char* name, size_t* message);
TAKT_API int32_t takt_dbc_find_signal(const takt_dbc* dbc, size_t message, const char* name, size_t* signal);

/* The physical values of all signals in a frame's data; `count` is at least the message's signals. NaN is what has no value: a
 * signal that the selectors have not chosen, and what J1939 calls an error or not available. Errors: TAKT_ERROR_CAN_WRONG_COUNT,
 * TAKT_ERROR_CAN_WRONG_LENGTH (fewer bytes than the message has), TAKT_ERROR_CAN_UNKNOWN_SELECTOR, TAKT_ERROR_CAPI_BAD_ARGUMENT.
 * Real-time safe. */
TAKT_API int32_t takt_dbc_decode(const takt_dbc* dbc, size_t message, const uint8_t* data, size_t bytes, double* values,
                                 size_t count);

/* The same with the number, presence and label of each signal; `readings` has room for `count`, at least the message's signals. If
 * `short_frame` is not 0, data that end before the message give the signals that they hold whole. On an error nothing is written.
 * Errors: those of takt_dbc_decode(). It allocates: not for the cycle. */
TAKT_API int32_t takt_dbc_read(const takt_dbc* dbc, size_t message, const uint8_t* data, size_t bytes, int32_t short_frame,
                               takt_dbc_reading* readings, size_t count);

/* A row of a signal's value table, `index` from 0 below its `labels`: a number, and what it means. Error:
 * TAKT_ERROR_CAPI_BAD_ARGUMENT (no such row). Real-time safe. */
TAKT_API int32_t takt_dbc_label_at(const takt_dbc* dbc, size_t message, size_t signal, size_t index, int64_t* number,
                                   const char** label);

/* The physical value of the number with this label, to be encoded; labels are compared one by one. Error:
 * TAKT_ERROR_CAPI_BAD_ARGUMENT (no number that the field can hold has it). */
TAKT_API int32_t takt_dbc_value_of(const takt_dbc* dbc, size_t message, size_t signal, const char* label, double* value);

/* Explains why takt_dbc_encode() refuses these values; returns its error. *signal is the refused signal, or SIZE_MAX if the
 * error concerns none. `why`, of `size` bytes, gets a sentence with the signal's name, its value and the allowed range.
 * `signal` and `why` may be NULL. Allocates. */
TAKT_API int32_t takt_dbc_explain(const takt_dbc* dbc, size_t message, const double* values, size_t count, int32_t overflow,
                                  size_t* signal, char* why, size_t size);

/* The data of a message with these values, each rounded to the nearest number, ties to even; `bytes` is at least the message's
 * length. Values that the selectors do not choose are ignored. NaN encodes J1939's "not available". A number of the value
 * table beyond the range, such as "error", is sent only for its exact value (takt_dbc_value_of()). Errors: those of
 * takt_dbc_decode(), TAKT_ERROR_CAN_NOT_FINITE, TAKT_ERROR_CAN_OUT_OF_RANGE as `overflow` (TAKT_OVERFLOW_...) says,
 * TAKT_ERROR_CAN_BAD_LAYOUT (a signal does not lie within the message). Real-time safe. */
TAKT_API int32_t takt_dbc_encode(const takt_dbc* dbc, size_t message, const double* values, size_t count, int32_t overflow,
                                 uint8_t* data, size_t bytes);

/* ---- CAN frames as text, on the wire, and of J1939 ------------------------------------------------------------------------- */

/* What a frame is; any of them, or-ed. */
enum {
  TAKT_CAN_EXTENDED = 1,        /* an identifier of 29 bits */
  TAKT_CAN_REMOTE = 2,          /* asks for `length` bytes and has none */
  TAKT_CAN_ERROR = 4,           /* no frame of a sender, but a report on the bus, as SocketCAN has it */
  TAKT_CAN_FD = 8,
  TAKT_CAN_BIT_RATE_SWITCH = 16, /* FD: the data phase is faster */
  TAKT_CAN_ERROR_STATE = 32     /* FD: its sender was error-passive */
};

typedef struct takt_can_frame {
  int64_t stamp_ns;    /* when it was received; in logs usually since 1970 */
  uint32_t id;         /* 11 bits, or 29 */
  uint32_t flags;      /* TAKT_CAN_... */
  uint32_t length;     /* bytes of data: 0 to 8; of FD also 12, 16, 20, 24, 32, 48, 64 */
  uint32_t reserved;   /* 0 */
  uint8_t data[64];
} takt_can_frame;

/* Bits of a frame by the rate that they are sent at: arbitration, and the data phase of FD frames that switch. */
typedef struct takt_can_bits {
  uint32_t nominal;
  uint32_t data;
} takt_can_bits;

/* How many bits these very bytes are on the wire: with checksum, stuff bits and the three bits of intermission. Errors:
 * TAKT_ERROR_CAN_ID_TOO_LARGE, _WRONG_FORMAT (an error frame, or flags that exclude each other), _WRONG_LENGTH,
 * TAKT_ERROR_CAPI_BAD_ARGUMENT (unknown flags). Real-time safe. */
TAKT_API int32_t takt_can_frame_bits(const takt_can_frame* frame, takt_can_bits* bits);

/* The most that any frame of this length and flags can be. The same errors. Real-time safe. */
TAKT_API int32_t takt_can_max_frame_bits(uint32_t length, uint32_t flags, takt_can_bits* bits);

/* Frames that are sent once in each period. */
typedef struct takt_can_planned_frame {
  int64_t period_ns;
  uint32_t count;    /* how many such frames there are */
  uint32_t length;   /* bytes of data */
  uint32_t flags;    /* TAKT_CAN_EXTENDED, _FD, _BIT_RATE_SWITCH */
  uint32_t reserved; /* 0 */
} takt_can_planned_frame;

/* What a plan takes of one cycle, as part of it: more than 1 cannot be sent. */
typedef struct takt_can_load {
  double least; /* no stuff bits; of longer periods nothing is due, if it need not be */
  double mean;  /* random identifiers and data */
  double worst; /* as many stuff bits as can be; all of longer periods is due */
} takt_can_load;

/* Whether a plan fits a bus of these bit rates (bit/s; data_rate of FD frames that switch), worked out for cycles of a length of
 * your choice: usually the shortest period. Errors: TAKT_ERROR_CAN_BAD_PLAN (a period, the cycle or a bit rate that is not
 * positive), TAKT_ERROR_CAN_WRONG_LENGTH, TAKT_ERROR_CAPI_BAD_ARGUMENT (other flags). Some ten microseconds for each entry: not for
 * the cycle. */
TAKT_API int32_t takt_can_bus_load(const takt_can_planned_frame* plan, size_t count, uint32_t nominal_rate, uint32_t data_rate,
                                   int64_t cycle_ns, takt_can_load* load);

enum { TAKT_CAN_DIRECTION_UNKNOWN = 0, TAKT_CAN_RECEIVED = 1, TAKT_CAN_TRANSMITTED = 2 };

/* A line of a log of candump -L (can-utils): "(1795208238.156435) vcan0 123#DEADBEEF". */
typedef struct takt_candump_entry {
  takt_can_frame frame;
  char interface[16]; /* ends with a NUL */
  int32_t direction;  /* candump -x; else TAKT_CAN_DIRECTION_UNKNOWN */
  uint32_t reserved;  /* 0 */
} takt_candump_entry;

/* Letters of the longest line of each kind, with its end and a NUL. */
enum { TAKT_CANDUMP_MAX_LINE = 301, TAKT_SLCAN_MAX_LINE = 144 };

/* Reads a line of `bytes` letters, without its end. On an error *column, which may be NULL, is where it is, from 1. Errors:
 * TAKT_ERROR_CAN_BAD_LINE, _ID_TOO_LARGE, _PAYLOAD_TOO_LONG, _WRONG_LENGTH, _BAD_VALUE, _OUT_OF_RANGE. Real-time safe. */
TAKT_API int32_t takt_candump_parse(const char* line, size_t bytes, takt_candump_entry* entry, uint32_t* column);

/* Writes a line without its end, but with a NUL; with six decimals of the seconds, as candump does, or nine if `nanoseconds` is
 * not 0. Errors: TAKT_ERROR_CAN_ID_TOO_LARGE, _WRONG_FORMAT, _WRONG_LENGTH, _BAD_VALUE (the interface), _OUT_OF_RANGE (a stamp below
 * 0), TAKT_ERROR_CAPI_BUFFER_TOO_SMALL, _BAD_ARGUMENT. Real-time safe. */
TAKT_API int32_t takt_candump_format(const takt_candump_entry* entry, int32_t nanoseconds, char* line, size_t size);

/* A frame for a serial adapter (Lawicel's protocol, slcan), with the CR at its end, and a NUL. The stamp and TAKT_CAN_ERROR_STATE
 * are not sent. Errors: TAKT_ERROR_CAN_ID_TOO_LARGE, _WRONG_FORMAT, _WRONG_LENGTH, TAKT_ERROR_CAPI_BUFFER_TOO_SMALL,
 * _BAD_ARGUMENT. Real-time safe.
 * Other commands are texts: "S6\r" 500 kbit/s (S0 to S8: 10, 20, 50, 100, 125, 250, 500, 800, 1000), "O\r" open, "L\r" open but
 * listen only, "C\r" close, "F\r" ask for the status, "Z1\r" and "Z0\r" time stamps on and off. */
TAKT_API int32_t takt_slcan_encode(const takt_can_frame* frame, char* line, size_t size);

/* Cuts what comes from an adapter, or a program that talks to one, into lines and reads them. */
typedef struct takt_slcan_decoder takt_slcan_decoder;

enum {
  TAKT_SLCAN_NOTHING = 0, /* the line is not complete */
  TAKT_SLCAN_FRAME = 1,
  TAKT_SLCAN_DONE = 2,        /* the last command was carried out */
  TAKT_SLCAN_TRANSMITTED = 3, /* the adapter took the frame */
  TAKT_SLCAN_REFUSED = 4,     /* it did not do what it was told last */
  TAKT_SLCAN_STATUS = 5,      /* the answer to F: `argument` has its flags */
  TAKT_SLCAN_COMMAND = 6      /* for an adapter: one of S O L C F Z */
};

typedef struct takt_slcan_item {
  int32_t kind;       /* TAKT_SLCAN_... */
  int32_t adapter_ms; /* of a frame: its time in the adapter, 0 to 59999; -1: none */
  int32_t command;    /* of a command: its letter */
  uint32_t argument;  /* of S, Z, and the status */
  takt_can_frame frame;
} takt_slcan_item;

/* *decoder is the caller's, to be freed with takt_slcan_decoder_destroy(). */
TAKT_API int32_t takt_slcan_decoder_create(takt_slcan_decoder** decoder);
TAKT_API void takt_slcan_decoder_destroy(takt_slcan_decoder* decoder);

/* Takes bytes up to the end of the next item, *used of them; all, and the item is TAKT_SLCAN_NOTHING, if it is not complete. What
 * makes no sense is dropped and counted. Real-time safe. */
TAKT_API int32_t takt_slcan_decode(takt_slcan_decoder* decoder, const uint8_t* bytes, size_t count, size_t* used,
                                   takt_slcan_item* item);

/* How many lines were dropped; 0 for NULL. Real-time safe. */
TAKT_API uint64_t takt_slcan_decoder_malformed(const takt_slcan_decoder* decoder);

/* What the 29 bits of a J1939 identifier say. */
typedef struct takt_j1939_id {
  uint32_t pgn;         /* the parameter group, 18 bits */
  uint32_t priority;    /* 0, which comes first, to 7 */
  uint32_t source;      /* 254: a device without an address */
  uint32_t destination; /* 255: everybody, and groups that have none */
} takt_j1939_id;

/* Every number means something; of its upper three bits nothing. Real-time safe. */
TAKT_API int32_t takt_j1939_decode_id(uint32_t id, takt_j1939_id* decoded);

/* Errors: TAKT_ERROR_CAN_OUT_OF_RANGE (a field beyond its bits), TAKT_ERROR_CAN_BAD_VALUE (a group with destinations that does not
 * end in 00, or a destination where there is none). Real-time safe. */
TAKT_API int32_t takt_j1939_encode_id(const takt_j1939_id* id, uint32_t* encoded);

/* ---- the motion client -------------------------------------------------------------------------------------------------- */

/* A connection to the motion server of a real-time process, for example of `takt run`. Everything here allocates, waits and makes
 * system calls: it is for threads without deadlines, one thread at a time for each client. A call that fails with
 * TAKT_ERROR_PLATFORM_... has lost the connection; the client can then only be closed.
 *
 *     takt_client* robot = NULL;
 *     takt_motion_options options;
 *     takt_reply reply;
 *     const char* const names[] = {"elbow_joint"};
 *     const double target[] = {1.2};
 *     takt_client_connect(NULL, &robot);
 *     takt_motion_options_init(&options);
 *     takt_reply_init(&reply);
 *     options.joint_names = names;
 *     if (takt_client_move(robot, &options, target, 1, 0, &reply) == TAKT_OK)
 *       takt_client_wait(robot, reply.goal, 60000000000, &reply);      (how it ended: reply.state)
 *     takt_client_close(robot);
 */
typedef struct takt_client takt_client;

/* Where the server is. Every field may be zero. */
typedef struct takt_client_options {
  uint32_t struct_size; /* set by takt_client_options_init() */
  uint32_t port;        /* 0: the server's default, 7470 */
  const char* host;     /* name or address; NULL: 127.0.0.1 */
  int64_t timeout_ns;   /* how long each call waits for the server's answer; 0: 5 s */
} takt_client_options;

/* Everything zero but struct_size. NULL is ignored. */
TAKT_API void takt_client_options_init(takt_client_options* options);

/* Connects and reads the server's greeting. `options` may be NULL: all defaults. *client is the caller's, to be closed with
 * takt_client_close(). Errors: TAKT_ERROR_PLATFORM_CONNECT_FAILED, TAKT_ERROR_CAPI_TIMEOUT, TAKT_ERROR_MOTION_MALFORMED (not
 * a motion server, or one of another protocol version). */
TAKT_API int32_t takt_client_connect(const takt_client_options* options, takt_client** client);

/* Ends the connection. Goals of this client stop, unless they said otherwise. */
TAKT_API void takt_client_close(takt_client* client);

/* The robot's joints: how many, and what they are called. The name lives as long as the client; NULL for a joint that does
 * not exist. */
TAKT_API size_t takt_client_joints(const takt_client* client);
TAKT_API const char* takt_client_joint_name(const takt_client* client, size_t joint);

/* The period of the robot's control loop; 0 for NULL. */
TAKT_API int64_t takt_client_period_ns(const takt_client* client);

/* The life of a goal; from SUCCEEDED on it has ended. */
enum {
  TAKT_GOAL_PENDING = 0,
  TAKT_GOAL_ACTIVE = 1,
  TAKT_GOAL_PREEMPTING = 2,
  TAKT_GOAL_SUCCEEDED = 3,
  TAKT_GOAL_ABORTED = 4,
  TAKT_GOAL_REJECTED = 5,
  TAKT_GOAL_PREEMPTED = 6, /* cancelled, or its joints were taken by another goal */
  TAKT_GOAL_RECALLED = 7
};

/* What the server said to a request, or how a goal ended. An output: the library writes as many fields as struct_size covers. */
typedef struct takt_reply {
  uint32_t struct_size; /* set by takt_reply_init() */
  int32_t state;        /* TAKT_GOAL_... */
  int32_t reason;       /* why it was rejected or ended badly, a TAKT_ERROR_MOTION_...; TAKT_OK if it was not */
  uint32_t reserved;    /* 0 */
  uint64_t goal;        /* its number; 0: none */
  int64_t duration_ns;  /* accepted motion: how long it takes; -1: not known */
  int64_t time_ns;      /* what the reason is about: when, from the goal's start; -1: no time */
  double value;         /* what was found; NaN: nothing */
  double limit;         /* what is allowed; NaN: nothing */
  char joint[64];       /* which joint; empty: none. Both texts are cut to fit and end with a NUL */
  char message[256];    /* for people */
} takt_reply;

/* No goal, no reason. NULL is ignored. */
TAKT_API void takt_reply_init(takt_reply* reply);

/* How far a joint may be from its reference. 0 is the default, negative no limit. */
typedef struct takt_joint_tolerance {
  double position;     /* rad or m */
  double velocity;     /* rad/s or m/s */
  double acceleration; /* not measured: not above 0 */
} takt_joint_tolerance;

/* How a motion is asked for: which joints, and what else. Exactly one of group and joint_names is set. */
typedef struct takt_motion_options {
  uint32_t struct_size;           /* set by takt_motion_options_init() */
  int32_t fit;                    /* 1: slow down until all limits hold, instead of being refused */
  const char* group;              /* a group of the robot; columns are its joints in order */
  const char* const* joint_names; /* one name for each column */
  int32_t at_end;                 /* trajectories: TAKT_AT_END_... */
  int32_t on_disconnect;          /* trajectories and moves: TAKT_ON_DISCONNECT_... */
  int32_t when_busy;              /* trajectories and moves: TAKT_WHEN_BUSY_... */
  int32_t reserved;               /* 0 */
  /* trajectories and moves: one tolerance for each column, or NULL: all the default. Beyond its path tolerance (default: none)
   * the goal is aborted with TAKT_ERROR_MOTION_PATH_TOLERANCE; at the end it must be within its goal tolerance (default: the
   * robot's) in time, else TAKT_ERROR_MOTION_GOAL_TOLERANCE */
  const takt_joint_tolerance* path_tolerance;
  const takt_joint_tolerance* goal_tolerance;
  int64_t goal_time_ns;           /* from the end on; 0: the robot's, negative: no limit */
  int64_t start_ns;               /* trajectories: when their time is 0, on the loop's clock (takt_robot_state's time_ns); accepted
                                   * as TAKT_GOAL_PENDING until then. 0: at once */
} takt_motion_options;

enum {
  TAKT_AT_END_REST = 0, /* refuse a trajectory that does not end at rest */
  TAKT_AT_END_STOP = 1  /* bring it to a bounded stop after its last waypoint */
};
enum {
  TAKT_ON_DISCONNECT_STOP = 0,
  TAKT_ON_DISCONNECT_CONTINUE = 1
};
enum {
  TAKT_WHEN_BUSY_SPLICE = 0, /* joints that another goal moves are taken over from it */
  TAKT_WHEN_BUSY_QUEUE = 1,  /* wait until that goal has succeeded; accepted as TAKT_GOAL_PENDING meanwhile */
  TAKT_WHEN_BUSY_REJECT = 2  /* be refused: TAKT_ERROR_MOTION_JOINT_BUSY */
};

/* Everything zero but struct_size. NULL is ignored. */
TAKT_API void takt_motion_options_init(takt_motion_options* options);

/* The four below ask for something and wait until the server has accepted it: TAKT_OK, with the goal's number in reply->goal and
 * its duration; or TAKT_ERROR_MOTION_..., with joint, time, value and limit in *reply where the reason has them. `reply` may be
 * NULL. Other errors: TAKT_ERROR_TRAJECTORY_NOT_FINITE, TAKT_ERROR_CAPI_TIMEOUT (it may still be accepted later), and those
 * of the connection. */

/* A trajectory, all of it checked against the robot's limits before it moves anything. Times count from the motion's start: when the
 * first is above 0, the joints come from where they are; one at 0 must be where they are. */
TAKT_API int32_t takt_client_trajectory(takt_client* client, const takt_motion_options* options,
                                        const takt_waypoints* waypoints, takt_reply* reply);

/* From rest to rest at `positions` (one for each column) in duration_ns; 0: as fast as the limits allow. */
TAKT_API int32_t takt_client_move(takt_client* client, const takt_motion_options* options, const double* positions,
                                  size_t joints, int64_t duration_ns, takt_reply* reply);

/* One target of a stream, followed within the limits. The first begins a goal, further ones for the same joints continue it; when
 * none comes within hold_ns (0: 100 ms; at most 10 s), the joints stop and the goal is aborted. `velocities`, how fast the target
 * itself moves, may be NULL: zero. Of the options, only group and joint_names count. */
TAKT_API int32_t takt_client_setpoint(takt_client* client, const takt_motion_options* options, const double* positions,
                                      const double* velocities, size_t joints, int64_t hold_ns, takt_reply* reply);

/* Bounded stop of one goal, or of all with goal 0. The goals' results tell when they have stopped. */
TAKT_API int32_t takt_client_cancel(takt_client* client, uint64_t goal);

/* The same, but the joints of a trajectory come to rest together, on their path. */
TAKT_API int32_t takt_client_cancel_on_path(takt_client* client, uint64_t goal);

/* How fast a trajectory goal, or with goal 0 all of them, go from now on along their paths: 0 (pause) to 1 (as planned), as soon as
 * the limits allow. TAKT_ERROR_MOTION_UNKNOWN_GOAL: no trajectory goal of this number moves or pauses. */
TAKT_API int32_t takt_client_speed(takt_client* client, uint64_t goal, double scale);

/* Waits at most timeout_ns for the end of a goal: TAKT_OK when it has ended, in whatever way (reply->state, reply->reason), else
 * TAKT_ERROR_CAPI_TIMEOUT. `reply` may be NULL. Feedback that comes meanwhile is dropped. */
TAKT_API int32_t takt_client_wait(takt_client* client, uint64_t goal, int64_t timeout_ns, takt_reply* reply);

/* Stops the robot and latches: category 0 power off at once, 1 bounded stop, then power off, 2 bounded stop (IEC 60204-1). */
TAKT_API int32_t takt_client_estop(takt_client* client, int32_t category);

/* Leaves a latched stop: faults are cleared, drives powered; the robot is ready again when takt_client_state() says so. */
TAKT_API int32_t takt_client_reset(takt_client* client);

/* The robot as a whole. */
enum {
  TAKT_ROBOT_STARTING = 0,
  TAKT_ROBOT_READY = 1,
  TAKT_ROBOT_STOPPING = 2,
  TAKT_ROBOT_STOPPED = 3, /* latched: takt_client_reset() */
  TAKT_ROBOT_DOWN = 4
};

/* An output: the library writes as many fields as struct_size covers. */
typedef struct takt_robot_state {
  uint32_t struct_size;  /* set by takt_robot_state_init() */
  int32_t state;         /* TAKT_ROBOT_... */
  int32_t reason;        /* why it stopped by itself, a TAKT_ERROR_MOTION_...; TAKT_OK if it did not */
  uint32_t active_goals;
  int64_t time_ns;       /* on the loop's clock */
  uint64_t cycles;       /* of the loop since its start */
  uint64_t overruns;     /* periods that it missed altogether */
} takt_robot_state;

/* Everything zero but struct_size. NULL is ignored. */
TAKT_API void takt_robot_state_init(takt_robot_state* state);

/* The state of the robot and, of each of its joints (`joints` must be takt_client_joints()), the reference and the measured
 * position. Outputs that are not wanted may be NULL. */
TAKT_API int32_t takt_client_state(takt_client* client, takt_robot_state* state, size_t joints, double* references,
                                   double* measured);

/* The two below are the whole wire protocol as text, for what has no function above; it is documented in takt/motion/wire.hpp.
 * A request's own "id" comes back with every answer to it. */

/* Sends one request, for example {"subscribe":{"rate":10}}, and waits for nothing. What the protocol does not know is refused
 * here and not sent: TAKT_ERROR_MOTION_MALFORMED, _UNKNOWN_REQUEST, ... */
TAKT_API int32_t takt_client_send(takt_client* client, const char* request);

/* The next message that no other function has taken, oldest first, as one line of JSON with a NUL instead of the line's end.
 * *length (may be NULL) is its length without the NUL. Waits at most timeout_ns: TAKT_ERROR_CAPI_TIMEOUT. When it does not fit
 * into `size` bytes: TAKT_ERROR_CAPI_BUFFER_TOO_SMALL, *length says what is needed, and the message stays. Up to 4096 messages
 * are kept for this function; then the oldest are dropped. */
TAKT_API int32_t takt_client_receive(takt_client* client, int64_t timeout_ns, char* message, size_t size, size_t* length);

/* ---- shared memory ------------------------------------------------------------------------------------------------------ */

/* A segment: memory that processes of this machine share, with named exchanges in it. Each end of an exchange has one owner at a
 * time, a seat, which is free at once when its process dies, however it dies; who takes it goes on where the other stopped. Named
 * segments (/dev/shm/takt.NAME, mode 0600) are for processes of one user that trust each other, and outlive them. Sealed segments
 * have no name and are handed over a socket; a peer can write anything into one, but cannot cut it off, which would kill whoever
 * touches it: a real-time process has only these. They vanish with the last process that has them. */
typedef struct takt_segment takt_segment;

/* Kinds of exchange, as they are numbered in the segment. */
enum {
  TAKT_EXCHANGE_RING = 2,           /* elements, from one producer to one consumer, none lost */
  TAKT_EXCHANGE_BYTE_RING = 4,      /* messages of any length, from one producer to one consumer, none lost */
  TAKT_EXCHANGE_LATEST = 5,         /* the newest value, from one writer to one reader */
  TAKT_EXCHANGE_BROADCAST = 6,      /* the newest value, from one writer to any number of readers */
  TAKT_EXCHANGE_BROADCAST_RING = 7, /* elements, from one writer, who waits for nobody, to any number of readers */
  TAKT_EXCHANGE_JOINT_SEATS = 10    /* where motion processes say what a robot's joints shall do */
};

/* A schema is a text that says what an element looks like in memory, for example "position f64[6], stamp i64, mode u8, _ u8[7]":
 * names and types (u8 u16 u32 u64 i8 i16 i32 i64 f32 f64), arrays in brackets, each at its natural alignment, with padding written
 * down as fields named _, at the end too; up to 424 characters, 64 fields and 1 MiB. Programs that share an exchange must say the
 * same, character by character: in C++ it is takt::shm::Schema of the type (takt/shm/schema.hpp). An exchange of a C++ type that is
 * aligned to more than its fields need can be declared only from C++; its ends can be made here all the same. */

/* What a segment shall hold. */
typedef struct takt_exchange {
  const char* name;   /* 1 to 31 letters, digits, '_', '-' or '.', ended by a NUL */
  int32_t kind;       /* TAKT_EXCHANGE_... */
  uint32_t capacity;  /* RING, BROADCAST_RING: elements; BYTE_RING: bytes; rounded up to a power of two. JOINT_SEATS: seats, 1 to
                       * 32. Else unused */
  const char* schema; /* RING, LATEST, BROADCAST, BROADCAST_RING: what an element is. Else unused */
} takt_exchange;

/* Attaches the named segment, or makes it with these exchanges; one with others is replaced if nobody has it. The caller's, to be
 * freed with takt_segment_close(). Errors: TAKT_ERROR_SHM_..., TAKT_ERROR_PLATFORM_..., TAKT_ERROR_CAPI_BAD_ARGUMENT (a kind);
 * TAKT_ERROR_SHM_BAD_SCHEMA; _TOO_MANY_EXCHANGES (none, too); where somebody has it with others: _NO_SUCH_EXCHANGE, _WRONG_KIND,
 * _WRONG_EXTENT (another capacity, or other seats), _WRONG_SCHEMA. */
TAKT_API int32_t takt_segment_open_or_create(const char* name, const takt_exchange* exchanges, size_t count,
                                             takt_segment** segment);

/* Attaches the named segment as it is. Errors: TAKT_ERROR_PLATFORM_NO_SUCH_SEGMENT, ..., TAKT_ERROR_SHM_NOT_READY, ... */
TAKT_API int32_t takt_segment_open(const char* name, takt_segment** segment);

/* Makes a sealed segment with these exchanges; `name` is for people. Errors: TAKT_ERROR_PLATFORM_MEMORY_FULL, _SEGMENT_FAILED, and
 * as above. */
TAKT_API int32_t takt_segment_create_sealed(const char* name, const takt_exchange* exchanges, size_t count, takt_segment** segment);

/* Gets a sealed segment from the process that serves it, of our own user or root, at `path`; waits up to timeout_ns for one to be
 * there, and, if it came late, up to 100 ms longer for its answer. Errors: TAKT_ERROR_PLATFORM_CONNECT_FAILED, _WRONG_OWNER, _NOT_ALLOWED, _RECEIVE_FAILED, _NOT_SEALED;
 * TAKT_ERROR_SHM_... for what is in it. */
TAKT_API int32_t takt_segment_receive(const char* path, int64_t timeout_ns, takt_segment** segment);

/* Hands a sealed segment to every process of our own user that asks for it (takt_segment_receive(), or receive_segment() of
 * takt/platform/segment_server.hpp), from a thread of its own, which takes no signals and keeps nobody waiting who works with the
 * segment. `path` is that of a UNIX socket, made with mode 0600; one that a dead server left behind is replaced. A path that begins
 * with '@' is no file, and nothing is left behind. The segment may be closed, and is served all the same. Errors:
 * TAKT_ERROR_PLATFORM_NOT_SEALED; _LISTEN_FAILED (somebody else serves there; the path is too long; ...). */
typedef struct takt_segment_server takt_segment_server;
TAKT_API int32_t takt_segment_server_create(const takt_segment* segment, const char* path, takt_segment_server** server);

/* Stops serving and removes the path; who has the segment keeps it. */
TAKT_API void takt_segment_server_destroy(takt_segment_server* server);

/* Removes the name; who has the segment keeps it. Errors: TAKT_ERROR_PLATFORM_NO_SUCH_SEGMENT, _SEGMENT_FAILED. */
TAKT_API int32_t takt_segment_remove(const char* name);

/* Detaches it. Ends that were made from it keep its memory. */
TAKT_API void takt_segment_close(takt_segment* segment);

/* The ends of a byte ring; both wait for nobody. */
typedef struct takt_byte_producer takt_byte_producer;
typedef struct takt_byte_consumer takt_byte_consumer;

/* Takes the seat and makes the end. Errors: TAKT_ERROR_PLATFORM_SEAT_TAKEN, TAKT_ERROR_SHM_NO_SUCH_EXCHANGE, _WRONG_KIND, ... */
TAKT_API int32_t takt_byte_producer_create(takt_segment* segment, const char* name, takt_byte_producer** producer);
TAKT_API int32_t takt_byte_consumer_create(takt_segment* segment, const char* name, takt_byte_consumer** consumer);

/* Frees the end and its seat. */
TAKT_API void takt_byte_producer_destroy(takt_byte_producer* producer);
TAKT_API void takt_byte_consumer_destroy(takt_byte_consumer* consumer);

/* The longest message that always fits once the consumer has caught up; 0 for NULL. Real-time safe. */
TAKT_API size_t takt_byte_producer_max(const takt_byte_producer* producer);

/* Appends a message. Errors: TAKT_ERROR_SHM_FULL (now; or for ever, if it is longer than takt_byte_producer_max()).
 * Real-time safe. */
TAKT_API int32_t takt_byte_producer_write(takt_byte_producer* producer, const void* message, size_t size);

/* Takes the oldest message; *length, which may be NULL, is its length. Errors: TAKT_ERROR_SHM_EMPTY; TAKT_ERROR_SHM_BROKEN (nothing
 * comes any more, but to a consumer after this one); TAKT_ERROR_CAPI_BUFFER_TOO_SMALL: *length says what is needed, and the
 * message stays. Real-time safe. */
TAKT_API int32_t takt_byte_consumer_read(takt_byte_consumer* consumer, void* message, size_t size, size_t* length);

/* The ends of other exchanges. An element is `size` bytes of any alignment, which are copied; a `size` that is not that of the
 * schema is answered by TAKT_ERROR_CAPI_BAD_ARGUMENT, wherever one is given. The _create functions take the seat, if the end needs
 * one, and make the end of an exchange whose schema must be `schema`. Errors of all of them: TAKT_ERROR_PLATFORM_SEAT_TAKEN;
 * TAKT_ERROR_SHM_NO_SUCH_EXCHANGE, _WRONG_KIND, _WRONG_SCHEMA, _BAD_SCHEMA. The _destroy functions free the end and its seat. */

/* The ends of a RING; both wait for nobody. */
typedef struct takt_ring_producer takt_ring_producer;
typedef struct takt_ring_consumer takt_ring_consumer;
TAKT_API int32_t takt_ring_producer_create(takt_segment* segment, const char* name, const char* schema,
                                           takt_ring_producer** producer);
TAKT_API int32_t takt_ring_consumer_create(takt_segment* segment, const char* name, const char* schema,
                                           takt_ring_consumer** consumer);
TAKT_API void takt_ring_producer_destroy(takt_ring_producer* producer);
TAKT_API void takt_ring_consumer_destroy(takt_ring_consumer* consumer);

/* Appends an element. Errors: TAKT_ERROR_SHM_FULL; up to a sixteenth of a ring that looks full may have been read already.
 * Real-time safe. */
TAKT_API int32_t takt_ring_producer_push(takt_ring_producer* producer, const void* element, size_t size);

/* Appends as many of `count` elements of `size` bytes each, from the first, as there is room for, and publishes them at once;
 * *pushed is how many. Real-time safe. */
TAKT_API int32_t takt_ring_producer_push_many(takt_ring_producer* producer, const void* elements, size_t size, size_t count,
                                              size_t* pushed);

/* Takes the oldest element. Errors: TAKT_ERROR_SHM_EMPTY. Real-time safe. */
TAKT_API int32_t takt_ring_consumer_pop(takt_ring_consumer* consumer, void* element, size_t size);

/* Takes up to `count` of the oldest elements and gives their space back at once; *popped is how many. Real-time safe. */
TAKT_API int32_t takt_ring_consumer_pop_many(takt_ring_consumer* consumer, void* elements, size_t size, size_t count,
                                             size_t* popped);

/* The ends of a LATEST or BROADCAST value. The writer never waits for anybody, and no reader sees a value that is half old and half
 * new. Readers of a BROADCAST need no seat. */
typedef struct takt_value_writer takt_value_writer;
typedef struct takt_value_reader takt_value_reader;
TAKT_API int32_t takt_value_writer_create(takt_segment* segment, const char* name, const char* schema, takt_value_writer** writer);
TAKT_API int32_t takt_value_reader_create(takt_segment* segment, const char* name, const char* schema, takt_value_reader** reader);
TAKT_API void takt_value_writer_destroy(takt_value_writer* writer);
TAKT_API void takt_value_reader_destroy(takt_value_reader* reader);

/* Publishes a copy of the value. Real-time safe. */
TAKT_API int32_t takt_value_writer_write(takt_value_writer* writer, const void* value, size_t size);

/* What a read of a value has found. */
enum {
  TAKT_FRESHNESS_NONE = 0, /* nothing was ever written, and `value` is as it was */
  TAKT_FRESHNESS_OLD = 1,  /* the value that the last read gave as well */
  TAKT_FRESHNESS_NEW = 2   /* one not read before */
};

/* Copies the newest value; *freshness, which may be NULL, is TAKT_FRESHNESS_.... A BROADCAST whose writer overtook every one of 16
 * attempts leaves `value` as it was and says OLD, or NONE to a reader that has not read anything yet. Real-time safe. */
TAKT_API int32_t takt_value_reader_read(takt_value_reader* reader, void* value, size_t size, int32_t* freshness);

/* The ends of a BROADCAST_RING. Readers need no seat; each has its own pace, and begins with the oldest element. */
typedef struct takt_stream_writer takt_stream_writer;
typedef struct takt_stream_reader takt_stream_reader;
TAKT_API int32_t takt_stream_writer_create(takt_segment* segment, const char* name, const char* schema,
                                           takt_stream_writer** writer);
TAKT_API int32_t takt_stream_reader_create(takt_segment* segment, const char* name, const char* schema,
                                           takt_stream_reader** reader);
TAKT_API void takt_stream_writer_destroy(takt_stream_writer* writer);
TAKT_API void takt_stream_reader_destroy(takt_stream_reader* reader);

/* Appends an element, in place of the oldest one. Never full. Real-time safe. */
TAKT_API int32_t takt_stream_writer_write(takt_stream_writer* writer, const void* element, size_t size);

/* Takes the next element. Errors: TAKT_ERROR_SHM_EMPTY (there is none, or the writer was faster at each of 4 attempts). A reader
 * that was lapped goes on at the oldest element that will stay for a while. Real-time safe. */
TAKT_API int32_t takt_stream_reader_read(takt_stream_reader* reader, void* element, size_t size);

/* How many elements were overwritten before this reader came to them, in all; 0 for NULL. Real-time safe. */
TAKT_API uint64_t takt_stream_reader_missed(const takt_stream_reader* reader);

/* ---- joints in shared memory --------------------------------------------------------------------------------------------- */

/* Several motion processes move the joints of one robot, each its own; the hub, in the real-time process, applies what they ask and
 * alone decides who owns what. The rules are in takt/shm/joint_image.hpp. In short: each process says in each of its cycles which
 * joints it wants and what they shall do. Those that it wants anew it is given all at once or not at all. A joint that was granted
 * stands still until its owner has seen so. One whose owner lets go, starts anew, or is silent for too many cycles of the hub does
 * what is safe, and is free. */

/* What a reference asks of a joint. */
enum {
  TAKT_JOINT_MODE_OFF = 0,
  TAKT_JOINT_MODE_POSITION = 1, /* velocity, acceleration and effort are feed-forward */
  TAKT_JOINT_MODE_VELOCITY = 2, /* acceleration and effort are feed-forward */
  TAKT_JOINT_MODE_EFFORT = 3
};

/* What one joint is asked to do. */
typedef struct takt_joint_reference {
  double position;     /* rad or m */
  double velocity;     /* rad/s or m/s */
  double acceleration; /* rad/s^2 or m/s^2 */
  double effort;       /* N m or N */
  int32_t mode;        /* TAKT_JOINT_MODE_... */
  int32_t reserved;    /* 0 */
} takt_joint_reference;

/* What was measured of one joint. */
typedef struct takt_joint_measurement {
  double position; /* rad or m */
  double velocity; /* rad/s or m/s */
  double effort;   /* N m or N */
} takt_joint_measurement;

/* What a joint does when its owner is gone. One that is off stays off. */
enum {
  TAKT_SAFE_HOLD = 0,   /* moves to `position` at `speed`; with speed 0 it stops where it is */
  TAKT_SAFE_RELEASE = 1 /* drive off */
};
typedef struct takt_joint_safety {
  int32_t behaviour; /* TAKT_SAFE_... */
  int32_t reserved;  /* 0 */
  double position;   /* rad or m */
  double speed;      /* rad/s or m/s, not negative */
} takt_joint_safety;

/* What a joint is about, in takt_joint_image. */
enum {
  TAKT_JOINT_PHASE_RESTING = 0,   /* nobody's: off, or held */
  TAKT_JOINT_PHASE_RETURNING = 1, /* nobody's: on its way to its safe position */
  TAKT_JOINT_PHASE_GRANTED = 2,   /* held until its new owner has seen that it was granted */
  TAKT_JOINT_PHASE_DRIVEN = 3     /* follows its owner */
};

/* What the hub has told a seat. */
enum {
  TAKT_SEAT_NONE = 0,    /* it wants nothing, or was never heard */
  TAKT_SEAT_GRANTED = 1, /* it owns all that it wants */
  TAKT_SEAT_REFUSED = 2, /* of those joints that it wants anew, refused_joint has another owner */
  TAKT_SEAT_SILENT = 3   /* it has lost its joints */
};

#define TAKT_MAX_JOINT_SEATS 32
#define TAKT_NO_OWNER 255

/* The robot at one cycle of the hub, as it lies in the segment: for everybody to read, too, as a BROADCAST with the schema
 * takt_joint_image_schema(). */
typedef struct takt_joint_image {
  uint64_t cycle;                         /* of the hub, goes on when another takes over */
  uint64_t started;                       /* first cycle of this hub: another number is another hub */
  int64_t stamp_ns;                       /* on the clock of the hub: when it was measured */
  uint32_t joints;                        /* rows in use, of the columns below */
  uint32_t seats;
  double position[TAKT_MAX_JOINTS];       /* measured */
  double velocity[TAKT_MAX_JOINTS];
  double effort[TAKT_MAX_JOINTS];
  double ref_position[TAKT_MAX_JOINTS];   /* applied; in other modes than POSITION the measured one */
  double ref_velocity[TAKT_MAX_JOINTS];
  double ref_acceleration[TAKT_MAX_JOINTS];
  double ref_effort[TAKT_MAX_JOINTS];
  double safe[TAKT_MAX_JOINTS];           /* safe position */
  uint64_t granted[TAKT_MAX_JOINTS];      /* cycle in which the joint got its owner */
  uint8_t mode[TAKT_MAX_JOINTS];          /* TAKT_JOINT_MODE_... */
  uint8_t owner[TAKT_MAX_JOINTS];         /* seat, or TAKT_NO_OWNER */
  uint8_t phase[TAKT_MAX_JOINTS];         /* TAKT_JOINT_PHASE_... */
  int64_t sent_ns[TAKT_MAX_JOINT_SEATS];  /* time stamp of the seat's last good command */
  uint32_t session[TAKT_MAX_JOINT_SEATS]; /* 0: never heard */
  uint32_t heartbeat[TAKT_MAX_JOINT_SEATS];
  uint32_t lost[TAKT_MAX_JOINT_SEATS];     /* how often it lost its joints by silence */
  uint32_t rejected[TAKT_MAX_JOINT_SEATS]; /* commands with something wrong */
  uint16_t error[TAKT_MAX_JOINT_SEATS];    /* what, in the last one: TAKT_STATUS(7, error), or 0 */
  uint8_t error_joint[TAKT_MAX_JOINT_SEATS];
  uint8_t answer[TAKT_MAX_JOINT_SEATS];    /* TAKT_SEAT_... */
  uint8_t refused_joint[TAKT_MAX_JOINT_SEATS];
} takt_joint_image;

/* The schema of takt_joint_image. Lives for ever. Real-time safe. */
TAKT_API const char* takt_joint_image_schema(void);

/* A motion process, in one seat. Sets of joints are bit masks: joint j is (uint64_t)1 << j. */
typedef struct takt_joint_client takt_joint_client;

/* Takes the seat of the exchange `seats` (JOINT_SEATS), and reads `image` (a BROADCAST of images). Errors:
 * TAKT_ERROR_PLATFORM_SEAT_TAKEN, TAKT_ERROR_SHM_NO_SUCH_EXCHANGE, _NO_SUCH_SEAT, ... */
TAKT_API int32_t takt_joint_client_create(takt_segment* segment, const char* image, const char* seats, uint32_t seat,
                                          takt_joint_client** client);

/* Frees the client and its seat. Its joints are lost as by silence; publish that none is wanted to let go of them at once. */
TAKT_API void takt_joint_client_destroy(takt_joint_client* client);

/* Reads the newest image; *is_new, which may be NULL, is 1 if there was one since the last call, else 0. Joints that were granted
 * since then begin with the reference that is applied to them. Real-time safe. */
TAKT_API int32_t takt_joint_client_update(takt_joint_client* client, int32_t* is_new);

/* The robot as the last update found it; all zero before the first. Valid, and the same, until the next; NULL for NULL.
 * Real-time safe. */
TAKT_API const takt_joint_image* takt_joint_client_image(const takt_joint_client* client);

/* The joints that it owns, and those of them that the last update found granted anew: also joints that were lost and came back,
 * which must be begun afresh. 0 for NULL. Real-time safe. */
TAKT_API uint64_t takt_joint_client_owned(const takt_joint_client* client);
TAKT_API uint64_t takt_joint_client_granted(const takt_joint_client* client);

/* What the hub has said to this process: TAKT_SEAT_..., TAKT_SEAT_NONE for NULL. Real-time safe. */
TAKT_API int32_t takt_joint_client_answer(const takt_joint_client* client);

/* The joints to own from the next publish on. Joints that are left out are let go of. Real-time safe. */
TAKT_API int32_t takt_joint_client_want(takt_joint_client* client, uint64_t joints);

/* What the next publish asks of a joint. Real-time safe. */
TAKT_API int32_t takt_joint_client_reference(const takt_joint_client* client, size_t joint, takt_joint_reference* reference);

/* Changes it. Errors: TAKT_ERROR_SHM_NOT_OWNER, _UNKNOWN_MODE, _BAD_REFERENCE (a number that is NaN or infinite). Real-time
 * safe. */
TAKT_API int32_t takt_joint_client_set(takt_joint_client* client, size_t joint, const takt_joint_reference* reference);

/* Says all of it to the hub, as one; now_ns is a time stamp on the caller's clock. Once per cycle: it is also the sign of life.
 * Real-time safe. */
TAKT_API int32_t takt_joint_client_publish(takt_joint_client* client, int64_t now_ns);

/* The hub: one at a time. */
typedef struct takt_joint_hub takt_joint_hub;

/* For `joints` joints, each with its safety. period_ns: from one take to the next; silent_cycles: how many takes in a row may find
 * no good news of an owner. Over a segment that was in use it goes on with what was applied last. Errors: as with the client, and
 * TAKT_ERROR_SHM_BAD_EXTENT, _OUT_OF_DOMAIN; TAKT_ERROR_CAPI_BAD_ARGUMENT (no such behaviour). */
TAKT_API int32_t takt_joint_hub_create(takt_segment* segment, const char* image, const char* seats,
                                       const takt_joint_safety* safety, size_t joints, int64_t period_ns, uint32_t silent_cycles,
                                       takt_joint_hub** hub);

/* Frees the hub and its seats. */
TAKT_API void takt_joint_hub_destroy(takt_joint_hub* hub);

/* Hears every seat, settles who owns what, and gives what to apply now. `joints` must be the hub's: TAKT_ERROR_SHM_BAD_EXTENT.
 * Once per cycle. Real-time safe. */
TAKT_API int32_t takt_joint_hub_take(takt_joint_hub* hub, takt_joint_reference* references, size_t joints);

/* Publishes what was applied, and what was measured at now_ns; where a number is none, the measurement before stands.
 * Errors: TAKT_ERROR_SHM_BAD_EXTENT. Real-time safe. */
TAKT_API int32_t takt_joint_hub_publish(takt_joint_hub* hub, int64_t now_ns, const takt_joint_measurement* measured, size_t joints);

/* What the last publish wrote; valid until the next take. NULL for NULL. Real-time safe. */
TAKT_API const takt_joint_image* takt_joint_hub_image(const takt_joint_hub* hub);

#ifdef __cplusplus
} /* extern "C" */
#endif

#include "takt/app.h" /* a robot assembled from its description file */

#endif /* TAKT_H */
