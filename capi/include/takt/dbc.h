/* CAN messages of a DBC file. */
#ifndef TAKT_DBC_H
#define TAKT_DBC_H

/* clang-format off */

#include "takt/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- CAN messages of a DBC file ------------------------------------------------------------------------------------------ */

/* A DBC file with its tables: which message a frame is, and its signals as physical values and back. Messages and signals are known
 * by their numbers, from 0, in the order of the file. Texts of the file live as long as the object; they are UTF-8. */
typedef struct takt_dbc takt_dbc;

/* What to do with a value that its field or its range cannot hold. */
typedef enum takt_overflow {
  TAKT_OVERFLOW_ERROR = 0, /* TAKT_ERROR_CAN_OUT_OF_RANGE */
  TAKT_OVERFLOW_CLAMP = 1, /* the nearest that can be sent */
  TAKT_OVERFLOW_WRAP = 2   /* the low bits; the range is not looked at */
} takt_overflow;

/* What the file says of a message. An output: the library writes as many fields as struct_size covers. */
typedef struct takt_dbc_message {
  uint32_t struct_size; /* set by takt_dbc_message_init() */
  uint32_t id;          /* 11 bits, or 29 */
  int32_t extended;     /* 1: 29 bits */
  int32_t fd;           /* 1: sent in CAN FD frames */
  int32_t j1939;        /* 1: of SAE J1939, known by its parameter group (see takt_dbc_find()) */
  uint32_t length;      /* bytes of its data */
  uint64_t signals;     /* how many it has */
  int64_t cycle_ns;     /* between two frames; 0: not sent periodically */
  const char* name;
  const char* sender;   /* "" where none is named */
} takt_dbc_message;

/* ... of a signal. */
typedef struct takt_dbc_signal {
  uint32_t struct_size; /* set by takt_dbc_signal_init() */
  int32_t is_selector;  /* 1: its number chooses which others are in the frame */
  const char* name;
  const char* unit;     /* "" where none is given */
  double scale;         /* physical value = number * scale + offset */
  double offset;
  double minimum;       /* both equal: no range is given */
  double maximum;
  uint32_t start;       /* its first bit as in the file: the least significant one, of big-endian fields the most significant */
  uint32_t bits;        /* 1 to 64 */
  int32_t big_endian;   /* 1: Motorola */
  int32_t number;       /* TAKT_NUMBER_... */
  int64_t selector;     /* the signal whose number chooses this one; -1: it is always there */
  uint64_t labels;      /* rows of its value table; see takt_dbc_label_at() */
} takt_dbc_signal;

/* The number format of a signal's field. */
typedef enum takt_number_format { TAKT_NUMBER_UNSIGNED = 0, TAKT_NUMBER_SIGNED = 1, TAKT_NUMBER_FLOAT32 = 2, TAKT_NUMBER_FLOAT64 = 3 } takt_number_format;

/* Whether a frame carries a signal, and if not, why. */
typedef enum takt_presence {
  TAKT_PRESENCE_VALUE = 0,
  TAKT_PRESENCE_NOT_SELECTED = 1,    /* the selector has chosen other signals */
  TAKT_PRESENCE_CUT_OFF = 2,         /* the frame ends before the signal does */
  TAKT_PRESENCE_NOT_AVAILABLE = 3,   /* J1939: 0xFF.. */
  TAKT_PRESENCE_ERROR_INDICATOR = 4, /* J1939: 0xFE.. */
  TAKT_PRESENCE_RESERVED = 5         /* J1939: 0xFB.. to 0xFD.. */
} takt_presence;

/* One decoded signal of a frame. */
typedef struct takt_dbc_reading {
  double value;         /* physical; NaN unless presence is TAKT_PRESENCE_VALUE */
  int64_t number;       /* as it stands in the field: with its sign; of floating-point fields the bits; 0 if it is not there */
  int32_t presence;     /* TAKT_PRESENCE_... */
  int32_t reserved;     /* 0 */
  const char* label;    /* what the value table says of the number; "" where it says nothing */
} takt_dbc_reading;

/* Everything zero but struct_size. NULL is ignored. Real-time safe. */
TAKT_API void takt_dbc_message_init(takt_dbc_message* message);
TAKT_API void takt_dbc_signal_init(takt_dbc_signal* signal);

/* Reads the text of a DBC file, of `bytes` bytes; *dbc is the caller's, to be freed with takt_dbc_destroy(). What makes no sense is
 * skipped with a warning, or, if `strict` is not 0, an error. Error: TAKT_ERROR_CAN_BAD_DBC; then what is wrong, with line and
 * column, is written to `why`, of `size` bytes with the NUL that ends it, as far as it fits; why may be NULL. */
TAKT_API int32_t takt_dbc_create(const char* text, size_t bytes, int32_t strict, char* why, size_t size, takt_dbc** dbc);

