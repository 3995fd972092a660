/* A whole robot inside a C program, assembled from its description file: buses, drives, control loop, motion
 * server, recording. `takt run` does the same. takt/core.h states the rules of units, status, structs and
 * ownership.
 *
 *     takt_robot_options options;
 *     takt_robot* robot = NULL;
 *     char text[4096];
 *     takt_robot_options_init(&options, sizeof options);
 *     options.simulate = 1;
 *     if (takt_robot_create("arm.json", &options, &robot, text, sizeof text) != TAKT_OK)
 *       return complain(text);
 *     takt_robot_run(robot, text, sizeof text);      (on a thread of its own, until takt_robot_shut_down())
 *     takt_robot_finish(robot, NULL, NULL, 0);       (when that thread has ended)
 *     takt_robot_destroy(robot);
 *
 * A takt_motion_client moves the robot; takt_robot_port() returns its port.
 *
 * THREADS    One thread calls takt_robot_run(). Any thread calls takt_robot_shut_down(), takt_robot_reset(),
 *            takt_robot_get_state(), the ports, traces and takt_robot_log() at any time. One thread calls
 *            takt_robot_next_report(), also after the run. Call the other functions while no thread runs the
 *            robot. */
#ifndef TAKT_APP_H
#define TAKT_APP_H

#include "takt/component.h"
#include "takt/core.h"
#include "takt/motion.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A robot from its description file. */
typedef struct takt_robot takt_robot;

/* Replaces the interface of one bus. */
typedef struct takt_bus_override {
  const char* bus;       /* the bus's name in the description */
  const char* interface; /* "can0", "slcan:/dev/ttyACM0", "slcan:/dev/ttyUSB0@115200" or "virtual" */
} takt_bus_override;

/* The real-time set-up of the loop's thread and process: SCHED_FIFO, locked memory, short timer slack. */
typedef enum takt_realtime {
  TAKT_REALTIME_OFF = 0,     /* nothing */
  TAKT_REALTIME_ATTEMPT = 1, /* as much as the system grants; reports list what it granted */
  TAKT_REALTIME_ENFORCE = 2  /* everything, or the robot does not run */
} takt_realtime;

/* Choices in place of the number of a TCP port. */
typedef enum takt_robot_port_choice {
  TAKT_ROBOT_PORT_ANY = -1,   /* a free port, which takt_robot_port() returns */
  TAKT_ROBOT_PORT_DEFAULT = 0 /* 7470 */
} takt_robot_port_choice;

/* The options of a robot. Every field may be zero. */
typedef struct takt_robot_options {
  uint32_t struct_size;           /* set by takt_robot_options_init() */
  int32_t simulate;               /* 1: all buses are virtual, with simulated drives */
  const takt_bus_override* buses; /* bus_count; the last one for a bus counts */
  size_t bus_count;
  const char* serve_at;  /* UNIX socket for a server in another process; NULL: it runs here */
  int32_t port;          /* of the server on 127.0.0.1, or a takt_robot_port_choice; 0 with serve_at */
  int32_t overwrite;     /* 1: the recording may replace a file */
  const char* recording; /* file of the recording; NULL: none */
  const char* created;   /* date and time to show in the recording; NULL: none */
  int32_t realtime;      /* a takt_realtime */
  int32_t priority;      /* of SCHED_FIFO, 1 (lowest) to 99; 0: 80 */

  /* Recorded too, as topics "/variables/NAME": interfaces and out-ports of controllers, such as "base/speed"
   * and "odometry.pose". */
  const char* const* variables; /* variable_count */
  size_t variable_count;
  uint64_t rotate_bytes;   /* the recording begins another file before this size; 0: one file */
  int64_t rotate_after_ns; /* and after this time; 0: never */
  int64_t around_stops_ns; /* only so long before and after each stop is recorded; 0: all */
  int32_t uncompressed;    /* 1: no zstd, also if the library has it */

  int32_t foxglove_port;        /* 0: 8765, or TAKT_ROBOT_PORT_ANY */
  const char* foxglove_address; /* where the Foxglove server listens, such as "127.0.0.1"; NULL: no server */
  const char* plotjuggler_address; /* where JSON datagrams are sent; NULL: nowhere */
  int32_t plotjuggler_port;        /* 0: 9870 */
  int32_t reserved;                /* 0 */
  double live_rate;                /* Hz, samples of both; 0: 100 */

  const char* const* logs; /* log_count files that the log is appended to; "-": the standard error stream */
  size_t log_count;
  const char* trace; /* new file with what each cycle does, for ui.perfetto.dev; NULL: none */

  const char* const* libraries; /* library_count plug-ins with controllers */
  size_t library_count;
  const char* folder; /* where plug-ins without '/' in their name are searched; NULL: nowhere */
} takt_robot_options;

