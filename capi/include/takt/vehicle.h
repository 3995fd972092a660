/* Vehicles that are driven over datagrams: the law from twists to pedals, the Furbot's frames, a client, and
 * a drive. */
#ifndef TAKT_VEHICLE_H
#define TAKT_VEHICLE_H

#include "takt/core.h"
#include "takt/mobile.h"
#include "takt/secure.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the law from twists to pedals ---- */

/* Computes steering angle, throttle and brake of a car-like vehicle from a commanded twist. */
typedef struct takt_twist_law takt_twist_law;

typedef struct takt_twist_law_options {
  uint32_t struct_size;      /* set by takt_twist_law_options_init() */
  uint32_t reserved;         /* 0 */
  double wheelbase;          /* m */
  double max_steering;       /* rad, below pi/2 */
  double steering_rate;      /* rad/s */
  double command_threshold;  /* m/s; above it the commanded speed determines the steering; 0.1 */
  double measured_threshold; /* m/s; above it, and below the other threshold, the measured speed does; 0.5 */
  double standstill;    /* m/s; below it the vehicle counts as standing, also as commanded to stand; 0.05 */
  double hysteresis;    /* m/s; it brakes if it is too fast by this; 0.1 */
  double holding_brake; /* 0..1; holds a standing vehicle, and one of unknown speed; 0.2 */
  double throttle[3];   /* proportional, integral, derivative gain: from m/s to 0..1 */
  double brake[3];      /* the same, from excess speed in m/s to 0..1; the proportional gain is positive */
} takt_twist_law_options;

/* Sets the defaults named above, and everything else to zero. Ignores NULL. Real-time safe. */
TAKT_API void takt_twist_law_options_init(takt_twist_law_options* options, size_t size);

/* The command to a vehicle. */
typedef struct takt_drive_command {
  double steering; /* rad, counter-clockwise: left when driving forward */
  double throttle; /* -1..1; negative drives backwards; zero while braking */
  double brake;    /* 0..1 */
} takt_drive_command;

/* Makes a law. Free *law with takt_twist_law_destroy(). Errors: TAKT_ERROR_CONTROL_NOT_FINITE; _OUT_OF_DOMAIN
 * (also a negative gain); TAKT_ERROR_CAPI_BAD_ARGUMENT (reserved). */
TAKT_API int32_t takt_twist_law_create(const takt_twist_law_options* options, takt_twist_law** law);
TAKT_API void takt_twist_law_destroy(takt_twist_law* law);

/* Computes the command of the next period. `measured` is the vehicle's speed (m/s, negative backwards).
 * `*command` is valid after errors, too. After TAKT_ERROR_CONTROL_BAD_PERIOD it is the last one. After
 * TAKT_ERROR_CONTROL_NOT_FINITE (speed or twist) the steering stays, the throttle is zero, and the brake is
 * at least the holding brake. Real-time safe. */
TAKT_API int32_t takt_twist_law_step(takt_twist_law* law, const takt_twist* wanted, double measured,
                                     int64_t period_ns, takt_drive_command* command);

/* Resets the law and sets the current steering angle (rad). Ignores NULL. Real-time safe. */
TAKT_API void takt_twist_law_reset(takt_twist_law* law, double steering);

/* ---- frames of the Furbot ---- */

/* The vehicle sends status frames, one in a datagram, to port 18003; it receives control frames on port
 * 18004. A status frame has a time stamp and a block for each system. These are the Furbot's systems; a
 * custom layout may use other numbers up to 31. */
typedef enum takt_system {
  TAKT_SYSTEM_COMMUNICATION = 0,
  TAKT_SYSTEM_BATTERY = 1,
  TAKT_SYSTEM_MOTION_CONTROL = 2,
  TAKT_SYSTEM_TRACTION = 3,
  TAKT_SYSTEM_STEERING = 4,
  TAKT_SYSTEM_HYDRAULICS = 5,
  TAKT_SYSTEM_SUSPENSION_REAR_LEFT = 6,
  TAKT_SYSTEM_SUSPENSION_REAR_RIGHT = 7,
  TAKT_SYSTEM_SUSPENSION_FRONT_LEFT = 8,
  TAKT_SYSTEM_SUSPENSION_FRONT_RIGHT = 9,
  TAKT_SYSTEM_REAR_FORK = 10,
  TAKT_SYSTEM_FRONT_FORK = 11
} takt_system;