/* Frees it. No thread may be using it. */
TAKT_API void takt_dbc_destroy(takt_dbc* dbc);

/* What was skipped and mended, one line each, "line 12, column 5: ..."; "" if all is well, and for NULL. */
TAKT_API const char* takt_dbc_warnings(const takt_dbc* dbc);

/* How many messages it has; 0 for NULL. Real-time safe. */
TAKT_API size_t takt_dbc_messages(const takt_dbc* dbc);

/* What the file says. Error: TAKT_ERROR_CAPI_BAD_ARGUMENT (no such message or signal). Real-time safe. */
TAKT_API int32_t takt_dbc_describe_message(const takt_dbc* dbc, size_t message, takt_dbc_message* description);
TAKT_API int32_t takt_dbc_describe_signal(const takt_dbc* dbc, size_t message, size_t signal, takt_dbc_signal* description);

/* The message of a frame with this identifier, of J1939 whatever its priority and addresses, unless the file has several messages
 * of that parameter group: then only the whole identifier tells them apart. Error: TAKT_ERROR_CAN_UNEXPECTED_ID. Real-time safe. */
TAKT_API int32_t takt_dbc_find(const takt_dbc* dbc, uint32_t id, int32_t extended, size_t* message);

/* By name, compared one by one. Error: TAKT_ERROR_CAPI_BAD_ARGUMENT (there is none). */
TAKT_API int32_t takt_dbc_find_message(const takt_dbc* dbc, const char* name, size_t* message);
TAKT_API int32_t takt_dbc_find_signal(const takt_dbc* dbc, size_t message, const char* name, size_t* signal);

/* The physical values of all signals in a frame's data; `count` is at least the message's signals. NaN is what has no value: a
 * signal that the selectors have not chosen, and what J1939 calls an error or not available. Errors: TAKT_ERROR_CAN_WRONG_COUNT,
 * TAKT_ERROR_CAN_WRONG_LENGTH (fewer bytes than the message has), TAKT_ERROR_CAN_UNKNOWN_SELECTOR, TAKT_ERROR_CAPI_BAD_ARGUMENT.
 * Real-time safe. */
TAKT_API int32_t takt_dbc_decode(const takt_dbc* dbc, size_t message, const uint8_t* data, size_t bytes, double* values,
                                 size_t count);

/* The same with the number, presence and label of each signal; `readings` has room for `count`, at least the message's signals. If
 * `short_frame` is not 0, data that end before the message give the signals that they hold whole. On an error nothing is written.
 * Errors: those of takt_dbc_decode(). It allocates: not for the cycle. */
TAKT_API int32_t takt_dbc_read(const takt_dbc* dbc, size_t message, const uint8_t* data, size_t bytes, int32_t short_frame,
                               takt_dbc_reading* readings, size_t count);

/* A row of a signal's value table, `index` from 0 below its `labels`: a number, and what it means. Error:
 * TAKT_ERROR_CAPI_BAD_ARGUMENT (no such row). Real-time safe. */
TAKT_API int32_t takt_dbc_label_at(const takt_dbc* dbc, size_t message, size_t signal, size_t index, int64_t* number,
                                   const char** label);

/* The physical value of the number with this label, to be encoded; labels are compared one by one. Error:
 * TAKT_ERROR_CAPI_BAD_ARGUMENT (no number that the field can hold has it). */
TAKT_API int32_t takt_dbc_value_of(const takt_dbc* dbc, size_t message, size_t signal, const char* label, double* value);

/* Explains why takt_dbc_encode() refuses these values; returns its error. *signal is the refused signal, or SIZE_MAX if the
 * error concerns none. `why`, of `size` bytes, gets a sentence with the signal's name, its value and the allowed range.
 * `signal` and `why` may be NULL. Allocates. */
TAKT_API int32_t takt_dbc_explain(const takt_dbc* dbc, size_t message, const double* values, size_t count, int32_t overflow,
                                  size_t* signal, char* why, size_t size);

/* The data of a message with these values, each rounded to the nearest number, ties to even; `bytes` is at least the message's
 * length. Values that the selectors do not choose are ignored. NaN encodes J1939's "not available". A number of the value
 * table beyond the range, such as "error", is sent only for its exact value (takt_dbc_value_of()). Errors: those of
 * takt_dbc_decode(), TAKT_ERROR_CAN_NOT_FINITE, TAKT_ERROR_CAN_OUT_OF_RANGE as `overflow` (TAKT_OVERFLOW_...) says,
 * TAKT_ERROR_CAN_BAD_LAYOUT (a signal does not lie within the message). Real-time safe. */
TAKT_API int32_t takt_dbc_encode(const takt_dbc* dbc, size_t message, const double* values, size_t count, int32_t overflow,
                                 uint8_t* data, size_t bytes);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TAKT_DBC_H */
