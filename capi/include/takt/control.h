/* Controllers, filters, limits and transmissions. */
#ifndef TAKT_CONTROL_H
#define TAKT_CONTROL_H

/* clang-format off */

#include "takt/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- control ------------------------------------------------------------------------------------------------------------ */

/* A PID controller. Which formulas it has: takt's, or those of a convention whose gains are brought along. */
typedef struct takt_pid takt_pid;
typedef enum takt_pid_form {
  TAKT_PID_TAKT = 0, /* backward Euler; the integral holds while it would drive the output further beyond a limit */
  TAKT_PID_ROS1 = 1, /* control_toolbox of ROS 1; _ANTI_WINDUP: with antiwindup set */
  TAKT_PID_ROS1_ANTI_WINDUP = 2,
  TAKT_PID_ROS2 = 3, /* control_toolbox of ROS 2, by its anti-windup strategy */
  TAKT_PID_ROS2_CONDITIONAL = 4,
  TAKT_PID_ROS2_BACK_CALCULATION = 5,
  TAKT_PID_DATASPEED = 6 /* of the Dataspeed drive-by-wire controller */
} takt_pid_form;

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

/* Bytes that a takt_pid needs, and the alignment of its address. Constant while the library is loaded. Real-time safe. */
TAKT_API size_t takt_pid_size(void);
TAKT_API size_t takt_pid_align(void);

/* Makes a PID in `memory` (`size` bytes); *pid is that memory. Do not pass it to takt_pid_destroy(). Errors: those of
 * takt_pid_create(), TAKT_ERROR_CAPI_BUFFER_TOO_SMALL, _MISALIGNED. Real-time safe. */
TAKT_API int32_t takt_pid_init_in(void* memory, size_t size, const takt_pid_gains* gains, takt_pid** pid);

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
typedef enum takt_filter_kind {
  TAKT_FILTER_FIRST_ORDER = 0, /* low-pass; quality is not looked at */
  TAKT_FILTER_LOW_PASS = 1,    /* second order, as are those below; quality 1/sqrt(2) has the flattest pass band */
  TAKT_FILTER_HIGH_PASS = 2,
  TAKT_FILTER_BAND_PASS = 3,
  TAKT_FILTER_NOTCH = 4
} takt_filter_kind;

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
typedef enum takt_transmission_quantity {
  TAKT_TRANSMISSION_POSITIONS = 0,
  TAKT_TRANSMISSION_VELOCITIES = 1,
  TAKT_TRANSMISSION_EFFORTS = 2
} takt_transmission_quantity;

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

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TAKT_CONTROL_H */
