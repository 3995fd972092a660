/* Trajectories of many joints, point-to-point motions, and stops. */
#ifndef TAKT_TRAJECTORY_H
#define TAKT_TRAJECTORY_H

#include "takt/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- trajectories ---- */

/* A motion of many joints through many waypoints, joined by quintic polynomials. Its time is 0 at the first
 * waypoint. */
typedef struct takt_trajectory takt_trajectory;

/* How a trajectory passes its waypoints. */
typedef enum takt_through {
  TAKT_THROUGH_DEFAULT = 0, /* GIVEN if velocities are given, else SMOOTH */
  TAKT_THROUGH_STOP = 1,    /* at rest at each waypoint, the ends included */
  TAKT_THROUGH_GIVEN = 2,   /* with the given velocities and accelerations; accelerations default to zero */
  /* Minimum jerk, continuous up to the fourth derivative. Only the derivatives at the first and last waypoint
   * are used; default: rest. */
  TAKT_THROUGH_SMOOTH = 3,
  /* Cubic spline with continuous acceleration. Only the derivatives at the first and last waypoint are used;
   * default: a natural spline. */
  TAKT_THROUGH_CUBIC = 4,
  TAKT_THROUGH_MONOTONE = 5 /* never beyond the waypoints, continuous acceleration; the ends as for SMOOTH */
} takt_through;

/* Waypoints. Matrices are row-major: joint j at waypoint k is [k * joints + j]. The smallest valid
 * struct_size ends after `positions`. */
typedef struct takt_waypoints {
  uint32_t struct_size;        /* set by takt_waypoints_init() */
  int32_t through;             /* takt_through */
  size_t joints;               /* 1 .. TAKT_MAX_JOINTS */
  size_t count;                /* waypoints, at least 2; the trajectory starts from the first */
  const int64_t* times_ns;     /* count; increasing by 1 us to 1e6 s; only differences matter */
  const double* positions;     /* count x joints; rad or m; finite, at most 1e9 in magnitude */
  const double* velocities;    /* count x joints; rad/s or m/s; or NULL */
  const double* accelerations; /* count x joints; rad/s^2 or m/s^2; or NULL */
} takt_waypoints;

/* Sets struct_size to `size`, and everything else to zero. Ignores NULL. Real-time safe. */
TAKT_API void takt_waypoints_init(takt_waypoints* waypoints, size_t size);

/* The quantity that exceeds a limit. */
typedef enum takt_quantity {
  TAKT_QUANTITY_NONE = 0,
  TAKT_QUANTITY_POSITION = 1,
  TAKT_QUANTITY_VELOCITY = 2,
  TAKT_QUANTITY_ACCELERATION = 3,
  TAKT_QUANTITY_JERK = 4
} takt_quantity;

/* The worst violation of a limit. An output: the library writes the fields that struct_size covers. */
typedef struct takt_violation {
  uint32_t struct_size; /* set by takt_violation_init() */
  int32_t quantity;     /* takt_quantity */
  uint64_t joint;       /* column */
  int64_t time_ns;      /* from the trajectory's start */
  double value;         /* signed */
  double limit;         /* a magnitude, except for positions */
} takt_violation;

/* Sets struct_size to `size`, and everything else to zero. Ignores NULL. Real-time safe. */
TAKT_API void takt_violation_init(takt_violation* violation, size_t size);

/* Makes a trajectory through waypoints. Free *trajectory with takt_trajectory_destroy(). Errors:
 * TAKT_ERROR_TRAJECTORY_...; OUT_OF_DOMAIN also for SMOOTH if durations differ by more than a factor of
 * 1e4. */
TAKT_API int32_t takt_trajectory_create(const takt_waypoints* waypoints, takt_trajectory** trajectory);

/* Makes a trajectory from rest to rest, as short as the limits of velocity, acceleration and jerk allow.
 * `limits` has one entry for each joint. The times are exactly the shortest for TAKT_THROUGH_STOP. Otherwise
 * a search finds them, usually in milliseconds, at most in seconds. `*through`, which may be NULL, is the
 * requested value. It is TAKT_THROUGH_STOP if stopping at each waypoint is faster than the result of the
 * search. Times may be NULL; if given, no segment is shorter. Velocities and accelerations are ignored.
 * Positions between the waypoints are not limited: see takt_trajectory_check(). Errors: those of
 * takt_trajectory_create(); TAKT_ERROR_TRAJECTORY_NO_VELOCITIES for GIVEN; TAKT_ERROR_CAPI_BAD_LIMITS;
 * TAKT_ERROR_TRAJECTORY_OUT_OF_DOMAIN for a limit of zero on a joint that moves. OUT_OF_DOMAIN also means a
 * segment without a given time in which no limited joint moves. */
