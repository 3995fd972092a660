/* UDP sockets. */
#ifndef TAKT_PLATFORM_H
#define TAKT_PLATFORM_H

/* clang-format off */

#include "takt/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- UDP ------------------------------------------------------------------------------------------------------------------ */

/* A UDP socket that talks to one peer. What comes from anybody else the kernel drops; that proves nothing, as a sender's address
 * can be forged, and whom to believe is a channel's affair. Nothing breaks a socket: a peer that is not there, a cable that is cut
 * and a queue that is full are counted, and it goes on when they are over. One thread at a time. takt_udp_send(), _receive() and
 * _receive_batch() neither allocate nor lock; their system calls do not wait, but for as long as they are asked to. */
typedef struct takt_udp_socket takt_udp_socket;

typedef struct takt_udp_options {
  uint32_t struct_size;      /* set by takt_udp_options_init() */
  int32_t busy_poll;         /* not zero: asks the kernel again and again instead of sleeping: a fraction of the latency for a whole
                              * core, which Linux takes away for 50 ms of each second at a real-time priority; 0 */
  const char* local_address; /* in numbers, IPv4 or IPv6, never a name; NULL: "127.0.0.1", from which only this machine is reached */
  const char* peer_address;  /* the same; of another machine: local_address, too, has to be given */
  uint16_t local_port;       /* 0: any free one */
  uint16_t peer_port;        /* 0: any of the peer's, until takt_udp_settle(); before it, such a socket only receives */
  uint32_t reserved;         /* 0 */
} takt_udp_options;

/* Sets the defaults named above. Ignores NULL. Real-time safe. */
TAKT_API void takt_udp_options_init(takt_udp_options* options);

/* *socket is the caller's, to be closed with takt_udp_close(). On failure the reason is written to `why`, which may be NULL, as far
 * as it fits into `size` bytes. Errors: TAKT_ERROR_PLATFORM_BAD_ADDRESS, _UDP_FAILED (the port is taken, the address is none of
 * this machine, ...); TAKT_ERROR_CAPI_BAD_ARGUMENT (reserved). */
TAKT_API int32_t takt_udp_open(const takt_udp_options* options, takt_udp_socket** socket, char* why, size_t size);
TAKT_API void takt_udp_close(takt_udp_socket* socket);

/* Errors: TAKT_ERROR_PLATFORM_SEND_FAILED: it was not sent, and is counted as refused. */
TAKT_API int32_t takt_udp_send(takt_udp_socket* socket, const uint8_t* datagram, size_t bytes);

/* The next datagram, of *bytes bytes; it may have none. One that does not fit into `size` bytes is passed over, and counted.
 * Errors: TAKT_ERROR_CAPI_TIMEOUT: nothing came within timeout_ns; with zero or less it does not wait. */
TAKT_API int32_t takt_udp_receive(takt_udp_socket* socket, int64_t timeout_ns, uint8_t* buffer, size_t size, size_t* bytes);

/* The source port of the last received datagram, for a socket whose peer has port 0; of a batch, the last one's. 0 before the
 * first datagram, for other sockets and for NULL. Real-time safe. */
TAKT_API uint16_t takt_udp_sender_port(const takt_udp_socket* socket);
/* Fixes the peer's port, for a socket whose peer has port 0: only this port is heard and sent to from now on. Call it after
 * the first valid datagram from that port, such as one that a client accepted. Errors: TAKT_ERROR_CAPI_BAD_ARGUMENT (a port
 * of 0, a peer of one port, a socket that settled already), TAKT_ERROR_PLATFORM_UDP_FAILED (the kernel refuses). One system
 * call. */
TAKT_API int32_t takt_udp_settle(takt_udp_socket* socket, uint16_t port);

/* One of a batch. */
typedef struct takt_udp_datagram {
  uint8_t* buffer;
  size_t size;  /* of the buffer; more than 65536 becomes 65536 */
  size_t bytes; /* of what came */
} takt_udp_datagram;

/* Datagrams of a batch at most; what is given beyond them is left alone. */
#define TAKT_UDP_BATCH 32

/* Waits as above for the first, and takes what else is there with the same system call. *came of them are now at the front of
 * `datagrams`, oldest first; which of the buffers each is in is the socket's choice. Errors: TAKT_ERROR_CAPI_TIMEOUT; _BAD_ARGUMENT
 * (a count of 0). */
TAKT_API int32_t takt_udp_receive_batch(takt_udp_socket* socket, int64_t timeout_ns, takt_udp_datagram* datagrams, size_t count,
                                        size_t* came);

/* Since it was opened. An output: the library writes as many fields as struct_size covers. */
typedef struct takt_udp_counters {
  uint32_t struct_size; /* set by takt_udp_counters_init() */
  uint32_t reserved;
  uint64_t sent;
  uint64_t refused;     /* not sent: the queue full, no route, the link down, more bytes than a datagram has */
  uint64_t unreachable; /* how often the peer's machine, or one on the way, said that nobody is there */
  uint64_t received;
  uint64_t too_long;    /* came, but did not fit the buffer */
  uint64_t dropped;     /* by the kernel, because nobody received in time */
  uint64_t foreign;     /* waited already when the socket settled, from another port of the peer; not given */
} takt_udp_counters;

/* NULL is ignored. Real-time safe. */
TAKT_API void takt_udp_counters_init(takt_udp_counters* counters);
/* One system call. */
TAKT_API int32_t takt_udp_get_counters(const takt_udp_socket* socket, takt_udp_counters* counters);

/* The port that it has; 0 for NULL. One system call. */
TAKT_API uint16_t takt_udp_local_port(const takt_udp_socket* socket);

/* To wait with poll() for this socket and others; -1 for NULL. It stays the socket's. Real-time safe. */
TAKT_API int32_t takt_udp_descriptor(const takt_udp_socket* socket);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TAKT_PLATFORM_H */