/* Sets struct_size to `size`, and everything else to zero. Ignores NULL. Real-time safe. */
TAKT_API void takt_robot_options_init(takt_robot_options* options, size_t size);

/* Reads the description, opens the buses and the recording, and starts the motion server. Sends no frame and
 * moves nothing. `options` may be NULL: all defaults. The caller owns *robot and frees it with
 * takt_robot_destroy(). The error's message goes to `text`, cut to `size` bytes; `text` may be NULL. Errors:
 * TAKT_ERROR_APP_BAD_DESCRIPTION (no such file, or mistakes; `text` has one line for each), other
 * TAKT_ERROR_APP_..., TAKT_ERROR_ROBOT_..., TAKT_ERROR_SIM_..., TAKT_ERROR_RECORD_...,
 * TAKT_ERROR_PLATFORM_... (a bus, the port or the socket), TAKT_ERROR_CAPI_BAD_ARGUMENT (port, flags or
 * realtime). */
TAKT_API int32_t takt_robot_create(const char* path, const takt_robot_options* options, takt_robot** robot,
                                   char* text, size_t size);

/* Ends the server and the recording as takt_robot_finish() does, closes the buses, and frees the robot. */
TAKT_API void takt_robot_destroy(takt_robot* robot);

/* Returns the TCP port of the motion server; 0 with serve_at, and for NULL. Real-time safe. */
TAKT_API uint32_t takt_robot_port(const takt_robot* robot);

/* Returns the port of the Foxglove server; 0 without one, and for NULL. Real-time safe. */
TAKT_API uint32_t takt_robot_foxglove_port(const takt_robot* robot);

/* Runs the control loop on the calling thread until takt_robot_shut_down() or a client's shutdown request,
 * and the controlled stop after it. Call it once per robot. `text` is as for takt_robot_create(). Returns
 * TAKT_OK if the robot ended without a fault; a requested emergency stop is no fault. Errors:
 * TAKT_ERROR_MOTION_... (the fault that the robot has not recovered from, such as _BUS_DOWN);
 * TAKT_ERROR_RT_... (the thread's set-up was refused, and the robot never ran). */
TAKT_API int32_t takt_robot_run(takt_robot* robot, char* text, size_t size);

/* Requests a controlled stop of all joints, power off, and the end of takt_robot_run(). Does not wait for
 * them. NULL is ignored. Callable from any thread and from a signal handler. Real-time safe. */
TAKT_API void takt_robot_shut_down(takt_robot* robot);

/* Requests that a stopped robot leaves its stop, as takt_motion_client_reset() does: faults are cleared,
 * drives powered. In any other state nothing happens. Does not wait: takt_robot_get_state() shows when the
 * robot is ready. NULL is ignored. Callable from any thread and from a signal handler. Real-time safe. */
TAKT_API void takt_robot_reset(takt_robot* robot);

