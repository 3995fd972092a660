/* Vehicles driven over datagrams. */
#ifndef TAKT_VEHICLE_H
#define TAKT_VEHICLE_H

/* clang-format off */

#include "takt/core.h"
#include "takt/mobile.h"
#include "takt/secure.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- vehicle ------------------------------------------------------------------------------------------------------------ */

/* From a commanded twist to steering angle, throttle and brake of a car-like vehicle. */
typedef struct takt_twist_law takt_twist_law;

typedef struct takt_twist_law_options {
  uint32_t struct_size; /* set by takt_twist_law_options_init() */
  uint32_t reserved;    /* 0 */
  double wheelbase;          /* m */
  double max_steering;       /* rad, below pi/2 */
  double steering_rate;      /* rad/s */
  double command_threshold;  /* m/s: above it the commanded speed decides on the steering; 0.1 */
  double measured_threshold; /* m/s: above it, and below the other, the measured one does; 0.5 */
  double standstill;         /* m/s: slower, the vehicle stands, or is to stand; 0.05 */
  double hysteresis;         /* m/s: too fast by this, it brakes; 0.1 */
  double holding_brake;      /* 0..1: holds the vehicle where it stands, or is blind; 0.2 */
  double throttle[3];        /* proportional, integral, derivative: from m/s to 0..1 */
  double brake[3];           /* from m/s too fast to 0..1, the proportional one above zero */
} takt_twist_law_options;

/* Everything zero but what is said above. NULL is ignored. Real-time safe. */
TAKT_API void takt_twist_law_options_init(takt_twist_law_options* options);

/* What the vehicle is driven with. */
typedef struct takt_drive_command {
  double steering; /* rad, counter-clockwise: left when driving forward */
  double throttle; /* -1..1; negative drives backwards; zero while it brakes */
  double brake;    /* 0..1 */
} takt_drive_command;

/* *law is the caller's, to be freed with takt_twist_law_destroy(). Errors: TAKT_ERROR_CONTROL_NOT_FINITE, _OUT_OF_DOMAIN (a gain
 * below zero, too),
 * TAKT_ERROR_CAPI_BAD_ARGUMENT (reserved). */
TAKT_API int32_t takt_twist_law_create(const takt_twist_law_options* options, takt_twist_law** law);
TAKT_API void takt_twist_law_destroy(takt_twist_law* law);

/* The command for the next period; `measured` is the speed along the vehicle (m/s, backwards below zero). *command may always be used:
 * after TAKT_ERROR_CONTROL_BAD_PERIOD it is the last one; after _NOT_FINITE (the speed or the twist is not known) the steering stays, the
 * throttle is zero, and the brake as it was but no less than the holding brake. Real-time safe. */
TAKT_API int32_t takt_twist_law_step(takt_twist_law* law, const takt_twist* wanted, double measured, int64_t period_ns,
                                     takt_drive_command* command);

/* As new, but for the steering angle, which the wheels have. NULL is ignored. Real-time safe. */
TAKT_API void takt_twist_law_reset(takt_twist_law* law, double steering);

/* ---- frames of the Furbot ------------------------------------------------------------------------------------------------ */

/* What the vehicle says of itself comes in status frames, one in a datagram to port 18003, and what drives it goes in control
 * frames to port 18004. A status frame has a time stamp and a block of each system, systems being known by these numbers (up to 31
 * where a table of one's own has others). */
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

typedef enum takt_system_state {
  TAKT_SYSTEM_STATE_COLD = 0,
  TAKT_SYSTEM_STATE_INIT = 1,
  TAKT_SYSTEM_STATE_RUNNING = 2,
  TAKT_SYSTEM_STATE_HALTED = 3,
  TAKT_SYSTEM_STATE_UNKNOWN = 255 /* nothing was said of the system */
} takt_system_state;

typedef enum takt_field_type {
  TAKT_FIELD_U8 = 1,
  TAKT_FIELD_U16 = 2,
  TAKT_FIELD_U32 = 4,
  TAKT_FIELD_I8 = 0x81,
  TAKT_FIELD_I16 = 0x82,
  TAKT_FIELD_I32 = 0x84
} takt_field_type;

