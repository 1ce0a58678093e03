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
    FILES_RESERVED = 64,     /* files of the limit that are kept for others */
    FEW = 16,                /* connections that are kept for /health */
    ACCEPTS = 64,            /* the most in one turn of the loop */
    LINGER_BYTES = 64 << 20, /* bytes that are dropped after the answer */
    /* Times in milliseconds. */
    TICK_MS = 500,
    QUIET_MS = 30000,  /* without a byte; and for a whole head */
    BODY_MS = 120000,  /* for a whole body, or a message of a WebSocket */
    STALL_MS = 60000,  /* delay that an answer may have, see serve_pace.h */
    UNREAD_MS = 10000, /* delay when others need the room */
    LINGER_MS = 5000,
};

/* Larger than any time, so that one kind of connection goes before another. */
#define SPARE_STEP ((int64_t)1 << 40)

struct connection {
    int fd;
    unsigned char caller[SERVE_CALLER_BYTES];
    size_t group; /* the same number for all connections of a caller, below sockets.most */
    bool begun;   /* a request is coming in since `began` */
    bool served;  /* an answer was sent */
    bool ended;   /* the other side will send nothing more */
    bool probed;  /* and it was reached while its request is running */
    bool lingers; /* everything was sent */
    bool broken;  /* it will be closed in this turn */
    bool pinged;
    int64_t heard, began; /* ms */
    struct serve_pace pace;
    uint64_t sent,
        taken; /* bytes passed to the system; and those that the other side has acknowledged */
    size_t wasted;
    char in[4096];   /* bytes in_at to in_bytes are still to be taken */
    char out[16384]; /* bytes out_at to out_bytes are still to be sent */
    size_t in_at, in_bytes, out_at, out_bytes;
    struct http_connection http;
    void *user; /* behind this struct */
};

struct sockets {
    struct serve_sockets_setup setup;
    int listener, wake[2];
    atomic_bool woken, ends;
    bool rests; /* no caller is accepted for a moment */
    int64_t now, checked;
    size_t n, most;
    struct connection **all; /* (most), n of them */
    size_t *counts;          /* (most) counts of serve_room.c: connections of each group */
    struct pollfd *polled;   /* (most + 2) */
};

/* Returns how many connections there may be: the limit of open files, less some in reserve for
 * models, pages and boards. */
size_t serve_room_most(void);

/* Returns the group of a caller: that of its other connections, or one without connections. There
 * is one while n < most. */
size_t serve_room_group(struct sockets *s, const unsigned char caller[SERVE_CALLER_BYTES]);

/* Counts the connections of a caller that are not broken. */
size_t serve_room_count(const struct sockets *s, const unsigned char caller[SERVE_CALLER_BYTES]);

/* Gives up one connection of a caller (NULL: of the caller that has most), which is broken then.
 * False: none can be spared. */
bool serve_room_make(struct sockets *s, const unsigned char *caller);

#endif