/* The state of a system. */
typedef enum takt_system_state {
  TAKT_SYSTEM_STATE_COLD = 0,
  TAKT_SYSTEM_STATE_INIT = 1,
  TAKT_SYSTEM_STATE_RUNNING = 2,
  TAKT_SYSTEM_STATE_HALTED = 3,
  TAKT_SYSTEM_STATE_UNKNOWN = 255 /* the vehicle has not reported it */
} takt_system_state;

/* The type of a number in a block. */
typedef enum takt_field_type {
  TAKT_FIELD_U8 = 1,
  TAKT_FIELD_U16 = 2,
  TAKT_FIELD_U32 = 4,
  TAKT_FIELD_I8 = 0x81,
  TAKT_FIELD_I16 = 0x82,
  TAKT_FIELD_I32 = 0x84
} takt_field_type;

/* A number in a block, big-endian. */
typedef struct takt_vehicle_field {
  const char* name;
  uint32_t offset; /* bytes from the start of the block */
  int32_t type;    /* takt_field_type */
} takt_vehicle_field;

/* The layout of a block. One field is named "state" and has one byte. */
typedef struct takt_vehicle_system {
  uint32_t system; /* takt_system, or a number up to 31 */
  uint32_t bytes;  /* of the block, 1..242 */
  const takt_vehicle_field* fields;
  size_t count; /* of fields */
} takt_vehicle_system;

/* The layouts of all blocks. Of the Furbot's own layouts only the lengths and the fields of traction are
 * certain: state, mode, speed, left_speed, right_speed, throttle, brake, reverse, odometer. The fields of
 * steering (state, current_angle, target_angle) and battery (state, charge, current, voltage,
 * highest_temperature, lowest_temperature) are likely. All other names in
 * include/takt/vehicle/system_layout.hpp are guesses. Make your own layouts if you know better. */
typedef struct takt_vehicle_layouts takt_vehicle_layouts;

/* Makes layouts. Free *layouts with takt_vehicle_layouts_destroy() at any time, also before the objects that
 * use them. Errors: TAKT_ERROR_VEHICLE_BAD_LAYOUT (also no systems, or traction, steering or battery without
 * one of the fields above). */
TAKT_API int32_t takt_vehicle_layouts_create(const takt_vehicle_system* systems, size_t count,
                                             takt_vehicle_layouts** layouts);
TAKT_API void takt_vehicle_layouts_destroy(takt_vehicle_layouts* layouts);

/* A status frame, initially without blocks. */
typedef struct takt_vehicle_status takt_vehicle_status;

/* Makes a status frame. Free *status with takt_vehicle_status_destroy(). `layouts` may be NULL for the
 * Furbot's own. */
TAKT_API int32_t takt_vehicle_status_create(const takt_vehicle_layouts* layouts,
                                            takt_vehicle_status** status);
TAKT_API void takt_vehicle_status_destroy(takt_vehicle_status* status);

/* Decodes a datagram. After an error the frame is unchanged. Blocks of systems without layout are counted and
 * kept. Errors: TAKT_ERROR_VEHICLE_TOO_SHORT, _TOO_LONG (above 256 bytes), _BAD_MAGIC, _TRUNCATED_TLV,
 * _BAD_LEN, _DUPLICATE_SID, _COUNT_MISMATCH. Real-time safe. */
TAKT_API int32_t takt_vehicle_status_decode(takt_vehicle_status* status, const uint8_t* datagram,
                                            size_t bytes);

/* Encodes the frame: `*bytes` bytes of `out`, which has `size` bytes; 256 always suffice. Errors:
 * TAKT_ERROR_VEHICLE_NO_ROOM. Real-time safe. */
TAKT_API int32_t takt_vehicle_status_encode(const takt_vehicle_status* status, uint8_t* out, size_t size,
                                            size_t* bytes);

/* Return the time stamp (ms), the systems with a block, the number of blocks without layout, and the state of
 * a system. Systems are bits: bit n for system n. The state is the number that the vehicle sent, or
 * TAKT_SYSTEM_STATE_UNKNOWN without a block. NULL counts as a frame without blocks. Real-time safe. */
