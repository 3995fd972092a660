/* The motion client. */
#ifndef TAKT_MOTION_H
#define TAKT_MOTION_H

/* clang-format off */

#include "takt/core.h"
#include "takt/trajectory.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the motion client -------------------------------------------------------------------------------------------------- */

/* A connection to the motion server of a real-time process, for example of `takt run`. Everything here allocates, waits and makes
 * system calls: it is for threads without deadlines, one thread at a time for each client. A call that fails with
 * TAKT_ERROR_PLATFORM_... has lost the connection; the client can then only be closed.
 *
 *     takt_motion_client* robot = NULL;
 *     takt_motion_options options;
 *     takt_reply reply;
 *     const char* const names[] = {"elbow_joint"};
 *     const double target[] = {1.2};
 *     takt_motion_client_connect(NULL, &robot);
 *     takt_motion_options_init(&options);
 *     takt_reply_init(&reply);
 *     options.joint_names = names;
 *     if (takt_motion_client_move(robot, &options, target, 1, 0, &reply) == TAKT_OK)
 *       takt_motion_client_wait(robot, reply.goal, 60000000000, &reply);      (how it ended: reply.state)
 *     takt_motion_client_close(robot);
 */
typedef struct takt_motion_client takt_motion_client;

/* Where the server is. Every field may be zero. */
typedef struct takt_motion_client_options {
  uint32_t struct_size; /* set by takt_motion_client_options_init() */
  uint32_t port;        /* 0: the server's default, 7470 */
  const char* host;     /* name or address; NULL: 127.0.0.1 */
  int64_t timeout_ns;   /* how long each call waits for the server's answer; 0: 5 s */
} takt_motion_client_options;

/* Everything zero but struct_size. NULL is ignored. */
TAKT_API void takt_motion_client_options_init(takt_motion_client_options* options);

/* Connects and reads the server's greeting. `options` may be NULL: all defaults. *client is the caller's, to be closed with
 * takt_motion_client_close(). Errors: TAKT_ERROR_PLATFORM_CONNECT_FAILED, TAKT_ERROR_CAPI_TIMEOUT, TAKT_ERROR_MOTION_MALFORMED (not
 * a motion server, or one of another protocol version). */
TAKT_API int32_t takt_motion_client_connect(const takt_motion_client_options* options, takt_motion_client** client);

/* Ends the connection. Goals of this client stop, unless they said otherwise. */
TAKT_API void takt_motion_client_close(takt_motion_client* client);

/* The robot's joints: how many, and what they are called. The name lives as long as the client; NULL for a joint that does
 * not exist. */
TAKT_API size_t takt_motion_client_joints(const takt_motion_client* client);
TAKT_API const char* takt_motion_client_joint_name(const takt_motion_client* client, size_t joint);

/* The period of the robot's control loop; 0 for NULL. */
TAKT_API int64_t takt_motion_client_period_ns(const takt_motion_client* client);

/* The life of a goal; from SUCCEEDED on it has ended. */
typedef enum takt_goal_state {
  TAKT_GOAL_PENDING = 0,
  TAKT_GOAL_ACTIVE = 1,
  TAKT_GOAL_PREEMPTING = 2,
  TAKT_GOAL_SUCCEEDED = 3,
  TAKT_GOAL_ABORTED = 4,
  TAKT_GOAL_REJECTED = 5,
  TAKT_GOAL_PREEMPTED = 6, /* cancelled, or its joints were taken by another goal */
  TAKT_GOAL_RECALLED = 7
} takt_goal_state;

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

typedef enum takt_at_end {
  TAKT_AT_END_REST = 0, /* refuse a trajectory that does not end at rest */
  TAKT_AT_END_STOP = 1  /* bring it to a bounded stop after its last waypoint */
} takt_at_end;
typedef enum takt_on_disconnect {
  TAKT_ON_DISCONNECT_STOP = 0,
  TAKT_ON_DISCONNECT_CONTINUE = 1
} takt_on_disconnect;
typedef enum takt_when_busy {
  TAKT_WHEN_BUSY_SPLICE = 0, /* joints that another goal moves are taken over from it */
  TAKT_WHEN_BUSY_QUEUE = 1,  /* wait until that goal has succeeded; accepted as TAKT_GOAL_PENDING meanwhile */
  TAKT_WHEN_BUSY_REJECT = 2  /* be refused: TAKT_ERROR_MOTION_JOINT_BUSY */
} takt_when_busy;

/* Everything zero but struct_size. NULL is ignored. */
TAKT_API void takt_motion_options_init(takt_motion_options* options);

/* The four below ask for something and wait until the server has accepted it: TAKT_OK, with the goal's number in reply->goal and
 * its duration; or TAKT_ERROR_MOTION_..., with joint, time, value and limit in *reply where the reason has them. `reply` may be
 * NULL. Other errors: TAKT_ERROR_TRAJECTORY_NOT_FINITE, TAKT_ERROR_CAPI_TIMEOUT (it may still be accepted later), and those
 * of the connection. */