TAKT_API int32_t takt_trajectory_create_within(const takt_waypoints* waypoints,
                                               const takt_joint_limits* limits, size_t joints,
                                               int32_t* through, takt_trajectory** trajectory);

/* Frees the trajectory. No thread may be using it. */
TAKT_API void takt_trajectory_destroy(takt_trajectory* trajectory);

/* Returns the number of joints; 0 for NULL. Real-time safe. */
TAKT_API size_t takt_trajectory_joints(const takt_trajectory* trajectory);

/* Returns the time from the first waypoint to the last; 0 for NULL. It is rounded up: a sample at this time
 * is exactly the end. Real-time safe. */
TAKT_API int64_t takt_trajectory_duration_ns(const takt_trajectory* trajectory);

/* The segment of the last sample. Starts as {0}. Each reader of each trajectory has its own. */
typedef struct takt_cursor {
  uint64_t segment;
} takt_cursor;

/* Writes position, velocity and acceleration of all joints at time_ns from the start. Before the start it
 * writes the start's values, from the end on exactly the end's. Each array has `joints` entries, which must
 * equal the trajectory's joints. Errors: TAKT_ERROR_TRAJECTORY_WRONG_SIZE. Arrays may be NULL. Constant time
 * while time_ns increases, else O(log waypoints). Real-time safe. */
TAKT_API int32_t takt_trajectory_sample(const takt_trajectory* trajectory, takt_cursor* cursor,
                                        int64_t time_ns, size_t joints, double* positions, double* velocities,
                                        double* accelerations);

/* Checks that the limits hold everywhere, also between waypoints. `limits` has one entry for each joint.
 * Errors: TAKT_ERROR_MOTION_POSITION_LIMIT, _VELOCITY_LIMIT, _ACCELERATION_LIMIT, _JERK_LIMIT, with the worst
 * violation in *violation. `violation` may be NULL. A relative excess of 1e-9 is allowed. The check is exact:
 * it uses the extrema of the polynomials. O(waypoints). */
TAKT_API int32_t takt_trajectory_check(const takt_trajectory* trajectory, const takt_joint_limits* limits,
                                       size_t joints, takt_violation* violation);

/* Slows the whole trajectory down by the smallest factor of at least 1 with which the limits hold. Writes it
 * to *factor, which may be NULL. Errors: those of takt_trajectory_check() if no factor suffices. Examples are
 * a position out of range and a limit of zero for a joint that moves. No thread may be sampling it.
 * O(waypoints). */
TAKT_API int32_t takt_trajectory_fit(takt_trajectory* trajectory, const takt_joint_limits* limits,
                                     size_t joints, double* factor, takt_violation* violation);

/* Makes the trajectory `factor` times slower on the same path. Errors: TAKT_ERROR_TRAJECTORY_NOT_FINITE,
 * _OUT_OF_DOMAIN. OUT_OF_DOMAIN means a factor that is not positive or times outside 1 us to 1e6 s. No thread
 * may be sampling it. */
TAKT_API int32_t takt_trajectory_slow_down(takt_trajectory* trajectory, double factor);

/* Makes a trajectory of some joints, in the order of `selected`, which holds `count` joint numbers. Free
 * *result with takt_trajectory_destroy(), here and below. Errors: TAKT_ERROR_TRAJECTORY_WRONG_SIZE (no joint,
 * more than TAKT_MAX_JOINTS, or an unknown joint). */
TAKT_API int32_t takt_trajectory_select(const takt_trajectory* trajectory, const size_t* selected,
                                        size_t count, takt_trajectory** result);

/* Makes a trajectory of the part between from_ns and to_ns. Its time is 0 at from_ns. */
TAKT_API int32_t takt_trajectory_part(const takt_trajectory* trajectory, int64_t from_ns, int64_t to_ns,
                                      takt_trajectory** result);

/* Makes a trajectory that follows this one until at_ns and then stops each joint separately. Each joint stops
 * as soon as its acceleration and jerk limits allow. Sets *fits to 1 if the stop keeps all limits, positions
 * included. Else sets it to 0 and writes the least possible violation. `fits` and `violation` may be NULL. To
 * stop all joints together, use takt_trajectory_part() and takt_trajectory_append_stop(). Errors:
 * TAKT_ERROR_TRAJECTORY_OUT_OF_DOMAIN (at_ns before the start). */
TAKT_API int32_t takt_trajectory_stop_each(const takt_trajectory* trajectory, int64_t at_ns,
                                           const takt_joint_limits* limits, size_t joints, int32_t* fits,
                                           takt_violation* violation, takt_trajectory** result);