/* A number in a block, its most significant byte first. */
typedef struct takt_vehicle_field {
  const char* name;
  uint32_t offset; /* bytes from the beginning of the block */
  int32_t type;    /* TAKT_FIELD_... */
} takt_vehicle_field;

/* A block; one of its fields is the "state", of one byte. */
typedef struct takt_vehicle_system {
  uint32_t system; /* TAKT_SYSTEM_..., or a number up to 31 */
  uint32_t bytes;  /* of the block, 1..242 */
  const takt_vehicle_field* fields;
  size_t count;
} takt_vehicle_system;

/* Where the numbers stand in the blocks. Of the Furbot's own table only the lengths and the fields of traction are certain: state,
 * mode, speed, left_speed, right_speed, throttle, brake, reverse, odometer. Those of steering (state, current_angle, target_angle)
 * and of the battery (state, charge, current, voltage, highest_temperature, lowest_temperature) are likely, and whatever else has a
 * name in include/takt/vehicle/system_layout.hpp is a guess. Who knows better makes a table. */
typedef struct takt_vehicle_layouts takt_vehicle_layouts;

/* *layouts is the caller's, to be freed with takt_vehicle_layouts_destroy() any time, also before the frames that use it. Errors:
 * TAKT_ERROR_VEHICLE_BAD_LAYOUT (also: no systems; traction, steering or battery without one of the fields above). */
TAKT_API int32_t takt_vehicle_layouts_create(const takt_vehicle_system* systems, size_t count, takt_vehicle_layouts** layouts);
TAKT_API void takt_vehicle_layouts_destroy(takt_vehicle_layouts* layouts);

/* A status frame, at first without blocks. *status is the caller's, to be freed with takt_vehicle_status_destroy(). `layouts` may
 * be NULL for the Furbot's own. */
typedef struct takt_vehicle_status takt_vehicle_status;
TAKT_API int32_t takt_vehicle_status_create(const takt_vehicle_layouts* layouts, takt_vehicle_status** status);
TAKT_API void takt_vehicle_status_destroy(takt_vehicle_status* status);

/* Takes a datagram whole or not at all. Blocks of systems that the table does not have are skipped, counted and kept. Errors:
 * TAKT_ERROR_VEHICLE_TOO_SHORT, _TOO_LONG (above 256 bytes), _BAD_MAGIC, _TRUNCATED_TLV, _BAD_LEN, _DUPLICATE_SID, _COUNT_MISMATCH.
 * Real-time safe. */
TAKT_API int32_t takt_vehicle_status_decode(takt_vehicle_status* status, const uint8_t* datagram, size_t bytes);

/* Writes the frame: *bytes of `out`, which has room for `size`; 256 are always enough. Error: TAKT_ERROR_VEHICLE_NO_ROOM. Real-time
 * safe. */
TAKT_API int32_t takt_vehicle_status_encode(const takt_vehicle_status* status, uint8_t* out, size_t size, size_t* bytes);

/* The time stamp, ms; the systems that have a block, bit n for system n; the number of blocks of systems that the table does not
 * have; and a system's state, TAKT_SYSTEM_STATE_UNKNOWN without a block, and whatever the vehicle said with one. NULL is a frame without
 * blocks. Real-time safe. */
TAKT_API uint32_t takt_vehicle_status_stamp(const takt_vehicle_status* status);
TAKT_API uint32_t takt_vehicle_status_present(const takt_vehicle_status* status);
TAKT_API uint32_t takt_vehicle_status_unknown_blocks(const takt_vehicle_status* status);
TAKT_API int32_t takt_vehicle_status_state(const takt_vehicle_status* status, uint32_t system);

/* A block as it came; *block points into the status, until that is changed. Errors: TAKT_ERROR_VEHICLE_NO_BLOCK. Real-time safe. */
TAKT_API int32_t takt_vehicle_status_block(const takt_vehicle_status* status, uint32_t system, const uint8_t** block,
                                           size_t* bytes);

