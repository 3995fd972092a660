/* Shared memory. */
#ifndef TAKT_SHM_H
#define TAKT_SHM_H

/* clang-format off */

#include "takt/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- shared memory ------------------------------------------------------------------------------------------------------ */

/* A segment: memory that processes of this machine share, with named exchanges in it. Each end of an exchange has one owner at a
 * time, a slot, which is free at once when its process dies, however it dies; who takes it goes on where the other stopped. Named
 * segments (/dev/shm/takt.NAME, mode 0600) are for processes of one user that trust each other, and outlive them. Sealed segments
 * have no name and are handed over a socket; a peer can write anything into one, but cannot cut it off, which would kill whoever
 * touches it: a real-time process has only these. They vanish with the last process that has them. */
typedef struct takt_segment takt_segment;

/* Kinds of exchange, as they are numbered in the segment. */
typedef enum takt_exchange_kind {
  TAKT_EXCHANGE_RING = 2,           /* elements, from one producer to one consumer, none lost */
  TAKT_EXCHANGE_BYTE_RING = 4,      /* messages of any length, from one producer to one consumer, none lost */
  TAKT_EXCHANGE_LATEST = 5,         /* the newest value, from one writer to one reader */
  TAKT_EXCHANGE_BROADCAST = 6,      /* the newest value, from one writer to any number of readers */
  TAKT_EXCHANGE_BROADCAST_RING = 7, /* elements, from one writer, who waits for nobody, to any number of readers */
  TAKT_EXCHANGE_JOINT_SLOTS = 10    /* where motion processes say what a robot's joints shall do */
} takt_exchange_kind;

/* A schema is a text that says what an element looks like in memory, for example "position f64[6], stamp i64, mode u8, _ u8[7]":
 * names and types (u8 u16 u32 u64 i8 i16 i32 i64 f32 f64), arrays in brackets, each at its natural alignment, with padding written
 * down as fields named _, at the end too; up to 424 characters, 64 fields and 1 MiB. Programs that share an exchange must say the
 * same, character by character: in C++ it is takt::shm::Schema of the type (takt/shm/schema.hpp). An exchange of a C++ type that is
 * aligned to more than its fields need can be declared only from C++; its ends can be made here all the same. */

/* What a segment shall hold. */
typedef struct takt_exchange {
  const char* name;   /* 1 to 31 letters, digits, '_', '-' or '.', ended by a NUL */
  int32_t kind;       /* TAKT_EXCHANGE_... */
  uint32_t capacity;  /* RING, BROADCAST_RING: elements; BYTE_RING: bytes; rounded up to a power of two. JOINT_SLOTS: slots, 1 to
                       * 32. Else unused */
  const char* schema; /* RING, LATEST, BROADCAST, BROADCAST_RING: what an element is. Else unused */
} takt_exchange;

/* Attaches the named segment, or makes it with these exchanges; one with others is replaced if nobody has it. The caller's, to be
 * freed with takt_segment_close(). Errors: TAKT_ERROR_SHM_..., TAKT_ERROR_PLATFORM_..., TAKT_ERROR_CAPI_BAD_ARGUMENT (a kind);
 * TAKT_ERROR_SHM_BAD_SCHEMA; _TOO_MANY_EXCHANGES (none, too); where somebody has it with others: _NO_SUCH_EXCHANGE, _WRONG_KIND,
 * _WRONG_EXTENT (another capacity, or other slots), _WRONG_SCHEMA. */
TAKT_API int32_t takt_segment_open_or_create(const char* name, const takt_exchange* exchanges, size_t count,
                                             takt_segment** segment);

/* Attaches the named segment as it is. Errors: TAKT_ERROR_PLATFORM_NO_SUCH_SEGMENT, ..., TAKT_ERROR_SHM_NOT_READY, ... */
TAKT_API int32_t takt_segment_open(const char* name, takt_segment** segment);

