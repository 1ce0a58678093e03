/* Sockets and poll under runtime/http, for `ingot serve`: one thread, which waits for sockets and
 * is woken by others. The number of connections is limited, in total and for each address, and so
 * is the time for a head, for a body, for an answer that nobody reads, and for an idle connection.
 * If there is no room for a new connection, a silent one is closed. */
#ifndef INGOT_HOST_SERVE_SOCKET_H
#define INGOT_HOST_SERVE_SOCKET_H

#include "runtime/http/http_connection.h"

struct serve_sockets_setup {
    const char *address; /* a number, "localhost", or the name of a network card */
    int port;            /* 0: a free one */
    const struct http_site *site;
    size_t user_bytes; /* size of the user's state for a connection, which starts as zeros */
    /* Called for a new connection. few: room is scarce, so give only short answers. */
    void (*opened)(void *user, struct http_connection *c, bool few);
    void (*closed)(void *user);
    void (*woken)(void *user);         /* serve_sockets_wake was called */
    bool (*is_busy)(const void *user); /* true if work for the connection is running */
    void (*late)(void *user);          /* a request takes too long to arrive, so answer it now */
};

/* Starts to listen. False after printing the error to standard error. Only one per process. */
bool serve_sockets_open(const struct serve_sockets_setup *setup);

/* Writes the address, such as "http://127.0.0.1:8080", to text (bytes). */
void serve_sockets_url(char *text, size_t bytes);

/* Serves until serve_sockets_end, then closes all connections. Returns false after printing the
 * error that ended it. */
bool serve_sockets_run(void);

/* Wake the loop, or end it; any thread, or a signal handler, may do that. */
void serve_sockets_wake(void);
void serve_sockets_end(void);

void serve_sockets_close(void);

#endif
