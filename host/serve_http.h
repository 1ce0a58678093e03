/* HTTP in front of a backend, by libwebsockets: one thread, which waits for sockets and is woken by the
 * backend. Where the program was built without that library, these say so. */
#ifndef INGOT_HOST_SERVE_HTTP_H
#define INGOT_HOST_SERVE_HTTP_H

#include "host/serve_backend.h"

struct serve_setup {
    const char *address; /* to listen at: "127.0.0.1" */
    const char *token;   /* that every request has to bring; NULL: none, and loopback names alone */
    int port;            /* 0: a free one */
    struct serve_backend *backend; /* open by serve_http_run */
    struct serve_defaults defaults;
};

/* Whether the program has the library; else said on standard error. */
bool serve_http_is_built(void);

/* Listen: the URL is printed by serve_http_run. False: said on standard error. setup stays. */
bool serve_http_open(struct serve_setup *setup);

/* For the backend; from any thread. */
void serve_http_wake(void *unused);

/* Serve until SIGINT or SIGTERM. False: it ended by an error, said. */
bool serve_http_run(void);

void serve_http_close(void);

#endif
