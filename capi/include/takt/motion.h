/* The motion client: asks a motion server for motions and waits for their ends. */
#ifndef TAKT_MOTION_H
#define TAKT_MOTION_H

#include "takt/core.h"
#include "takt/trajectory.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- connection ---- */

/* A connection to the motion server of a real-time process, for example of `takt run`. All functions here
 * allocate, wait and make system calls: use them in threads without deadlines, one thread at a time for each
 * client. TAKT_ERROR_PLATFORM_... means a lost connection: the client can then only be closed.
 *
 *     takt_motion_client* robot = NULL;
 *     takt_motion_options options;
 *     takt_reply reply;
 *     const char* const names[] = {"elbow_joint"};
 *     const double target[] = {1.2};
 *
 *     takt_motion_client_connect(NULL, &robot);
 *     takt_motion_options_init(&options, sizeof options);
 *     takt_reply_init(&reply, sizeof reply);
 *     options.joint_names = names;
 *
 *     if (takt_motion_client_move(robot, &options, target, 1, 0, &reply) == TAKT_OK)
 *       takt_motion_client_wait(robot, reply.goal, 60000000000, &reply);
 *     takt_motion_client_close(robot);
 *
 * After the wait, reply.state tells how the motion ended.
 */
typedef struct takt_motion_client takt_motion_client;

/* The server's address. Every field may be zero. */
typedef struct takt_motion_client_options {
  uint32_t struct_size; /* set by takt_motion_client_options_init() */
  uint32_t port;        /* 0: the server's default, 7470 */
  const char* host;     /* name or address; NULL: 127.0.0.1 */
  int64_t timeout_ns;   /* for each answer of the server; 0: 5 s */
} takt_motion_client_options;

/* Sets struct_size to `size`, and everything else to zero. Ignores NULL. */
TAKT_API void takt_motion_client_options_init(takt_motion_client_options* options, size_t size);

/* Connects and reads the server's greeting. `options` may be NULL for the defaults. Close *client with
 * takt_motion_client_close(). Errors: TAKT_ERROR_PLATFORM_CONNECT_FAILED; TAKT_ERROR_CAPI_TIMEOUT;
 * TAKT_ERROR_MOTION_MALFORMED (no motion server, or another protocol version). */
TAKT_API int32_t takt_motion_client_connect(const takt_motion_client_options* options,
                                            takt_motion_client** client);

/* Closes the connection. Goals of this client stop unless their on_disconnect is CONTINUE. */
TAKT_API void takt_motion_client_close(takt_motion_client* client);

/* Returns the number of the robot's joints; 0 for NULL. */
TAKT_API size_t takt_motion_client_joints(const takt_motion_client* client);

/* Returns the name of a joint; NULL for an unknown joint. The name lives as long as the client. */
TAKT_API const char* takt_motion_client_joint_name(const takt_motion_client* client, size_t joint);

/* Returns the period of the robot's control loop; 0 for NULL. */
TAKT_API int64_t takt_motion_client_period_ns(const takt_motion_client* client);

/* ---- goals ---- */

/* The state of a goal. A goal has ended from SUCCEEDED on. */
typedef enum takt_goal_state {
  TAKT_GOAL_PENDING = 0,
  TAKT_GOAL_ACTIVE = 1,
  TAKT_GOAL_PREEMPTING = 2,
  TAKT_GOAL_SUCCEEDED = 3,
  TAKT_GOAL_ABORTED = 4,
  TAKT_GOAL_REJECTED = 5,
  TAKT_GOAL_PREEMPTED = 6, /* cancelled, or another goal took its joints */
  TAKT_GOAL_RECALLED = 7
} takt_goal_state;

/* The answer to a request, or the end of a goal. An output: the library writes the fields that struct_size
 * covers. */
typedef struct takt_reply {
  uint32_t struct_size; /* set by takt_reply_init() */
  int32_t state;        /* takt_goal_state */
  int32_t reason;       /* TAKT_ERROR_MOTION_... of a rejection or a failure, else TAKT_OK */
  uint32_t reserved;    /* 0 */
  uint64_t goal;        /* its number; 0: none */
  int64_t duration_ns;  /* of an accepted motion; -1: unknown */
  int64_t time_ns;      /* of the violation, from the goal's start; -1: none */
  double value;         /* that violates the limit; NaN: none */
  double limit;         /* NaN: none */
  char joint[64];    /* that violates the limit; empty: none. Both texts are cut to fit and end with a NUL */
  char message[256]; /* the reason as a sentence */
} takt_reply;

/* Sets struct_size to `size`, no goal and no reason. Ignores NULL. */
TAKT_API void takt_reply_init(takt_reply* reply, size_t size);