/* A field as a raw count, by its name. Errors: TAKT_ERROR_VEHICLE_UNKNOWN_SYSTEM, _UNKNOWN_FIELD, _NO_BLOCK. Real-time safe. */
TAKT_API int32_t takt_vehicle_status_value(const takt_vehicle_status* status, uint32_t system, const char* field, int64_t* value);

/* What a vehicle, or a simulated one, says. A block that was not there is of zeros but for the field that is set. Errors:
 * TAKT_ERROR_VEHICLE_UNKNOWN_SYSTEM, _UNKNOWN_FIELD, _BAD_LEN (of the block), _OUT_OF_RANGE (the value does not fit), _NO_ROOM.
 * Real-time safe. */
TAKT_API int32_t takt_vehicle_status_set_stamp(takt_vehicle_status* status, uint32_t stamp);
TAKT_API int32_t takt_vehicle_status_set_block(takt_vehicle_status* status, uint32_t system, const uint8_t* block, size_t bytes);
TAKT_API int32_t takt_vehicle_status_set_value(takt_vehicle_status* status, uint32_t system, const char* field, int64_t value);

/* What drives the vehicle, in raw counts. */
typedef struct takt_vehicle_control {
  uint32_t stamp; /* ms */
  int32_t steer;
  int32_t throttle;
  uint32_t brake;
} takt_vehicle_control;

#define TAKT_VEHICLE_CONTROL_BYTES 20

/* The order of the bytes in the payload of a control frame. The Furbot's original sender wrote little-endian. No order is a default:
 * nothing on the wire tells a wrong one, and a vehicle that reads the other order drives with full pedals. */
typedef enum takt_byte_order {
  TAKT_BYTE_ORDER_LITTLE_ENDIAN = 1,
  TAKT_BYTE_ORDER_NETWORK = 2
} takt_byte_order;

/* The frame of a control and back; `byte_order` is TAKT_BYTE_ORDER_... . Errors: TAKT_ERROR_VEHICLE_NO_BYTE_ORDER (0),
 * TAKT_ERROR_CAPI_BAD_ARGUMENT (another number), TAKT_ERROR_VEHICLE_TOO_SHORT, _BAD_LEN (longer), _BAD_MAGIC; of encoding _NO_ROOM.
 * Real-time safe. */
TAKT_API int32_t takt_vehicle_control_decode(const uint8_t* datagram, size_t bytes, int32_t byte_order,
                                             takt_vehicle_control* control);
TAKT_API int32_t takt_vehicle_control_encode(const takt_vehicle_control* control, int32_t byte_order, uint8_t* out, size_t size);

/* Time stamps are milliseconds since Unix second 1 531 000 000, and begin anew every 49.7 days: the stamp of a time, the time
 * nearest to the receiver's that has a stamp, and how much later a stamp is than another, within 24.8 days. Times are nanoseconds
 * since 1970. Real-time safe. */
TAKT_API uint32_t takt_vehicle_stamp(int64_t unix_ns);
TAKT_API int64_t takt_vehicle_stamp_unwrap_ns(uint32_t stamp, int64_t receiver_unix_ns);
TAKT_API int64_t takt_vehicle_stamp_difference_ns(uint32_t stamp, uint32_t other);

/* ---- driving a vehicle --------------------------------------------------------------------------------------------------- */

/* The client of a vehicle over datagrams: bytes and the time in, bytes out; sockets and clocks are the caller's. Control frames go
 * out at a fixed rate, whatever happens. Until all required systems run, and again until the first command, they hold the vehicle
 * with the full brake; a command is repeated until the next one, or until it is too old. Then, or when the vehicle falls silent or
 * one of its systems does not run, the vehicle is stopped, and goes on only after takt_vehicle_client_recover().
 *
 *     for (;;) {
 *       next = takt_vehicle_client_next_send_ns(client);
 *       if (takt_udp_receive(socket, next > now ? next - now : 0, in, sizeof in, &size) == TAKT_OK)
 *         takt_vehicle_client_receive(client, in, size, now = clock());
 *       takt_vehicle_client_drive(client, &command, now = clock());
 *       while (takt_vehicle_client_poll(client, now, out, sizeof out, &size) == TAKT_OK && size > 0)
 *         takt_udp_send(socket, out, size);
 *     }
 *
 * Times are nanoseconds of one steady clock, which may begin anywhere. A time before one that was told already is taken as that one;
 * by more than a command may be old, and the vehicle is stopped with the full brake, and not driven before the clock has caught up.
 * One thread at a time. */
