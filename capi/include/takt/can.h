/* CAN frames: their bits on the wire, the load of a bus, lines of candump and of serial adapters, J1939
 * identifiers. */
#ifndef TAKT_CAN_H
#define TAKT_CAN_H

#include "takt/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- frames ---- */

/* Properties of a frame; combine them with |. */
typedef enum takt_can_flag {
  TAKT_CAN_EXTENDED = 1,         /* an identifier of 29 bits */
  TAKT_CAN_REMOTE = 2,           /* requests `length` bytes and carries none */
  TAKT_CAN_ERROR = 4,            /* a report on the bus, as in SocketCAN, not a frame of a sender */
  TAKT_CAN_FD = 8,               /* CAN FD */
  TAKT_CAN_BIT_RATE_SWITCH = 16, /* FD: the data phase is faster */
  TAKT_CAN_ERROR_STATE = 32      /* FD: the sender was error-passive */
} takt_can_flag;

/* A CAN frame. */
typedef struct takt_can_frame {
  int64_t stamp_ns;  /* time of reception; in logs usually since 1970 */
  uint32_t id;       /* 11 or 29 bits */
  uint32_t flags;    /* takt_can_flag, combined */
  uint32_t length;   /* bytes of data: 0 to 8; FD also 12, 16, 20, 24, 32, 48, 64 */
  uint32_t reserved; /* 0 */
  uint8_t data[64];
} takt_can_frame;

/* Bits of a frame by bit rate. */
typedef struct takt_can_bits {
  uint32_t nominal; /* sent at the nominal rate */
  uint32_t data;    /* sent at the data rate: the data phase of FD frames with bit rate switch */
} takt_can_bits;

/* Counts the bits of this frame on the wire, with checksum, stuff bits and three bits of intermission.
 * Errors: TAKT_ERROR_CAN_ID_TOO_LARGE; _WRONG_FORMAT (an error frame, contradicting flags); _WRONG_LENGTH;
 * TAKT_ERROR_CAPI_BAD_ARGUMENT (unknown flags). Real-time safe. */
TAKT_API int32_t takt_can_frame_bits(const takt_can_frame* frame, takt_can_bits* bits);

/* Computes the most bits of any frame with this length and these flags. Errors: those of
 * takt_can_frame_bits(). Real-time safe. */
TAKT_API int32_t takt_can_max_frame_bits(uint32_t length, uint32_t flags, takt_can_bits* bits);

/* Frames that are sent once in each period. */
typedef struct takt_can_planned_frame {
  int64_t period_ns;
  uint32_t count;    /* number of such frames */
  uint32_t length;   /* bytes of data */
  uint32_t flags;    /* TAKT_CAN_EXTENDED, _FD, _BIT_RATE_SWITCH */
  uint32_t reserved; /* 0 */
} takt_can_planned_frame;

/* The share of one cycle that a plan needs. A plan above 1 does not fit. */
typedef struct takt_can_load {
  double least; /* no stuff bits; frames of longer periods are not due */
  double mean;  /* random identifiers and data */
  double worst; /* the most stuff bits; all frames of longer periods are due */
} takt_can_load;

/* Computes the load of a plan with `count` entries on a bus with these bit rates (bit/s). FD frames with bit
 * rate switch use data_rate for their data. The cycle is usually the shortest period. Errors:
 * TAKT_ERROR_CAN_BAD_PLAN (a period, the cycle or a bit rate is not positive); _WRONG_LENGTH;
 * TAKT_ERROR_CAPI_BAD_ARGUMENT (other flags). Takes about 10 us for each entry: do not call it in a loop. */
TAKT_API int32_t takt_can_bus_load(const takt_can_planned_frame* plan, size_t count, uint32_t nominal_rate,
                                   uint32_t data_rate, int64_t cycle_ns, takt_can_load* load);

/* ---- candump ---- */

/* The direction of a logged frame. */
typedef enum takt_can_direction {
  TAKT_CAN_DIRECTION_UNKNOWN = 0,
  TAKT_CAN_RECEIVED = 1,
  TAKT_CAN_TRANSMITTED = 2
} takt_can_direction;

/* A line of a log of candump -L (can-utils): "(1795208238.156435) vcan0 123#DEADBEEF". */
typedef struct takt_candump_entry {
  takt_can_frame frame;
  char interface[16]; /* with a NUL */
  int32_t direction;  /* takt_can_direction, from candump -x; else TAKT_CAN_DIRECTION_UNKNOWN */
  uint32_t reserved;  /* 0 */
} takt_candump_entry;

/* Bytes of the longest line, with its end and a NUL. */
#define TAKT_CANDUMP_MAX_LINE 301
#define TAKT_SLCAN_MAX_LINE 144

/* Parses a line of `bytes` characters, without its end. A line that candump prints to a screen is read, too:
 * "  can0  123   [4]  DE AD BE EF"; without a time its stamp is 0. On an error *column, which may be NULL, is
 * its position, from 1. Errors: TAKT_ERROR_CAN_BAD_LINE, _ID_TOO_LARGE, _PAYLOAD_TOO_LONG, _WRONG_LENGTH,
 * _BAD_VALUE, _OUT_OF_RANGE. Real-time safe. */
