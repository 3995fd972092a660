/* CAN messages of a DBC file: which message a frame is, and its signals as physical values and back. */
#ifndef TAKT_DBC_H
#define TAKT_DBC_H

#include "takt/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A DBC file. Messages and signals have numbers, from 0, in the order of the file. Texts are UTF-8 and live
 * as long as the object. */
typedef struct takt_dbc takt_dbc;

/* How to encode a value that its field or its range cannot hold. */
typedef enum takt_overflow {
  TAKT_OVERFLOW_ERROR = 0, /* fail with TAKT_ERROR_CAN_OUT_OF_RANGE */
  TAKT_OVERFLOW_CLAMP = 1, /* send the nearest valid value */
  TAKT_OVERFLOW_WRAP = 2   /* send the low bits; ignore the range */
} takt_overflow;

/* A message as the file describes it. An output: the library writes the fields that struct_size covers. */
typedef struct takt_dbc_message {
  uint32_t struct_size; /* set by takt_dbc_message_init() */
  uint32_t id;          /* 11 or 29 bits */
  int32_t extended;     /* 1: 29 bits */
  int32_t fd;           /* 1: sent in CAN FD frames */
  int32_t j1939;        /* 1: SAE J1939, identified by its parameter group; see takt_dbc_find() */
  uint32_t length;      /* bytes of data */
  uint64_t signals;     /* number of signals */
  int64_t cycle_ns;     /* period; 0: not periodic */
  const char* name;
  const char* sender; /* "" if the file names none */
} takt_dbc_message;

/* A signal as the file describes it. An output: the library writes the fields that struct_size covers. */
typedef struct takt_dbc_signal {
  uint32_t struct_size; /* set by takt_dbc_signal_init() */
  int32_t is_selector;  /* 1: its number selects which other signals the frame holds */
  const char* name;
  const char* unit; /* "" if the file names none */
  double scale;     /* physical value = number * scale + offset */
  double offset;
  double minimum;     /* physical; equal to maximum: no range */
  double maximum;     /* physical */
  uint32_t start;     /* first bit as in the file: the lowest one, for big-endian fields the highest */
  uint32_t bits;      /* 1 to 64 */
  int32_t big_endian; /* 1: Motorola */
  int32_t number;     /* takt_number_format */
  int64_t selector;   /* the signal that selects this one; -1: always present */
  uint64_t labels;    /* rows of the value table; see takt_dbc_label_at() */
} takt_dbc_signal;

/* The number format of a signal's field. */
typedef enum takt_number_format {
  TAKT_NUMBER_UNSIGNED = 0,
  TAKT_NUMBER_SIGNED = 1,
  TAKT_NUMBER_FLOAT32 = 2,
  TAKT_NUMBER_FLOAT64 = 3
} takt_number_format;

/* Whether a frame carries a signal, and if not, the reason. */
typedef enum takt_presence {
  TAKT_PRESENCE_VALUE = 0,
  TAKT_PRESENCE_NOT_SELECTED = 1,    /* the selector selects other signals */
  TAKT_PRESENCE_CUT_OFF = 2,         /* the frame ends before the signal does */
  TAKT_PRESENCE_NOT_AVAILABLE = 3,   /* J1939: 0xFF.. */
  TAKT_PRESENCE_ERROR_INDICATOR = 4, /* J1939: 0xFE.. */
  TAKT_PRESENCE_RESERVED = 5         /* J1939: 0xFB.. to 0xFD.. */
} takt_presence;

/* One decoded signal of a frame. */
typedef struct takt_dbc_reading {
  double value;      /* physical; NaN unless presence is TAKT_PRESENCE_VALUE */
  int64_t number;    /* raw, with its sign; the bits of a floating-point field; 0 if absent */
  int32_t presence;  /* takt_presence */
  int32_t reserved;  /* 0 */
  const char* label; /* of the number in the value table; "" if it has none */
} takt_dbc_reading;

