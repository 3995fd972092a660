/* Recordings: MCAP files of a control loop's cycles and of any values, which Foxglove and PlotJuggler open.
 * A loop of the caller writes them. Runs of whole robots are replayed. takt/core.h states the rules of units,
 * status, structs and ownership.
 *
 *     takt_topic topics[] = {{"/gripper", "gripper/msg/State", "force f64, closed u64"}};
 *     takt_recorder_options_init(&options, sizeof options);
 *     options.topics = topics;
 *     options.topic_count = 1;
 *     if (takt_recorder_create("run.mcap", &options, &recorder, text, sizeof text) != TAKT_OK)
 *       return complain(text);
 *     takt_recorder_sample(recorder, 0, now_ns, &state, sizeof state);           (in the loop)
 *     takt_recorder_finish(recorder, &totals, text, sizeof text);                (when the loop has ended)
 *     takt_recorder_destroy(recorder);
 *
 * takt/app.h records a whole robot. */
#ifndef TAKT_RECORD_H
#define TAKT_RECORD_H

#include "takt/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One joint in one cycle. For linear joints rad means m. */
typedef struct takt_joint_sample {
  double command;            /* rad: reference of the goal, before any limiter */
  double reference_position; /* rad: sent to the drive */
  double reference_velocity; /* rad/s */
  double measured_position;  /* rad; NaN before the drive was heard */
  double measured_velocity;  /* rad/s; NaN likewise */
  uint64_t goal;             /* the goal that owns the joint; 0: none */
  double measured_effort;    /* N m or N; NaN if the drive does not report it */
} takt_joint_sample;

/* ---- writing ---- */

/* A recording in progress. A thread of its own writes it. */
typedef struct takt_recorder takt_recorder;

/* A further topic of a recording. */
typedef struct takt_topic {
  const char* topic;  /* "/gripper" */
  const char* type;   /* "gripper/msg/State" */
  const char* schema; /* of a value (takt/shm.h), "force f64, closed u64"; NULL: any bytes */
} takt_topic;

/* How and what is recorded. Every field may be zero. */
typedef struct takt_recorder_options {
  uint32_t struct_size;      /* set by takt_recorder_options_init() */
  int32_t uncompressed;      /* 1: no zstd, also if the library has it */
  const char* robot;         /* name of the robot; NULL: "robot" */
  int64_t period_ns;         /* of the loop; 0: 1 ms */
  const char* const* joints; /* names of joint_count joints */
  size_t joint_count;        /* at most TAKT_MAX_JOINTS */
  const takt_topic* topics;  /* topic_count */
  size_t topic_count;        /* at most 1024 */
  const char* created;       /* date and time for people; NULL: none */
  int64_t epoch_ns;          /* added to a time it gives Unix time, for other programs */
  size_t ring_bytes;         /* between the loop and the thread; 0: 4 MiB */
  uint64_t rotate_bytes;     /* begins another file before this size; 0: one file */
  int64_t rotate_after_ns;   /* and after this time; 0: never */
} takt_recorder_options;

/* Sets struct_size to `size`, and everything else to zero. Ignores NULL. Real-time safe. */
TAKT_API void takt_recorder_options_init(takt_recorder_options* options, size_t size);

/* Creates or truncates the file, and starts the thread. `options` may be NULL. The caller owns *recorder and
 * frees it with takt_recorder_destroy(). The reason of a failure goes to `text`, cut to `size` bytes; `text`
 * may be NULL. Errors: TAKT_ERROR_RECORD_CANNOT_OPEN, _WRITE_FAILED, _BAD_METADATA (names, period),
 * _BAD_TOPIC (with the topic's name). */
TAKT_API int32_t takt_recorder_create(const char* path, const takt_recorder_options* options,
                                      takt_recorder** recorder, char* text, size_t size);