TAKT_API int32_t takt_candump_parse(const char* line, size_t bytes, takt_candump_entry* entry,
                                    uint32_t* column);

/* Writes a line and a NUL, without the line's end. Seconds have six decimals, as candump writes them, or nine
 * if `nanoseconds` is not 0. Errors: TAKT_ERROR_CAN_ID_TOO_LARGE; _WRONG_FORMAT; _WRONG_LENGTH; _BAD_VALUE
 * (the interface); _OUT_OF_RANGE (a negative stamp); TAKT_ERROR_CAPI_BUFFER_TOO_SMALL, _BAD_ARGUMENT.
 * Real-time safe. */
TAKT_API int32_t takt_candump_format(const takt_candump_entry* entry, int32_t nanoseconds, char* line,
                                     size_t size);

/* ---- serial adapters ---- */

/* Writes a frame for a serial adapter (Lawicel's protocol, slcan), with the final CR and a NUL. The stamp and
 * TAKT_CAN_ERROR_STATE are not sent. Errors: TAKT_ERROR_CAN_ID_TOO_LARGE, _WRONG_FORMAT, _WRONG_LENGTH;
 * TAKT_ERROR_CAPI_BUFFER_TOO_SMALL, _BAD_ARGUMENT. Real-time safe. Send other commands as texts:
 *
 * - "S6\r" sets 500 kbit/s; S0 to S8 are 10, 20, 50, 100, 125, 250, 500, 800 and 1000 kbit/s.
 * - "O\r" opens, "L\r" opens to listen only, "C\r" closes.
 * - "F\r" asks for the status. "Z1\r" and "Z0\r" switch time stamps on and off.
 */
TAKT_API int32_t takt_slcan_encode(const takt_can_frame* frame, char* line, size_t size);

/* Parses the byte stream of an adapter, or of a program that talks to one. */
typedef struct takt_slcan_decoder takt_slcan_decoder;

/* The meaning of a line. */
typedef enum takt_slcan_kind {
  TAKT_SLCAN_NOTHING = 0,     /* the line is not complete */
  TAKT_SLCAN_FRAME = 1,       /* a received frame */
  TAKT_SLCAN_DONE = 2,        /* the adapter executed the last command */
  TAKT_SLCAN_TRANSMITTED = 3, /* the adapter accepted the frame */
  TAKT_SLCAN_REFUSED = 4,     /* the adapter rejected the last command */
  TAKT_SLCAN_STATUS = 5,      /* the answer to F; `argument` has its flags */
  TAKT_SLCAN_COMMAND = 6      /* a command to an adapter: S, O, L, C, F or Z */
} takt_slcan_kind;

/* A parsed line. */
typedef struct takt_slcan_item {
  int32_t kind;       /* takt_slcan_kind */
  int32_t adapter_ms; /* of a frame: its time in the adapter, 0 to 59999; -1: none */
  int32_t command;    /* of a command: its letter */
  uint32_t argument;  /* of S and Z, and the status */
  takt_can_frame frame;
} takt_slcan_item;

/* Makes a decoder. Free *decoder with takt_slcan_decoder_destroy(). */
TAKT_API int32_t takt_slcan_decoder_create(takt_slcan_decoder** decoder);
TAKT_API void takt_slcan_decoder_destroy(takt_slcan_decoder* decoder);

/* Parses bytes up to the end of the next item; `*used` is their number. If no item is complete, it uses all
 * bytes and the item is TAKT_SLCAN_NOTHING. Invalid lines are dropped and counted. Real-time safe. */
TAKT_API int32_t takt_slcan_decode(takt_slcan_decoder* decoder, const uint8_t* bytes, size_t count,
                                   size_t* used, takt_slcan_item* item);

/* Returns the number of dropped lines; 0 for NULL. Real-time safe. */
TAKT_API uint64_t takt_slcan_decoder_malformed(const takt_slcan_decoder* decoder);

/* ---- J1939 ---- */

/* The fields of a J1939 identifier of 29 bits. */
typedef struct takt_j1939_id {
  uint32_t pgn;         /* parameter group, 18 bits */
  uint32_t priority;    /* 0 (the highest) to 7 */
  uint32_t source;      /* 254: a device without an address */
  uint32_t destination; /* 255: all, and groups without a destination */
} takt_j1939_id;

/* Decodes an identifier. Every number is valid; the upper three bits are ignored. Real-time safe. */
TAKT_API int32_t takt_j1939_decode_id(uint32_t id, takt_j1939_id* decoded);

/* Encodes an identifier. Errors: TAKT_ERROR_CAN_OUT_OF_RANGE (a field exceeds its bits);
 * TAKT_ERROR_CAN_BAD_VALUE. BAD_VALUE means a group with destinations that does not end in 00, or a
 * destination for a group without. Real-time safe. */
TAKT_API int32_t takt_j1939_encode_id(const takt_j1939_id* id, uint32_t* encoded);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TAKT_CAN_H */