/* Set struct_size to `size`, and everything else to zero. Ignore NULL. Real-time safe. */
TAKT_API void takt_dbc_message_init(takt_dbc_message* message, size_t size);
TAKT_API void takt_dbc_signal_init(takt_dbc_signal* signal, size_t size);

/* Parses the text of a DBC file (`bytes` bytes). Free *dbc with takt_dbc_destroy(). Invalid statements are
 * skipped with a warning, or, if `strict` is not 0, rejected. Errors: TAKT_ERROR_CAN_BAD_DBC. Then `why`
 * (`size` bytes with the NUL, may be NULL) gets the mistake with line and column. */
TAKT_API int32_t takt_dbc_create(const char* text, size_t bytes, int32_t strict, char* why, size_t size,
                                 takt_dbc** dbc);

/* Frees the object. No thread may be using it. */
TAKT_API void takt_dbc_destroy(takt_dbc* dbc);

/* Returns the warnings about skipped and corrected statements, one line each: "line 12, column 5: ...".
 * Returns "" if there are none, and for NULL. */
TAKT_API const char* takt_dbc_warnings(const takt_dbc* dbc);

/* Returns the number of messages; 0 for NULL. Real-time safe. */
TAKT_API size_t takt_dbc_messages(const takt_dbc* dbc);

/* Describe a message or a signal. Errors: TAKT_ERROR_CAPI_BAD_ARGUMENT (unknown message or signal). Real-time
 * safe. */
TAKT_API int32_t takt_dbc_describe_message(const takt_dbc* dbc, size_t message,
                                           takt_dbc_message* description);
TAKT_API int32_t takt_dbc_describe_signal(const takt_dbc* dbc, size_t message, size_t signal,
                                          takt_dbc_signal* description);

/* Finds the message of a frame's identifier. A J1939 message matches with any priority and address. If the
 * file has several messages of its parameter group, the whole identifier must match. Errors:
 * TAKT_ERROR_CAN_UNEXPECTED_ID. Real-time safe. */
TAKT_API int32_t takt_dbc_find(const takt_dbc* dbc, uint32_t id, int32_t extended, size_t* message);

/* Find a message or a signal by its name; the search is linear. Errors: TAKT_ERROR_CAPI_BAD_ARGUMENT (unknown
 * name). */
TAKT_API int32_t takt_dbc_find_message(const takt_dbc* dbc, const char* name, size_t* message);
TAKT_API int32_t takt_dbc_find_signal(const takt_dbc* dbc, size_t message, const char* name, size_t* signal);

/* Decodes the physical values of all signals of a frame. `values` holds `count` numbers, at least one for
 * each signal. A value is NaN if the signal is not selected, or if J1939 marks it as error or not available.
 * Errors: TAKT_ERROR_CAN_WRONG_COUNT; _WRONG_LENGTH (fewer bytes than the message has);
 * TAKT_ERROR_CAPI_BAD_ARGUMENT. Real-time safe. */
TAKT_API int32_t takt_dbc_decode(const takt_dbc* dbc, size_t message, const uint8_t* data, size_t bytes,
                                 double* values, size_t count);

/* Decodes a frame with the number, presence and label of each signal. `readings` holds `count` entries, at
 * least one for each signal. If `short_frame` is not 0, a frame may be shorter than the message: it gives the
 * signals that it holds whole. Errors: those of takt_dbc_decode(); nothing is written. Allocates. */
TAKT_API int32_t takt_dbc_read(const takt_dbc* dbc, size_t message, const uint8_t* data, size_t bytes,
                               int32_t short_frame, takt_dbc_reading* readings, size_t count);

/* Reads a row of a signal's value table: a number and its label. `index` is below the signal's `labels`.
 * Errors: TAKT_ERROR_CAPI_BAD_ARGUMENT (unknown row). Real-time safe. */
TAKT_API int32_t takt_dbc_label_at(const takt_dbc* dbc, size_t message, size_t signal, size_t index,
                                   int64_t* number, const char** label);