/* The largest difference of a joint from its reference. 0 means the default, a negative number no limit. */
typedef struct takt_joint_tolerance {
  double position;     /* rad or m */
  double velocity;     /* rad/s or m/s */
  double acceleration; /* not measured: not above 0 */
} takt_joint_tolerance;

/* Joints and options of a motion. Set exactly one of group and joint_names. */
typedef struct takt_motion_options {
  uint32_t struct_size;           /* set by takt_motion_options_init() */
  int32_t fit;                    /* 1: slow the motion down until all limits hold, instead of rejecting it */
  const char* group;              /* a group of the robot; its joints in order are the columns */
  const char* const* joint_names; /* one name for each column */
  int32_t at_end;                 /* trajectories: takt_at_end */
  int32_t on_disconnect;          /* trajectories and moves: takt_on_disconnect */
  int32_t when_busy;              /* trajectories and moves: takt_when_busy */
  int32_t reserved;               /* 0 */
  /* Trajectories and moves: one tolerance for each column, or NULL for the defaults. Beyond the path
   * tolerance (default: none) the goal is aborted with TAKT_ERROR_MOTION_PATH_TOLERANCE. */
  const takt_joint_tolerance* path_tolerance;
  /* If the joint is not within the goal tolerance (default: the robot's) in time, the goal is aborted with
   * TAKT_ERROR_MOTION_GOAL_TOLERANCE. */
  const takt_joint_tolerance* goal_tolerance;
  int64_t goal_time_ns; /* time for the goal tolerance, after the end; 0: the robot's, negative: no limit */
  /* Trajectories: the loop's time (takt_robot_state.time_ns) at which the motion starts; 0: at once. Until
   * then the goal is TAKT_GOAL_PENDING. */
  int64_t start_ns;
} takt_motion_options;

/* A trajectory that does not end at rest. */
typedef enum takt_at_end {
  TAKT_AT_END_REST = 0, /* is rejected */
  TAKT_AT_END_STOP = 1  /* gets a bounded stop after its last waypoint */
} takt_at_end;

/* A goal whose client disconnects. */
typedef enum takt_on_disconnect {
  TAKT_ON_DISCONNECT_STOP = 0,
  TAKT_ON_DISCONNECT_CONTINUE = 1
} takt_on_disconnect;

/* A goal for joints that another goal moves. */
typedef enum takt_when_busy {
  TAKT_WHEN_BUSY_SPLICE = 0, /* takes the joints over */
  TAKT_WHEN_BUSY_QUEUE = 1,  /* waits as TAKT_GOAL_PENDING until the other goal has succeeded */
  TAKT_WHEN_BUSY_REJECT = 2  /* is rejected: TAKT_ERROR_MOTION_JOINT_BUSY */
} takt_when_busy;

/* Sets struct_size to `size`, and everything else to zero. Ignores NULL. */
TAKT_API void takt_motion_options_init(takt_motion_options* options, size_t size);

/* ---- requests ---- */

/* The functions below send a request and wait until the server accepts it. On success reply->goal is the
 * goal's number, and reply->duration_ns its duration. On TAKT_ERROR_MOTION_... `*reply` holds joint, time,
 * value and limit, if the reason has them. `reply` may be NULL. Other errors:
 * TAKT_ERROR_TRAJECTORY_NOT_FINITE; those of the connection; TAKT_ERROR_CAPI_TIMEOUT. After a timeout the
 * server may still accept the request. */

/* Requests a trajectory. The server checks all of it against the robot's limits before it moves a joint.
 * Times count from the start of the motion. If the first time is above 0, the joints first move to the first
 * waypoint. If it is 0, the joints must be there. */
TAKT_API int32_t takt_motion_client_trajectory(takt_motion_client* client, const takt_motion_options* options,
                                               const takt_waypoints* waypoints, takt_reply* reply);

/* Requests a motion from rest to rest at `positions` (one for each column; rad or m) in duration_ns; 0: as
 * fast as the limits allow. */
TAKT_API int32_t takt_motion_client_move(takt_motion_client* client, const takt_motion_options* options,
                                         const double* positions, size_t joints, int64_t duration_ns,
                                         takt_reply* reply);

/* Sends one setpoint of a stream, which the joints follow within the limits. The first starts a goal; later
 * ones for the same joints continue it. If none comes within hold_ns (default 100 ms, at most 10 s), the
 * joints stop and the goal is aborted. The setpoint's `velocities` may be NULL for zeros. Only the options
 * group and joint_names apply. */