typedef struct takt_vehicle_client takt_vehicle_client;

/* Room for whatever takt_vehicle_client_poll() writes. */
#define TAKT_VEHICLE_CLIENT_DATAGRAM 128

/* In units that must be measured on the vehicle: none but wheel_rate has a default. Angles count to the left; of a vehicle that
 * counts them to the right, `angle` and `steer` are below zero. */
typedef struct takt_vehicle_units {
  double wheel_rate;    /* rad/s a count of the wheels' speeds; rpm */
  double speed;         /* m/s a count of the vehicle's speed */
  double angle;         /* rad a count of the reported steering */
  double odometer;      /* m a count of the distance travelled */
  double steer;         /* rad a count of the commanded steering */
  double full_throttle; /* counts of the command */
  double full_brake;    /* counts of the command */
  double charge;        /* of a full battery a count; 0.005 */
  double current;       /* A a count; 0.1 */
  double voltage;       /* V a count; 0.1 */
} takt_vehicle_units;

/* Categories of stops as of IEC 60204-1, the most urgent first: 0, the full brake at once; 1, braked gradually to a stand, and then
 * held with the full brake; 2, the same, but held with the brake as it is. */
typedef struct takt_vehicle_client_options {
  uint32_t struct_size;       /* set by takt_vehicle_client_options_init() */
  uint32_t required;          /* systems without which it is not driven, bit n for system n; all twelve */
  int64_t freshness_ns;       /* what the vehicle said longer ago is stale; 100 ms */
  int64_t status_period_ns;   /* of its status frames, to count those that are lost; 10 ms */
  int64_t send_period_ns;     /* of the control frames; 10 ms */
  int64_t command_timeout_ns; /* an hour at most; 200 ms */
  int32_t on_command_timeout; /* category of the stop; 1 */
  int32_t on_fault;           /* category of a stop for the vehicle's sake, or the way's to it; 1 */
  double max_steering;        /* rad either way, below pi/2; 0.5 */
  double max_throttle;        /* 0..1; 1 */
  double max_reverse;         /* 0..1; 1 */
  double service_brake;       /* 0..1: how far the categories 1 and 2 press the brake; 0.5 */
  double brake_rate;          /* 1/s of full braking: how fast they do, within longest_braking_ns; 1 */
  double standstill;          /* m/s: slower, the vehicle stands; 0.05 */
  int64_t settling_ns;        /* for so long it must be slow to be taken to stand; 500 ms */
  int64_t longest_braking_ns; /* if it does not stand by then, full brake; a minute at most; 5 s */
  takt_vehicle_units units;
  int64_t unix_ns_at_zero; /* Unix time where the clock is zero, for the time stamps; 1 531 000 000 s: they count from there */
  int32_t byte_order;      /* TAKT_BYTE_ORDER_..., of the payload of control frames; it must be given: 0 is refused */
  /* not zero: the vehicle's speed and those of its wheels are without sign, which its reverse flag tells; 0 */
  int32_t speed_is_magnitude;
} takt_vehicle_client_options;

/* Sets the defaults named above; units and byte_order become zero. Ignores NULL. Real-time safe. */
TAKT_API void takt_vehicle_client_options_init(takt_vehicle_client_options* options);