/* Finds the physical value of the number with this label; the search is linear. Errors:
 * TAKT_ERROR_CAPI_BAD_ARGUMENT (no number that the field can hold has the label). */
TAKT_API int32_t takt_dbc_value_of(const takt_dbc* dbc, size_t message, size_t signal, const char* label,
                                   double* value);

/* Explains why takt_dbc_encode() rejects these values; returns its error. Sets *signal to the rejected
 * signal, or to SIZE_MAX if the error concerns none. Writes to `why`, of `size` bytes, a sentence with the
 * signal's name, its value and the allowed range. `signal` and `why` may be NULL. Allocates. */
TAKT_API int32_t takt_dbc_explain(const takt_dbc* dbc, size_t message, const double* values, size_t count,
                                  int32_t overflow, size_t* signal, char* why, size_t size);

/* Encodes the data of a message. Each value is rounded to the nearest number, ties to even. `data` has
 * `bytes` bytes, at least the message's length. Values that the selectors do not select are ignored. NaN
 * encodes J1939's "not available". A labelled number outside the range, such as "error", is sent only for its
 * exact value (takt_dbc_value_of()). `overflow` is a takt_overflow. Errors: those of takt_dbc_decode();
 * TAKT_ERROR_CAN_UNKNOWN_SELECTOR (a number that selects nothing); _NOT_FINITE; _OUT_OF_RANGE; _BAD_LAYOUT (a
 * signal does not lie within the message). Real-time safe. */
TAKT_API int32_t takt_dbc_encode(const takt_dbc* dbc, size_t message, const double* values, size_t count,
                                 int32_t overflow, uint8_t* data, size_t bytes);

/* The counter and the checksum of one message, by a rule. One object is for one direction: to send, or to
 * check what comes. One thread at a time may use it. */
typedef struct takt_dbc_protection takt_dbc_protection;

/* What the check of a received frame found. */
typedef enum takt_dbc_verdict {
  TAKT_DBC_GOOD = 0,           /* the first frame, or the one after the last */
  TAKT_DBC_WRONG_LENGTH = 1,   /* shorter than the message */
  TAKT_DBC_WRONG_CHECKSUM = 2, /* the data are not those that were sent, or are of another message */
  TAKT_DBC_WRONG_COUNTER = 3,  /* the counter has a number that a sender never writes */
  TAKT_DBC_REPEATED = 4,       /* the counter is that of the last frame */
  TAKT_DBC_FRAMES_LOST = 5     /* frames are missing before this one */
} takt_dbc_verdict;

/* Makes the protection of a message. `rule`: "MESSAGE:COUNTER:CHECKSUM:KIND", with a kind of sum,
 * exclusive_or, crc8_j1850 or crc8_2f, or "MESSAGE:COUNTER:CHECKSUM:e2e_profile_1:0x123". Free *protection
 * with takt_dbc_protection_destroy(), and `dbc` after it. Errors: TAKT_ERROR_CAN_BAD_VALUE, _BAD_LAYOUT. Then
 * `why` (`size` bytes with the NUL, may be NULL) says what is allowed. */
TAKT_API int32_t takt_dbc_protection_create(const takt_dbc* dbc, const char* rule, char* why, size_t size,
                                            takt_dbc_protection** protection);

/* Frees the object. No thread may be using it. */
TAKT_API void takt_dbc_protection_destroy(takt_dbc_protection* protection);

/* Writes the next counter, from 0 on, and the checksum into the data of an encoded message. Errors:
 * TAKT_ERROR_CAN_WRONG_LENGTH; nothing changes then. Real-time safe. */
TAKT_API int32_t takt_dbc_protect(takt_dbc_protection* protection, uint8_t* data, size_t bytes);

/* Checks the data of a frame of this message, and sets *verdict to a takt_dbc_verdict. Real-time safe. */
TAKT_API int32_t takt_dbc_check(takt_dbc_protection* protection, const uint8_t* data, size_t bytes,
                                int32_t* verdict);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TAKT_DBC_H */
