/* Channels: authenticated datagrams between a commander and a vehicle. */
#ifndef TAKT_SECURE_H
#define TAKT_SECURE_H

#include "takt/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One end of a connection; it turns a vehicle's frames into datagrams and back. Each end has its own channel:
 *
 *   plain       Bytes without change, for vehicles that know nothing else.
 *               Anybody who can send to such a vehicle drives it.
 *   commander,  An authenticated envelope. Sessions start by mutual challenge. Each frame has a tag
 *   vehicle     (SipHash-2-4-128) of a shared key. Replayed, overtaken and old setpoints are rejected.
 *               Nothing is encrypted.
 *
 * Send what takt_channel_poll_handshake() writes as soon as takt_channel_next_handshake_ns() has come. Seal
 * every frame with takt_channel_seal(). Pass every received datagram to takt_channel_open().
 *
 * All times of one channel are of one steady clock; the clocks of the two ends need not agree. The session
 * ends, except for stops, if the clock jumps or the channel gets no time for silence_ns. Then the ends repeat
 * the handshake. include/takt/secure/handshake.hpp describes the protocol. */
typedef struct takt_channel takt_channel;

/* Bytes of a key. */
#define TAKT_CHANNEL_KEY_BYTES 16
/* Bytes that an envelope adds to a frame; a plain channel adds none. */
#define TAKT_CHANNEL_OVERHEAD 48
/* Bytes of the longest datagram of the handshake. */
#define TAKT_CHANNEL_MAX_HANDSHAKE 88

/* A secret of both ends, and the number that identifies it in frames. */
typedef struct takt_channel_key {
  uint8_t id;
  uint8_t bytes[TAKT_CHANNEL_KEY_BYTES];
} takt_channel_key;

/* Reads the key from a file that holds only the key. `takt key --bytes 16 FILE` makes one. The file belongs
 * to the program's user and has mode 0600 or 0400. On failure `why`, which may be NULL, gets the reason, cut
 * to `size` bytes. Errors: TAKT_ERROR_PLATFORM_NO_KEY_FILE, _KEY_FILE_OWNER, _KEY_FILE_MODE,
 * _KEY_FILE_SIZE. */
TAKT_API int32_t takt_channel_key_read(const char* path, uint8_t id, takt_channel_key* key, char* why,
                                       size_t size);

/* Time limits, equal at both ends; 0 means the default. They satisfy 1 ms <= age <= silence <= renewal <= 1
 * h, and age >= 0.012 renewal. The last rule keeps a clock drift of 500 ppm within a quarter of the age
 * during a session. */
typedef struct takt_channel_limits {
  uint32_t struct_size; /* set by takt_channel_limits_init() */
  uint32_t reserved;    /* 0 */
  int64_t age_ns;       /* older frames are rejected; a handshake answer may take half of it; 300 ms */
  int64_t silence_ns;   /* after this time without frames the other end counts as lost; 500 ms */
  int64_t renewal_ns;   /* the commander renews the session so often; it ends after six renewals; 10 s */
} takt_channel_limits;

/* Sets struct_size to `size`, and everything else to zero. Ignores NULL. */
TAKT_API void takt_channel_limits_init(takt_channel_limits* limits, size_t size);

/* Make a channel. Free *channel with takt_channel_destroy(). A vehicle has one key, or two while keys are
 * exchanged. `limits` may be NULL for the defaults. Errors: TAKT_ERROR_SECURE_NO_KEY (none, more than two,
 * two with one id, or zeros); _OUT_OF_RANGE (limits); TAKT_ERROR_PLATFORM_NO_RANDOMNESS;
 * TAKT_ERROR_CAPI_BAD_ARGUMENT (reserved). */
TAKT_API int32_t takt_channel_create_plain(takt_channel** channel);
TAKT_API int32_t takt_channel_create_commander(const takt_channel_key* key, const takt_channel_limits* limits,
                                               takt_channel** channel);
TAKT_API int32_t takt_channel_create_vehicle(const takt_channel_key* keys, size_t count,
                                             const takt_channel_limits* limits, takt_channel** channel);
TAKT_API void takt_channel_destroy(takt_channel* channel);

/* Opens a datagram. The payload points into it; with 0 bytes the datagram was for the channel alone. Sets
 * *stop, which may be NULL, to 1 if the commander sealed the frame as a stop, else to 0. Read the clock for
 * now_ns after the datagram came. Send the output of takt_channel_poll_handshake() before the next datagram:
 * only one answer is kept. A rejected datagram changes nothing, but it can reveal a clock jump, which ends
 * the session. Errors: TAKT_ERROR_SECURE_TOO_SHORT, _BAD_MAGIC, _WRONG_LENGTH, _WRONG_VERSION,
 * _UNEXPECTED_KIND, _UNKNOWN_KEY, _UNKNOWN_SESSION, _BAD_TAG, _REPLAYED, _OVERTAKEN, _TOO_OLD, _CLOCK_JUMPED,
 * _STALE_HANDSHAKE, _BUSY. Real-time safe. */
TAKT_API int32_t takt_channel_open(takt_channel* channel, const uint8_t* datagram, size_t bytes,
                                   int64_t now_ns, const uint8_t** payload, size_t* payload_bytes,
                                   int32_t* stop);

/* Seals a frame: writes its datagram to `out`, which has `size` bytes and does not overlap with the frame. If
 * `stop` is not 0, the vehicle accepts the frame even if it is old or overtaken. Mark only frames that bring
 * the vehicle to a stand. Call it every period, also without a session: the channel needs the time to detect
 * clock jumps. Errors: TAKT_ERROR_SECURE_NOT_ESTABLISHED, _NO_ROOM, _TOO_LONG. Real-time safe. */
TAKT_API int32_t takt_channel_seal(takt_channel* channel, const uint8_t* payload, size_t payload_bytes,
                                   int32_t stop, int64_t now_ns, uint8_t* out, size_t size, size_t* bytes);

/* Returns 1 if takt_channel_seal() accepts more than stops; else 0, also for NULL. Real-time safe. */
TAKT_API int32_t takt_channel_established(const takt_channel* channel, int64_t now_ns);

/* Returns the time of the next handshake datagram: INT64_MIN: at once, INT64_MAX: never. Other calls can
 * change it. Real-time safe. */
TAKT_API int64_t takt_channel_next_handshake_ns(const takt_channel* channel);

/* Writes the handshake datagram that is due; `*bytes` is 0 if none is due. Errors:
 * TAKT_ERROR_SECURE_NO_ROOM. Real-time safe. */
TAKT_API int32_t takt_channel_poll_handshake(takt_channel* channel, int64_t now_ns, uint8_t* out, size_t size,
                                             size_t* bytes);

/* Returns how many datagrams takt_channel_open() rejected with this status (TAKT_ERROR_SECURE_...). Returns
 * 0 for a plain channel, which rejects none. Real-time safe. */
TAKT_API uint64_t takt_channel_refused(const takt_channel* channel, int32_t status);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TAKT_SECURE_H */