TAKT_API uint32_t takt_vehicle_status_stamp(const takt_vehicle_status* status);
TAKT_API uint32_t takt_vehicle_status_present(const takt_vehicle_status* status);
TAKT_API uint32_t takt_vehicle_status_unknown_blocks(const takt_vehicle_status* status);
TAKT_API int32_t takt_vehicle_status_state(const takt_vehicle_status* status, uint32_t system);

/* Reads a block as received. `*block` points into the status until the status changes. Errors:
 * TAKT_ERROR_VEHICLE_NO_BLOCK. Real-time safe. */
TAKT_API int32_t takt_vehicle_status_block(const takt_vehicle_status* status, uint32_t system,
                                           const uint8_t** block, size_t* bytes);

/* Reads a field by name, as a raw count. Errors: TAKT_ERROR_VEHICLE_UNKNOWN_SYSTEM, _UNKNOWN_FIELD,
 * _NO_BLOCK. Real-time safe. */
TAKT_API int32_t takt_vehicle_status_value(const takt_vehicle_status* status, uint32_t system,
                                           const char* field, int64_t* value);

/* Set parts of a frame, for a vehicle or its simulation. Setting a field of a missing block adds the block
 * with zeros elsewhere. Errors: TAKT_ERROR_VEHICLE_UNKNOWN_SYSTEM, _UNKNOWN_FIELD, _BAD_LEN (of the block),
 * _OUT_OF_RANGE (the value does not fit), _NO_ROOM. Real-time safe. */
TAKT_API int32_t takt_vehicle_status_set_stamp(takt_vehicle_status* status, uint32_t stamp);
TAKT_API int32_t takt_vehicle_status_set_block(takt_vehicle_status* status, uint32_t system,
                                               const uint8_t* block, size_t bytes);
TAKT_API int32_t takt_vehicle_status_set_value(takt_vehicle_status* status, uint32_t system,
                                               const char* field, int64_t value);

/* A control frame, in raw counts. */
typedef struct takt_vehicle_control {
  uint32_t stamp; /* ms */
  int32_t steer;
  int32_t throttle;
  uint32_t brake;
} takt_vehicle_control;

/* Bytes of a control frame. */
#define TAKT_VEHICLE_CONTROL_BYTES 20

/* The byte order of a control frame's payload. The Furbot's original sender used little-endian. There is no
 * default: the frame does not show its byte order, and a vehicle with the wrong one drives with full
 * pedals. */
typedef enum takt_byte_order {
  TAKT_BYTE_ORDER_LITTLE_ENDIAN = 1,
  TAKT_BYTE_ORDER_NETWORK = 2
} takt_byte_order;

/* Decode and encode a control frame. `byte_order` is a takt_byte_order. Errors:
 * TAKT_ERROR_VEHICLE_NO_BYTE_ORDER (0); TAKT_ERROR_CAPI_BAD_ARGUMENT (another number);
 * TAKT_ERROR_VEHICLE_TOO_SHORT, _BAD_LEN (too long), _BAD_MAGIC; for encoding _NO_ROOM. Real-time safe. */
TAKT_API int32_t takt_vehicle_control_decode(const uint8_t* datagram, size_t bytes, int32_t byte_order,
                                             takt_vehicle_control* control);
TAKT_API int32_t takt_vehicle_control_encode(const takt_vehicle_control* control, int32_t byte_order,
                                             uint8_t* out, size_t size);

/* Convert time stamps: milliseconds since Unix second 1 531 000 000, modulo 49.7 days. Times are nanoseconds
 * since 1970. The first gives the stamp of a time. The second gives the time of a stamp that is nearest to
 * the receiver's time. The third gives how much later `stamp` is than `other`, within 24.8 days. Real-time
 * safe. */
TAKT_API uint32_t takt_vehicle_stamp(int64_t unix_ns);
TAKT_API int64_t takt_vehicle_stamp_unwrap_ns(uint32_t stamp, int64_t receiver_unix_ns);
TAKT_API int64_t takt_vehicle_stamp_difference_ns(uint32_t stamp, uint32_t other);

/* ---- a client ---- */

