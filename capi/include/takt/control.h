/* PID controllers, limiters of joints and rates, filters, and transmissions. */
#ifndef TAKT_CONTROL_H
#define TAKT_CONTROL_H

#include "takt/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- PID ---- */

/* A PID controller. */
typedef struct takt_pid takt_pid;

/* The formulas of a PID: takt's own, or a convention of another library, for gains tuned there. */
typedef enum takt_pid_form {
  TAKT_PID_TAKT =
      0, /* backward Euler; the integral holds while it drives the output further beyond a limit */
  TAKT_PID_ROS1 = 1,             /* control_toolbox of ROS 1, without antiwindup */
  TAKT_PID_ROS1_ANTI_WINDUP = 2, /* the same with antiwindup */
  TAKT_PID_ROS2 = 3, /* control_toolbox of ROS 2; this and the next two differ in the anti-windup strategy */
  TAKT_PID_ROS2_CONDITIONAL = 4,
  TAKT_PID_ROS2_BACK_CALCULATION = 5,
  TAKT_PID_DATASPEED = 6 /* the Dataspeed drive-by-wire controller */
} takt_pid_form;

/* Gains in units of the output u, the error e and seconds. */
typedef struct takt_pid_gains {
  uint32_t struct_size;     /* set by takt_pid_gains_init() */
  int32_t form;             /* takt_pid_form */
  double proportional;      /* u / e */
  double integral;          /* u / (e s) */
  double derivative;        /* u s / e */
  double setpoint_weight;   /* of the proportional part; 1 */
  double derivative_weight; /* of the setpoint in the derivative; the conventions need 1; 0 */
  double derivative_filter; /* s; time constant */
  double tracking_time;     /* s; of back-calculation; 0: from the gains */
  double dead_band;         /* e; smaller errors are not integrated */
  double integral_min;      /* u; infinite: no limit */
  double integral_max;      /* u; infinite: no limit */
  double output_min;        /* u; infinite: no limit */
  double output_max;        /* u; infinite: no limit */
} takt_pid_gains;

/* Sets all gains to zero, the setpoint weight to 1, the derivative on measurement, no limits. Ignores NULL.
 * Real-time safe. */
TAKT_API void takt_pid_gains_init(takt_pid_gains* gains, size_t size);

/* Makes a PID. Free *pid with takt_pid_destroy(). Errors: TAKT_ERROR_CONTROL_NOT_FINITE, _MIN_ABOVE_MAX,
 * _OUT_OF_DOMAIN; TAKT_ERROR_CAPI_BAD_ARGUMENT (form). */
TAKT_API int32_t takt_pid_create(const takt_pid_gains* gains, takt_pid** pid);
TAKT_API void takt_pid_destroy(takt_pid* pid);

/* Return the size and the alignment of a takt_pid, in bytes. Both are constant while the library is loaded.
 * Real-time safe. */
TAKT_API size_t takt_pid_size(void);
TAKT_API size_t takt_pid_align(void);

/* Makes a PID in `memory` (`size` bytes). `*pid` is that memory; do not pass it to takt_pid_destroy().
 * Errors: those of takt_pid_create(); TAKT_ERROR_CAPI_BUFFER_TOO_SMALL, _MISALIGNED. Real-time safe. */
TAKT_API int32_t takt_pid_init_in(void* memory, size_t size, const takt_pid_gains* gains, takt_pid** pid);

/* Computes the output of one period of period_ns. `feed_forward` is added to the output. After an error
 * *output is the last good one and nothing else changes. Errors: TAKT_ERROR_CONTROL_BAD_PERIOD (zero,
 * negative, over 10 s), _NOT_FINITE. Real-time safe. */
TAKT_API int32_t takt_pid_step(takt_pid* pid, double setpoint, double measured, int64_t period_ns,
                               double feed_forward, double* output);

/* Tracks the output of another controller for one period (manual mode). The integral follows, so that
 * takt_pid_step() continues without a bump. Errors: those of takt_pid_step(). Real-time safe. */
TAKT_API int32_t takt_pid_follow(takt_pid* pid, double output, double setpoint, double measured,
                                 int64_t period_ns, double feed_forward);

/* Changes the gains without a bump. `setpoint` and `measured` are those of the last step; the integral
 * absorbs the difference. Without an integral gain the output steps. After an error the old gains remain.
 * Errors: those of takt_pid_create(); TAKT_ERROR_CAPI_BAD_ARGUMENT (another form). Real-time safe. */