/* *client is the caller's, to be freed with takt_vehicle_client_destroy(). `layouts` may be NULL for the Furbot's own. The channel,
 * a plain one or a commander's, stays the caller's: it lives longer than the client, and is used for nothing else meanwhile. Errors:
 * TAKT_ERROR_VEHICLE_NO_BYTE_ORDER, _NOT_FINITE, _OUT_OF_RANGE, _UNKNOWN_SYSTEM (a required one), _BAD_LAYOUT,
 * TAKT_ERROR_CAPI_BAD_ARGUMENT (a category, a byte order, a vehicle's channel). */
TAKT_API int32_t takt_vehicle_client_create(const takt_vehicle_client_options* options, const takt_vehicle_layouts* layouts,
                                            takt_channel* channel, takt_vehicle_client** client);
TAKT_API void takt_vehicle_client_destroy(takt_vehicle_client* client);

/* A datagram that came from the vehicle. Errors, after which nothing has changed but a counter: those of
 * takt_channel_open() and takt_vehicle_status_decode(); TAKT_ERROR_VEHICLE_LATE, _DUPLICATE, _IMPOSSIBLE_STAMP. Real-time safe. */
TAKT_API int32_t takt_vehicle_client_receive(takt_vehicle_client* client, const uint8_t* datagram, size_t bytes, int64_t now_ns);

/* When takt_vehicle_client_poll() has something to send next; INT64_MIN: at once. Ask again after a call of any other function.
 * Real-time safe. */
TAKT_API int64_t takt_vehicle_client_next_send_ns(const takt_vehicle_client* client);

/* Writes the datagram that is due to `out`, which has room for `size`; *bytes is 0 if none is. Call it until it says so. Errors:
 * those of takt_channel_seal(). Real-time safe. */
TAKT_API int32_t takt_vehicle_client_poll(takt_vehicle_client* client, int64_t now_ns, uint8_t* out, size_t size, size_t* bytes);

/* Drives so from now on. Beyond its limits a command is reduced to them. Errors: TAKT_ERROR_VEHICLE_NOT_FINITE, _OUT_OF_RANGE (not
 * within a quarter turn, -1..1, 0..1), _BOTH_PEDALS, _NOT_READY, _STOPPED: the command before holds, and grows older. Real-time
 * safe. */
TAKT_API int32_t takt_vehicle_client_drive(takt_vehicle_client* client, const takt_drive_command* command, int64_t now_ns);

/* Stops the vehicle, in any state; while a stop is active only a more urgent category changes anything. Errors:
 * TAKT_ERROR_CAPI_BAD_ARGUMENT (the category). Real-time safe. */
TAKT_API int32_t takt_vehicle_client_stop(takt_vehicle_client* client, int32_t category, int64_t now_ns);

/* Ends a stop: the vehicle is ready, and held until the next command. Errors: TAKT_ERROR_VEHICLE_CAUSE_REMAINS (something is wrong
 * still), _NOT_STANDING. Real-time safe. */
TAKT_API int32_t takt_vehicle_client_recover(takt_vehicle_client* client, int64_t now_ns);

/* Forgets what the vehicle said, and stops it if it was ready or driven. For when its clock or the caller's was set, and shows another
 * time for good: what it says may be too old until then. Real-time safe. */
TAKT_API int32_t takt_vehicle_client_forget(takt_vehicle_client* client, int64_t now_ns);

typedef enum takt_drive_state {
  TAKT_DRIVE_STARTING = 0, /* until all is well */
  TAKT_DRIVE_READY = 1,    /* held until the first command */
  TAKT_DRIVE_DRIVING = 2,
  TAKT_DRIVE_STOPPING = 3,
  TAKT_DRIVE_STOPPED = 4   /* and it stands */
} takt_drive_state;

