/* Shared by serve_socket.c and serve_room.c alone. */
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
    FILES_RESERVED = 64,     /* of the limit of open files */
    FEW = 16,                /* connections that are kept for /health */
    ACCEPTS = 64,            /* in one turn of the loop */
    LINGER_BYTES = 64 << 20, /* that are dropped after the answer */
    /* Milliseconds. */
    TICK_MS = 500,
    QUIET_MS = 30000,  /* without a byte; and for all of a head */
    BODY_MS = 120000,  /* for all of a body, or of a message of a WebSocket */
    STALL_MS = 60000,  /* of delay with an answer, see serve_pace.h */
    UNREAD_MS = 10000, /* of delay, where others need the room */
    LINGER_MS = 5000,
};

/* Apart by more than any time: a kind of connection goes before another. */
#define SPARE_STEP ((int64_t)1 << 40)

struct connection {
    int fd;
    unsigned char caller[SERVE_CALLER_BYTES];
    size_t group; /* connections of the same caller have the same, below sockets.most */
    bool begun;   /* a request comes, since `began` */
    bool served;  /* an answer is out */
    bool ended;   /* the other side sends nothing more */
    bool probed;  /* and that was met while its request is at work */
    bool lingers; /* all is said */
    bool broken;  /* it is closed in this turn */
    bool pinged;
    int64_t heard, began; /* ms */
    struct serve_pace pace;
    uint64_t sent,
        taken; /* bytes, to the system; of them those that the other side has acknowledged */
    size_t wasted;
    char in[4096];   /* bytes in_at to in_bytes were not taken */
    char out[16384]; /* bytes out_at to out_bytes were not sent */
    size_t in_at, in_bytes, out_at, out_bytes;
    struct http_connection http;
    void *user; /* behind this struct */
};

struct sockets {
    struct serve_sockets_setup setup;
    int listener, wake[2];
    atomic_bool woken, ends;
    bool rests; /* no caller is taken for a moment */
    int64_t now, checked;
    size_t n, most;
    struct connection **all; /* (most), n of them */
    size_t *counts;          /* (most) of serve_room.c: connections of each group */
    struct pollfd *polled;   /* (most + 2) */
};

/* Connections that there may be: below the limit of open files, with some in reserve for models, pages and boards. */
size_t serve_room_most(void);

/* The group of a caller: that of its other connections, or one that no connection has. There is one while n < most. */
size_t serve_room_group(struct sockets *s, const unsigned char caller[SERVE_CALLER_BYTES]);

/* Connections of a caller that are not broken. */
size_t serve_room_count(const struct sockets *s, const unsigned char caller[SERVE_CALLER_BYTES]);

/* Give up one connection of a caller (NULL: of the one that has most): it is broken then. False: none can be spared. */
bool serve_room_make(struct sockets *s, const unsigned char *caller);

#endif