TAKT_API int32_t takt_pid_change(takt_pid* pid, const takt_pid_gains* gains, double setpoint,
                                 double measured);

/* Resets the PID. If keep_integral is not 0, the integral stays. Ignores NULL. Real-time safe. */
TAKT_API void takt_pid_reset(takt_pid* pid, int32_t keep_integral);

/* ---- joint limits ---- */

/* Keeps the references of one joint within its limits, jerk included. The joint can always stop inside its
 * position range. */
typedef struct takt_joint_limiter takt_joint_limiter;

/* Makes a limiter. Position limits may be infinite; velocity, acceleration and jerk limits must be finite.
 * Free *limiter with takt_joint_limiter_destroy(). Errors: TAKT_ERROR_CONTROL_NOT_FINITE, _MIN_ABOVE_MAX,
 * _OUT_OF_DOMAIN. */
TAKT_API int32_t takt_joint_limiter_create(const takt_joint_limits* limits, takt_joint_limiter** limiter);
TAKT_API void takt_joint_limiter_destroy(takt_joint_limiter* limiter);

/* Continues from this state. Errors: TAKT_ERROR_CONTROL_NOT_FINITE; nothing changes. Real-time safe. */
TAKT_API int32_t takt_joint_limiter_reset(takt_joint_limiter* limiter, const takt_motion_state* state);

/* Move the reference for one period. One moves towards a position (rad or m). The other moves with a velocity
 * (rad/s or m/s) within the position range. `*reference` is the new reference, also after
 * TAKT_ERROR_CONTROL_NOT_FINITE, which starts a stop. TAKT_ERROR_CONTROL_BAD_PERIOD changes nothing.
 * Real-time safe. */
TAKT_API int32_t takt_joint_limiter_toward_position(takt_joint_limiter* limiter, double position,
                                                    int64_t period_ns, takt_motion_state* reference);
TAKT_API int32_t takt_joint_limiter_toward_velocity(takt_joint_limiter* limiter, double velocity,
                                                    int64_t period_ns, takt_motion_state* reference);

/* ---- rate limits ---- */

/* Limits a value and its first and second derivative. */
typedef struct takt_rate_limiter takt_rate_limiter;

/* Limits in units u of the value. Rates are positive magnitudes. The forward ones apply to positive values,
 * the reverse ones to negative values. */
typedef struct takt_rate_limits {
  uint32_t struct_size;        /* set by takt_rate_limits_init() */
  uint32_t reserved;           /* 0 */
  double min;                  /* u; not above zero */
  double max;                  /* u; not below zero */
  double forward_acceleration; /* u/s */
  double forward_braking;      /* u/s */
  double reverse_acceleration; /* u/s */
  double reverse_braking;      /* u/s */
  double second;               /* u/s^2; requires equal periods */
} takt_rate_limits;

/* Sets every limit to infinite. Ignores NULL. Real-time safe. */
TAKT_API void takt_rate_limits_init(takt_rate_limits* limits, size_t size);

/* Makes a limiter at value zero, at rest. Free *limiter with takt_rate_limiter_destroy(). Errors:
 * TAKT_ERROR_CONTROL_NOT_FINITE, _MIN_ABOVE_MAX, _OUT_OF_DOMAIN; TAKT_ERROR_CAPI_BAD_ARGUMENT (reserved). */
TAKT_API int32_t takt_rate_limiter_create(const takt_rate_limits* limits, takt_rate_limiter** limiter);
TAKT_API void takt_rate_limiter_destroy(takt_rate_limiter* limiter);

/* Continues from this value, at rest; from zero if it is not finite. Ignores NULL. Real-time safe. */
TAKT_API void takt_rate_limiter_reset(takt_rate_limiter* limiter, double value);

/* Moves the value towards `target` for one period; the target may be infinite. `*value` is valid after errors
 * too, which change nothing. Errors: TAKT_ERROR_CONTROL_BAD_PERIOD, _NOT_FINITE (NaN). Real-time safe. */
TAKT_API int32_t takt_rate_limiter_step(takt_rate_limiter* limiter, double target, int64_t period_ns,
                                        double* value);

/* ---- filters ---- */

/* A filter of samples at equal times. */
typedef struct takt_filter takt_filter;

