/* Files of an HTTP server (nginx, say) as block devices that read by Range requests:
 * model=http://HOST/PATH.ingot. Only the files of this folder include this header; other code opens
 * a file with net_fetch (net.h). */
#ifndef INGOT_RUNTIME_NET_STORE_H
#define INGOT_RUNTIME_NET_STORE_H

#include <lwip/ip_addr.h>

#include "board/block_device.h"
#include "runtime/http/http_range.h"

enum {
    NET_STORE_FILES = 3, /* the model, its draft, and a file that replaces one of them */
    NET_STORE_LINKS =
        4, /* connections, each with one request: lwIP's window is small, so several connections are
            * faster than one */
    NET_STORE_JOBS = 16,            /* jobs that wait or are in progress */
    NET_STORE_SECTORS = 256,        /* sectors of one request, few enough for a slow network to
                                     * finish in time */
    NET_STORE_ADDRESS_SECONDS = 30, /* the longest wait for our own address before a file is
                                     * opened */
    NET_STORE_OPEN_SECONDS = 20,    /* the longest wait for a file to be opened */
    NET_STORE_SILENT_MS = 3000,     /* milliseconds without a byte after which another connection is
                                     * tried */
    NET_STORE_RETRY_MS = 500,       /* milliseconds from a failed connection to the next one */
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
    char reason[192]; /* error message of the device */
    uint8_t first;    /* the first byte, which is read to open the file */
    enum http_range_state opening;
};

/* A request for bytes of a file. */
struct net_job {
    struct net_file *file;         /* NULL: free */
    struct block_request *request; /* NULL: the file is being opened */
    uint32_t order;                /* a job that was added earlier has a lower number */
    bool linked;                   /* a connection works on the job */
    uint64_t first, bytes, got;
    uint8_t *to;
};

/* A connection to a store. */
struct net_link {
    struct net *net;
    enum net_link_state { NET_LINK_FREE, NET_LINK_CONNECTS, NET_LINK_OPEN } state;
    struct tcp_pcb *pcb; /* NULL: lwIP has dropped the connection */
    ip_addr_t ip;        /* the connection leads to this server, also after its file was closed */
    uint16_t port;
    struct net_job *job; /* NULL: no job */
    bool used;           /* a complete answer has arrived */
    bool over;           /* the server sends no more */
    uint64_t moved_ms;   /* time of the last byte */
    struct http_range range;
};

struct net_store {
    struct net_file files[NET_STORE_FILES];
    struct net_job jobs[NET_STORE_JOBS];
    struct net_link links[NET_STORE_LINKS];
    uint32_t orders;
    uint64_t retry_ms; /* no connection is tried before this time */
};

/* Add a job (to, first, bytes, request) for the file. Returns false if there are too many jobs. */
bool net_store_add(struct net_file *f, const struct net_job *job);
/* End the file's jobs with an error, without waiting for answers. The caller may use the jobs'
 * memory again. */
void net_store_forget(struct net_file *f);
bool net_store_works(const struct net_store *s);

/* Let the connections work. */
void net_store_poll(struct net *n);

#endif