/* Makes a sealed segment with these exchanges; `name` is for people. Errors: TAKT_ERROR_PLATFORM_MEMORY_FULL, _SEGMENT_FAILED, and
 * as above. */
TAKT_API int32_t takt_segment_create_sealed(const char* name, const takt_exchange* exchanges, size_t count, takt_segment** segment);

/* Gets a sealed segment from the process that serves it, of our own user or root, at `path`; waits up to timeout_ns for one to be
 * there, and, if it came late, up to 100 ms longer for its answer. Errors: TAKT_ERROR_PLATFORM_CONNECT_FAILED, _WRONG_OWNER, _NOT_ALLOWED, _RECEIVE_FAILED, _NOT_SEALED;
 * TAKT_ERROR_SHM_... for what is in it. */
TAKT_API int32_t takt_segment_receive(const char* path, int64_t timeout_ns, takt_segment** segment);

/* Hands a sealed segment to every process of our own user that asks for it (takt_segment_receive(), or receive_segment() of
 * takt/platform/segment_server.hpp), from a thread of its own, which takes no signals and keeps nobody waiting who works with the
 * segment. `path` is that of a UNIX socket, made with mode 0600; one that a dead server left behind is replaced. A path that begins
 * with '@' is no file, and nothing is left behind. The segment may be closed, and is served all the same. Errors:
 * TAKT_ERROR_PLATFORM_NOT_SEALED; _LISTEN_FAILED (somebody else serves there; the path is too long; ...). */
typedef struct takt_segment_server takt_segment_server;
TAKT_API int32_t takt_segment_server_create(const takt_segment* segment, const char* path, takt_segment_server** server);

/* Stops serving and removes the path; who has the segment keeps it. */
TAKT_API void takt_segment_server_destroy(takt_segment_server* server);

/* Removes the name; who has the segment keeps it. Errors: TAKT_ERROR_PLATFORM_NO_SUCH_SEGMENT, _SEGMENT_FAILED. */
TAKT_API int32_t takt_segment_remove(const char* name);

/* Detaches it. Ends that were made from it keep its memory. */
TAKT_API void takt_segment_close(takt_segment* segment);

/* The ends of a byte ring; both wait for nobody. */
typedef struct takt_byte_producer takt_byte_producer;
typedef struct takt_byte_consumer takt_byte_consumer;

/* Takes the slot and makes the end. Errors: TAKT_ERROR_PLATFORM_SLOT_TAKEN, TAKT_ERROR_SHM_NO_SUCH_EXCHANGE, _WRONG_KIND, ... */
TAKT_API int32_t takt_byte_producer_create(takt_segment* segment, const char* name, takt_byte_producer** producer);
TAKT_API int32_t takt_byte_consumer_create(takt_segment* segment, const char* name, takt_byte_consumer** consumer);

/* Frees the end and its slot. */
TAKT_API void takt_byte_producer_destroy(takt_byte_producer* producer);
TAKT_API void takt_byte_consumer_destroy(takt_byte_consumer* consumer);

/* The longest message that always fits once the consumer has caught up; 0 for NULL. Real-time safe. */
TAKT_API size_t takt_byte_producer_max(const takt_byte_producer* producer);

/* Appends a message. Errors: TAKT_ERROR_SHM_FULL (now; or for ever, if it is longer than takt_byte_producer_max()).
 * Real-time safe. */
TAKT_API int32_t takt_byte_producer_write(takt_byte_producer* producer, const void* message, size_t size);

/* Takes the oldest message; *length, which may be NULL, is its length. Errors: TAKT_ERROR_SHM_EMPTY; TAKT_ERROR_SHM_BROKEN (nothing
 * comes any more, but to a consumer after this one); TAKT_ERROR_CAPI_BUFFER_TOO_SMALL: *length says what is needed, and the
 * message stays. Real-time safe. */
TAKT_API int32_t takt_byte_consumer_read(takt_byte_consumer* consumer, void* message, size_t size, size_t* length);