/* The transfer function of a filter. All but the first are of second order. */
typedef enum takt_filter_kind {
  TAKT_FILTER_FIRST_ORDER = 0, /* low-pass; ignores quality */
  TAKT_FILTER_LOW_PASS = 1,    /* quality 1/sqrt(2) gives the flattest pass band */
  TAKT_FILTER_HIGH_PASS = 2,
  TAKT_FILTER_BAND_PASS = 3,
  TAKT_FILTER_NOTCH = 4
} takt_filter_kind;

/* Makes a filter. `kind` is a takt_filter_kind, `frequency` (Hz) the cut-off or the centre of the band,
 * period_ns the sampling period. Free *filter with takt_filter_destroy(). Errors:
 * TAKT_ERROR_CONTROL_NOT_FINITE, _BAD_PERIOD, _OUT_OF_DOMAIN; TAKT_ERROR_CAPI_BAD_ARGUMENT (kind).
 * OUT_OF_DOMAIN means a frequency or quality that is not positive. It also means a second-order frequency of
 * half the sampling rate or more. */
TAKT_API int32_t takt_filter_create(int32_t kind, double frequency, double quality, int64_t period_ns,
                                    takt_filter** filter);
TAKT_API void takt_filter_destroy(takt_filter* filter);

/* Filters one sample. The first sample counts as the steady past. After TAKT_ERROR_CONTROL_NOT_FINITE *value
 * is the last good one and the sample is ignored. Real-time safe. */
TAKT_API int32_t takt_filter_step(takt_filter* filter, double sample, double* value);

/* Treats the next sample as the first. Ignores NULL. Real-time safe. */
TAKT_API void takt_filter_reset(takt_filter* filter);

/* ---- transmissions ---- */

/* A linear coupling M between actuators and equally many joints, such as a gear box, a differential or a
 * four-bar linkage.
 *
 *   joint positions = M actuator positions + offsets
 *   joint velocities = M actuator velocities
 *   actuator efforts = M^T joint efforts
 */
typedef struct takt_transmission takt_transmission;

/* The most joints of one transmission. */
#define TAKT_MAX_TRANSMISSION 6

/* The quantity to convert. */
typedef enum takt_transmission_quantity {
  TAKT_TRANSMISSION_POSITIONS = 0,
  TAKT_TRANSMISSION_VELOCITIES = 1,
  TAKT_TRANSMISSION_EFFORTS = 2
} takt_transmission_quantity;

/* Make a transmission. The first takes M, row-major with `size` x `size` numbers; `size` is 1 to
 * TAKT_MAX_TRANSMISSION. The others take two reductions n of the actuators and m of the joints.
 *
 *   differential  q1 = (a1/n1 + a2/n2) / (2 m1) + o1,   q2 = (a1/n1 - a2/n2) / (2 m2) + o2
 *   four-bar      q1 = a1 / (m1 n1) + o1,               q2 = (a2/n2 - a1/(m1 n1)) / m2 + o2
 *
 * `offsets` has one entry for each joint, or is NULL for zeros. Free *transmission with
 * takt_transmission_destroy(). Errors: TAKT_ERROR_CONTROL_NOT_FINITE, _OUT_OF_DOMAIN (a reduction of zero, a
 * singular M), _WRONG_SIZE. */
TAKT_API int32_t takt_transmission_create(const double* matrix, size_t size, const double* offsets,
                                          takt_transmission** transmission);
TAKT_API int32_t takt_transmission_create_differential(const double* actuator_reductions,
                                                       const double* joint_reductions, const double* offsets,
                                                       takt_transmission** transmission);
TAKT_API int32_t takt_transmission_create_four_bar(const double* actuator_reductions,
                                                   const double* joint_reductions, const double* offsets,
                                                   takt_transmission** transmission);
TAKT_API void takt_transmission_destroy(takt_transmission* transmission);

/* Convert positions, velocities or efforts between actuators and joints. `quantity` is a
 * takt_transmission_quantity; `size` is the transmission's. NaN and infinity pass through. Errors:
 * TAKT_ERROR_CONTROL_WRONG_SIZE; TAKT_ERROR_CAPI_BAD_ARGUMENT (quantity). Real-time safe. */
TAKT_API int32_t takt_transmission_to_joints(const takt_transmission* transmission, int32_t quantity,
                                             size_t size, const double* actuators, double* joints);
TAKT_API int32_t takt_transmission_to_actuators(const takt_transmission* transmission, int32_t quantity,
                                                size_t size, const double* joints, double* actuators);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TAKT_CONTROL_H */
