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
/* Connections made from now on go to another port; those that there are stay. */
void iso_proxy_aim_at(iso_proxy *proxy, uint16_t target);
/* Silent: no byte moves, no connection is made or closed.  What was sent meanwhile arrives afterwards.  Returns when
 * that is in force. */
void iso_proxy_silence(iso_proxy *proxy, bool silent);

enum { ISO_MOST_PORTS = 64 };

/* Ports of 127.0.0.1 for servers that come later, go and come back: until they are released, no other program is given
 * them, neither to listen on nor as its end of a connection.  A server (with SO_REUSEADDR) can listen on them. */
typedef struct iso_ports {
  uint16_t ports[ISO_MOST_PORTS];
  int sockets[ISO_MOST_PORTS];
  size_t count;
} iso_ports;

/* On failure nothing is held. */
isoproof_status iso_hold_ports(iso_ports *held, size_t count, isoproof_error *error);
void iso_release_ports(iso_ports *held);

#endif
