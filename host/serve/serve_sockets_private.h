/* Declarations that only serve_socket.c and serve_room.c share. */
#ifndef INGOT_HOST_SERVE_SOCKETS_PRIVATE_H
#define INGOT_HOST_SERVE_SOCKETS_PRIVATE_H

#include <poll.h>
#include <stdatomic.h>
#include <stdint.h>

#include "host/serve/serve_listen.h"
#include "host/serve/serve_pace.h"
#include "host/serve/serve_socket.h"

enum {
    CONNECTIONS_MOST = 960,
    FILES_RESERVED = 64,     /* open files that are reserved for other uses */
    FEW = 16,                /* connections that are reserved for /health */
    ACCEPTS = 64,            /* most new connections in a turn of the loop */
    LINGER_BYTES = 64 << 20, /* most bytes that are read and dropped after the answer */
    /* Times in milliseconds. */
    TICK_MS = 500,
    QUIET_MS = 30000,  /* longest time without a byte, and for a whole head */
    BODY_MS = 120000,  /* longest time for a whole body, or a message of a WebSocket */
    STALL_MS = 60000,  /* longest delay of a reader, see serve_pace.h */
    UNREAD_MS = 10000, /* longest delay of a reader if other callers need the room */
    LINGER_MS = 5000,
};

/* Longer than any silence in milliseconds: steps of this size put the kinds of connections in the
 * order in which they are given up. */
#define SPARE_STEP ((int64_t)1 << 40)

struct connection {
    int fd;
    unsigned char caller[SERVE_CALLER_BYTES];
    size_t group; /* number of the caller's group, below sockets.most; all connections of a caller
                   * share it */
    bool begun;   /* a request has been arriving since `began` */
    bool served;  /* an answer was sent */
    bool ended;   /* the other side will send nothing more */
    bool probed;  /* an interim answer was sent to test the connection */
    bool lingers; /* everything was sent */
    bool broken;  /* the connection will be closed in this turn */
    bool pinged;
    int64_t heard, began; /* ms */
    struct serve_pace pace;
    uint64_t sent, taken; /* numbers of bytes: given to the system, acknowledged by the client */
    size_t wasted;
    char in[4096];   /* bytes in_at to in_bytes are still to be taken */
    char out[16384]; /* bytes out_at to out_bytes are still to be sent */
    size_t in_at, in_bytes, out_at, out_bytes;
    struct http_connection http;
    void *user; /* memory after this struct */
};

struct sockets {
    struct serve_sockets_setup setup;
    int listener, wake[2];
    atomic_bool woken, ends;
    bool rests; /* no connection is accepted for a moment */
    int64_t now, checked;
    size_t n, most;
    struct connection **all; /* (most), n of them */
    size_t *counts;          /* (most) number of connections of each group, for serve_room.c */
    struct pollfd *polled;   /* (most + 2) */
};

/* Returns the largest number of connections: the limit of open files, less those reserved for other
 * uses. */
size_t serve_room_most(void);

/* Returns a caller's group: that of its other connections, or an unused group, which exists while n
 * < most. */
size_t serve_room_group(struct sockets *s, const unsigned char caller[SERVE_CALLER_BYTES]);

/* Counts the connections of a caller that are not broken. */
size_t serve_room_count(const struct sockets *s, const unsigned char caller[SERVE_CALLER_BYTES]);

/* Gives up a connection of a caller (NULL: of the caller with the most connections) by marking it
 * broken. Returns false if none can be given up. */
bool serve_room_make(struct sockets *s, const unsigned char *caller);

#endif