/* One cycle of the loop. */
typedef struct takt_cycle_sample {
  int64_t time_ns;       /* nominal time of the cycle */
  int64_t lateness_ns;   /* wake-up time minus due time */
  int64_t busy_ns;       /* of the previous cycle: from wake-up to the end of its work */
  int32_t state;         /* a TAKT_ROBOT_... of takt/motion.h */
  uint32_t active_goals; /* number of goals that are running */
} takt_cycle_sample;

/* Records one cycle with a sample of each joint. One thread, the loop's, calls this and the next two. Times
 * are those of one clock of the loop, such as CLOCK_MONOTONIC, and at most 36 years from its zero. A full
 * ring drops the cycle. Errors: TAKT_ERROR_CAPI_BAD_ARGUMENT (number of joints, state, or a time that is out
 * of range or not after the last cycle's); TAKT_ERROR_SHM_FULL (dropped and counted). Real-time safe. */
TAKT_API int32_t takt_recorder_cycle(takt_recorder* recorder, const takt_cycle_sample* cycle,
                                     const takt_joint_sample* joints, size_t joint_count);
/* Records a value of options.topics[topic]. Errors: TAKT_ERROR_CAPI_BAD_ARGUMENT (topic, time out of range,
 * or a size that is not the schema's); TAKT_ERROR_SHM_FULL. Real-time safe. */
TAKT_API int32_t takt_recorder_sample(takt_recorder* recorder, size_t topic, int64_t time_ns,
                                      const void* value, size_t size);
/* Starts a section with this name, cut to 1024 bytes. Errors: TAKT_ERROR_CAPI_BAD_ARGUMENT (time out of
 * range); TAKT_ERROR_SHM_FULL. Real-time safe. */
TAKT_API int32_t takt_recorder_mark(takt_recorder* recorder, int64_t time_ns, const char* name);

/* The totals of a recording. */
typedef struct takt_recorder_totals {
  uint64_t records; /* in the file, or in the files */
  uint64_t dropped; /* lost because the ring or the disk was full */
} takt_recorder_totals;

/* Writes the rest and the index, and closes the file. The loop has ended. `totals` may be NULL; `text` is as
 * above. Errors: TAKT_ERROR_RECORD_WRITE_FAILED; the file can be read. */
TAKT_API int32_t takt_recorder_finish(takt_recorder* recorder, takt_recorder_totals* totals, char* text,
                                      size_t size);
/* Finishes the recording, if that was not done, and frees it. */
TAKT_API void takt_recorder_destroy(takt_recorder* recorder);

/* ---- reading ---- */

/* A recording to be read: of takt, or another MCAP file with joint states. */
typedef struct takt_recording takt_recording;

/* The kind of a record. */
typedef enum takt_record_kind {
  TAKT_RECORD_END = 0,   /* there is no further record */
  TAKT_RECORD_CYCLE = 1, /* one cycle, and a sample of each joint */
  TAKT_RECORD_GOAL = 2,  /* a goal changed its state */
  TAKT_RECORD_MARK = 3,  /* a section begins */
  TAKT_RECORD_VALUE = 4  /* a value of a further topic */
} takt_record_kind;

/* A record. An output: the library writes the fields that struct_size covers. Pointers are valid until the
 * next call for this recording. */
typedef struct takt_record {
  uint32_t struct_size; /* set by takt_record_init() */
  int32_t kind;         /* a takt_record_kind */
  int64_t time_ns;
  takt_cycle_sample cycle;         /* a cycle's */
  const takt_joint_sample* joints; /* a cycle's: joint_count samples */
  size_t joint_count;
  uint64_t goal;       /* a goal's number */
  int32_t goal_state;  /* a TAKT_GOAL_... of takt/motion.h, or -1 for one without such a number */
  int32_t goal_reason; /* TAKT_ERROR_MOTION_..., or TAKT_OK */
  const char* name;    /* of a mark, or of the topic; never NULL */
  const void* message; /* of a value: CDR, with its header */
  size_t message_size;
} takt_record;

