/* Authenticated datagrams between a vehicle and its commander. */
#ifndef TAKT_SECURE_H
#define TAKT_SECURE_H

/* clang-format off */

#include "takt/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- whom a vehicle believes ---------------------------------------------------------------------------------------------- */

/* What stands between a vehicle's frames and the datagrams on the wire. Each end of a connection has a channel of its own:
 *
 *   plain       bytes as they are, for vehicles that know nothing else: whoever can send to such a vehicle drives it
 *   commander,  an authenticated envelope: sessions by mutual challenge, a tag (SipHash-2-4-128) with a key that both have, no
 *   vehicle     frame a second time, no setpoint after a newer one, none that is old. All can read it: nothing is kept secret
 *
 * Both ends send what takt_channel_poll_handshake() writes, as soon as takt_channel_next_handshake_ns() has come, and what
 * takt_channel_seal() makes of their frames; and give all that comes to takt_channel_open(). All times of one channel are of one
 * steady clock; the two ends' clocks need have nothing in common. One that is set, or is told to no function for silence_ns, ends
 * the session but for stops, and the ends shake hands again. include/takt/vehicle/secure_channel.hpp says how it works. */
typedef struct takt_channel takt_channel;

#define TAKT_CHANNEL_KEY_BYTES 16
#define TAKT_CHANNEL_OVERHEAD 48      /* bytes around a frame, but none around a plain one */
#define TAKT_CHANNEL_MAX_HANDSHAKE 88 /* bytes of the handshake's longest datagram */

/* A secret that the two ends share, and the number by which frames name it. */
typedef struct takt_channel_key {
  uint8_t id;
  uint8_t bytes[TAKT_CHANNEL_KEY_BYTES];
} takt_channel_key;

/* Reads the key from a file of the program's user, of mode 0600 or 0400, that holds nothing else; `takt key --bytes 16 FILE` makes
 * one. On
 * failure the reason is written to `why`, which may be NULL, as far as it fits into `size` bytes. Errors:
 * TAKT_ERROR_PLATFORM_NO_KEY_FILE, _KEY_FILE_OWNER, _KEY_FILE_MODE, _KEY_FILE_SIZE. */
TAKT_API int32_t takt_channel_key_read(const char* path, uint8_t id, takt_channel_key* key, char* why, size_t size);

/* Set with takt_channel_limits_init(); 0 is the default. The same at both ends; 1 ms <= age <= silence <= renewal <= an hour, and
 * age >= 0.012 renewal: 500 ppm, by which clocks drift apart, must be no more than a quarter of it in a session's life. */
typedef struct takt_channel_limits {
  uint32_t struct_size;
  uint32_t reserved;  /* 0 */
  int64_t age_ns;     /* older frames are refused; an answer in the handshake may take half of it; default 300 ms */
  int64_t silence_ns; /* after which the other end counts as gone; default 500 ms */
  int64_t renewal_ns; /* of a session by the commander, which is dead after six of them; default 10 s */
} takt_channel_limits;
TAKT_API void takt_channel_limits_init(takt_channel_limits* limits);

/* *channel is the caller's, to be freed with takt_channel_destroy(). A vehicle has one key, or two while they are being changed.
 * `limits` may be NULL. Errors: TAKT_ERROR_VEHICLE_NO_KEY (none, more than two, two of one id, or zeros), _OUT_OF_RANGE (limits),
 * TAKT_ERROR_PLATFORM_NO_RANDOMNESS, TAKT_ERROR_CAPI_BAD_ARGUMENT (reserved). */
TAKT_API int32_t takt_channel_create_plain(takt_channel** channel);
TAKT_API int32_t takt_channel_create_commander(const takt_channel_key* key, const takt_channel_limits* limits,
                                               takt_channel** channel);
TAKT_API int32_t takt_channel_create_vehicle(const takt_channel_key* keys, size_t count, const takt_channel_limits* limits,
                                             takt_channel** channel);
TAKT_API void takt_channel_destroy(takt_channel* channel);

/* What is in a datagram: *payload points into it; of 0 bytes, it was for the channel alone. *stop, which may be NULL, is 1 if the
 * commander sealed it as a stop. What is refused changes nothing, but may show that a clock was set, which ends the session: `now_ns`
 * is read after the datagram came. Send what takt_channel_poll_handshake() writes before you give
 * it the next datagram: one answer is kept. Errors: TAKT_ERROR_VEHICLE_TOO_SHORT, _BAD_MAGIC, _BAD_LEN,
 * _WRONG_VERSION, _UNEXPECTED_KIND, _UNKNOWN_KEY, _UNKNOWN_SESSION, _BAD_TAG, _REPLAYED, _OVERTAKEN, _TOO_OLD, _CLOCK_JUMPED,
 * _STALE_HANDSHAKE, _COMMANDER_BUSY. Real-time safe. */
TAKT_API int32_t takt_channel_open(takt_channel* channel, const uint8_t* datagram, size_t bytes, int64_t now_ns,
                                   const uint8_t** payload, size_t* payload_bytes, int32_t* stop);

/* Makes a datagram of a frame, in memory that does not overlap with it. Call it each period, rather than ask first whether it can:
 * so the channel is told the time, and learns of a clock that was set. A `stop` is taken by the vehicle although a newer frame
 * overtook it or it is old: mark only that thus which brings the vehicle to a stand whatever came after it. Errors:
 * TAKT_ERROR_VEHICLE_NOT_ESTABLISHED, _NO_ROOM, _TOO_LONG. Real-time safe. */
TAKT_API int32_t takt_channel_seal(takt_channel* channel, const uint8_t* payload, size_t payload_bytes, int32_t stop,
                                   int64_t now_ns, uint8_t* out, size_t size, size_t* bytes);

/* 1 when takt_channel_seal() takes more than stops; 0 also of NULL. Real-time safe. */
TAKT_API int32_t takt_channel_established(const takt_channel* channel, int64_t now_ns);

/* When the handshake will have something to send: INT64_MIN at once, INT64_MAX never. Other calls may change it. Real-time safe. */
TAKT_API int64_t takt_channel_next_handshake_ns(const takt_channel* channel);

/* The datagram of the handshake that is due; *bytes is 0 if none is. Errors: TAKT_ERROR_VEHICLE_NO_ROOM. Real-time safe. */
TAKT_API int32_t takt_channel_poll_handshake(takt_channel* channel, int64_t now_ns, uint8_t* out, size_t size, size_t* bytes);

/* How many datagrams takt_channel_open() refused with this status (TAKT_ERROR_VEHICLE_...); 0 of a plain channel, which refuses
 * none. Real-time safe. */
TAKT_API uint64_t takt_channel_refused(const takt_channel* channel, int32_t status);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TAKT_SECURE_H */