/* The ends of other exchanges. An element is `size` bytes of any alignment, which are copied; a `size` that is not that of the
 * schema is answered by TAKT_ERROR_CAPI_BAD_ARGUMENT, wherever one is given. The _create functions take the slot, if the end needs
 * one, and make the end of an exchange whose schema must be `schema`. Errors of all of them: TAKT_ERROR_PLATFORM_SLOT_TAKEN;
 * TAKT_ERROR_SHM_NO_SUCH_EXCHANGE, _WRONG_KIND, _WRONG_SCHEMA, _BAD_SCHEMA. The _destroy functions free the end and its slot. */

/* The ends of a RING; both wait for nobody. */
typedef struct takt_ring_producer takt_ring_producer;
typedef struct takt_ring_consumer takt_ring_consumer;
TAKT_API int32_t takt_ring_producer_create(takt_segment* segment, const char* name, const char* schema,
                                           takt_ring_producer** producer);
TAKT_API int32_t takt_ring_consumer_create(takt_segment* segment, const char* name, const char* schema,
                                           takt_ring_consumer** consumer);
TAKT_API void takt_ring_producer_destroy(takt_ring_producer* producer);
TAKT_API void takt_ring_consumer_destroy(takt_ring_consumer* consumer);

/* Appends an element. Errors: TAKT_ERROR_SHM_FULL; up to a sixteenth of a ring that looks full may have been read already.
 * Real-time safe. */
TAKT_API int32_t takt_ring_producer_push(takt_ring_producer* producer, const void* element, size_t size);

/* Appends as many of `count` elements of `size` bytes each, from the first, as there is room for, and publishes them at once;
 * *pushed is how many. Real-time safe. */
TAKT_API int32_t takt_ring_producer_push_many(takt_ring_producer* producer, const void* elements, size_t size, size_t count,
                                              size_t* pushed);

/* Takes the oldest element. Errors: TAKT_ERROR_SHM_EMPTY. Real-time safe. */
TAKT_API int32_t takt_ring_consumer_pop(takt_ring_consumer* consumer, void* element, size_t size);

/* Takes up to `count` of the oldest elements and gives their space back at once; *popped is how many. Real-time safe. */
TAKT_API int32_t takt_ring_consumer_pop_many(takt_ring_consumer* consumer, void* elements, size_t size, size_t count,
                                             size_t* popped);

/* The ends of a LATEST or BROADCAST value. The writer never waits for anybody, and no reader sees a value that is half old and half
 * new. Readers of a BROADCAST need no slot. */
typedef struct takt_value_writer takt_value_writer;
typedef struct takt_value_reader takt_value_reader;
TAKT_API int32_t takt_value_writer_create(takt_segment* segment, const char* name, const char* schema, takt_value_writer** writer);
TAKT_API int32_t takt_value_reader_create(takt_segment* segment, const char* name, const char* schema, takt_value_reader** reader);
TAKT_API void takt_value_writer_destroy(takt_value_writer* writer);
TAKT_API void takt_value_reader_destroy(takt_value_reader* reader);

/* Publishes a copy of the value. Real-time safe. */
TAKT_API int32_t takt_value_writer_write(takt_value_writer* writer, const void* value, size_t size);

/* What a read of a value has found. */
typedef enum takt_freshness {
  TAKT_FRESHNESS_NONE = 0, /* nothing was ever written, and `value` is as it was */
  TAKT_FRESHNESS_OLD = 1,  /* the value that the last read gave as well */
  TAKT_FRESHNESS_NEW = 2   /* one not read before */
} takt_freshness;

/* Copies the newest value; *freshness, which may be NULL, is TAKT_FRESHNESS_.... A BROADCAST whose writer overtook every one of 16
 * attempts leaves `value` as it was and says OLD, or NONE to a reader that has not read anything yet. Real-time safe. */
TAKT_API int32_t takt_value_reader_read(takt_value_reader* reader, void* value, size_t size, int32_t* freshness);