/* The client of a vehicle over datagrams. Bytes and the time go in, bytes come out; the caller has the
 * sockets and clocks.
 *
 * Control frames go out at a fixed rate. They hold the vehicle with the full brake until all required systems
 * run and a command comes. A command is repeated until the next one, or until it is too old. The vehicle is
 * stopped when a command is too old, when the vehicle is silent, or when a required system does not run. It
 * then continues only after takt_vehicle_client_recover().
 *
 *     for (;;) {
 *       next = takt_vehicle_client_next_send_ns(client);
 *       if (takt_udp_receive(socket, next > now ? next - now : 0, in, sizeof in, &size) == TAKT_OK)
 *         takt_vehicle_client_receive(client, in, size, now = clock());
 *
 *       takt_vehicle_client_drive(client, &command, now = clock());
 *       while (takt_vehicle_client_poll(client, now, out, sizeof out, &size) == TAKT_OK && size > 0)
 *         takt_udp_send(socket, out, size);
 *     }
 *
 * Times are nanoseconds of one steady clock with any origin. An earlier time than the last one counts as the
 * last one. If it is earlier by more than the command timeout, the vehicle is stopped with the full brake. It
 * is then not driven until the clock has caught up. One thread at a time. */
typedef struct takt_vehicle_client takt_vehicle_client;

/* A buffer of this size fits every datagram of takt_vehicle_client_poll(). */
#define TAKT_VEHICLE_CLIENT_DATAGRAM 128

/* The units of raw counts. Measure them on the vehicle: most have no default. Angles are positive to the
 * left; `angle` and `steer` are negative for a vehicle that counts to the right. */
typedef struct takt_vehicle_units {
  double wheel_rate;    /* rad/s for each count of the wheels' speeds; rpm */
  double speed;         /* m/s for each count of the vehicle's speed */
  double angle;         /* rad for each count of the reported steering */
  double odometer;      /* m for each count of the travelled distance */
  double steer;         /* rad for each count of the commanded steering */
  double full_throttle; /* counts of the command */
  double full_brake;    /* counts of the command */
  double charge;        /* share of a full battery for each count; 0.005 */
  double current;       /* A for each count; 0.1 */
  double voltage;       /* V for each count; 0.1 */
} takt_vehicle_units;

/* Options of a client. Stop categories are those of IEC 60204-1, the most urgent first:
 *
 * - 0: full brake at once
 * - 1: brake gradually to a stand, then hold with the full brake
 * - 2: brake gradually to a stand, then hold with the brake as it is
 */
typedef struct takt_vehicle_client_options {
  uint32_t struct_size;       /* set by takt_vehicle_client_options_init() */
  uint32_t required;          /* systems that must run, bit n for system n; all twelve */
  int64_t freshness_ns;       /* older telemetry is stale; 100 ms */
  int64_t status_period_ns;   /* of status frames, to count lost ones; 10 ms */
  int64_t send_period_ns;     /* of control frames; 10 ms */
  int64_t command_timeout_ns; /* at most an hour; 200 ms */
  int32_t on_command_timeout; /* stop category; 1 */
  int32_t on_fault;           /* stop category for faults of the vehicle or the connection; 1 */
  double max_steering;        /* rad to either side, below pi/2; 0.5 */
  double max_throttle;        /* 0..1; 1 */
  double max_reverse;         /* 0..1; 1 */
  double service_brake;       /* 0..1; brake of categories 1 and 2; 0.5 */
  double brake_rate;          /* 1/s of full brake; how fast categories 1 and 2 apply it; 1 */
  double standstill;          /* m/s; slower counts as standing; 0.05 */
  int64_t settling_ns;        /* the vehicle stands after it was slow for this time; 500 ms */
  int64_t longest_braking_ns; /* full brake if it does not stand after this time; at most a minute; 5 s */
  takt_vehicle_units units;
  int64_t
      unix_ns_at_zero; /* Unix time at zero of the clock, for time stamps; their origin, 1 531 000 000 s */
  int32_t byte_order;  /* takt_byte_order of control frames; no default, 0 is rejected */
  /* Not zero: vehicle and wheel speeds have no sign; the reverse flag gives it; 0. */
  int32_t speed_is_magnitude;
} takt_vehicle_client_options;

