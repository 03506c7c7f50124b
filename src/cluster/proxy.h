/* proxy.h - a TCP proxy on loopback that can go silent, as a network that lost its cable would.
 *
 * The caller owns the proxy until iso_proxy_stop; a thread of its own moves the bytes.
 */
#ifndef ISO_CLUSTER_PROXY_H
#define ISO_CLUSTER_PROXY_H

#include "base/error.h"

typedef struct iso_proxy iso_proxy;

/* Listens on a free port of 127.0.0.1 and forwards to a port there, or to a Unix socket where `path` is not NULL. */
isoproof_status iso_proxy_start(uint16_t target, const char *path, iso_proxy **proxy, isoproof_error *error);
/* Accepts NULL. */
void iso_proxy_stop(iso_proxy *proxy);
uint16_t iso_proxy_port(const iso_proxy *proxy);
/* Silent: no byte moves, no connection is made or closed.  What was sent meanwhile arrives afterwards.  Returns when
 * that is in force. */
void iso_proxy_silence(iso_proxy *proxy, bool silent);

/* Free ports of 127.0.0.1, all different. */
isoproof_status iso_free_ports(uint16_t *ports, size_t count, isoproof_error *error);

#endif