typedef enum takt_stop_cause {
  TAKT_STOP_CAUSE_NONE = 0,
  TAKT_STOP_CAUSE_REQUESTED = 1,               /* by takt_vehicle_client_stop() */
  TAKT_STOP_CAUSE_COMMAND_TIMEOUT = 2,    /* no new command came in time */
  TAKT_STOP_CAUSE_DISCONNECTED = 3,       /* no session with the vehicle */
  TAKT_STOP_CAUSE_TELEMETRY_SILENT = 4,   /* the vehicle says nothing, or nothing that is still true */
  TAKT_STOP_CAUSE_SYSTEM_STALE = 5,       /* of a required system nothing was heard for too long */
  TAKT_STOP_CAUSE_SYSTEM_NOT_RUNNING = 6, /* a required system is cold, starting or halted */
  TAKT_STOP_CAUSE_CLOCK_WENT_BACK = 7,    /* the caller's: nobody knows how old anything is */
  TAKT_STOP_CAUSE_SPEED_CONTRADICTED = 8  /* of takt_vehicle_drive: the vehicle's speed is not that of its wheels */
} takt_stop_cause;

/* An output: the library writes as many fields as struct_size covers. */
typedef struct takt_vehicle_client_state {
  uint32_t struct_size; /* set by takt_vehicle_client_state_init() */
  int32_t state;        /* TAKT_DRIVE_... */
  int32_t cause;        /* TAKT_STOP_CAUSE_...: of the stop, else why it may not be driven yet */
  uint32_t system;      /* of a cause that is a system's */
  int32_t category;     /* of the stop that is active; -1: none is */
  uint32_t reserved;    /* 0 */
  takt_drive_command command; /* what the vehicle is told now */
} takt_vehicle_client_state;

/* NULL is ignored. Real-time safe. */
TAKT_API void takt_vehicle_client_state_init(takt_vehicle_client_state* state);
/* As the last call of another function found it. Real-time safe. */
TAKT_API int32_t takt_vehicle_client_get_state(const takt_vehicle_client* client, takt_vehicle_client_state* state);

/* What is known of a system, however old; NULL where it is not wanted. *age_ns counts from when the frame would have been here as
 * quickly as the quickest one: a delay that all frames share is not seen. It is INT64_MAX if nothing was ever heard; *fresh is 1 if
 * it is no older than freshness_ns. Errors: TAKT_ERROR_VEHICLE_UNKNOWN_SYSTEM. Real-time safe. */
TAKT_API int32_t takt_vehicle_client_system(const takt_vehicle_client* client, uint32_t system, int64_t now_ns, int32_t* state,
                                            int64_t* age_ns, int32_t* fresh);

/* A field of the last block of a system as a raw count, by its name, however old. Errors as of takt_vehicle_status_value().
 * Real-time safe. */
TAKT_API int32_t takt_vehicle_client_value(const takt_vehicle_client* client, uint32_t system, const char* field, int64_t* value);

/* Since its start. An output: the library writes as many fields as struct_size covers. */
typedef struct takt_vehicle_client_counters {
  uint32_t struct_size; /* set by takt_vehicle_client_counters_init() */
  uint32_t reserved;
  uint64_t received;         /* datagrams */
  uint64_t refused;          /* of these, by the channel */
  uint64_t malformed;        /* no status frames */
  uint64_t accepted;         /* status frames, the newest when they came */
  uint64_t lost;             /* by the gaps between their stamps, without those that came late */
  uint64_t late;             /* overtaken by another */
  uint64_t duplicated;       /* came already */
  uint64_t invalid_stamps;   /* with a stamp that cannot be */
  uint64_t restarts;         /* times that the vehicle's stamps began anew after a silence */
  uint64_t unknown_blocks;   /* of systems that the layouts do not have */
  uint64_t sent;             /* control frames */
  uint64_t missed;           /* control frames: nobody called takt_vehicle_client_poll() in time, or the channel had an error */
  uint64_t handshakes;       /* datagrams of the channel's own */
  uint64_t commands;         /* taken */
  uint64_t commands_limited; /* of these, reduced to the limits */
  uint64_t commands_refused;
  uint64_t command_timeouts;
  uint64_t stops;
} takt_vehicle_client_counters;

/* NULL is ignored. Real-time safe. */
TAKT_API void takt_vehicle_client_counters_init(takt_vehicle_client_counters* counters);
TAKT_API int32_t takt_vehicle_client_get_counters(const takt_vehicle_client* client, takt_vehicle_client_counters* counters);

