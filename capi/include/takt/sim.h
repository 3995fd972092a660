/* A simulated vehicle. */
#ifndef TAKT_SIM_H
#define TAKT_SIM_H

#include "takt/core.h"
#include "takt/mobile.h"
#include "takt/secure.h"
#include "takt/vehicle.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The vehicle's end of the datagrams, to test a driver without a vehicle, in any time that the caller gives.
 * It starts up by itself. It obeys control frames as a bicycle with pedals that lag. It sends the status of
 * all its systems every 10 ms, and halts when control frames stop. The program `takt vehicle-sim` does the
 * same. A call simulates the time since the last call, at most one hour. One thread at a time. */
typedef struct takt_simulated_vehicle takt_simulated_vehicle;

/* A buffer of this size fits every datagram of takt_simulated_vehicle_poll(). */
#define TAKT_SIMULATED_VEHICLE_DATAGRAM 304

/* Makes a cold vehicle at the origin at start_ns. Free *vehicle with takt_simulated_vehicle_destroy(). The
 * channel is a plain one or a vehicle's. It must outlive the vehicle and serve nothing else meanwhile; the
 * caller frees it. `seed` selects the datagrams that faults hit. Errors: TAKT_ERROR_SIM_BAD_VEHICLE;
 * TAKT_ERROR_VEHICLE_NOT_FINITE, _OUT_OF_RANGE (units); TAKT_ERROR_CAPI_BAD_ARGUMENT (a commander's channel,
 * or a status period other than 10 ms). */
TAKT_API int32_t takt_simulated_vehicle_create(const takt_vehicle_description* description,
                                               takt_channel* channel, uint64_t seed, int64_t start_ns,
                                               takt_simulated_vehicle** vehicle);
TAKT_API void takt_simulated_vehicle_destroy(takt_simulated_vehicle* vehicle);

/* Receive, schedule and send datagrams as the functions of takt_vehicle_client do. Errors: those of
 * takt_channel_open() and takt_vehicle_control_decode(); for poll TAKT_ERROR_VEHICLE_NO_ROOM. Real-time
 * safe. */
TAKT_API int32_t takt_simulated_vehicle_receive(takt_simulated_vehicle* vehicle, const uint8_t* datagram,
                                                size_t bytes, int64_t now_ns);
TAKT_API int64_t takt_simulated_vehicle_next_send_ns(const takt_simulated_vehicle* vehicle);
TAKT_API int32_t takt_simulated_vehicle_poll(takt_simulated_vehicle* vehicle, int64_t now_ns, uint8_t* out,
                                             size_t size, size_t* bytes);

/* Restarts a halted vehicle, as a person at the vehicle does. Ignores NULL. Real-time safe. */
TAKT_API void takt_simulated_vehicle_recover(takt_simulated_vehicle* vehicle);

/* Faults of the vehicle. Shares are of its status frames, 0..1. */
typedef struct takt_vehicle_faults {
  uint32_t struct_size; /* set by takt_vehicle_faults_init() */
  uint32_t halted;      /* systems that broke down, bit n for system n */
  int64_t late_ns;      /* delay of its datagrams; 0 to 500 ms */
  double lost;          /* share that is not sent */
  double corrupt;       /* share with one flipped bit */
  double wrong_length;  /* share in which a block has a wrong length field */
  int32_t silent;       /* not zero: it sends nothing, but receives and drives */
  uint32_t reserved;    /* 0 */
} takt_vehicle_faults;

/* Sets no faults. Ignores NULL. Real-time safe. */
TAKT_API void takt_vehicle_faults_init(takt_vehicle_faults* faults, size_t size);
/* Applies faults from now on. Errors: TAKT_ERROR_CAPI_BAD_ARGUMENT (a share, the delay, reserved); nothing
 * changes. Real-time safe. */
TAKT_API int32_t takt_simulated_vehicle_set_faults(takt_simulated_vehicle* vehicle,
                                                   const takt_vehicle_faults* faults);

/* The true state at the last call. An output: the library writes the fields that struct_size covers. */
typedef struct takt_simulated_vehicle_state {
  uint32_t struct_size;       /* set by takt_simulated_vehicle_state_init() */
  int32_t state;              /* takt_system_state of the whole vehicle */
  takt_pose pose;             /* of the middle of the rear axle */
  takt_twist twist;           /* of the same point */
  takt_drive_command command; /* the actual steering, throttle and brake */
  double travelled;           /* m; decreases when driving backwards */
  uint64_t sent;              /* status frames */
  uint64_t refused;           /* datagrams that the channel rejected */
  uint64_t malformed;         /* datagrams that are no control frames */
  uint64_t applied;           /* control frames that steering and pedals follow */
  uint64_t outdated;          /* control frames that are not newer than an earlier one */
  uint64_t halts;             /* halts because control frames stopped */
  /* Control frames while the vehicle held its own brake. It does so until it runs and has received a frame
   * without throttle. */
  uint64_t held;
} takt_simulated_vehicle_state;

/* Sets struct_size to `size`, and everything else to zero. Ignores NULL. Real-time safe. */
TAKT_API void takt_simulated_vehicle_state_init(takt_simulated_vehicle_state* state, size_t size);
/* Reads the state. */
TAKT_API int32_t takt_simulated_vehicle_get_state(const takt_simulated_vehicle* vehicle,
                                                  takt_simulated_vehicle_state* state);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TAKT_SIM_H */
