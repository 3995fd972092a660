/* Drive kinematics and odometry of vehicles with wheels. */
#ifndef TAKT_MOBILE_H
#define TAKT_MOBILE_H

#include "takt/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A pose as of REP 103: x forward, y left, rotation counter-clockwise. */
typedef struct takt_pose {
  double x;       /* m */
  double y;       /* m */
  double heading; /* rad, -pi to pi */
} takt_pose;

/* Velocities in the vehicle's own frame. */
typedef struct takt_twist {
  double forward;  /* m/s */
  double left;     /* m/s */
  double rotation; /* rad/s */
} takt_twist;

/* Convert between the twist of a vehicle with two driven sides and its wheel rates `left` and `right`
 * (rad/s). Radii and track are in m. Errors: TAKT_ERROR_MOBILE_NOT_FINITE, _NOT_POSITIVE (a length).
 * Real-time safe. */
TAKT_API int32_t takt_differential_twist(double left_radius, double right_radius, double track, double left,
                                         double right, takt_twist* twist);
TAKT_API int32_t takt_differential_wheels(double left_radius, double right_radius, double track,
                                          const takt_twist* twist, double* left, double* right);

/* Convert between the twist of a car and its speed (m/s) and steering angle (rad). The car is a bicycle with
 * its origin in the middle of the rear axle. max_steering is in rad, below pi/2. If the car cannot follow the
 * twist, takt_car_drive() gives the nearest curve with the requested speed. Then *exact, which may be NULL,
 * is 0, else 1. Errors: TAKT_ERROR_MOBILE_NOT_FINITE, _NOT_POSITIVE, _OUT_OF_DOMAIN (max_steering). Real-time
 * safe. */
TAKT_API int32_t takt_car_twist(double wheelbase, double speed, double steering, takt_twist* twist);
TAKT_API int32_t takt_car_drive(double wheelbase, double max_steering, const takt_twist* twist, double* speed,
                                double* steering, int32_t* exact);

/* Convert between the twist of a tricycle and the speed (m/s) and angle (rad) of its front wheel, which is
 * steered and driven. Errors: TAKT_ERROR_MOBILE_NOT_FINITE, _NOT_POSITIVE. Real-time safe. */
TAKT_API int32_t takt_tricycle_twist(double wheelbase, double wheel_speed, double steering,
                                     takt_twist* twist);
TAKT_API int32_t takt_tricycle_drive(double wheelbase, const takt_twist* twist, double* wheel_speed,
                                     double* steering);

/* A wheel that drives in one direction and rolls freely across it. A mecanum wheel of radius r is one of
 * radius r/sqrt(2). Its direction is -pi/4 at the front left and rear right, pi/4 at the front right and rear
 * left. */
typedef struct takt_omni_wheel {
  double x;         /* m */
  double y;         /* m */
  double direction; /* rad; 0: forward */
  double radius;    /* m */
} takt_omni_wheel;

/* Convert between the twist of a vehicle with 3 to 8 such wheels and their rates (rad/s). Contradicting rates
 * count as slip: the twist fits them best. Each call computes the matrix anew. Errors:
 * TAKT_ERROR_MOBILE_NOT_FINITE, _NOT_POSITIVE, _OUT_OF_DOMAIN (the number of wheels, or wheels that cannot
 * make every motion). Real-time safe. */
TAKT_API int32_t takt_omni_twist(const takt_omni_wheel* wheels, size_t count, const double* rates,
                                 takt_twist* twist);
TAKT_API int32_t takt_omni_rates(const takt_omni_wheel* wheels, size_t count, const takt_twist* twist,
                                 double* rates);

/* Integrates the motion of a vehicle to its pose. */
typedef struct takt_odometry takt_odometry;

/* The noise of a motion, and the longest period. Fields after timeout_ns are optional. */
typedef struct takt_odometry_options {
  uint32_t struct_size;        /* set by takt_odometry_options_init() */
  uint32_t reserved;           /* 0 */
  int64_t timeout_ns;          /* a longer period between two velocities is a gap; at most 10 s; 0.5 s */
  double forward_per_distance; /* variance, m^2 for each m */
  double left_per_distance;    /* variance, m^2 for each m */
  double heading_per_distance; /* variance, rad^2 for each m */
  double heading_per_rotation; /* variance, rad^2 for each rad */
} takt_odometry_options;

/* Sets the timeout to 0.5 s and the noise to zero. Ignores NULL. */
TAKT_API void takt_odometry_options_init(takt_odometry_options* options, size_t size);

/* Makes an odometry at the origin. `options` may be NULL for the defaults. Free *odometry with
 * takt_odometry_destroy(). Errors: TAKT_ERROR_MOBILE_NOT_FINITE, _NOT_POSITIVE, _OUT_OF_DOMAIN. */
TAKT_API int32_t takt_odometry_create(const takt_odometry_options* options, takt_odometry** odometry);
TAKT_API void takt_odometry_destroy(takt_odometry* odometry);

/* Moves the pose by a twist that lasted period_ns, along an exact arc. After an error the pose stays. Errors:
 * TAKT_ERROR_MOBILE_NOT_FINITE, _BAD_PERIOD, _STALE (longer than the timeout). After STALE the covariance
 * grows as if the twist had lasted all the time. Real-time safe. */
TAKT_API int32_t takt_odometry_advance(takt_odometry* odometry, const takt_twist* twist, int64_t period_ns);

/* Moves the pose by a motion in m and rad in the vehicle's own frame. The drive functions above compute it
 * from wheel angles since the last call. Errors: TAKT_ERROR_MOBILE_NOT_FINITE; nothing changes. Real-time
 * safe. */
TAKT_API int32_t takt_odometry_move(takt_odometry* odometry, const takt_twist* motion);

/* Sets the pose, which is known exactly. Errors: TAKT_ERROR_MOBILE_NOT_FINITE; nothing changes. Real-time
 * safe. */
TAKT_API int32_t takt_odometry_set(takt_odometry* odometry, const takt_pose* pose);

/* Writes the pose and its covariance over (x, y, heading): nine numbers, row-major. Either may be NULL.
 * Real-time safe. */
TAKT_API int32_t takt_odometry_get(const takt_odometry* odometry, takt_pose* pose, double* covariance);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TAKT_MOBILE_H */