/* The ends of a BROADCAST_RING. Readers need no slot; each has its own pace, and begins with the oldest element. */
typedef struct takt_stream_writer takt_stream_writer;
typedef struct takt_stream_reader takt_stream_reader;
TAKT_API int32_t takt_stream_writer_create(takt_segment* segment, const char* name, const char* schema,
                                           takt_stream_writer** writer);
TAKT_API int32_t takt_stream_reader_create(takt_segment* segment, const char* name, const char* schema,
                                           takt_stream_reader** reader);
TAKT_API void takt_stream_writer_destroy(takt_stream_writer* writer);
TAKT_API void takt_stream_reader_destroy(takt_stream_reader* reader);

/* Appends an element, in place of the oldest one. Never full. Real-time safe. */
TAKT_API int32_t takt_stream_writer_write(takt_stream_writer* writer, const void* element, size_t size);

/* Takes the next element. Errors: TAKT_ERROR_SHM_EMPTY (there is none, or the writer was faster at each of 4 attempts). A reader
 * that was lapped goes on at the oldest element that will stay for a while. Real-time safe. */
TAKT_API int32_t takt_stream_reader_read(takt_stream_reader* reader, void* element, size_t size);

/* How many elements were overwritten before this reader came to them, in all; 0 for NULL. Real-time safe. */
TAKT_API uint64_t takt_stream_reader_missed(const takt_stream_reader* reader);

/* ---- joints in shared memory --------------------------------------------------------------------------------------------- */

/* Several motion processes move the joints of one robot, each its own; the hub, in the real-time process, applies what they ask and
 * alone decides who owns what. The rules are in takt/shm/joint_image.hpp. In short: each process says in each of its cycles which
 * joints it wants and what they shall do. Those that it wants anew it is given all at once or not at all. A joint that was granted
 * stands still until its owner has seen so. One whose owner lets go, starts anew, or is silent for too many cycles of the hub does
 * what is safe, and is free. */

/* What a reference asks of a joint. */
typedef enum takt_joint_mode {
  TAKT_JOINT_MODE_OFF = 0,
  TAKT_JOINT_MODE_POSITION = 1, /* velocity, acceleration and effort are feed-forward */
  TAKT_JOINT_MODE_VELOCITY = 2, /* acceleration and effort are feed-forward */
  TAKT_JOINT_MODE_EFFORT = 3
} takt_joint_mode;

/* What one joint is asked to do. */
typedef struct takt_joint_reference {
  double position;     /* rad or m */
  double velocity;     /* rad/s or m/s */
  double acceleration; /* rad/s^2 or m/s^2 */
  double effort;       /* N m or N */
  int32_t mode;        /* TAKT_JOINT_MODE_... */
  int32_t reserved;    /* 0 */
} takt_joint_reference;

/* What was measured of one joint. */
typedef struct takt_joint_measurement {
  double position; /* rad or m */
  double velocity; /* rad/s or m/s */
  double effort;   /* N m or N */
} takt_joint_measurement;

/* What a joint does when its owner is gone. One that is off stays off. */
typedef enum takt_safe_behaviour {
  TAKT_SAFE_HOLD = 0,   /* moves to `position` at `speed`; with speed 0 it stops where it is */
  TAKT_SAFE_RELEASE = 1 /* drive off */
} takt_safe_behaviour;
typedef struct takt_joint_safety {
  int32_t behaviour; /* TAKT_SAFE_... */
  int32_t reserved;  /* 0 */
  double position;   /* rad or m */
  double speed;      /* rad/s or m/s, not negative */
} takt_joint_safety;

/* What a joint is about, in takt_joint_image. */
typedef enum takt_joint_phase {
  TAKT_JOINT_PHASE_RESTING = 0,   /* nobody's: off, or held */
  TAKT_JOINT_PHASE_RETURNING = 1, /* nobody's: on its way to its safe position */
  TAKT_JOINT_PHASE_GRANTED = 2,   /* held until its new owner has seen that it was granted */
  TAKT_JOINT_PHASE_DRIVEN = 3     /* follows its owner */
} takt_joint_phase;

