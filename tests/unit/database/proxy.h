/* proxy.h - a TCP proxy that loses connections on demand.
 *
 * The caller owns the proxy and stops it; a thread of its own moves the bytes.
 */
#ifndef TESTS_PROXY_H
#define TESTS_PROXY_H

#include <stdint.h>

typedef enum proxy_mode {
  PROXY_PASS,    /* everything goes through */
  PROXY_CUT,     /* every connection is closed, new ones at once */
  PROXY_SWALLOW, /* requests go through; instead of the answer the connection is closed */
  PROXY_PART,    /* requests go through; the connection is closed after so many bytes of answers */
  PROXY_STALL    /* nothing moves, nothing is closed */
} proxy_mode;

typedef struct proxy proxy;

/* Listens on a free port of 127.0.0.1 and forwards to the given one. */
proxy *proxy_start(uint32_t port);
uint32_t proxy_port(const proxy *p);
/* Returns when the mode is in force. */
void proxy_set(proxy *p, proxy_mode mode);
/* The bytes of answers that PROXY_PART lets through from now on. */
void proxy_limit(proxy *p, uint32_t bytes);
void proxy_stop(proxy *p);

#endif
