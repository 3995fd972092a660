/* Wheels and odometry. */
#ifndef TAKT_MOBILE_H
#define TAKT_MOBILE_H

/* clang-format off */

#include "takt/core.h"

#ifdef __cplusplus
extern "C" {
#endif

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
  double forward_per_distance;      /* m^2 for each m */
  double left_per_distance;         /* m^2 for each m */
  double heading_per_distance;      /* rad^2 for each m */
  double heading_per_rotation; /* rad^2 for each rad */
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

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TAKT_MOBILE_H */