/* Sets the defaults named above; other units and byte_order become zero. Ignores NULL. Real-time safe. */
TAKT_API void takt_vehicle_client_options_init(takt_vehicle_client_options* options, size_t size);

/* Makes a client. Free *client with takt_vehicle_client_destroy(). `layouts` may be NULL for the Furbot's
 * own. The channel is a plain one or a commander's. It must outlive the client and serve nothing else
 * meanwhile; the caller frees it. Errors: TAKT_ERROR_VEHICLE_NO_BYTE_ORDER, _NOT_FINITE, _OUT_OF_RANGE,
 * _UNKNOWN_SYSTEM (a required one), _BAD_LAYOUT; TAKT_ERROR_CAPI_BAD_ARGUMENT (a category, a byte order, a
 * vehicle's channel). */
TAKT_API int32_t takt_vehicle_client_create(const takt_vehicle_client_options* options,
                                            const takt_vehicle_layouts* layouts, takt_channel* channel,
                                            takt_vehicle_client** client);
TAKT_API void takt_vehicle_client_destroy(takt_vehicle_client* client);

/* Takes a datagram from the vehicle. An error changes only a counter. Errors: those of takt_channel_open()
 * and takt_vehicle_status_decode(); TAKT_ERROR_VEHICLE_LATE, _DUPLICATE, _IMPOSSIBLE_STAMP. Real-time
 * safe. */
TAKT_API int32_t takt_vehicle_client_receive(takt_vehicle_client* client, const uint8_t* datagram,
                                             size_t bytes, int64_t now_ns);

/* Returns the time of the next datagram to send; INT64_MIN: at once. Every other function can change it.
 * Real-time safe. */
TAKT_API int64_t takt_vehicle_client_next_send_ns(const takt_vehicle_client* client);

/* Writes the datagram that is due to `out`, which has `size` bytes; `*bytes` is 0 if none is due. Call it
 * until then. Errors: those of takt_channel_seal(). Real-time safe. */
TAKT_API int32_t takt_vehicle_client_poll(takt_vehicle_client* client, int64_t now_ns, uint8_t* out,
                                          size_t size, size_t* bytes);

/* Sets the command. A command beyond the client's limits is reduced to them. After an error the last command
 * stays and ages. Errors: TAKT_ERROR_VEHICLE_NOT_FINITE; _OUT_OF_RANGE (not within a quarter turn, -1..1,
 * 0..1); _BOTH_PEDALS; _NOT_READY; _STOPPED. Real-time safe. */
TAKT_API int32_t takt_vehicle_client_drive(takt_vehicle_client* client, const takt_drive_command* command,
                                           int64_t now_ns);

/* Stops the vehicle in any state. During a stop only a more urgent category has an effect. Errors:
 * TAKT_ERROR_CAPI_BAD_ARGUMENT (the category). Real-time safe. */
TAKT_API int32_t takt_vehicle_client_stop(takt_vehicle_client* client, int32_t category, int64_t now_ns);

/* Ends a stop: the vehicle is ready, and held until the next command. Errors:
 * TAKT_ERROR_VEHICLE_CAUSE_REMAINS (a fault persists), _NOT_STANDING. Real-time safe. */
TAKT_API int32_t takt_vehicle_client_recover(takt_vehicle_client* client, int64_t now_ns);

/* Discards all telemetry, and stops the vehicle if it was ready or driven. Call it after the vehicle's or the
 * caller's clock was set for good: telemetry may count as too old until then. Real-time safe. */
TAKT_API int32_t takt_vehicle_client_forget(takt_vehicle_client* client, int64_t now_ns);

/* The state of a client. */
typedef enum takt_drive_state {
  TAKT_DRIVE_STARTING = 0, /* until the vehicle can be driven */
  TAKT_DRIVE_READY = 1,    /* held until the first command */
  TAKT_DRIVE_DRIVING = 2,
  TAKT_DRIVE_STOPPING = 3,
  TAKT_DRIVE_STOPPED = 4 /* stopped and standing */
} takt_drive_state;

