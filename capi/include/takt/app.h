/* takt/app.h: a whole robot inside a C program, put together from its description file: buses, drives, control loop, motion server,
 * recording. It is what `takt run` does. What takt.h says of units, status, structs and ownership holds here, too.
 *
 *     takt_robot_options options;
 *     takt_robot* robot = NULL;
 *     char text[4096];
 *     takt_robot_options_init(&options);
 *     options.simulate = 1;
 *     if (takt_robot_create("arm.json", &options, &robot, text, sizeof text) != TAKT_OK) return complain(text);
 *     takt_robot_run(robot, text, sizeof text);      (on a thread of its own, until takt_robot_shut_down())
 *     takt_robot_finish(robot, NULL, NULL, 0);       (when that thread has ended)
 *     takt_robot_destroy(robot);
 *
 * A takt_client moves the robot, by takt_robot_port().
 *
 * THREADS    takt_robot_run() is for one thread. takt_robot_shut_down(), takt_robot_reset(), takt_robot_get_state() and
 *            takt_robot_port() are for any thread at any time. takt_robot_next_report() is for one thread, while the robot runs
 *            or later. The other functions are for times when no thread runs the robot.
 */
#ifndef TAKT_APP_H
#define TAKT_APP_H

/* clang-format off */

#include <stddef.h>
#include <stdint.h>

#include "takt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Why a robot cannot be put together or run, beside the reasons of takt.h. Numbers are never reused. */
enum {
  /* room 8: the real-time thread */
  TAKT_ERROR_RT_PERIOD_NOT_POSITIVE = TAKT_STATUS(8, 1),
  TAKT_ERROR_RT_BAD_PRIORITY = TAKT_STATUS(8, 2),
  TAKT_ERROR_RT_BAD_CORES = TAKT_STATUS(8, 3),
  TAKT_ERROR_RT_NOT_PERMITTED = TAKT_STATUS(8, 4),
  TAKT_ERROR_RT_NOT_GRANTED = TAKT_STATUS(8, 5),

  /* room 10: drives and their addresses */
  TAKT_ERROR_ROBOT_NO_SUCH_BUS = TAKT_STATUS(10, 1),
  TAKT_ERROR_ROBOT_BAD_ADDRESS = TAKT_STATUS(10, 2),
  TAKT_ERROR_ROBOT_DUPLICATE_ADDRESS = TAKT_STATUS(10, 3),
  TAKT_ERROR_ROBOT_BAD_SCALE = TAKT_STATUS(10, 4),
  TAKT_ERROR_ROBOT_TOO_MANY_JOINTS = TAKT_STATUS(10, 5),
  TAKT_ERROR_ROBOT_NO_SUCH_JOINT = TAKT_STATUS(10, 6),

  /* room 13: the recording */
  TAKT_ERROR_RECORD_NOT_A_RECORDING = TAKT_STATUS(13, 1),
  TAKT_ERROR_RECORD_UNSUPPORTED_VERSION = TAKT_STATUS(13, 2),
  TAKT_ERROR_RECORD_METADATA_TOO_LONG = TAKT_STATUS(13, 3),
  TAKT_ERROR_RECORD_BAD_METADATA = TAKT_STATUS(13, 4),
  TAKT_ERROR_RECORD_RECORD_TOO_LONG = TAKT_STATUS(13, 5),
  TAKT_ERROR_RECORD_RECORD_TOO_SHORT = TAKT_STATUS(13, 6),
  TAKT_ERROR_RECORD_TIME_OUT_OF_RANGE = TAKT_STATUS(13, 7),
  TAKT_ERROR_RECORD_TIME_NOT_RISING = TAKT_STATUS(13, 8),
  TAKT_ERROR_RECORD_DATA_AFTER_END = TAKT_STATUS(13, 9),
  TAKT_ERROR_RECORD_TOTALS_MISMATCH = TAKT_STATUS(13, 10),
  TAKT_ERROR_RECORD_CANNOT_OPEN = TAKT_STATUS(13, 11),
  TAKT_ERROR_RECORD_READ_FAILED = TAKT_STATUS(13, 12),
  TAKT_ERROR_RECORD_WRITE_FAILED = TAKT_STATUS(13, 13),
  TAKT_ERROR_RECORD_ALREADY_RUNNING = TAKT_STATUS(13, 14),

