/* Shared memory: segments with named exchanges, and the joints of a robot that several processes move. */
#ifndef TAKT_SHM_H
#define TAKT_SHM_H

#include "takt/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- segments ---- */

/* A segment: memory that processes of one machine share, with named exchanges. Each end of an exchange is an
 * owner slot with one owner at a time. When the owner dies, its slot is free at once; the next owner
 * continues where the last one stopped.
 *
 * Named segments (/dev/shm/takt.NAME, mode 0600) are for processes of one user that trust each other. They
 * outlive the processes. Sealed segments have no name and are passed over a socket. A peer can write anything
 * into one, but cannot shrink it, which would crash its users. A real-time process accepts only sealed
 * segments. They vanish with the last process that has them. */
typedef struct takt_segment takt_segment;

/* The kind of an exchange; the numbers are those in the segment. */
typedef enum takt_exchange_kind {
  TAKT_EXCHANGE_RING = 2,           /* elements, one producer, one consumer, no loss */
  TAKT_EXCHANGE_BYTE_RING = 4,      /* messages of any length, one producer, one consumer, no loss */
  TAKT_EXCHANGE_LATEST = 5,         /* the newest value, one writer, one reader */
  TAKT_EXCHANGE_BROADCAST = 6,      /* the newest value, one writer, any number of readers */
  TAKT_EXCHANGE_BROADCAST_RING = 7, /* elements, one writer that never waits, any number of readers */
  TAKT_EXCHANGE_JOINT_SLOTS = 8     /* commands of motion processes to the joints of a robot */
} takt_exchange_kind;

/* A schema describes an element's memory as text, for example "position f64[6], stamp i64, mode u8, _ u8[7]".
 * It lists names and types (u8 u16 u32 u64 i8 i16 i32 i64 f32 f64), with arrays in brackets. Each field has
 * its natural alignment. Padding, also at the end, is a field named _. A schema has up to 424 characters and
 * 64 fields; an element up to 1 MiB. Programs that share an exchange need the same text; in C++
 * takt::shm::schema_text() makes it (takt/shm/schema.hpp). Only C++ can declare an exchange of a type with
 * larger alignment than its fields; its ends can be made here. */

/* An exchange to create in a segment. */
typedef struct takt_exchange {
  const char* name; /* 1 to 31 letters, digits, '_', '-' or '.' */
  int32_t kind;     /* takt_exchange_kind */
  /* RING, BROADCAST_RING: elements; BYTE_RING: bytes; both are rounded up to a power of two. JOINT_SLOTS:
   * slots, 1 to 32. Else unused. */
  uint32_t capacity;
  const char* schema; /* RING, LATEST, BROADCAST, BROADCAST_RING: of an element. Else unused */
} takt_exchange;

/* Attaches the named segment, or creates it with these exchanges. A segment with other exchanges is replaced
 * if no process has it. Close `*segment` with takt_segment_close(). Errors: TAKT_ERROR_SHM_...,
 * TAKT_ERROR_PLATFORM_..., TAKT_ERROR_CAPI_BAD_ARGUMENT (a kind); TAKT_ERROR_SHM_BAD_SCHEMA;
 * _TOO_MANY_EXCHANGES (also none). If a process has it with other exchanges: _NO_SUCH_EXCHANGE, _WRONG_KIND,
 * _WRONG_EXTENT (another capacity or number of slots), _WRONG_SCHEMA. */
TAKT_API int32_t takt_segment_open_or_create(const char* name, const takt_exchange* exchanges, size_t count,
                                             takt_segment** segment);

/* Attaches an existing named segment. Errors: TAKT_ERROR_PLATFORM_NO_SUCH_SEGMENT, ...,
 * TAKT_ERROR_SHM_NOT_READY, ... */
TAKT_API int32_t takt_segment_open(const char* name, takt_segment** segment);

/* Creates a sealed segment with these exchanges; `name` is only a label. Errors:
 * TAKT_ERROR_PLATFORM_MEMORY_FULL, _SEGMENT_FAILED, and those of takt_segment_open_or_create(). */
