/* A simulated vehicle. */
#ifndef TAKT_SIM_H
#define TAKT_SIM_H

/* clang-format off */

#include "takt/core.h"
#include "takt/mobile.h"
#include "takt/vehicle.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- a simulated vehicle --------------------------------------------------------------------------------------------------- */

/* What is at the other end of the datagrams, to try what drives it before there is a vehicle, in any time that the caller tells: it
 * starts up by itself, obeys control frames as a bicycle with pedals that follow does, tells every 10 ms of all its systems, and
 * halts when no more control frames come. `takt vehicle-sim` is the same as a program. A call takes as long as the time that it
 * makes up for; of more than an hour only the last one happens. One thread at a time. */
typedef struct takt_simulated_vehicle takt_simulated_vehicle;

/* Room for whatever takt_simulated_vehicle_poll() writes. */
#define TAKT_SIMULATED_VEHICLE_DATAGRAM 304

/* At the origin, cold, at start_ns. *vehicle is the caller's, to be freed with takt_simulated_vehicle_destroy(). The channel, a
 * plain one or a vehicle's, stays the caller's: it lives longer, and is used for nothing else meanwhile. The seed decides on what
 * its faults meet. Errors: TAKT_ERROR_SIM_BAD_VEHICLE; TAKT_ERROR_VEHICLE_NOT_FINITE, _OUT_OF_RANGE (units);
 * TAKT_ERROR_CAPI_BAD_ARGUMENT (a commander's channel; a description whose status frames do not come every 10 ms). */
TAKT_API int32_t takt_simulated_vehicle_create(const takt_vehicle_description* description, takt_channel* channel, uint64_t seed,
                                               int64_t start_ns, takt_simulated_vehicle** vehicle);
TAKT_API void takt_simulated_vehicle_destroy(takt_simulated_vehicle* vehicle);

/* As those of takt_vehicle_client. Errors: those of takt_channel_open() and takt_vehicle_control_decode(); of poll
 * TAKT_ERROR_VEHICLE_NO_ROOM. Real-time safe. */
TAKT_API int32_t takt_simulated_vehicle_receive(takt_simulated_vehicle* vehicle, const uint8_t* datagram, size_t bytes,
                                                int64_t now_ns);
TAKT_API int64_t takt_simulated_vehicle_next_send_ns(const takt_simulated_vehicle* vehicle);
TAKT_API int32_t takt_simulated_vehicle_poll(takt_simulated_vehicle* vehicle, int64_t now_ns, uint8_t* out, size_t size,
                                             size_t* bytes);

/* Somebody at the vehicle lets it start again after it has halted. NULL is ignored. Real-time safe. */
TAKT_API void takt_simulated_vehicle_recover(takt_simulated_vehicle* vehicle);

/* What is broken; shares are of the status frames, 0..1. */
typedef struct takt_vehicle_faults {
  uint32_t struct_size; /* set by takt_vehicle_faults_init() */
  uint32_t halted;      /* systems that broke down, bit n for system n */
  int64_t late_ns;      /* so much later leave its datagrams; 0 to 500 ms */
  double lost;          /* share that never leaves */
  double corrupt;       /* share in which a bit is turned over on the way */
  double wrong_length;  /* share in which the length of a block is not what it says */
  int32_t silent;       /* not zero: it says nothing, but hears and drives */
  uint32_t reserved;    /* 0 */
} takt_vehicle_faults;

/* Nothing. NULL is ignored. Real-time safe. */
TAKT_API void takt_vehicle_faults_init(takt_vehicle_faults* faults);
/* From now on. Errors: TAKT_ERROR_CAPI_BAD_ARGUMENT (a share, the delay, reserved): nothing changes. Real-time safe. */
TAKT_API int32_t takt_simulated_vehicle_set_faults(takt_simulated_vehicle* vehicle, const takt_vehicle_faults* faults);

/* The truth, as of the last call. An output: the library writes as many fields as struct_size covers. */
typedef struct takt_simulated_vehicle_state {
  uint32_t struct_size;       /* set by takt_simulated_vehicle_state_init() */
  int32_t state;              /* TAKT_SYSTEM_..., of the vehicle as a whole */
  takt_pose pose;             /* of the middle of the rear axle */
  takt_twist twist;
  takt_drive_command command; /* what steering, drive and brakes give */
  double travelled;           /* m; backwards it counts down */
  uint64_t sent;              /* status frames */
  uint64_t refused;           /* datagrams, by the channel */
  uint64_t malformed;         /* no control frames */
  uint64_t applied;           /* control frames that steering and pedals follow */
  uint64_t outdated;          /* control frames, no newer than one before */
  uint64_t halts;             /* for lack of control frames */
  uint64_t held;              /* control frames that came while the vehicle held its own brake: not running, or never yet one
                               * without throttle */
} takt_simulated_vehicle_state;

/* NULL is ignored. Real-time safe. */
TAKT_API void takt_simulated_vehicle_state_init(takt_simulated_vehicle_state* state);
TAKT_API int32_t takt_simulated_vehicle_get_state(const takt_simulated_vehicle* vehicle, takt_simulated_vehicle_state* state);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TAKT_SIM_H */