/* What the hub has told a slot. */
typedef enum takt_joint_answer {
  TAKT_JOINT_ANSWER_NONE = 0,    /* it wants nothing, or was never heard */
  TAKT_JOINT_ANSWER_GRANTED = 1, /* it owns all that it wants */
  TAKT_JOINT_ANSWER_REFUSED = 2, /* of those joints that it wants anew, refused_joint has another owner */
  TAKT_JOINT_ANSWER_SILENT = 3   /* it has lost its joints */
} takt_joint_answer;

#define TAKT_MAX_JOINT_SLOTS 32
#define TAKT_NO_OWNER 255

/* The robot at one cycle of the hub, as it lies in the segment: for everybody to read, too, as a BROADCAST with the schema
 * takt_joint_image_schema(). */
typedef struct takt_joint_image {
  uint64_t cycle;                         /* of the hub, goes on when another takes over */
  uint64_t started;                       /* first cycle of this hub: another number is another hub */
  int64_t stamp_ns;                       /* on the clock of the hub: when it was measured */
  uint32_t joints;                        /* rows in use, of the columns below */
  uint32_t slots;
  double position[TAKT_MAX_JOINTS];       /* measured */
  double velocity[TAKT_MAX_JOINTS];
  double effort[TAKT_MAX_JOINTS];
  double ref_position[TAKT_MAX_JOINTS];   /* applied; in other modes than POSITION the measured one */
  double ref_velocity[TAKT_MAX_JOINTS];
  double ref_acceleration[TAKT_MAX_JOINTS];
  double ref_effort[TAKT_MAX_JOINTS];
  double safe[TAKT_MAX_JOINTS];           /* safe position */
  uint64_t granted[TAKT_MAX_JOINTS];      /* cycle in which the joint got its owner */
  uint8_t mode[TAKT_MAX_JOINTS];          /* TAKT_JOINT_MODE_... */
  uint8_t owner[TAKT_MAX_JOINTS];         /* slot, or TAKT_NO_OWNER */
  uint8_t phase[TAKT_MAX_JOINTS];         /* TAKT_JOINT_PHASE_... */
  int64_t sent_ns[TAKT_MAX_JOINT_SLOTS];  /* time stamp of the slot's last good command */
  uint32_t session[TAKT_MAX_JOINT_SLOTS]; /* 0: never heard */
  uint32_t heartbeat[TAKT_MAX_JOINT_SLOTS];
  uint32_t lost[TAKT_MAX_JOINT_SLOTS];     /* how often it lost its joints by silence */
  uint32_t rejected[TAKT_MAX_JOINT_SLOTS]; /* commands with something wrong */
  uint16_t error[TAKT_MAX_JOINT_SLOTS];    /* what, in the last one: TAKT_STATUS(7, error), or 0 */
  uint8_t error_joint[TAKT_MAX_JOINT_SLOTS];
  uint8_t answer[TAKT_MAX_JOINT_SLOTS];    /* TAKT_JOINT_ANSWER_... */
  uint8_t refused_joint[TAKT_MAX_JOINT_SLOTS];
} takt_joint_image;

/* The schema of takt_joint_image. Lives for ever. Real-time safe. */
TAKT_API const char* takt_joint_image_schema(void);

/* A motion process, in one slot. Sets of joints are bit masks: joint j is (uint64_t)1 << j. */
typedef struct takt_joint_client takt_joint_client;

/* Takes the slot of the exchange `slots` (JOINT_SLOTS), and reads `image` (a BROADCAST of images). Errors:
 * TAKT_ERROR_PLATFORM_SLOT_TAKEN, TAKT_ERROR_SHM_NO_SUCH_EXCHANGE, _NO_SUCH_SLOT, ... */
TAKT_API int32_t takt_joint_client_create(takt_segment* segment, const char* image, const char* slots, uint32_t slot,
                                          takt_joint_client** client);