TAKT_API int32_t takt_segment_create_sealed(const char* name, const takt_exchange* exchanges, size_t count,
                                            takt_segment** segment);

/* Receives a sealed segment from the server at `path`, a process of the same user or root. Waits up to
 * timeout_ns for the server, and up to 100 ms longer for the answer of a late one. Errors:
 * TAKT_ERROR_PLATFORM_CONNECT_FAILED, _WRONG_OWNER, _NOT_ALLOWED, _RECEIVE_FAILED, _NOT_SEALED;
 * TAKT_ERROR_SHM_... for its contents. */
TAKT_API int32_t takt_segment_receive(const char* path, int64_t timeout_ns, takt_segment** segment);

/* Passes a sealed segment to every process of the same user that asks for it. */
typedef struct takt_segment_server takt_segment_server;

/* Starts a server in a thread of its own, which takes no signals and never delays users of the segment.
 * Processes ask with takt_segment_receive(), or receive_segment() of takt/platform/segment_server.hpp. `path`
 * is a UNIX socket with mode 0600. A socket of a dead server is replaced. A path that begins with '@' is
 * abstract and leaves no file. The segment may be closed while it is served. Free *server with
 * takt_segment_server_destroy(). Errors: TAKT_ERROR_PLATFORM_NOT_SEALED; _LISTEN_FAILED (for example: another
 * server, a path too long). */
TAKT_API int32_t takt_segment_server_create(const takt_segment* segment, const char* path,
                                            takt_segment_server** server);

/* Stops the server and removes the path. Processes keep the segments that they have. */
TAKT_API void takt_segment_server_destroy(takt_segment_server* server);

/* Removes the name. Processes keep the segments that they have. Errors: TAKT_ERROR_PLATFORM_NO_SUCH_SEGMENT,
 * _SEGMENT_FAILED. */
TAKT_API int32_t takt_segment_remove(const char* name);

/* Detaches the segment. Ends that were made from it keep its memory. */
TAKT_API void takt_segment_close(takt_segment* segment);

/* ---- ends of exchanges ---- */

/* Elements are `size` bytes of any alignment and are copied. A `size` other than that of the schema gives
 * TAKT_ERROR_CAPI_BAD_ARGUMENT.
 *
 * _create functions take the end's slot, if it has one, and make the end of an exchange with the schema
 * `schema`. Their errors: TAKT_ERROR_PLATFORM_SLOT_TAKEN; TAKT_ERROR_SHM_NO_SUCH_EXCHANGE, _WRONG_KIND,
 * _WRONG_SCHEMA, _BAD_SCHEMA. _destroy functions free the end and its slot. No end waits for another. */

/* The ends of a BYTE_RING, which has no schema. */
typedef struct takt_byte_producer takt_byte_producer;
typedef struct takt_byte_consumer takt_byte_consumer;
TAKT_API int32_t takt_byte_producer_create(takt_segment* segment, const char* name,
                                           takt_byte_producer** producer);
TAKT_API int32_t takt_byte_consumer_create(takt_segment* segment, const char* name,
                                           takt_byte_consumer** consumer);
TAKT_API void takt_byte_producer_destroy(takt_byte_producer* producer);
TAKT_API void takt_byte_consumer_destroy(takt_byte_consumer* consumer);

/* Returns the length of the longest message that always fits into an empty ring; 0 for NULL. Real-time
 * safe. */
TAKT_API size_t takt_byte_producer_max(const takt_byte_producer* producer);

/* Appends a message. Errors: TAKT_ERROR_SHM_FULL; always if the message is longer than
 * takt_byte_producer_max(). Real-time safe. */
TAKT_API int32_t takt_byte_producer_write(takt_byte_producer* producer, const void* message, size_t size);

