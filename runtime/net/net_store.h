/* Files of an HTTP server (nginx, say) as block devices that read by Range requests: model=http://HOST/PATH.ingot. For the files of this
 * folder; net_fetch in net.h opens one. */
#ifndef INGOT_RUNTIME_NET_STORE_H
#define INGOT_RUNTIME_NET_STORE_H

#include <lwip/ip_addr.h>

#include "board/block_device.h"
#include "runtime/http/http_range.h"

enum {
    NET_STORE_FILES = 3, /* a model, its draft, and the one that takes the place of either */
    NET_STORE_LINKS =
        4, /* connections, each with one question: a window of lwIP's is small, so that several are faster */
    NET_STORE_JOBS = 16,            /* requests that wait or are at work */
    NET_STORE_SECTORS = 256,        /* sectors of one request, so that a slow network ends one in
                                     * time */
    NET_STORE_ADDRESS_SECONDS = 30, /* for an address of our own, before a file is opened */
    NET_STORE_OPEN_SECONDS = 20,    /* for a file to be opened */
    NET_STORE_SILENT_MS = 3000,     /* without a byte: another connection is tried */
    NET_STORE_RETRY_MS = 500,       /* from a failed connection to the next one */
};

struct net;
struct tcp_pcb;

/* A file that is or was open. */
struct net_file {
    struct net *net;
    struct block_device device;
    char name[HTTP_ADDRESS_BYTES];
    struct http_address address; /* points into name */
    ip_addr_t ip;
    bool resolved, resolve_failed;
    struct http_version version;
    char reason[192]; /* of the device */
    uint8_t first;    /* the first byte, by which it was opened */
    enum http_range_state opening;
};

/* Bytes of a file that are wanted. */
struct net_job {
    struct net_file *file;         /* NULL: free */
    struct block_request *request; /* NULL: the file is being opened */
    uint32_t order;                /* lower: asked earlier */
    bool linked;                   /* a connection has it */
    uint64_t first, bytes, got;
    uint8_t *to;
};

/* A connection to a store. */
struct net_link {
    struct net *net;
    enum net_link_state { NET_LINK_FREE, NET_LINK_CONNECTS, NET_LINK_OPEN } state;
    struct tcp_pcb *pcb;   /* NULL: lwIP has dropped it */
    struct net_file *file; /* whose server it goes to */
    struct net_job *job;   /* NULL: none is at work */
    bool used;             /* an answer came whole */
    bool over;             /* the server sends no more */
    uint64_t moved_ms;     /* time of the last byte */
    struct http_range range;
};

struct net_store {
    struct net_file files[NET_STORE_FILES];
    struct net_job jobs[NET_STORE_JOBS];
    struct net_link links[NET_STORE_LINKS];
    uint32_t orders;
    uint64_t retry_ms; /* no connection is tried before it */
};

/* Take a job (to, first, bytes, request) of the file. False: there are too many. */
bool net_store_add(struct net_file *f, const struct net_job *job);
/* End the file's jobs without an answer: their memory is the caller's again. */
void net_store_forget(struct net_file *f);
bool net_store_works(const struct net_store *s);

/* Let the connections work. */
void net_store_poll(struct net *n);

#endif