/* A trajectory, all of it checked against the robot's limits before it moves anything. Times count from the motion's start: when the
 * first is above 0, the joints come from where they are; one at 0 must be where they are. */
TAKT_API int32_t takt_motion_client_trajectory(takt_motion_client* client, const takt_motion_options* options,
                                        const takt_waypoints* waypoints, takt_reply* reply);

/* From rest to rest at `positions` (one for each column) in duration_ns; 0: as fast as the limits allow. */
TAKT_API int32_t takt_motion_client_move(takt_motion_client* client, const takt_motion_options* options, const double* positions,
                                  size_t joints, int64_t duration_ns, takt_reply* reply);

/* One target of a stream, followed within the limits. The first begins a goal, further ones for the same joints continue it; when
 * none comes within hold_ns (0: 100 ms; at most 10 s), the joints stop and the goal is aborted. `velocities`, how fast the target
 * itself moves, may be NULL: zero. Of the options, only group and joint_names count. */
TAKT_API int32_t takt_motion_client_setpoint(takt_motion_client* client, const takt_motion_options* options, const double* positions,
                                      const double* velocities, size_t joints, int64_t hold_ns, takt_reply* reply);

/* Bounded stop of one goal, or of all with goal 0. The goals' results tell when they have stopped. */
TAKT_API int32_t takt_motion_client_cancel(takt_motion_client* client, uint64_t goal);

/* The same, but the joints of a trajectory come to rest together, on their path. */
TAKT_API int32_t takt_motion_client_cancel_on_path(takt_motion_client* client, uint64_t goal);

/* How fast a trajectory goal, or with goal 0 all of them, go from now on along their paths: 0 (pause) to 1 (as planned), as soon as
 * the limits allow. TAKT_ERROR_MOTION_UNKNOWN_GOAL: no trajectory goal of this number moves or pauses. */
TAKT_API int32_t takt_motion_client_speed(takt_motion_client* client, uint64_t goal, double scale);

/* Waits at most timeout_ns for the end of a goal: TAKT_OK when it has ended, in whatever way (reply->state, reply->reason), else
 * TAKT_ERROR_CAPI_TIMEOUT. `reply` may be NULL. Feedback that comes meanwhile is dropped. */
TAKT_API int32_t takt_motion_client_wait(takt_motion_client* client, uint64_t goal, int64_t timeout_ns, takt_reply* reply);

/* Stops the robot and latches: category 0 power off at once, 1 bounded stop, then power off, 2 bounded stop (IEC 60204-1). */
TAKT_API int32_t takt_motion_client_estop(takt_motion_client* client, int32_t category);

/* Leaves a latched stop: faults are cleared, drives powered; the robot is ready again when takt_motion_client_state() says so. */
TAKT_API int32_t takt_motion_client_reset(takt_motion_client* client);

/* The robot as a whole. */
typedef enum takt_robot_phase {
  TAKT_ROBOT_STARTING = 0,
  TAKT_ROBOT_READY = 1,
  TAKT_ROBOT_STOPPING = 2,
  TAKT_ROBOT_STOPPED = 3, /* latched: takt_motion_client_reset() */
  TAKT_ROBOT_DOWN = 4
} takt_robot_phase;

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

/* The state of the robot and, of each of its joints (`joints` must be takt_motion_client_joints()), the reference and the measured
 * position. Outputs that are not wanted may be NULL. */
TAKT_API int32_t takt_motion_client_state(takt_motion_client* client, takt_robot_state* state, size_t joints, double* references,
                                   double* measured);

/* The two below are the whole wire protocol as text, for what has no function above; it is documented in takt/motion/wire.hpp.
 * A request's own "id" comes back with every answer to it. */

/* Sends one request, for example {"subscribe":{"rate":10}}, and waits for nothing. What the protocol does not know is refused
 * here and not sent: TAKT_ERROR_MOTION_MALFORMED, _UNKNOWN_REQUEST, ... */
TAKT_API int32_t takt_motion_client_send(takt_motion_client* client, const char* request);

/* The next message that no other function has taken, oldest first, as one line of JSON with a NUL instead of the line's end.
 * *length (may be NULL) is its length without the NUL. Waits at most timeout_ns: TAKT_ERROR_CAPI_TIMEOUT. When it does not fit
 * into `size` bytes: TAKT_ERROR_CAPI_BUFFER_TOO_SMALL, *length says what is needed, and the message stays. Up to 4096 messages
 * are kept for this function; then the oldest are dropped. */
TAKT_API int32_t takt_motion_client_receive(takt_motion_client* client, int64_t timeout_ns, char* message, size_t size, size_t* length);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TAKT_MOTION_H */
