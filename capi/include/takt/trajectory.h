/* Trajectories, point-to-point motions and stops. */
#ifndef TAKT_TRAJECTORY_H
#define TAKT_TRAJECTORY_H

/* clang-format off */

#include "takt/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- trajectories ------------------------------------------------------------------------------------------------------ */

/* A motion of many joints through many waypoints, joined by quintic polynomials. Its time starts with 0 at the first. */
typedef struct takt_trajectory takt_trajectory;

/* How a trajectory passes its waypoints. */
typedef enum takt_through {
  TAKT_THROUGH_DEFAULT = 0, /* GIVEN if there are velocities, else SMOOTH */
  TAKT_THROUGH_STOP = 1,    /* at rest at each, the ends included */
  TAKT_THROUGH_GIVEN = 2,   /* with the velocities, and accelerations or else zero, that are given */
  TAKT_THROUGH_SMOOTH = 3,  /* minimum jerk, continuous up to the fourth derivative; of what is given, only the derivatives at
                               the first and the last waypoint count (rest, where none are given) */
  TAKT_THROUGH_CUBIC = 4,   /* cubic spline, continuous acceleration; of what is given, only the derivatives at the first and
                               the last waypoint count (a natural spline, where none are given) */
  TAKT_THROUGH_MONOTONE = 5 /* never beyond the waypoints, continuous acceleration; the ends as with SMOOTH */
} takt_through;

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
typedef enum takt_quantity {
  TAKT_QUANTITY_NONE = 0,
  TAKT_QUANTITY_POSITION = 1,
  TAKT_QUANTITY_VELOCITY = 2,
  TAKT_QUANTITY_ACCELERATION = 3,
  TAKT_QUANTITY_JERK = 4
} takt_quantity;

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
typedef enum takt_synchronisation {
  TAKT_SYNCHRONISE_TIME = 0, /* they start and arrive together */
  TAKT_SYNCHRONISE_PHASE = 1 /* they also move in proportion, along the straight line from start to target */
} takt_synchronisation;

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

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TAKT_TRAJECTORY_H */
