/* Sockets and poll under runtime/http, for `ingot serve`: one thread, which waits for sockets and is woken by others. The number
 * of connections is bounded, in all and for each address. So is the time for a head, a body, an answer that nobody reads, and an
 * idle connection. If a new connection finds no room, a silent one makes room. */
#ifndef INGOT_HOST_SERVE_SOCKET_H
#define INGOT_HOST_SERVE_SOCKET_H

#include "runtime/http/http_connection.h"

struct serve_sockets_setup {
    const char *address; /* a number, a name, or the name of a network card */
    int port;            /* 0: a free one */
    const struct http_site *site;
    size_t user_bytes; /* bytes of the site's own state of a connection, which starts zeroed */
    /* A new connection. few: there is hardly any room, so only short answers are to be given. */
    void (*opened)(void *user, struct http_connection *c, bool few);
    void (*closed)(void *user);
    void (*woken)(void *user);         /* serve_sockets_wake was called */
    bool (*is_busy)(const void *user); /* true if work for it is running */
    void (*late)(
        void *user); /* a request takes too long to come, so the answer must be given now */
};

/* Listens. False: the error is printed to standard error. There is one for each process. */
bool serve_sockets_open(const struct serve_sockets_setup *setup);

/* "http://127.0.0.1:8080" to text (bytes). */
void serve_sockets_url(char *text, size_t bytes);

/* Serves until serve_sockets_end, and then closes all connections. False: an error ended it, which
 * is printed. */
bool serve_sockets_run(void);

/* Wakes or ends it from any thread, and from a signal handler. */
void serve_sockets_wake(void);
void serve_sockets_end(void);

void serve_sockets_close(void);

#endif