/* ---- driving a vehicle by twists ------------------------------------------------------------------------------------------ */

/* A twist in, odometry out: a client that turns twists into commands by the law above, with the speed that the vehicle reports, and
 * works out from what it hears where the vehicle is. In place of takt_vehicle_client_drive() in the loop above:
 *
 *     takt_vehicle_client* client = takt_vehicle_drive_client(drive);
 *     ...
 *       takt_vehicle_drive_twist(drive, &twist, now);
 *       takt_vehicle_drive_estimate(drive, &estimate);
 *
 * As with the client, one thread at a time, and a caller that gives no twist any more has the vehicle stopped. It is stopped, too, with
 * TAKT_STOP_CAUSE_SPEED_CONTRADICTED, when speed and wheels have contradicted each other for longer than what is said stays fresh. */
typedef struct takt_vehicle_drive takt_vehicle_drive;

/* Of twists, which are kept within them on the same curve: all above zero, infinite is no limit. */
typedef struct takt_twist_limits {
  double forward;                 /* m/s */
  double backward;                /* m/s */
  double left;                    /* m/s, either side: a car goes to neither, whatever it says */
  double rotation;                /* rad/s */
  double acceleration;            /* m/s^2, while the magnitude grows */
  double braking;                 /* m/s^2, while it falls */
  double rotational_acceleration; /* rad/s^2 */
} takt_twist_limits;

/* What tells how a vehicle turns. */
typedef enum takt_turn_source {
  TAKT_TURN_BY_WHEELS = 0,   /* the difference of the rear wheels: coarse where they report whole rpm */
  TAKT_TURN_BY_STEERING = 1  /* the steering angle while it is fresh and can be, else the wheels: as good as its unit and the wheelbase
                              * are known. While the wheels contradict it, the heading's variance grows as if they were right */
} takt_turn_source;

/* What tells how far a vehicle goes. */
typedef enum takt_distance_source {
  TAKT_DISTANCE_BY_WHEELS = 0,    /* the mean rate of the rear wheels */
  TAKT_DISTANCE_BY_ODOMETER = 1   /* where it counts down backwards: blocks that are lost, for as long as the odometry's time-out, lose no
                              * way. While it contradicts both wheels and speed, the wheels */
} takt_distance_source;

typedef struct takt_vehicle_drive_options {
  uint32_t struct_size;     /* set by takt_vehicle_drive_options_init() */
  uint32_t reserved;        /* 0 */
  takt_twist_limits limits;
  double wheel_radius;      /* m, of the rear wheels */
  double track;             /* m, between them */
  int32_t turn;             /* TAKT_TURN_BY_...; by the wheels */
  int32_t distance;         /* TAKT_DISTANCE_BY_...; by the wheels */
} takt_vehicle_drive_options;

/* Zero: all must be given but what is said above. NULL is ignored. Real-time safe. */
TAKT_API void takt_vehicle_drive_options_init(takt_vehicle_drive_options* options);

/* What is known of a vehicle and how it is to be driven: drives are made of it, and simulated vehicles. */
typedef struct takt_vehicle_description takt_vehicle_description;

/* *description is the caller's, to be freed with takt_vehicle_description_destroy() any time. `odometry` may be NULL: half a
 * second, no noise. `layouts` may be NULL for the Furbot's own. Whether there can be such a vehicle shows when a drive is made.
 * Errors: TAKT_ERROR_CAPI_BAD_ARGUMENT (turn, distance, a category, a byte order, reserved). */
TAKT_API int32_t takt_vehicle_description_create(const takt_vehicle_drive_options* options,
                                                 const takt_vehicle_client_options* client, const takt_twist_law_options* law,
                                                 const takt_odometry_options* odometry, const takt_vehicle_layouts* layouts,
                                                 takt_vehicle_description** description);