/* When a trajectory is left for another, and for which joints. */
typedef struct takt_splice_options {
  uint32_t struct_size; /* set by takt_splice_options_init() */
  uint32_t reserved;    /* 0 */
  int64_t at_ns;        /* when to leave the running trajectory, on its clock; not negative */
  int64_t start_ns;     /* time of the next trajectory's first waypoint, on the same clock */
  const size_t*
      joints; /* the running trajectory's joint for each joint of the next one; NULL: all, in order */
} takt_splice_options;

/* Sets struct_size to `size`, and everything else to zero. Ignores NULL. Real-time safe. */
TAKT_API void takt_splice_options_init(takt_splice_options* options, size_t size);

/* The result of a splice. An output: the library writes the fields that struct_size covers. */
typedef struct takt_splice {
  uint32_t struct_size; /* set by takt_splice_init() */
  int32_t fits;         /* 1: the bridge keeps all limits; 0: it does not */
  uint64_t waypoint;    /* of the next trajectory, at the end of the bridge */
  int64_t joins_ns;     /* time of that waypoint, on the running trajectory's clock */
  int64_t delay_ns;     /* delay of that waypoint and of all later ones */
} takt_splice;

/* Sets struct_size to `size`, and everything else to zero. Ignores NULL. Real-time safe. */
TAKT_API void takt_splice_init(takt_splice* splice, size_t size);

/* Makes a trajectory that follows `running` until at_ns, then a jerk-limited bridge, then `next`. The bridge
 * has no step in position, velocity or acceleration. It leads to the first waypoint of `next` that is not
 * past. Joints that `next` does not move continue with `running`. Times are on the clock of `running`.
 * `limits` has one finite entry for each joint of `running`.
 *
 * The bridge arrives at the time of the waypoint if the limits of velocity, acceleration and jerk allow it.
 * Otherwise it arrives as soon as possible and delays the rest of `next`. A later waypoint is joined only if
 * the bridge can reach it in time and earlier. Sets splice->fits to 0 if the state at at_ns is outside the
 * limits or the bridge leaves the position range. Then *violation holds the worst violation. `splice` and
 * `violation` may be NULL. The rest of `next` is not checked. The result contains the past: see
 * takt_trajectory_part(). Errors: TAKT_ERROR_TRAJECTORY_WRONG_SIZE, _NOT_FINITE (a limit), _OUT_OF_DOMAIN,
 * _NO_WAYPOINTS (all of `next` is past), _NOT_AT_REST_AT_END (a joint ends in motion while others continue),
 * _TARGET_OUTSIDE_LIMITS (the waypoint). */
TAKT_API int32_t takt_trajectory_splice(const takt_trajectory* running, const takt_trajectory* next,
                                        const takt_splice_options* options, const takt_joint_limits* limits,
                                        size_t joints, takt_splice* splice, takt_violation* violation,
                                        takt_trajectory** result);

/* Appends at most three segments that bring all joints to rest together, within the acceleration and jerk
 * limits. A trajectory that ends at rest stays unchanged. Check position and velocity limits afterwards with
 * takt_trajectory_check(). Errors: TAKT_ERROR_TRAJECTORY_OUT_OF_DOMAIN. No thread may be sampling it. */
TAKT_API int32_t takt_trajectory_append_stop(takt_trajectory* trajectory, const takt_joint_limits* limits,
                                             size_t joints);

/* Writes the trajectory as JSON with the field names of trajectory_msgs/JointTrajectory, for other programs
 * and `takt send`. It holds the waypoints with velocities and accelerations; times are rounded to
 * nanoseconds. The array `joint_names` has one name for each joint. The text has at most `size` bytes,
 * including the final NUL. Sets *length (may be NULL) to the length without the NUL, also on
 * TAKT_ERROR_CAPI_BUFFER_TOO_SMALL. */
TAKT_API int32_t takt_trajectory_to_json(const takt_trajectory* trajectory, const char* const* joint_names,
                                         char* text, size_t size, size_t* length);

/* ---- point to point ---- */

/* A jerk-limited motion of all joints between any two states, planned within a control period, in the
 * caller's memory. */
typedef struct takt_point_to_point takt_point_to_point;

/* Limits that differ by direction. The minima are negative, the others positive. All are finite. */
typedef struct takt_directional_limits {
  double velocity_min;     /* rad/s or m/s */
  double velocity_max;     /* rad/s or m/s */
  double acceleration_min; /* rad/s^2 or m/s^2 */
  double acceleration_max; /* rad/s^2 or m/s^2 */
  double jerk;             /* rad/s^3 or m/s^3; a magnitude */
} takt_directional_limits;

/* Copies the velocity, acceleration and jerk limits of a joint to both directions. Ignores NULL. Real-time
 * safe. */
TAKT_API void takt_directional_limits_init(takt_directional_limits* limits,
                                           const takt_joint_limits* both_directions);

/* How joints are synchronised. */
typedef enum takt_synchronisation {
  TAKT_SYNCHRONISE_TIME = 0, /* they start and arrive together */
  TAKT_SYNCHRONISE_PHASE = 1 /* they also move in proportion, on the straight line from start to target */
} takt_synchronisation;

