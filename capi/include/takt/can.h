/* CAN frames. */
#ifndef TAKT_CAN_H
#define TAKT_CAN_H

/* clang-format off */

#include "takt/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- CAN frames as text, on the wire, and of J1939 ------------------------------------------------------------------------- */

/* What a frame is; any of them, or-ed. */
typedef enum takt_can_flag {
  TAKT_CAN_EXTENDED = 1,        /* an identifier of 29 bits */
  TAKT_CAN_REMOTE = 2,          /* asks for `length` bytes and has none */
  TAKT_CAN_ERROR = 4,           /* no frame of a sender, but a report on the bus, as SocketCAN has it */
  TAKT_CAN_FD = 8,
  TAKT_CAN_BIT_RATE_SWITCH = 16, /* FD: the data phase is faster */
  TAKT_CAN_ERROR_STATE = 32     /* FD: its sender was error-passive */
} takt_can_flag;

typedef struct takt_can_frame {
  int64_t stamp_ns;    /* when it was received; in logs usually since 1970 */
  uint32_t id;         /* 11 bits, or 29 */
  uint32_t flags;      /* TAKT_CAN_... */
  uint32_t length;     /* bytes of data: 0 to 8; of FD also 12, 16, 20, 24, 32, 48, 64 */
  uint32_t reserved;   /* 0 */
  uint8_t data[64];
} takt_can_frame;

/* Bits of a frame by the rate that they are sent at: arbitration, and the data phase of FD frames that switch. */
typedef struct takt_can_bits {
  uint32_t nominal;
  uint32_t data;
} takt_can_bits;

/* How many bits these very bytes are on the wire: with checksum, stuff bits and the three bits of intermission. Errors:
 * TAKT_ERROR_CAN_ID_TOO_LARGE, _WRONG_FORMAT (an error frame, or flags that exclude each other), _WRONG_LENGTH,
 * TAKT_ERROR_CAPI_BAD_ARGUMENT (unknown flags). Real-time safe. */
TAKT_API int32_t takt_can_frame_bits(const takt_can_frame* frame, takt_can_bits* bits);

/* The most that any frame of this length and flags can be. The same errors. Real-time safe. */
TAKT_API int32_t takt_can_max_frame_bits(uint32_t length, uint32_t flags, takt_can_bits* bits);

/* Frames that are sent once in each period. */
typedef struct takt_can_planned_frame {
  int64_t period_ns;
  uint32_t count;    /* how many such frames there are */
  uint32_t length;   /* bytes of data */
  uint32_t flags;    /* TAKT_CAN_EXTENDED, _FD, _BIT_RATE_SWITCH */
  uint32_t reserved; /* 0 */
} takt_can_planned_frame;

/* What a plan takes of one cycle, as part of it: more than 1 cannot be sent. */
typedef struct takt_can_load {
  double least; /* no stuff bits; of longer periods nothing is due, if it need not be */
  double mean;  /* random identifiers and data */
  double worst; /* as many stuff bits as can be; all of longer periods is due */
} takt_can_load;

/* Whether a plan fits a bus of these bit rates (bit/s; data_rate of FD frames that switch), worked out for cycles of a length of
 * your choice: usually the shortest period. Errors: TAKT_ERROR_CAN_BAD_PLAN (a period, the cycle or a bit rate that is not
 * positive), TAKT_ERROR_CAN_WRONG_LENGTH, TAKT_ERROR_CAPI_BAD_ARGUMENT (other flags). Some ten microseconds for each entry: not for
 * the cycle. */
TAKT_API int32_t takt_can_bus_load(const takt_can_planned_frame* plan, size_t count, uint32_t nominal_rate, uint32_t data_rate,
                                   int64_t cycle_ns, takt_can_load* load);

typedef enum takt_can_direction { TAKT_CAN_DIRECTION_UNKNOWN = 0, TAKT_CAN_RECEIVED = 1, TAKT_CAN_TRANSMITTED = 2 } takt_can_direction;

/* A line of a log of candump -L (can-utils): "(1795208238.156435) vcan0 123#DEADBEEF". */
typedef struct takt_candump_entry {
  takt_can_frame frame;
  char interface[16]; /* ends with a NUL */
  int32_t direction;  /* candump -x; else TAKT_CAN_DIRECTION_UNKNOWN */
  uint32_t reserved;  /* 0 */
} takt_candump_entry;

/* Letters of the longest line of each kind, with its end and a NUL. */
#define TAKT_CANDUMP_MAX_LINE 301
#define TAKT_SLCAN_MAX_LINE 144

/* Reads a line of `bytes` letters, without its end. On an error *column, which may be NULL, is where it is, from 1. Errors:
 * TAKT_ERROR_CAN_BAD_LINE, _ID_TOO_LARGE, _PAYLOAD_TOO_LONG, _WRONG_LENGTH, _BAD_VALUE, _OUT_OF_RANGE. Real-time safe. */
