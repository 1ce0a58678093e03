/* HTTP in front of a backend: the pages of `ingot serve` over runtime/http and serve_socket.c, in one thread, which waits for
 * sockets and is woken by the backend. If the program was built without llhttp or wslay, these say so. */
#ifndef INGOT_HOST_SERVE_HTTP_H
#define INGOT_HOST_SERVE_HTTP_H

#include "host/serve/serve_backend.h"
#include "host/serve/serve_guard.h"

struct serve_setup {
    const char *address; /* to listen at: "127.0.0.1" */
    int port;            /* 0: a free one */
    struct serve_guard guard;
    struct serve_backend *backend; /* open by serve_http_run */
    struct serve_defaults defaults;
};

/* Whether the program has the libraries; else said on standard error. */
bool serve_http_is_built(void);

/* Listen: the URL is printed by serve_http_run. False: said on standard error. setup stays. */
bool serve_http_open(struct serve_setup *setup);

/* For the backend; from any thread. */
void serve_http_wake(void *unused);

/* Serve until SIGINT or SIGTERM. False: it ended by an error, said. */
bool serve_http_run(void);

void serve_http_close(void);

#endif