/* Reads the oldest message; `*length`, which may be NULL, is its length. Errors: TAKT_ERROR_SHM_EMPTY;
 * TAKT_ERROR_SHM_BROKEN (this consumer gets no more messages, but its successor does);
 * TAKT_ERROR_CAPI_BUFFER_TOO_SMALL: `*length` is set and the message stays. Real-time safe. */
TAKT_API int32_t takt_byte_consumer_read(takt_byte_consumer* consumer, void* message, size_t size,
                                         size_t* length);

/* The ends of a RING. */
typedef struct takt_ring_producer takt_ring_producer;
typedef struct takt_ring_consumer takt_ring_consumer;
TAKT_API int32_t takt_ring_producer_create(takt_segment* segment, const char* name, const char* schema,
                                           takt_ring_producer** producer);
TAKT_API int32_t takt_ring_consumer_create(takt_segment* segment, const char* name, const char* schema,
                                           takt_ring_consumer** consumer);
TAKT_API void takt_ring_producer_destroy(takt_ring_producer* producer);
TAKT_API void takt_ring_consumer_destroy(takt_ring_consumer* consumer);

/* Appends an element. Errors: TAKT_ERROR_SHM_FULL. In a full ring up to a sixteenth may have been read
 * already. Real-time safe. */
TAKT_API int32_t takt_ring_producer_push(takt_ring_producer* producer, const void* element, size_t size);

/* Appends the first of `count` elements of `size` bytes each, as many as fit, and publishes them together.
 * `*pushed` is their number. Real-time safe. */
TAKT_API int32_t takt_ring_producer_push_many(takt_ring_producer* producer, const void* elements, size_t size,
                                              size_t count, size_t* pushed);

/* Reads the oldest element. Errors: TAKT_ERROR_SHM_EMPTY. Real-time safe. */
TAKT_API int32_t takt_ring_consumer_pop(takt_ring_consumer* consumer, void* element, size_t size);

/* Reads up to `count` of the oldest elements and frees their space together. `*popped` is their number.
 * Real-time safe. */
TAKT_API int32_t takt_ring_consumer_pop_many(takt_ring_consumer* consumer, void* elements, size_t size,
                                             size_t count, size_t* popped);

/* The ends of a LATEST or BROADCAST value. No reader sees a half-written value. Readers of a BROADCAST have
 * no slot. */
typedef struct takt_value_writer takt_value_writer;
typedef struct takt_value_reader takt_value_reader;
TAKT_API int32_t takt_value_writer_create(takt_segment* segment, const char* name, const char* schema,
                                          takt_value_writer** writer);
TAKT_API int32_t takt_value_reader_create(takt_segment* segment, const char* name, const char* schema,
                                          takt_value_reader** reader);
TAKT_API void takt_value_writer_destroy(takt_value_writer* writer);
TAKT_API void takt_value_reader_destroy(takt_value_reader* reader);

/* Publishes a copy of the value. Real-time safe. */
TAKT_API int32_t takt_value_writer_write(takt_value_writer* writer, const void* value, size_t size);

/* The freshness of a value. */
typedef enum takt_freshness {
  TAKT_FRESHNESS_NONE = 0, /* no value was written yet */
  TAKT_FRESHNESS_OLD = 1,  /* the same value as in the last read */
  TAKT_FRESHNESS_NEW = 2   /* a new value */
} takt_freshness;

/* Copies the newest value; `*freshness`, which may be NULL, is a takt_freshness. With NONE `value` is
 * unchanged. If the writer of a BROADCAST overtakes 16 attempts, `value` is unchanged too and *freshness is
 * OLD, or NONE before the first read. Real-time safe. */
TAKT_API int32_t takt_value_reader_read(takt_value_reader* reader, void* value, size_t size,
                                        int32_t* freshness);

/* The ends of a BROADCAST_RING. Readers have no slot. Each starts with the oldest element and reads at its
 * own pace. */
typedef struct takt_stream_writer takt_stream_writer;
typedef struct takt_stream_reader takt_stream_reader;
TAKT_API int32_t takt_stream_writer_create(takt_segment* segment, const char* name, const char* schema,
                                           takt_stream_writer** writer);