/* Frees the client and its slot. Its joints are lost as by silence; publish that none is wanted to let go of them at once. */
TAKT_API void takt_joint_client_destroy(takt_joint_client* client);

/* Reads the newest image; *is_new, which may be NULL, is 1 if there was one since the last call, else 0. Joints that were granted
 * since then begin with the reference that is applied to them. Real-time safe. */
TAKT_API int32_t takt_joint_client_update(takt_joint_client* client, int32_t* is_new);

/* The robot as the last update found it; all zero before the first. Valid, and the same, until the next; NULL for NULL.
 * Real-time safe. */
TAKT_API const takt_joint_image* takt_joint_client_image(const takt_joint_client* client);

/* The joints that it owns, and those of them that the last update found granted anew: also joints that were lost and came back,
 * which must be begun afresh. 0 for NULL. Real-time safe. */
TAKT_API uint64_t takt_joint_client_owned(const takt_joint_client* client);
TAKT_API uint64_t takt_joint_client_granted(const takt_joint_client* client);

/* What the hub has said to this process: TAKT_JOINT_ANSWER_..., TAKT_JOINT_ANSWER_NONE for NULL. Real-time safe. */
TAKT_API int32_t takt_joint_client_answer(const takt_joint_client* client);

/* The joints to own from the next publish on. Joints that are left out are let go of. Real-time safe. */
TAKT_API int32_t takt_joint_client_want(takt_joint_client* client, uint64_t joints);

/* What the next publish asks of a joint. Real-time safe. */
TAKT_API int32_t takt_joint_client_reference(const takt_joint_client* client, size_t joint, takt_joint_reference* reference);

/* Changes it. Errors: TAKT_ERROR_SHM_NOT_OWNER, _UNKNOWN_MODE, _BAD_REFERENCE (a number that is NaN or infinite). Real-time
 * safe. */
TAKT_API int32_t takt_joint_client_set(takt_joint_client* client, size_t joint, const takt_joint_reference* reference);

/* Says all of it to the hub, as one; now_ns is a time stamp on the caller's clock. Once per cycle: it is also the sign of life.
 * Real-time safe. */
TAKT_API int32_t takt_joint_client_publish(takt_joint_client* client, int64_t now_ns);

/* The hub: one at a time. */
typedef struct takt_joint_hub takt_joint_hub;

/* For `joints` joints, each with its safety. period_ns: from one take to the next; silent_cycles: how many takes in a row may find
 * no good news of an owner. Over a segment that was in use it goes on with what was applied last. Errors: as with the client, and
 * TAKT_ERROR_SHM_BAD_EXTENT, _OUT_OF_DOMAIN; TAKT_ERROR_CAPI_BAD_ARGUMENT (no such behaviour). */
TAKT_API int32_t takt_joint_hub_create(takt_segment* segment, const char* image, const char* slots,
                                       const takt_joint_safety* safety, size_t joints, int64_t period_ns, uint32_t silent_cycles,
                                       takt_joint_hub** hub);

/* Frees the hub and its slots. */
TAKT_API void takt_joint_hub_destroy(takt_joint_hub* hub);

/* Hears every slot, settles who owns what, and gives what to apply now. `joints` must be the hub's: TAKT_ERROR_SHM_BAD_EXTENT.
 * Once per cycle. Real-time safe. */
TAKT_API int32_t takt_joint_hub_take(takt_joint_hub* hub, takt_joint_reference* references, size_t joints);

/* Publishes what was applied, and what was measured at now_ns; where a number is none, the measurement before stands.
 * Errors: TAKT_ERROR_SHM_BAD_EXTENT. Real-time safe. */
TAKT_API int32_t takt_joint_hub_publish(takt_joint_hub* hub, int64_t now_ns, const takt_joint_measurement* measured, size_t joints);

/* What the last publish wrote; valid until the next take. NULL for NULL. Real-time safe. */
TAKT_API const takt_joint_image* takt_joint_hub_image(const takt_joint_hub* hub);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TAKT_SHM_H */