  /* room 18: the assembly */
  TAKT_ERROR_APP_BAD_BUS_ADDRESS = TAKT_STATUS(18, 1),
  TAKT_ERROR_APP_NOT_A_REAL_BUS = TAKT_STATUS(18, 2),
  TAKT_ERROR_APP_NO_ADAPTER = TAKT_STATUS(18, 3),
  TAKT_ERROR_APP_ADAPTER_REFUSES = TAKT_STATUS(18, 4),
  TAKT_ERROR_APP_BAD_BIT_RATE = TAKT_STATUS(18, 5),
  TAKT_ERROR_APP_NO_FD_ADAPTER = TAKT_STATUS(18, 6),
  TAKT_ERROR_APP_NO_THREAD = TAKT_STATUS(18, 7),
  TAKT_ERROR_APP_BAD_DESCRIPTION = TAKT_STATUS(18, 8),
  TAKT_ERROR_APP_NO_SUCH_BUS = TAKT_STATUS(18, 9),
  TAKT_ERROR_APP_RECORDING_EXISTS = TAKT_STATUS(18, 10)
};

/* A robot from its description file. */
typedef struct takt_robot takt_robot;

/* An interface in place of the one that the description gives a bus. */
typedef struct takt_bus_override {
  const char* bus;       /* its name in the description */
  const char* interface; /* "can0", "slcan:/dev/ttyACM0", "slcan:/dev/ttyUSB0@115200" or "virtual" */
} takt_bus_override;

/* What the thread and the process of the loop ask of the operating system: SCHED_FIFO, locked memory, a short wake-up. */
enum {
  TAKT_REALTIME_OFF = 0,     /* nothing */
  TAKT_REALTIME_ATTEMPT = 1, /* as much as it grants; reports say what */
  TAKT_REALTIME_ENFORCE = 2  /* all of it, or the robot does not run */
};

enum {
  TAKT_ROBOT_PORT_ANY = -1 /* a free port: takt_robot_port() */
};

/* How a robot is put together. Every field may be zero. */
typedef struct takt_robot_options {
  uint32_t struct_size;           /* set by takt_robot_options_init() */
  int32_t simulate;               /* 1: every bus is virtual and has simulated drives, whatever the description says */
  const takt_bus_override* buses; /* bus_count; of two for the same bus the later counts */
  size_t bus_count;
  const char* serve_at;           /* UNIX socket at which a motion server of another process (`takt serve`) finds the loop, in place
                                   * of one in this process; NULL: none */
  int32_t port;                   /* TCP port of the motion server on 127.0.0.1: 1 to 65535, or TAKT_ROBOT_PORT_ANY; 0: the default,
                                   * 7470. Only 0 with serve_at */
  int32_t overwrite;              /* 1: the recording may replace a file */
  const char* recording;          /* file of the recording; NULL: none */
  const char* created;            /* date and time, as the recording shows them; NULL: none */
  int32_t realtime;               /* TAKT_REALTIME_... */
  int32_t priority;               /* of SCHED_FIFO, 1 (lowest) to 99; 0: 80 */
} takt_robot_options;

/* Everything zero but struct_size. NULL is ignored. Real-time safe. */
TAKT_API void takt_robot_options_init(takt_robot_options* options);

/* Reads the description, opens the buses and the recording, and starts the motion server. No frame is sent, nothing moves.
 * `options` may be NULL: all defaults. *robot is the caller's, to be freed with takt_robot_destroy(). The message of an error is
 * written to `text`, which may be NULL, as far as it fits into `size` bytes. Errors: TAKT_ERROR_APP_BAD_DESCRIPTION (no such file,
 * or mistakes in it: `text` lists all of them, a line each), TAKT_ERROR_APP_..., TAKT_ERROR_ROBOT_..., TAKT_ERROR_SIM_...,
 * TAKT_ERROR_RECORD_..., TAKT_ERROR_PLATFORM_... (a bus, the port or the socket), TAKT_ERROR_CAPI_BAD_ARGUMENT (a port,
 * a flag or `realtime` with another value than those above). */
TAKT_API int32_t takt_robot_create(const char* path, const takt_robot_options* options, takt_robot** robot, char* text,
                                   size_t size);