/* The cause of a stop. */
typedef enum takt_stop_cause {
  TAKT_STOP_CAUSE_NONE = 0,
  TAKT_STOP_CAUSE_REQUESTED = 1,          /* by takt_vehicle_client_stop() */
  TAKT_STOP_CAUSE_COMMAND_TIMEOUT = 2,    /* no new command in time */
  TAKT_STOP_CAUSE_DISCONNECTED = 3,       /* no session with the vehicle */
  TAKT_STOP_CAUSE_TELEMETRY_SILENT = 4,   /* no fresh telemetry from the vehicle */
  TAKT_STOP_CAUSE_SYSTEM_STALE = 5,       /* no fresh telemetry of a required system */
  TAKT_STOP_CAUSE_SYSTEM_NOT_RUNNING = 6, /* a required system is cold, starting or halted */
  TAKT_STOP_CAUSE_CLOCK_WENT_BACK = 7,    /* the caller's clock: all ages are unknown */
  TAKT_STOP_CAUSE_SPEED_CONTRADICTED =
      8 /* of takt_vehicle_drive: the wheels contradict the vehicle's speed */
} takt_stop_cause;

/* The state of a client in detail. An output: the library writes the fields that struct_size covers. */
typedef struct takt_vehicle_client_state {
  uint32_t struct_size;       /* set by takt_vehicle_client_state_init() */
  int32_t state;              /* takt_drive_state */
  int32_t cause;              /* takt_stop_cause of the stop, or why the vehicle cannot be driven yet */
  uint32_t system;            /* that causes the stop, if the cause concerns a system */
  int32_t category;           /* of the active stop; -1: none */
  uint32_t reserved;          /* 0 */
  takt_drive_command command; /* that is sent now */
} takt_vehicle_client_state;

/* Sets struct_size to `size`, and everything else to zero. Ignores NULL. Real-time safe. */
TAKT_API void takt_vehicle_client_state_init(takt_vehicle_client_state* state, size_t size);
/* Reads the state after the last call of another function. Real-time safe. */
TAKT_API int32_t takt_vehicle_client_get_state(const takt_vehicle_client* client,
                                               takt_vehicle_client_state* state);

/* Reads the last telemetry of a system; outputs may be NULL. The age counts from the arrival of the fastest
 * possible frame: a delay that all frames share is not visible. It is INT64_MAX without telemetry. `*fresh`
 * is 1 if the age is at most freshness_ns, else 0. Errors: TAKT_ERROR_VEHICLE_UNKNOWN_SYSTEM. Real-time
 * safe. */
TAKT_API int32_t takt_vehicle_client_system(const takt_vehicle_client* client, uint32_t system,
                                            int64_t now_ns, int32_t* state, int64_t* age_ns, int32_t* fresh);

/* Reads a field of a system's last block by name, as a raw count of any age. Errors: those of
 * takt_vehicle_status_value(). Real-time safe. */
TAKT_API int32_t takt_vehicle_client_value(const takt_vehicle_client* client, uint32_t system,
                                           const char* field, int64_t* value);

/* Counts since the client was made. An output: the library writes the fields that struct_size covers. */
typedef struct takt_vehicle_client_counters {
  uint32_t struct_size; /* set by takt_vehicle_client_counters_init() */
  uint32_t reserved;
  uint64_t received;       /* datagrams */
  uint64_t refused;        /* datagrams that the channel rejected */
  uint64_t malformed;      /* datagrams that are no status frames */
  uint64_t accepted;       /* status frames, each the newest at its arrival */
  uint64_t lost;           /* by gaps between stamps, without late ones */
  uint64_t late;           /* overtaken by another */
  uint64_t duplicated;     /* received before */
  uint64_t invalid_stamps; /* with an impossible stamp */
  uint64_t restarts;       /* new beginnings of the vehicle's stamps after a silence */
  uint64_t unknown_blocks; /* of systems without layout */
  uint64_t sent;           /* control frames */
  uint64_t missed; /* control frames not sent: takt_vehicle_client_poll() came late, or the channel failed */
  uint64_t handshakes;       /* datagrams of the channel itself */
  uint64_t commands;         /* accepted */
  uint64_t commands_limited; /* accepted and reduced to the limits */
  uint64_t commands_refused;
  uint64_t command_timeouts;
  uint64_t stops;
} takt_vehicle_client_counters;

