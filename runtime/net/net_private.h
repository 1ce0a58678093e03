/* Declarations that the files of this folder share; no other folder includes this header. */
#ifndef INGOT_RUNTIME_NET_PRIVATE_H
#define INGOT_RUNTIME_NET_PRIVATE_H

#include "runtime/net/net.h"

static const enum err net_fine = ERR_OK, net_timeout = ERR_TIMEOUT; /* err.h's values under other
                                                                     * names */

/* Two names exist both in lwIP and in board/err.h, which net.h has included; here they mean
 * lwIP's errors. */
#define ERR_OK LWIP_ERR_OK
#define ERR_TIMEOUT LWIP_ERR_TIMEOUT

#include <lwip/netif.h>
#include <lwip/pbuf.h>
#include <lwip/tcp.h>

#include "runtime/net/net_store.h"
#include "runtime/net/net_time.h"

enum { NET_OUT_BYTES = 1460, NET_FRAME_BYTES = 1514 };

/* Received bytes that wait: a ring of n bytes from `at` on. A window of bytes always fits, because
 * the window opens only by the bytes that are taken out. lwIP's frames are not kept: a client that
 * sends small segments would use up many of them. */
struct net_input {
    size_t at, n;
    char bytes[TCP_WND];
};

/* A connection. lwIP's callbacks only note events; net_slots_poll handles them. */
struct net_slot {
    struct net *net;
    struct tcp_pcb *pcb; /* NULL: the slot is free */
    struct net_input in;
    bool over;               /* the other side sends no more */
    bool reset;              /* lwIP has dropped the connection */
    uint64_t moved_ms;       /* time of the last byte in either direction */
    uint64_t begun_ms;       /* time when the incoming request began; 0: no request */
    uint64_t full_ms;        /* time since when lwIP has had no room for the answer; 0: it has */
    uint64_t taken;          /* bytes that the client has taken since then */
    char out[NET_OUT_BYTES]; /* (out_bytes) bytes to send; lwIP has taken out_at of them */
    size_t out_bytes, out_at;
    struct http_connection http;
};

/* A connection that has no slot yet. */
struct net_waiting {
    struct tcp_pcb *pcb; /* NULL: nobody waits here */
    uint64_t since_ms;
    struct net_input in;
    bool over; /* the other side sends no more */
};

struct net {
    struct net_setup setup;
    struct netif netif;
    bool link;
    uint64_t link_ms, frame_ms; /* times of the last look at the cable and of the last frame */
    uint64_t random;
    char address[NET_ADDRESS_BYTES], address6[NET_ADDRESS_BYTES];
    char trouble[NET_TROUBLE_BYTES];  /* why the name is not used; "": it is */
    char conflict[NET_TROUBLE_BYTES]; /* which machine had our address at conflict_ms */
    uint64_t conflict_ms;             /* 0: never */
    struct net_time time;
    struct tcp_pcb *listener;
    uint8_t frame[NET_FRAME_BYTES];
    struct net_slot slots[NET_CONNECTIONS];
    struct net_waiting waiting[NET_WAITING];
    struct net_store store;
};

static inline uint64_t net_now_ms(const struct net *n)
{
    const struct platform_clock *clock = &n->setup.platform->clock;
    uint64_t ticks = platform_ticks(clock) - clock->start;

    return ticks / clock->hz * 1000 + ticks % clock->hz * 1000 / clock->hz;
}

/* Make the server listen. Returns NULL, or the error. */
const char *net_slots_open(struct net *n);
void net_slots_poll(struct net *n);

/* Give the connection a slot. If all slots are in use, return NULL. */
struct net_slot *net_slots_begin(struct net *n, struct tcp_pcb *pcb);

/* Copy a segment's bytes to the ring, and free the segment. If they do not fit, copy nothing, and
 * return an error for lwIP, which then offers the segment again. */
err_t net_input_put(struct net_input *in, struct pbuf *p);

/* Make the connection wait for a slot. Returns false if too many connections wait. */
bool net_waiting_add(struct net *n, struct tcp_pcb *pcb);
bool net_waiting_any(const struct net *n);
/* Give slots to the connections whose turn it is. */
void net_waiting_poll(struct net *n);

void net_forget_callbacks(struct tcp_pcb *pcb);
/* Close the connection after sending the bytes that were written. */
void net_close(struct tcp_pcb *pcb);

/* Return false if lwIP must not get the DHCP message in n->frame, which has so many bytes: it names
 * an address that no machine can have, or was handled here. */
bool net_dhcp_takes(struct net *n, size_t bytes);
/* Give up an offered address that the server does not acknowledge. */
void net_dhcp_poll(struct net *n);

/* The address that the option `how` names, in lwIP's types. net_read_fixed returns false if the
 * option is malformed. */
struct net_fixed {
    ip4_addr_t address, mask, gateway;
};
bool net_read_fixed(const char *how, struct net_fixed *f);
/* Read an address of four decimal numbers. lwIP would accept fewer numbers, and take one that begins
 * with 0 as octal. */
bool net_read_address(const char *text, ip4_addr_t *address);
/* Return true if the address can be that of one machine. */
bool net_is_unicast(const ip4_addr_t *address);

#endif