/* Reads the state after the loop's last cycle: TAKT_ROBOT_..., and the reason of a stop, a
 * TAKT_ERROR_MOTION_... such as _BUS_DOWN or _DRIVE_SILENT. Before the first cycle: TAKT_ROBOT_STARTING, and
 * zeros. Never waits for the loop. Errors: TAKT_ERROR_CAPI_TIMEOUT (the loop wrote 16 times during the call).
 * Real-time safe. */
TAKT_API int32_t takt_robot_get_state(const takt_robot* robot, takt_robot_state* state);

/* Takes the oldest unread report, one line for people. It is a change of state with its reason, joint and
 * bus, the granted real-time set-up, or a change of a server at serve_at. *length is its length without the
 * NUL; 0 if there is none. *is_failure is 1 for a line for the error stream, else 0. Both pointers may be
 * NULL. Does not wait. Up to 64 changes of state are kept. Errors: TAKT_ERROR_CAPI_BUFFER_TOO_SMALL
 * (*length is the size needed, and the report stays). */
TAKT_API int32_t takt_robot_next_report(takt_robot* robot, char* text, size_t size, size_t* length,
                                        int32_t* is_failure);

/* Starts a trace of what each cycle does, in a new file, while the robot runs or before. `text` is as for
 * takt_robot_create(). Any thread. Errors: TAKT_ERROR_RECORD_ALREADY_RUNNING; _CANNOT_OPEN, also if the file
 * exists. */
TAKT_API int32_t takt_robot_start_trace(takt_robot* robot, const char* path, char* text, size_t size);
/* Ends the trace and completes the file. *spans are in the file, *dropped were lost; both may be NULL. Any
 * thread. Errors: TAKT_ERROR_RECORD_NOT_RUNNING, _WRITE_FAILED. */
TAKT_API int32_t takt_robot_stop_trace(takt_robot* robot, uint64_t* spans, uint64_t* dropped, char* text,
                                       size_t size);

/* Writes a line to the log, and to the log of the recording: a takt_log_level, who writes, and what. Any
 * thread but the loop's. Errors: TAKT_ERROR_RECORD_NOT_RUNNING (the options
 * ask for no log, or the robot is finished), TAKT_ERROR_CAPI_BAD_ARGUMENT (level). */
TAKT_API int32_t takt_robot_log(takt_robot* robot, int32_t level, const char* source, const char* line);

/* The totals of a finished run. An output: the library writes the fields that struct_size covers. */
typedef struct takt_robot_totals {
  uint32_t struct_size; /* set by takt_robot_totals_init() */
  uint32_t reserved;    /* 0 */
  uint64_t accepted;    /* requests to the server in this process */
  uint64_t rejected;
  uint64_t errors;         /* lines that were not a request */
  uint64_t records;        /* in the recording; 0 without one */
  uint64_t dropped;        /* records lost because the disk was too slow */
  uint64_t logged;         /* lines in the log */
  uint64_t log_suppressed; /* entries beyond the limits of their statements */
  uint64_t log_dropped;    /* entries lost because a ring was full */
} takt_robot_totals;

/* Sets struct_size to `size`, and everything else to zero. Ignores NULL. Real-time safe. */
TAKT_API void takt_robot_totals_init(takt_robot_totals* totals, size_t size);

/* Ends the motion server and the recording, after takt_robot_run() or instead of it. Removes the recording of
 * a robot that never ran. `totals` may be NULL; `text` is as for takt_robot_create(). Errors:
 * TAKT_ERROR_RECORD_..., with the file's name in `text`. */
TAKT_API int32_t takt_robot_finish(takt_robot* robot, takt_robot_totals* totals, char* text, size_t size);

/* Lists the drive protocols that a description may name, one line each, in alphabetical order. Writes at most
 * `size` bytes, with a NUL. *length, which may be NULL, is the length without the NUL. Errors:
 * TAKT_ERROR_CAPI_BUFFER_TOO_SMALL (*length is set). Callable from any thread. */
TAKT_API int32_t takt_drive_protocols(char* text, size_t size, size_t* length);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TAKT_APP_H */
