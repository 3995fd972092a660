/* The base of all headers of the C API: versions, statuses, joints. The C API is for C99 and later, C++, and
 * every language that can call C.
 *
 * The headers are the manual. These rules hold for all of them:
 *
 * UNITS      SI. Rotary joints: rad, rad/s, rad/s^2, rad/s^3, N m. Linear joints: m, m/s, m/s^2, m/s^3, N.
 *            Times are integer nanoseconds; their names end in _ns.
 *
 * STATUS     A function that can fail returns an int32_t: TAKT_OK (0) or a negative takt_status.
 *            A function that fails changes nothing and writes no output, unless its comment says otherwise.
 *            No function throws, prints or ends the program, for any numbers.
 *            Pointers are NULL or valid. A NULL that is not allowed gives TAKT_ERROR_CAPI_NULL_POINTER.
 *
 * STRUCTS    A structure that can grow begins with struct_size. Call its _init function first, with the
 *            structure and its sizeof; it sets the defaults. No function reads or writes beyond that size.
 *            A newer library uses defaults for the fields that the program does not know.
 *            An older library rejects unknown fields that are not zero: TAKT_ERROR_CAPI_WRONG_STRUCT_SIZE.
 *            Structures without struct_size never change, nor do those in arrays. Reserved fields are 0, or
 *            the function returns TAKT_ERROR_CAPI_BAD_ARGUMENT.
 *
 * ENUMS      Fields and parameters that hold an enumerator are int32_t: the size of an enum is not fixed.
 *
 * OWNERSHIP  _create, _connect and _open functions make objects.
 *            The matching _destroy or _close function frees them and takes NULL.
 *            Objects that a loop can make live in the caller's memory: at least _size() bytes at a multiple
 *            of _align(). _init_in makes the object there. Nothing needs to be freed.
 *            Never copy the object to another address.
 *            The library reads other arguments during the call only.
 *
 * THREADS    Functions without an object may be called from any thread at any time.
 *            Functions that take their object as pointer to const may be called from many threads at a time.
 *            All other functions need one thread at a time for each object.
 *
 * REAL TIME  A function marked "Real-time safe" does not allocate, free, lock or wait.
 *            It makes no system call and has no unbounded loop.
 *            The others are for set-up and for threads without deadlines.
 */
#ifndef TAKT_CORE_H
#define TAKT_CORE_H

#include "takt/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- version ---- */

/* Counts the additions to these headers. A program works with a library of the same soname if
 * takt_abi_version() is at least the TAKT_ABI_VERSION that the program was compiled with. */
#define TAKT_ABI_VERSION 1

/* Returns the ABI version of the loaded library. Real-time safe. */
TAKT_API int32_t takt_abi_version(void);

/* Returns the version of the loaded library, for example "0.1.0". The text is never freed. Real-time safe. */
TAKT_API const char* takt_version(void);

/* ---- joints ---- */

/* The most joints of one robot. */
#define TAKT_MAX_JOINTS 64

/* Limits of one joint. Velocity, acceleration, jerk and effort are magnitudes for both directions; infinite
 * means no limit. Functions reject NaN, negative magnitudes and a minimum above its maximum:
 * TAKT_ERROR_CAPI_BAD_LIMITS. */
typedef struct takt_joint_limits {
  double position_min; /* rad or m */
  double position_max; /* rad or m */
  double velocity;     /* rad/s or m/s */
  double acceleration; /* rad/s^2 or m/s^2 */
  double jerk;         /* rad/s^3 or m/s^3 */
  double effort;       /* N m or N */
} takt_joint_limits;

/* Sets every limit to infinite. Ignores NULL. Real-time safe. */
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