/* Return the size and the alignment of a motion of so many joints, in bytes. The size is 0 unless joints is 1
 * .. TAKT_MAX_JOINTS; about 1.2 kB for each joint. Both are constant while the library is loaded. Real-time
 * safe. */
TAKT_API size_t takt_point_to_point_size(size_t joints);
TAKT_API size_t takt_point_to_point_align(void);

/* Makes a motion of 1 .. TAKT_MAX_JOINTS joints in `memory` (`size` bytes). The joints stand still at zero.
 * `*motion` is that memory. Errors: TAKT_ERROR_TRAJECTORY_WRONG_SIZE (joints),
 * TAKT_ERROR_CAPI_BUFFER_TOO_SMALL, _MISALIGNED. Real-time safe. */
TAKT_API int32_t takt_point_to_point_init_in(void* memory, size_t size, size_t joints,
                                             takt_point_to_point** motion);

/* Plans the motion from `start` to `target`; each array has one entry for each joint. `synchronisation` is a
 * takt_synchronisation. The duration is the shortest that all joints can keep, and at least at_least_ns (0:
 * the shortest). A start outside the limits first comes back inside with the least violation. Positions
 * between start and target are not limited. After an error the old motion remains. Errors:
 * TAKT_ERROR_TRAJECTORY_WRONG_SIZE, _NOT_FINITE, _OUT_OF_DOMAIN, _LIMIT_NOT_POSITIVE, _TARGET_OUTSIDE_LIMITS,
 * _NOT_IN_PHASE; TAKT_ERROR_CAPI_BAD_ARGUMENT (synchronisation). Real-time safe. */
TAKT_API int32_t takt_point_to_point_plan(takt_point_to_point* motion, const takt_motion_state* start,
                                          const takt_motion_state* target,
                                          const takt_directional_limits* limits, size_t joints,
                                          int32_t synchronisation, int64_t at_least_ns);

/* Writes the duration, and 1 to *fits if the motion keeps the limits, else 0. The duration is rounded up: a
 * sample at this time is exactly the target. Outputs may be NULL. Real-time safe. */
TAKT_API int32_t takt_point_to_point_get(const takt_point_to_point* motion, int64_t* duration_ns,
                                         int32_t* fits);

/* Writes position, velocity and acceleration of all joints at time_ns from the start. Before the start it
 * writes the start's values, from the end on exactly the target's. Arrays may be NULL. Real-time safe. */
TAKT_API int32_t takt_point_to_point_sample(const takt_point_to_point* motion, int64_t time_ns, size_t joints,
                                            double* positions, double* velocities, double* accelerations);

/* Makes a trajectory of the motion, to check its positions, splice it or sample it. Free *trajectory with
 * takt_trajectory_destroy(). */
TAKT_API int32_t takt_point_to_point_to_trajectory(const takt_point_to_point* motion,
                                                   takt_trajectory** trajectory);

/* ---- stops ---- */

/* The fastest stop of one joint within its velocity, acceleration and jerk limits. It has no step in
 * position, velocity or acceleration. A loop plans and samples it in the caller's memory. */
typedef struct takt_stop takt_stop;

/* Return the size and the alignment of a takt_stop, in bytes. Both are constant while the library is loaded.
 * Real-time safe. */
TAKT_API size_t takt_stop_size(void);
TAKT_API size_t takt_stop_align(void);

/* Plans a stop from `state` in `memory` (`size` bytes). `*stop` is that memory. If no stop keeps the limits,
 * it plans the one with the least violation: see takt_stop_get(). Errors: TAKT_ERROR_TRAJECTORY_NOT_FINITE,
 * _OUT_OF_DOMAIN (a number of the state beyond 1e9); TAKT_ERROR_CAPI_BAD_LIMITS, _BUFFER_TOO_SMALL,
 * _MISALIGNED. Real-time safe. */
TAKT_API int32_t takt_stop_init_in(void* memory, size_t size, const takt_motion_state* state,
                                   const takt_joint_limits* limits, takt_stop** stop);

/* Writes the duration, the signed stopping distance (rad or m), and 1 to *fits if the stop keeps the limits,
 * else 0. The duration is rounded up: a sample at this time is at rest. Outputs may be NULL. Real-time
 * safe. */
TAKT_API int32_t takt_stop_get(const takt_stop* stop, int64_t* duration_ns, double* distance, int32_t* fits);

/* Writes the state time_ns after the start of the stop. From the end on it is exactly at rest. Real-time
 * safe. */
TAKT_API int32_t takt_stop_sample(const takt_stop* stop, int64_t time_ns, takt_motion_state* state);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TAKT_TRAJECTORY_H */