/* Sets struct_size to `size`, and everything else to zero. Ignores NULL. Real-time safe. */
TAKT_API void takt_vehicle_client_counters_init(takt_vehicle_client_counters* counters, size_t size);
/* Reads the counters. */
TAKT_API int32_t takt_vehicle_client_get_counters(const takt_vehicle_client* client,
                                                  takt_vehicle_client_counters* counters);

/* ---- a drive: twists in, odometry out ---- */

/* A client that takes twists and estimates the pose. The law above turns twists into commands with the
 * vehicle's reported speed. Use it in place of takt_vehicle_client_drive() in the loop above:
 *
 *     takt_vehicle_client* client = takt_vehicle_drive_client(drive);
 *     ...
 *       takt_vehicle_drive_twist(drive, &twist, now);
 *       takt_vehicle_drive_estimate(drive, &estimate);
 *
 * One thread at a time. The vehicle is stopped when the twists stop. It is stopped with
 * TAKT_STOP_CAUSE_SPEED_CONTRADICTED when wheels and speed contradict each other for longer than
 * freshness_ns. */
typedef struct takt_vehicle_drive takt_vehicle_drive;

/* Limits of twists, all positive; infinite means no limit. A twist beyond them is reduced on the same
 * curve. */
typedef struct takt_twist_limits {
  double forward;                 /* m/s */
  double backward;                /* m/s */
  double left;                    /* m/s to either side; a car never moves sideways */
  double rotation;                /* rad/s */
  double acceleration;            /* m/s^2, while the magnitude of the speed grows */
  double braking;                 /* m/s^2, while it falls */
  double rotational_acceleration; /* rad/s^2 */
} takt_twist_limits;

/* The source of the vehicle's rotation. */
typedef enum takt_turn_source {
  TAKT_TURN_BY_WHEELS = 0, /* the difference of the rear wheels: coarse if they report whole rpm */
  /* The steering angle while it is fresh and plausible, else the wheels. Its error is that of its unit and of
   * the wheelbase. While the wheels contradict it, the heading's variance grows accordingly. */
  TAKT_TURN_BY_STEERING = 1
} takt_turn_source;

/* The source of the travelled distance. */
typedef enum takt_distance_source {
  TAKT_DISTANCE_BY_WHEELS = 0, /* the mean rate of the rear wheels */
  /* The odometer, which must count down backwards. Blocks lost within the odometry's timeout lose no
   * distance. While it contradicts both wheels and speed, the wheels are used. */
  TAKT_DISTANCE_BY_ODOMETER = 1
} takt_distance_source;

typedef struct takt_vehicle_drive_options {
  uint32_t struct_size; /* set by takt_vehicle_drive_options_init() */
  uint32_t reserved;    /* 0 */
  takt_twist_limits limits;
  double wheel_radius; /* m, of the rear wheels */
  double track;        /* m, between the rear wheels */
  int32_t turn;        /* takt_turn_source; by the wheels */
  int32_t distance;    /* takt_distance_source; by the wheels */
} takt_vehicle_drive_options;

/* Sets struct_size to `size`, and everything else to zero: limits and lengths have no default. Ignores NULL.
 * Real-time safe. */
TAKT_API void takt_vehicle_drive_options_init(takt_vehicle_drive_options* options, size_t size);

/* The parameters of a vehicle and its drive, from which drives and simulated vehicles are made. */
typedef struct takt_vehicle_description takt_vehicle_description;

/* Makes a description. Free *description with takt_vehicle_description_destroy() at any time. If `odometry`
 * is NULL, the defaults of takt_odometry_options_init() apply. The layouts may be NULL for the Furbot's own.
 * takt_vehicle_drive_create() validates the numbers. Errors: TAKT_ERROR_CAPI_BAD_ARGUMENT (turn, distance, a
 * category, a byte order, reserved). */
TAKT_API int32_t takt_vehicle_description_create(const takt_vehicle_drive_options* options,
                                                 const takt_vehicle_client_options* client,
                                                 const takt_twist_law_options* law,
                                                 const takt_odometry_options* odometry,
                                                 const takt_vehicle_layouts* layouts,
                                                 takt_vehicle_description** description);