TAKT_API int32_t takt_stream_reader_create(takt_segment* segment, const char* name, const char* schema,
                                           takt_stream_reader** reader);
TAKT_API void takt_stream_writer_destroy(takt_stream_writer* writer);
TAKT_API void takt_stream_reader_destroy(takt_stream_reader* reader);

/* Appends an element and overwrites the oldest. Real-time safe. */
TAKT_API int32_t takt_stream_writer_write(takt_stream_writer* writer, const void* element, size_t size);

/* Reads the next element. A reader whose next element was overwritten continues at the oldest element that
 * will stay for a while. Errors: TAKT_ERROR_SHM_EMPTY (no element, or the writer overtook 4 attempts).
 * Real-time safe. */
TAKT_API int32_t takt_stream_reader_read(takt_stream_reader* reader, void* element, size_t size);

/* Returns how many elements were overwritten before this reader read them; 0 for NULL. Real-time safe. */
TAKT_API uint64_t takt_stream_reader_missed(const takt_stream_reader* reader);

/* ---- joints in shared memory ---- */

/* Several motion processes move the joints of one robot. The hub, in the real-time process, applies their
 * commands; it alone decides who owns which joint. takt/shm/joint_image.hpp holds the rules. In short:
 *
 * - In each cycle a process requests joints and commands them.
 * - Newly requested joints are granted all at once or not at all.
 * - A granted joint stands still until its owner has seen the grant.
 * - A joint becomes free when its owner releases it, restarts, or is silent for too many cycles of the hub.
 * - A free joint follows its takt_joint_safety. */

/* The mode of a reference. */
typedef enum takt_joint_mode {
  TAKT_JOINT_MODE_OFF = 0,
  TAKT_JOINT_MODE_POSITION = 1, /* velocity, acceleration and effort are feed-forward */
  TAKT_JOINT_MODE_VELOCITY = 2, /* acceleration and effort are feed-forward */
  TAKT_JOINT_MODE_EFFORT = 3
} takt_joint_mode;

/* The command to one joint. */
typedef struct takt_joint_reference {
  double position;     /* rad or m */
  double velocity;     /* rad/s or m/s */
  double acceleration; /* rad/s^2 or m/s^2 */
  double effort;       /* N m or N */
  int32_t mode;        /* takt_joint_mode */
  int32_t reserved;    /* 0 */
} takt_joint_reference;

/* The measurement of one joint. */
typedef struct takt_joint_measurement {
  double position; /* rad or m */
  double velocity; /* rad/s or m/s */
  double effort;   /* N m or N */
} takt_joint_measurement;

/* The behaviour of a joint that lost its owner. A joint that is off stays off. */
typedef enum takt_safe_behaviour {
  TAKT_SAFE_HOLD = 0,   /* moves to `position` at `speed`; with speed 0 it stops where it is */
  TAKT_SAFE_RELEASE = 1 /* drive off */
} takt_safe_behaviour;

/* The safety of one joint. */
typedef struct takt_joint_safety {
  int32_t behaviour; /* takt_safe_behaviour */
  int32_t reserved;  /* 0 */
  double position;   /* rad or m */
  double speed;      /* rad/s or m/s, not negative */
} takt_joint_safety;

/* The phase of a joint in takt_joint_image. */
typedef enum takt_joint_phase {
  TAKT_JOINT_PHASE_RESTING = 0,   /* no owner: off or held */
  TAKT_JOINT_PHASE_RETURNING = 1, /* no owner: moves to its safe position */
  TAKT_JOINT_PHASE_GRANTED = 2,   /* held until its new owner has seen the grant */
  TAKT_JOINT_PHASE_DRIVEN = 3     /* follows its owner */
} takt_joint_phase;