/* Sets struct_size to `size`, and everything else to zero. Ignores NULL. Real-time safe. */
TAKT_API void takt_record_init(takt_record* record, size_t size);

/* Opens a file and reads what it describes. Of a rotated recording, the files that follow are read with it.
 * The caller owns *recording and closes it with takt_recording_close(). `text` is as for
 * takt_recorder_create(). Errors: TAKT_ERROR_RECORD_... */
TAKT_API int32_t takt_recording_open(const char* path, takt_recording** recording, char* text, size_t size);
/* Returns the number of joints; 0 for NULL. */
TAKT_API size_t takt_recording_joint_count(const takt_recording* recording);
/* Returns the name of a joint, valid until the recording is closed; NULL without such a joint. */
TAKT_API const char* takt_recording_joint_name(const takt_recording* recording, size_t joint);
/* Reads the next record. Any file is safe to read. `text` is as above. Errors: TAKT_ERROR_RECORD_... of a
 * damaged file, also for each further call. */
TAKT_API int32_t takt_recording_next(takt_recording* recording, takt_record* record, char* text, size_t size);
/* Returns 1 at the end of a file that was cut off, as by kill -9; else 0. */
TAKT_API int32_t takt_recording_truncated(const takt_recording* recording);
/* Closes the file. */
TAKT_API void takt_recording_close(takt_recording* recording);

/* ---- replay ---- */

/* How a robot's recording is replayed. Every field may be zero. */
typedef struct takt_replay_options {
  uint32_t struct_size;         /* set by takt_replay_options_init() */
  int32_t overwrite;            /* 1: the replay's own recording may replace a file */
  double speed;                 /* recorded seconds per second; 0: as fast as possible */
  const char* robot;            /* another description of the same joints; NULL: the recorded one */
  const char* const* libraries; /* library_count plug-ins with controllers */
  size_t library_count;
  const char* folder;       /* where plug-ins without '/' in their name are searched; NULL: nowhere */
  const char* const* files; /* file_count further files of a rotated recording; 0: those that follow path */
  size_t file_count;
  const char* recording; /* file of the replay's own recording; NULL: none */
} takt_replay_options;

/* Sets struct_size to `size`, and everything else to zero. Ignores NULL. Real-time safe. */
TAKT_API void takt_replay_options_init(takt_replay_options* options, size_t size);

/* The result of a replay. An output: the library writes the fields that struct_size covers. */
typedef struct takt_replay_result {
  uint32_t struct_size; /* set by takt_replay_result_init() */
  int32_t ended_early;  /* 1: the rest was not replayed, for the reason in `text` */
  uint64_t cycles;      /* compared */
  uint64_t differing;   /* of these; the fields below tell the first */
  uint64_t cycle;       /* from 0 */
  int64_t time_ns;      /* nominal time of the cycle */
  double value;         /* of the replay */
  double expected;      /* recorded */
  uint64_t left_out;    /* requests that the limits of this robot forbid */
} takt_replay_result;

/* Sets struct_size to `size`, and everything else to zero. Ignores NULL. Real-time safe. */
TAKT_API void takt_replay_result_init(takt_replay_result* result, size_t size);

/* Repeats a recorded run of a robot: its devices give again what was read, and requests come in the recorded
 * cycles. The same controllers then give the same commands, bit for bit. `options` and `result` may be NULL.
 * `text` gets the first difference: "cycle 1200 at 6.000 s, joint RSP: position 0.5, recorded 0.25". A second
 * line tells why the replay ended early. After a failure, `text` has its reason. Not real-time safe. Errors:
 * TAKT_ERROR_RECORD_...; TAKT_ERROR_APP_NOT_REPLAYABLE, TAKT_ERROR_APP_BAD_DESCRIPTION, other errors of
 * takt_robot_create(). A difference is no error. */
TAKT_API int32_t takt_replay(const char* path, const takt_replay_options* options, takt_replay_result* result,
                             char* text, size_t size);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TAKT_RECORD_H */