/* The same from a file, as include/takt/robot/vehicle_description.hpp has it, and `takt drive --vehicle` takes it. To `text`, which
 * may be NULL, are written, a line each and as far as they fit into `size` bytes: its mistakes; or, if there is none, what in it
 * was guessed and not measured, to tell whoever drives. Errors: TAKT_ERROR_CAPI_BAD_DESCRIPTION. */
TAKT_API int32_t takt_vehicle_description_load(const char* path, takt_vehicle_description** description, char* text, size_t size);
/* Drives made from it later drive only while these systems run: bit n for system n. Errors:
 * TAKT_ERROR_CAPI_BAD_ARGUMENT (traction, bit 3, is not among them), TAKT_ERROR_VEHICLE_UNKNOWN_SYSTEM: nothing changes. */
TAKT_API int32_t takt_vehicle_description_require(takt_vehicle_description* description, uint32_t systems);
TAKT_API void takt_vehicle_description_destroy(takt_vehicle_description* description);

/* *drive is the caller's, to be freed with takt_vehicle_drive_destroy(); the channel is as for takt_vehicle_client_create().
 * Errors: those of takt_vehicle_client_create(), takt_twist_law_create() and takt_odometry_create(); TAKT_ERROR_MOBILE_NOT_FINITE,
 * _NOT_POSITIVE (limits and lengths); TAKT_ERROR_VEHICLE_OUT_OF_RANGE (traction is not among the required systems, a holding brake
 * of less than one count, a law that steers further than the client lets it). */
TAKT_API int32_t takt_vehicle_drive_create(const takt_vehicle_description* description, takt_channel* channel,
                                           takt_vehicle_drive** drive);
TAKT_API void takt_vehicle_drive_destroy(takt_vehicle_drive* drive);

/* Its client, for every function of the section above but takt_vehicle_client_destroy(): to receive and to poll, to stop, to
 * recover, and for all that is known of the vehicle. It is freed with the drive; NULL for NULL. Real-time safe. */
TAKT_API takt_vehicle_client* takt_vehicle_drive_client(takt_vehicle_drive* drive);

/* Drives so until the next call. Errors: TAKT_ERROR_VEHICLE_NOT_FINITE; TAKT_ERROR_CONTROL_BAD_PERIOD (called twice at one time);
 * those of takt_vehicle_client_drive(): the command before holds, and grows older. Real-time safe. */
TAKT_API int32_t takt_vehicle_drive_twist(takt_vehicle_drive* drive, const takt_twist* wanted, int64_t now_ns);

/* The frames of an estimate, with the names of REP 105: of the pose, and of the twist, which is the middle of the rear axle. */
#define TAKT_ODOMETRY_FRAME "odom"
#define TAKT_ODOMETRY_CHILD_FRAME "base_link"

/* How an estimate is shared: `takt drive --publish` writes it as the LATEST value "odometry" of this schema. */
#define TAKT_ODOMETRY_SCHEMA \
  "stamp i64, x f64, y f64, heading f64, forward f64, left f64, rotation f64, covariance f64[9]"

/* Where a vehicle is. */
typedef struct takt_odometry_estimate {
  int64_t stamp_ns;     /* when it was so, on the caller's clock; 0 before anything was heard */
  takt_pose pose;
  takt_twist twist;     /* measured */
  double covariance[9]; /* of (x, y, heading), row by row: m^2, m rad, rad^2 */
} takt_odometry_estimate;

/* By all that was heard. Real-time safe. */
TAKT_API int32_t takt_vehicle_drive_estimate(const takt_vehicle_drive* drive, takt_odometry_estimate* estimate);

/* The vehicle is known to be here; `covariance` has nine numbers, row by row, or is NULL for zeros. The estimate goes on from there
 * with the next that is heard. Errors: TAKT_ERROR_MOBILE_NOT_FINITE, _OUT_OF_DOMAIN (no covariance: not symmetric, or not positive
 * semi-definite): nothing changes. Real-time safe. */
TAKT_API int32_t takt_vehicle_drive_set_pose(takt_vehicle_drive* drive, const takt_pose* pose, const double* covariance);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TAKT_VEHICLE_H */