/* The hub's answer to an owner slot. */
typedef enum takt_joint_answer {
  TAKT_JOINT_ANSWER_NONE = 0,    /* no joint requested, or no command yet */
  TAKT_JOINT_ANSWER_GRANTED = 1, /* owns all requested joints */
  TAKT_JOINT_ANSWER_REFUSED = 2, /* another process owns refused_joint, which was newly requested */
  TAKT_JOINT_ANSWER_SILENT = 3   /* lost its joints by silence */
} takt_joint_answer;

/* The most owner slots of a robot. */
#define TAKT_MAX_JOINT_SLOTS 32
/* The owner of a joint without owner. */
#define TAKT_NO_OWNER 255

/* The robot in one cycle of the hub, as it lies in the segment. All processes can read it as a BROADCAST with
 * the schema takt_joint_image_schema(). */
typedef struct takt_joint_image {
  uint64_t cycle;                   /* of the hub; continues when another hub takes over */
  uint64_t started;                 /* first cycle of this hub; changes with each hub */
  int64_t stamp_ns;                 /* of the measurement, on the hub's clock */
  uint32_t joints;                  /* used rows of the columns below */
  uint32_t slots;                   /* used rows of the columns of slots */
  double position[TAKT_MAX_JOINTS]; /* measured */
  double velocity[TAKT_MAX_JOINTS];
  double effort[TAKT_MAX_JOINTS];
  double ref_position[TAKT_MAX_JOINTS]; /* applied; in modes other than POSITION the measured one */
  double ref_velocity[TAKT_MAX_JOINTS];
  double ref_acceleration[TAKT_MAX_JOINTS];
  double ref_effort[TAKT_MAX_JOINTS];
  double safe[TAKT_MAX_JOINTS];           /* safe position */
  uint64_t granted[TAKT_MAX_JOINTS];      /* cycle in which the owner got the joint */
  uint8_t mode[TAKT_MAX_JOINTS];          /* takt_joint_mode */
  uint8_t owner[TAKT_MAX_JOINTS];         /* slot, or TAKT_NO_OWNER */
  uint8_t phase[TAKT_MAX_JOINTS];         /* takt_joint_phase */
  int64_t sent_ns[TAKT_MAX_JOINT_SLOTS];  /* time stamp of the slot's last valid command */
  uint32_t session[TAKT_MAX_JOINT_SLOTS]; /* 0: no command yet */
  uint32_t heartbeat[TAKT_MAX_JOINT_SLOTS];
  uint32_t lost[TAKT_MAX_JOINT_SLOTS];     /* how often the slot lost its joints by silence */
  uint32_t rejected[TAKT_MAX_JOINT_SLOTS]; /* invalid commands */
  uint16_t error[TAKT_MAX_JOINT_SLOTS];    /* of the last command: TAKT_STATUS(7, error), or 0 */
  uint8_t error_joint[TAKT_MAX_JOINT_SLOTS];
  uint8_t answer[TAKT_MAX_JOINT_SLOTS]; /* takt_joint_answer */
  uint8_t refused_joint[TAKT_MAX_JOINT_SLOTS];
} takt_joint_image;

/* Returns the schema of takt_joint_image. The text is never freed. Real-time safe. */
TAKT_API const char* takt_joint_image_schema(void);

/* A motion process in one owner slot. Sets of joints are bit masks: joint j is (uint64_t)1 << j. */
typedef struct takt_joint_client takt_joint_client;

/* Takes the slot `slot` of the exchange `slots` (JOINT_SLOTS), and reads `image` (a BROADCAST of images).
 * Free *client with takt_joint_client_destroy(). Errors: TAKT_ERROR_PLATFORM_SLOT_TAKEN,
 * TAKT_ERROR_SHM_NO_SUCH_EXCHANGE, _NO_SUCH_SLOT, ... */
TAKT_API int32_t takt_joint_client_create(takt_segment* segment, const char* image, const char* slots,
                                          uint32_t slot, takt_joint_client** client);

/* Frees the client and its slot. The hub notices it as silence. To release the joints at once, first publish
 * without requested joints. */
TAKT_API void takt_joint_client_destroy(takt_joint_client* client);