TAKT_API int32_t takt_motion_client_setpoint(takt_motion_client* client, const takt_motion_options* options,
                                             const double* positions, const double* velocities, size_t joints,
                                             int64_t hold_ns, takt_reply* reply);

/* Stops one goal within the limits; 0: all goals. Each joint stops as soon as possible. The goals' results
 * tell when they have stopped. */
TAKT_API int32_t takt_motion_client_cancel(takt_motion_client* client, uint64_t goal);

/* Stops one goal, or with 0 all, like takt_motion_client_cancel(). The joints of a trajectory come to rest
 * together, on their path. */
TAKT_API int32_t takt_motion_client_cancel_on_path(takt_motion_client* client, uint64_t goal);

/* Scales the speed along the path of a trajectory goal, or with 0 of all: 0 (pause) to 1 (as planned). The
 * speed changes as soon as the limits allow. Errors: TAKT_ERROR_MOTION_UNKNOWN_GOAL (no trajectory goal of
 * this number moves or pauses). */
TAKT_API int32_t takt_motion_client_speed(takt_motion_client* client, uint64_t goal, double scale);

/* Waits at most timeout_ns for the end of a goal. TAKT_OK means that it has ended; reply->state and
 * reply->reason tell how. `reply` may be NULL. Feedback that arrives meanwhile is dropped. Errors:
 * TAKT_ERROR_CAPI_TIMEOUT. */
TAKT_API int32_t takt_motion_client_wait(takt_motion_client* client, uint64_t goal, int64_t timeout_ns,
                                         takt_reply* reply);

/* Stops the robot and latches the stop. Categories are those of IEC 60204-1. 0: power off at once. 1: bounded
 * stop, then power off. 2: bounded stop, power stays on. */
TAKT_API int32_t takt_motion_client_estop(takt_motion_client* client, int32_t category);

/* Leaves a latched stop: clears faults and powers the drives. Wait until takt_motion_client_state() reports
 * TAKT_ROBOT_READY. */
TAKT_API int32_t takt_motion_client_reset(takt_motion_client* client);

/* ---- the robot's state ---- */

/* The phase of the whole robot. */
typedef enum takt_robot_phase {
  TAKT_ROBOT_STARTING = 0,
  TAKT_ROBOT_READY = 1,
  TAKT_ROBOT_STOPPING = 2,
  TAKT_ROBOT_STOPPED = 3, /* latched: takt_motion_client_reset() */
  TAKT_ROBOT_DOWN = 4
} takt_robot_phase;

/* The state of the robot. An output: the library writes the fields that struct_size covers. */
typedef struct takt_robot_state {
  uint32_t struct_size; /* set by takt_robot_state_init() */
  int32_t state;        /* takt_robot_phase */
  int32_t reason;       /* TAKT_ERROR_MOTION_... of a stop by the robot itself, else TAKT_OK */
  uint32_t active_goals;
  int64_t time_ns;   /* on the loop's clock */
  uint64_t cycles;   /* of the loop since its start */
  uint64_t overruns; /* periods that the loop missed */
} takt_robot_state;

/* Sets struct_size to `size`, and everything else to zero. Ignores NULL. */
TAKT_API void takt_robot_state_init(takt_robot_state* state, size_t size);

/* Reads the state of the robot, and the reference and measured position of each joint (rad or m). `joints`
 * equals takt_motion_client_joints(). Outputs may be NULL. */
TAKT_API int32_t takt_motion_client_state(takt_motion_client* client, takt_robot_state* state, size_t joints,
                                          double* references, double* measured);

/* ---- the wire protocol ---- */

/* The two functions below exchange messages of the wire protocol as text, for requests without a function
 * above. include/takt/motion/PROTOCOL.md documents it. The "id" of a request comes back with every answer
 * to it. */

/* Sends one request, for example {"subscribe":{"rate":10}}, and does not wait. An invalid request is not
 * sent. Errors: TAKT_ERROR_MOTION_MALFORMED, _UNKNOWN_REQUEST, ... */
TAKT_API int32_t takt_motion_client_send(takt_motion_client* client, const char* request);

/* Receives the oldest message that no other function has read. It is a line of JSON, with a NUL instead of
 * the line's end. `*length` (may be NULL) is its length without the NUL. Up to 4096 messages wait; then the
 * oldest are dropped. Errors: TAKT_ERROR_CAPI_TIMEOUT after timeout_ns; TAKT_ERROR_CAPI_BUFFER_TOO_SMALL:
 * `*length` is set and the message stays. */
TAKT_API int32_t takt_motion_client_receive(takt_motion_client* client, int64_t timeout_ns, char* message,
                                            size_t size, size_t* length);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TAKT_MOTION_H */