TAKT_API int32_t takt_candump_parse(const char* line, size_t bytes, takt_candump_entry* entry, uint32_t* column);

/* Writes a line without its end, but with a NUL; with six decimals of the seconds, as candump does, or nine if `nanoseconds` is
 * not 0. Errors: TAKT_ERROR_CAN_ID_TOO_LARGE, _WRONG_FORMAT, _WRONG_LENGTH, _BAD_VALUE (the interface), _OUT_OF_RANGE (a stamp below
 * 0), TAKT_ERROR_CAPI_BUFFER_TOO_SMALL, _BAD_ARGUMENT. Real-time safe. */
TAKT_API int32_t takt_candump_format(const takt_candump_entry* entry, int32_t nanoseconds, char* line, size_t size);

/* A frame for a serial adapter (Lawicel's protocol, slcan), with the CR at its end, and a NUL. The stamp and TAKT_CAN_ERROR_STATE
 * are not sent. Errors: TAKT_ERROR_CAN_ID_TOO_LARGE, _WRONG_FORMAT, _WRONG_LENGTH, TAKT_ERROR_CAPI_BUFFER_TOO_SMALL,
 * _BAD_ARGUMENT. Real-time safe.
 * Other commands are texts: "S6\r" 500 kbit/s (S0 to S8: 10, 20, 50, 100, 125, 250, 500, 800, 1000), "O\r" open, "L\r" open but
 * listen only, "C\r" close, "F\r" ask for the status, "Z1\r" and "Z0\r" time stamps on and off. */
TAKT_API int32_t takt_slcan_encode(const takt_can_frame* frame, char* line, size_t size);

/* Cuts what comes from an adapter, or a program that talks to one, into lines and reads them. */
typedef struct takt_slcan_decoder takt_slcan_decoder;

typedef enum takt_slcan_kind {
  TAKT_SLCAN_NOTHING = 0, /* the line is not complete */
  TAKT_SLCAN_FRAME = 1,
  TAKT_SLCAN_DONE = 2,        /* the last command was carried out */
  TAKT_SLCAN_TRANSMITTED = 3, /* the adapter took the frame */
  TAKT_SLCAN_REFUSED = 4,     /* it did not do what it was told last */
  TAKT_SLCAN_STATUS = 5,      /* the answer to F: `argument` has its flags */
  TAKT_SLCAN_COMMAND = 6      /* for an adapter: one of S O L C F Z */
} takt_slcan_kind;

typedef struct takt_slcan_item {
  int32_t kind;       /* TAKT_SLCAN_... */
  int32_t adapter_ms; /* of a frame: its time in the adapter, 0 to 59999; -1: none */
  int32_t command;    /* of a command: its letter */
  uint32_t argument;  /* of S, Z, and the status */
  takt_can_frame frame;
} takt_slcan_item;

/* *decoder is the caller's, to be freed with takt_slcan_decoder_destroy(). */
TAKT_API int32_t takt_slcan_decoder_create(takt_slcan_decoder** decoder);
TAKT_API void takt_slcan_decoder_destroy(takt_slcan_decoder* decoder);

/* Takes bytes up to the end of the next item, *used of them; all, and the item is TAKT_SLCAN_NOTHING, if it is not complete. What
 * makes no sense is dropped and counted. Real-time safe. */
TAKT_API int32_t takt_slcan_decode(takt_slcan_decoder* decoder, const uint8_t* bytes, size_t count, size_t* used,
                                   takt_slcan_item* item);

/* How many lines were dropped; 0 for NULL. Real-time safe. */
TAKT_API uint64_t takt_slcan_decoder_malformed(const takt_slcan_decoder* decoder);

/* What the 29 bits of a J1939 identifier say. */
typedef struct takt_j1939_id {
  uint32_t pgn;         /* the parameter group, 18 bits */
  uint32_t priority;    /* 0, which comes first, to 7 */
  uint32_t source;      /* 254: a device without an address */
  uint32_t destination; /* 255: everybody, and groups that have none */
} takt_j1939_id;

/* Every number means something; of its upper three bits nothing. Real-time safe. */
TAKT_API int32_t takt_j1939_decode_id(uint32_t id, takt_j1939_id* decoded);

/* Errors: TAKT_ERROR_CAN_OUT_OF_RANGE (a field beyond its bits), TAKT_ERROR_CAN_BAD_VALUE (a group with destinations that does not
 * end in 00, or a destination where there is none). Real-time safe. */
TAKT_API int32_t takt_j1939_encode_id(const takt_j1939_id* id, uint32_t* encoded);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TAKT_CAN_H */