/* Reads the newest image; `*is_new`, which may be NULL, is 1 if there was a new one, else 0. Newly granted
 * joints start with the reference that is applied to them. Real-time safe. */
TAKT_API int32_t takt_joint_client_update(takt_joint_client* client, int32_t* is_new);

/* Returns the image of the last update; all zero before the first, NULL for NULL. The pointer is valid until
 * the next update. Real-time safe. */
TAKT_API const takt_joint_image* takt_joint_client_image(const takt_joint_client* client);

/* Returns the owned joints; 0 for NULL. Real-time safe. */
TAKT_API uint64_t takt_joint_client_owned(const takt_joint_client* client);

/* Returns the joints that were granted with the last update; 0 for NULL. A joint that was lost and granted
 * again is among them: start its motion afresh. Real-time safe. */
TAKT_API uint64_t takt_joint_client_granted(const takt_joint_client* client);

/* Returns the hub's answer, a takt_joint_answer; NONE for NULL. Real-time safe. */
TAKT_API int32_t takt_joint_client_answer(const takt_joint_client* client);

/* Sets the joints to own from the next publish on, and releases all others. Real-time safe. */
TAKT_API int32_t takt_joint_client_want(takt_joint_client* client, uint64_t joints);

/* Reads the reference of a joint for the next publish. Real-time safe. */
TAKT_API int32_t takt_joint_client_reference(const takt_joint_client* client, size_t joint,
                                             takt_joint_reference* reference);

/* Sets the reference of a joint for the next publish. Errors: TAKT_ERROR_SHM_NOT_OWNER, _UNKNOWN_MODE,
 * _BAD_REFERENCE (NaN or infinite). Real-time safe. */
TAKT_API int32_t takt_joint_client_set(takt_joint_client* client, size_t joint,
                                       const takt_joint_reference* reference);

/* Sends the request and all references to the hub together; now_ns is a time stamp on the caller's clock.
 * Call it once per cycle: it is also the heartbeat. Real-time safe. */
TAKT_API int32_t takt_joint_client_publish(takt_joint_client* client, int64_t now_ns);

/* The hub. A robot has one at a time. */
typedef struct takt_joint_hub takt_joint_hub;

/* Makes the hub of `joints` joints with one safety each. period_ns is the time between two takes. An owner
 * counts as silent after silent_cycles takes in a row in which its command is missing, stale or not finite.
 * In a used segment the hub continues with the last applied references. Free *hub with
 * takt_joint_hub_destroy(). Errors: those of takt_joint_client_create(); TAKT_ERROR_SHM_BAD_EXTENT,
 * _OUT_OF_DOMAIN; TAKT_ERROR_CAPI_BAD_ARGUMENT (a behaviour). */
TAKT_API int32_t takt_joint_hub_create(takt_segment* segment, const char* image, const char* slots,
                                       const takt_joint_safety* safety, size_t joints, int64_t period_ns,
                                       uint32_t silent_cycles, takt_joint_hub** hub);

/* Frees the hub and its slots. */
TAKT_API void takt_joint_hub_destroy(takt_joint_hub* hub);

/* Reads all commands, decides the owners, and writes the references to apply now. Call it once per cycle.
 * Errors: TAKT_ERROR_SHM_BAD_EXTENT (`joints` is not the hub's number). Real-time safe. */
TAKT_API int32_t takt_joint_hub_take(takt_joint_hub* hub, takt_joint_reference* references, size_t joints);

/* Publishes the applied references and the measurements of now_ns. A measurement that is not finite is
 * replaced by the last finite one. Errors: TAKT_ERROR_SHM_BAD_EXTENT. Real-time safe. */
TAKT_API int32_t takt_joint_hub_publish(takt_joint_hub* hub, int64_t now_ns,
                                        const takt_joint_measurement* measured, size_t joints);

/* Returns the last published image; NULL for NULL. The pointer is valid until the next take. Real-time
 * safe. */
TAKT_API const takt_joint_image* takt_joint_hub_image(const takt_joint_hub* hub);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TAKT_SHM_H */
