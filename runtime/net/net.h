/* TCP/IP over a platform's frames: lwIP with an address, a name and one HTTP server. The network
 * runs on core 0, in net_poll. lwIP has one state for the whole program, so there is only one
 * struct net. */
#ifndef INGOT_RUNTIME_NET_H
#define INGOT_RUNTIME_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/platform.h"
#include "runtime/http/http_connection.h"

enum {
    NET_CONNECTIONS = 8, /* clients at the same time; the one that has been idle for longest gives
                          * way to a new one */
    NET_WAITING = 12,    /* clients that wait for a slot; further SYNs get no answer */
    NET_PORT = 80,
    NET_NAME_BYTES = 32,    /* bytes of a host name, with its NUL */
    NET_ADDRESS_BYTES = 48, /* bytes of an address as text, with its NUL */
    NET_TROUBLE_BYTES = 112,
    NET_READ_SECONDS = 20,   /* time in which a request has to arrive completely */
    NET_PACE_BYTES = 512,    /* bytes that a client has to take in a second while its answer waits,
                              * on average over NET_READ_SECONDS or more */
    NET_CROWDED_SECONDS = 5, /* replaces NET_READ_SECONDS and NET_IDLE_SECONDS while clients wait
                              * for a slot */
    NET_REST_SECONDS = 2,    /* an idle connection does not give way before this time: its request
                              * may be on its way */
    NET_WAIT_SECONDS = 30,   /* the longest wait for a slot; then the answer is 503 */
    NET_LINGER_SECONDS = 5,  /* time after an answer that ends a connection, in which bytes of the
                             * client are dropped without a reset */
    NET_IDLE_SECONDS = 60,   /* the longest time between requests, and the longest time in which a
                              * client may take no byte */
};

struct net;

/* The server that answers the connections; n is from 0 to NET_CONNECTIONS - 1. */
struct net_server {
    const struct http_site *site;
    void *context;
    /* Begins connection n. Returns the `user` for the site's functions. */
    void *(*begin)(void *context, unsigned n, struct http_connection *http);
    /* Ends connection n, whatever was in progress. http is no longer valid. */
    void (*end)(void *context, unsigned n);
    /* Returns true while an answer is being computed, so that the connection is not idle. */
    bool (*works)(void *context, unsigned n);
};

struct net_setup {
    const struct platform *platform;
    struct net_server server;
    const char *
        how; /* "dhcp", "auto" (an address of 169.254.0.0/16), "ADDRESS/BITS" or "ADDRESS/BITS,GATEWAY" */
    const char *name; /* a host name of letters, digits and '-'; must stay valid */
    /* "ntp" (DHCP's time servers, else the router), "ntp,ADDRESS" or "ntp,ADDRESS:PORT"; NULL: no
     * server is asked */
    const char *time;
};

/* net_bytes returns the size of struct net. net_open sets it up in zeroed memory; after an error it
 * returns NULL, and *why is a sentence without a full stop. */
size_t net_bytes(void);
struct net *net_open(void *memory, const struct net_setup *setup, const char **why);

/* Check `how` and `name`, or `time`. Returns NULL, or an error message. */
const char *net_check(const char *how, const char *name);
const char *net_check_time(const char *time);

/* Take frames, answer them, and let the server's connections work. Call this every few
 * milliseconds; a call costs little while nothing comes. */
void net_poll(struct net *n);

/* Open a file of an HTTP server as a device. The device holds one .ingot, and is read by Range
 * requests. address: "http://HOST[:PORT]/PATH". The call waits for our own address and for the
 * server, up to 70 s in all. After an error it returns NULL, and *why is a sentence without a full
 * stop. A device whose in_use is false is reused for another file. net_fetch_forget clears in_use
 * of all devices; the caller then sets it for those with an open file. */
struct block_device *net_fetch(struct net *n, const char *address, const char **why);
void net_fetch_forget(struct net *n);

/* Return true once after each change of an address. net_address and net_address6 return addresses
 * as text: IPv4, and IPv6 with a router's prefix; "" means none yet. */
bool net_address_changed(struct net *n);
const char *net_address(const struct net *n);
const char *net_address6(const struct net *n);
bool net_is_up(const struct net *n);

/* Return NULL, or why the address or the name does not lead to this board. */
const char *net_trouble(const struct net *n);

/* If `time` was given: net_date returns the seconds since 1970 at the time when the clock started,
 * or 0 if they are not known yet. A later correction changes this number. net_date_from returns the
 * server that reported it. */
uint64_t net_date(const struct net *n);
const char *net_date_from(const struct net *n, char text[NET_ADDRESS_BYTES]);
/* Return true if no server has answered the last three questions. */
bool net_date_fails(const struct net *n);

/* Return true if a frame was received or sent in the last `ms` milliseconds. */
bool net_is_busy(const struct net *n, uint32_t ms);

/* Figures of lwIP's memory: the most that was used (_most), and refused requests (_refused). */
struct net_figures {
    uint32_t connections, heap_bytes, heap_most, heap_refused;
    uint32_t frames_most, frames_refused, sockets_most, sockets_refused;
};
void net_figures(const struct net *n, struct net_figures *f);

#endif