/* Loads a description from a file in the format of include/takt/robot/vehicle_description.hpp, as `takt drive
 * --vehicle` does. `text`, which may be NULL, gets lines, cut to `size` bytes. They name the file's mistakes,
 * or else the values that were guessed, not measured: show those to the driver. Errors:
 * TAKT_ERROR_CAPI_BAD_DESCRIPTION. */
TAKT_API int32_t takt_vehicle_description_load(const char* path, takt_vehicle_description** description,
                                               char* text, size_t size);

/* Sets the systems that must run for drives that are made later: bit n for system n. Errors:
 * TAKT_ERROR_CAPI_BAD_ARGUMENT (without traction, bit 3); TAKT_ERROR_VEHICLE_UNKNOWN_SYSTEM. Nothing changes
 * then. */
TAKT_API int32_t takt_vehicle_description_require(takt_vehicle_description* description, uint32_t systems);
TAKT_API void takt_vehicle_description_destroy(takt_vehicle_description* description);

/* Makes a drive. Free *drive with takt_vehicle_drive_destroy(). The channel is as for
 * takt_vehicle_client_create(). Errors: those of takt_vehicle_client_create(), takt_twist_law_create() and
 * takt_odometry_create(); TAKT_ERROR_MOBILE_NOT_FINITE, _NOT_POSITIVE (limits and lengths);
 * TAKT_ERROR_VEHICLE_OUT_OF_RANGE. OUT_OF_RANGE means that traction is not required, that the holding brake
 * is below one count, or that the law steers further than the client allows. */
TAKT_API int32_t takt_vehicle_drive_create(const takt_vehicle_description* description, takt_channel* channel,
                                           takt_vehicle_drive** drive);
TAKT_API void takt_vehicle_drive_destroy(takt_vehicle_drive* drive);

/* Returns the drive's client, to receive, poll, stop, recover and read telemetry; NULL for NULL. Do not pass
 * it to takt_vehicle_client_destroy(): the drive frees it. Real-time safe. */
TAKT_API takt_vehicle_client* takt_vehicle_drive_client(takt_vehicle_drive* drive);

/* Sets the twist until the next call. After an error the last command stays and ages. Errors:
 * TAKT_ERROR_VEHICLE_NOT_FINITE; TAKT_ERROR_CONTROL_BAD_PERIOD (two calls at one time); those of
 * takt_vehicle_client_drive(). Real-time safe. */
TAKT_API int32_t takt_vehicle_drive_twist(takt_vehicle_drive* drive, const takt_twist* wanted,
                                          int64_t now_ns);

/* The frames of an estimate, with the names of REP 105: of the pose, and of the twist, in the middle of the
 * rear axle. */
#define TAKT_ODOMETRY_FRAME "odom"
#define TAKT_ODOMETRY_CHILD_FRAME "base_link"

/* The schema of an estimate in shared memory. `takt drive --publish` writes it as the LATEST value
 * "odometry". */
#define TAKT_ODOMETRY_SCHEMA                                                                 \
  "stamp i64, pose.x f64, pose.y f64, pose.heading f64, twist.forward f64, twist.left f64, " \
  "twist.rotation f64, covariance f64[9]"

/* The estimated pose and motion of a vehicle. */
typedef struct takt_odometry_estimate {
  int64_t stamp_ns; /* on the caller's clock; 0 before the first telemetry */
  takt_pose pose;
  takt_twist twist;     /* measured */
  double covariance[9]; /* over (x, y, heading), row-major: m^2, m rad, rad^2 */
} takt_odometry_estimate;

/* Reads the estimate from all telemetry so far. Real-time safe. */
TAKT_API int32_t takt_vehicle_drive_estimate(const takt_vehicle_drive* drive,
                                             takt_odometry_estimate* estimate);

/* Sets the pose and its covariance: nine numbers, row-major, or NULL for zeros. The next telemetry continues
 * from there. Errors: TAKT_ERROR_MOBILE_NOT_FINITE; _OUT_OF_DOMAIN (not symmetric, or not positive
 * semi-definite). Nothing changes then. Real-time safe. */
TAKT_API int32_t takt_vehicle_drive_set_pose(takt_vehicle_drive* drive, const takt_pose* pose,
                                             const double* covariance);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TAKT_VEHICLE_H */
