/* Sockets and poll under runtime/http, for `ingot serve`: one thread, which waits for sockets and is woken by others. Connections
 * are bounded in number, in all and for each address, and in time: a head, a body, an answer that nobody reads, an idle connection.
 * If a new connection finds no room, a silent one makes room. */
#ifndef INGOT_HOST_SERVE_SOCKET_H
#define INGOT_HOST_SERVE_SOCKET_H

#include "runtime/http/http_connection.h"

struct serve_sockets_setup {
    const char *address; /* a number, a name, or a network card's */
    int port;            /* 0: a free one */
    const struct http_site *site;
    size_t user_bytes; /* of the site's own state of a connection, zeroed */
    /* A connection is new. few: there is hardly any room, only what is short is to be answered. */
    void (*opened)(void *user, struct http_connection *c, bool few);
    void (*closed)(void *user);
    void (*woken)(void *user);         /* serve_sockets_wake was called */
    bool (*is_busy)(const void *user); /* something is at work for it */
    void (*late)(void *user); /* a request takes too long to come: an answer has to be given now */
};

/* Listen. False: said on standard error. One a process. */
bool serve_sockets_open(const struct serve_sockets_setup *setup);

/* "http://127.0.0.1:8080" to text (bytes). */
void serve_sockets_url(char *text, size_t bytes);

/* Serve until serve_sockets_end. False: an error, said. All connections are closed then. */
bool serve_sockets_run(void);

/* From any thread, and from a signal's handler. */
void serve_sockets_wake(void);
void serve_sockets_end(void);

void serve_sockets_close(void);

#endif
