/* The date by SNTP (time=ntp): which server is asked, and when. Only the files of this folder
 * include this header. */
#ifndef INGOT_RUNTIME_NET_TIME_H
#define INGOT_RUNTIME_NET_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include <lwip/ip4_addr.h>

enum {
    NET_TIME_SERVERS = 2, /* the most servers of DHCP's option 42 that are asked */
    NET_TIME_FIRST_SECONDS =
        16, /* seconds to the next question if no answer comes; each further wait
             * doubles */
    NET_TIME_MOST_SECONDS = 1024,  /* the longest wait after doubling */
    NET_TIME_AGAIN_SECONDS = 3600, /* seconds from an answer to the next question */
    NET_TIME_ANSWER_SECONDS = 4,   /* seconds during which an answer is accepted */
    NET_TIME_SILENT = 3,           /* an error is reported after this many questions without
                                    * an answer */
};

struct udp_pcb;
struct net;

struct net_time {
    bool asks;
    ip4_addr_t fixed; /* the server that time= names; "any" if it names none */
    uint16_t port;
    ip4_addr_t servers[NET_TIME_SERVERS]; /* named by DHCP */
    unsigned n_servers;
    unsigned refused;    /* bit i: server i does not want to be asked */
    unsigned turn;       /* server for the next question */
    unsigned asked;      /* the server that was asked last */
    struct udp_pcb *pcb; /* NULL: nothing was asked yet */
    uint64_t nonce;      /* nonce of the question whose answer is awaited; 0: none */
    uint64_t asked_ms;   /* the time when the last question was sent */
    uint64_t ask_ms;     /* the time when the next question is due */
    uint32_t wait_s;     /* seconds from the last question to the next */
    unsigned silent;     /* questions since the last answer with a time */
    bool known;
    uint64_t date_ms; /* milliseconds since 1970 at the clock's start */
    ip4_addr_t from;  /* the server that reported the date */
};

/* Read the option's value `how`, which may be NULL. Returns false if the value is wrong. */
bool net_time_read(struct net_time *t, const char *how);
/* Return true if a question is due; net_time_ask sends it with this nonce. */
bool net_time_is_due(const struct net *n);
void net_time_ask(struct net *n, uint64_t nonce);
/* Take the n servers that DHCP has named. */
void net_time_servers(struct net_time *t, unsigned n, const ip4_addr_t *servers);

#endif
