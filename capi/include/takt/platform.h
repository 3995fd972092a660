/* UDP sockets. */
#ifndef TAKT_PLATFORM_H
#define TAKT_PLATFORM_H

#include "takt/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A UDP socket with one peer. The kernel drops datagrams from other addresses. That is no proof of the
 * sender, because addresses can be forged: use a takt_channel. Errors of the network do not break a socket. A
 * missing peer, a cut cable and a full queue are counted, and the socket works again when they are over. One
 * thread at a time. takt_udp_send(), takt_udp_receive() and takt_udp_receive_batch() do not allocate or lock;
 * their system calls wait no longer than the given timeout. */
typedef struct takt_udp_socket takt_udp_socket;

typedef struct takt_udp_options {
  uint32_t struct_size; /* set by takt_udp_options_init() */
  /* Not zero: polls the kernel instead of sleeping; 0. That needs a whole core for a fraction of the latency.
   * At a real-time priority Linux takes the core away for 50 ms of each second. */
  int32_t busy_poll;
  const char*
      local_address; /* numeric IPv4 or IPv6, no name; NULL: "127.0.0.1", reachable from this machine only */
  const char*
      peer_address;    /* numeric; NULL: "127.0.0.1". A peer on another machine requires a local_address */
  uint16_t local_port; /* 0: any free port */
  uint16_t
      peer_port; /* 0: any port of the peer until takt_udp_settle(); the socket only receives until then */
  uint32_t reserved; /* 0 */
} takt_udp_options;

/* Sets the defaults named above. Ignores NULL. Real-time safe. */
TAKT_API void takt_udp_options_init(takt_udp_options* options, size_t size);

/* Opens a socket. Close *socket with takt_udp_close(). On failure `why`, which may be NULL, gets the reason,
 * cut to `size` bytes. Errors: TAKT_ERROR_PLATFORM_BAD_ADDRESS; _UDP_FAILED (for example: the port is in use,
 * the address is not of this machine); TAKT_ERROR_CAPI_BAD_ARGUMENT (reserved). */
TAKT_API int32_t takt_udp_open(const takt_udp_options* options, takt_udp_socket** socket, char* why,
                               size_t size);
TAKT_API void takt_udp_close(takt_udp_socket* socket);

/* Sends a datagram. Errors: TAKT_ERROR_PLATFORM_SEND_FAILED; the datagram is counted as refused. */
TAKT_API int32_t takt_udp_send(takt_udp_socket* socket, const uint8_t* datagram, size_t bytes);

/* Receives the next datagram; `*bytes` is its length and can be 0. A datagram longer than `size` bytes is
 * skipped and counted. Errors: TAKT_ERROR_CAPI_TIMEOUT after timeout_ns; with zero or less it does not
 * wait. */
TAKT_API int32_t takt_udp_receive(takt_udp_socket* socket, int64_t timeout_ns, uint8_t* buffer, size_t size,
                                  size_t* bytes);

/* Returns the source port of the last received datagram, for a socket whose peer has port 0. Returns 0 before
 * the first datagram, for other sockets and for NULL. Real-time safe. */
TAKT_API uint16_t takt_udp_sender_port(const takt_udp_socket* socket);

/* Fixes the peer's port, for a socket whose peer has port 0. The socket then sends to this port and receives
 * only from it. Call it after the first valid datagram from that port, such as one that a client accepted.
 * Errors: TAKT_ERROR_CAPI_BAD_ARGUMENT (port 0, a peer with a port, a socket that settled already);
 * TAKT_ERROR_PLATFORM_UDP_FAILED (the kernel refuses). One system call. */
TAKT_API int32_t takt_udp_settle(takt_udp_socket* socket, uint16_t port);

/* One datagram of a batch. */
typedef struct takt_udp_datagram {
  uint8_t* buffer;
  size_t size;  /* bytes of the buffer; at most 65536 are used */
  size_t bytes; /* bytes of the datagram */
} takt_udp_datagram;

/* The most datagrams of a batch; further entries stay unchanged. */
#define TAKT_UDP_BATCH 32

/* Waits for a datagram like takt_udp_receive() and receives all others that are there with the same system
 * call. They are then at the front of `datagrams`, oldest first; *received is their number. The buffers
 * change places. Errors: TAKT_ERROR_CAPI_TIMEOUT; _BAD_ARGUMENT (a count of 0). */
TAKT_API int32_t takt_udp_receive_batch(takt_udp_socket* socket, int64_t timeout_ns,
                                        takt_udp_datagram* datagrams, size_t count, size_t* received);

/* Counts since the socket was opened. An output: the library writes the fields that struct_size covers. */
typedef struct takt_udp_counters {
  uint32_t struct_size; /* set by takt_udp_counters_init() */
  uint32_t reserved;
  uint64_t sent;        /* datagrams */
  uint64_t refused;     /* not sent: full queue, no route, link down, datagram too long */
  uint64_t unreachable; /* reports that the peer does not listen or cannot be reached */
  uint64_t received;    /* datagrams */
  uint64_t too_long;    /* skipped: longer than the buffer */
  uint64_t dropped;     /* by the kernel: not received in time */
  uint64_t foreign;     /* dropped when the socket settled: from another port of the peer */
} takt_udp_counters;

/* Sets struct_size to `size`, and everything else to zero. Ignores NULL. Real-time safe. */
TAKT_API void takt_udp_counters_init(takt_udp_counters* counters, size_t size);
/* Reads the counters. One system call. */
TAKT_API int32_t takt_udp_get_counters(const takt_udp_socket* socket, takt_udp_counters* counters);

/* Returns the local port; 0 for NULL. One system call. */
TAKT_API uint16_t takt_udp_local_port(const takt_udp_socket* socket);

/* Returns the file descriptor, to wait with poll() for this socket and others; -1 for NULL. Do not close it.
 * Real-time safe. */
TAKT_API int32_t takt_udp_descriptor(const takt_udp_socket* socket);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TAKT_PLATFORM_H */
