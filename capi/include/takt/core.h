/* What every other header of the C API needs: versions, statuses, joints.
 *
 * The headers are the manual. What holds for all of them:
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
#ifndef TAKT_CORE_H
#define TAKT_CORE_H

/* clang-format off */

#include "takt/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- version ---------------------------------------------------------------------------------------------------------- */

/* Counts what was added to this header. A program works with every library of the same soname whose takt_abi_version() is not
 * lower than the TAKT_ABI_VERSION that it was compiled with. */
#define TAKT_ABI_VERSION 1

/* The ABI version of the library that is loaded. Real-time safe. */
TAKT_API int32_t takt_abi_version(void);

/* The version of the library that is loaded, for example "0.1.0". Lives for ever. Real-time safe. */
TAKT_API const char* takt_version(void);

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

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TAKT_CORE_H */