/* Ends the server and the recording as takt_robot_finish() does, closes the buses, and frees the robot. */
TAKT_API void takt_robot_destroy(takt_robot* robot);

/* The TCP port of the motion server, for takt_client_options; 0 with serve_at, and for NULL. Real-time safe. */
TAKT_API uint32_t takt_robot_port(const takt_robot* robot);

/* Runs the control loop on the calling thread until takt_robot_shut_down(), or a client's shutdown request, and the controlled stop
 * after it. Once for each robot. TAKT_OK: the robot came down without a fault. TAKT_ERROR_MOTION_...: it came down with this fault,
 * such as _BUS_DOWN, and had not recovered from it; a requested emergency stop is no fault. TAKT_ERROR_RT_...: the thread's set-up
 * was refused, and the robot never ran. `text` is as for takt_robot_create(). */
TAKT_API int32_t takt_robot_run(takt_robot* robot, char* text, size_t size);

/* Asks for a controlled stop of all joints, power off, and the end of takt_robot_run(). It does not wait for them. NULL is ignored.
 * From any thread or signal handler. Real-time safe. */
TAKT_API void takt_robot_shut_down(takt_robot* robot);

/* Asks a stopped robot to leave its stop, as takt_client_reset() does: faults are cleared, drives powered. Nothing happens in
 * any other state. It does not wait: takt_robot_get_state() says when the robot is ready. NULL is ignored. From any thread or
 * signal handler. Real-time safe. */
TAKT_API void takt_robot_reset(takt_robot* robot);

/* The state after the last cycle of the loop: TAKT_ROBOT_..., and the reason of a stop, a TAKT_ERROR_MOTION_... such as _BUS_DOWN or
 * _DRIVE_SILENT. Before the first cycle: TAKT_ROBOT_STARTING, and zeros. It never waits for the loop. Errors:
 * TAKT_ERROR_CAPI_TIMEOUT (the loop wrote 16 times during the call). Real-time safe. */
TAKT_API int32_t takt_robot_get_state(const takt_robot* robot, takt_robot_state* state);

/* The oldest unread report, a line for people: each change of state with its reason, joint and bus ("robot ready"), what
 * TAKT_REALTIME_ATTEMPT was granted, what became of a server at serve_at. *length (may be NULL) is its length without the NUL; 0,
 * and an empty text: there is none. It waits for nobody. *is_failure (may be NULL) is 1 for a line for the errors' stream, else 0.
 * When it does not fit into `size` bytes: TAKT_ERROR_CAPI_BUFFER_TOO_SMALL, *length says what is needed, and the report stays.
 * Up to 64 changes of state are kept. */
TAKT_API int32_t takt_robot_next_report(takt_robot* robot, char* text, size_t size, size_t* length, int32_t* is_failure);

/* Of a run that has ended. An output: the library writes as many fields as struct_size covers. */
typedef struct takt_robot_totals {
  uint32_t struct_size; /* set by takt_robot_totals_init() */
  uint32_t reserved;    /* 0 */
  uint64_t accepted;    /* requests of the server in this process */
  uint64_t rejected;
  uint64_t errors;      /* lines that were no request */
  uint64_t records;     /* in the recording; 0 without one */
  uint64_t dropped;     /* records that its disk was too slow for */
} takt_robot_totals;

/* Everything zero but struct_size. NULL is ignored. Real-time safe. */
TAKT_API void takt_robot_totals_init(takt_robot_totals* totals);

/* Ends the motion server and the recording, once the loop has ended or in place of takt_robot_run(). The recording of a robot that
 * never ran is removed. `totals` may be NULL. Errors: TAKT_ERROR_RECORD_..., with the file's name in `text`, which is as
 * for takt_robot_create(). */
TAKT_API int32_t takt_robot_finish(takt_robot* robot, takt_robot_totals* totals, char* text, size_t size);

/* The names of the drive protocols that a description can give a bus, a line each, in alphabetical order. Writes at most `size`
 * bytes to `text`, a NUL among them. *length (may be NULL) is the length without the NUL, also when it does not fit:
 * TAKT_ERROR_CAPI_BUFFER_TOO_SMALL. From any thread. */
TAKT_API int32_t takt_drive_protocols(char* text, size_t size, size_t* length);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TAKT_APP_H */
