/* The HTTP side of `ingot serve`: serves its pages with runtime/http and serve_socket.c, in one
 * thread that waits for sockets and is woken by the backend. A program that is built without llhttp
 * or wslay only reports that they are missing. */
#ifndef INGOT_HOST_SERVE_HTTP_H
#define INGOT_HOST_SERVE_HTTP_H

#include "host/api/serve_backend.h"
#include "host/serve/serve_guard.h"

struct serve_setup {
    const char *address; /* to listen at: "127.0.0.1" */
    int port;            /* 0: a free one */
    struct serve_guard guard;
    struct serve_backend *backend; /* must be open when serve_http_run is called */
    struct api_defaults defaults;
};

/* True if the program has the libraries; otherwise an error is printed to standard error. */
bool serve_http_is_built(void);

/* Starts to listen; serve_http_run prints the URL. Returns false after printing the error to
 * standard error. setup must live until serve_http_close. */
bool serve_http_open(struct serve_setup *setup);

/* Wakes the server for the backend; may be called from any thread. */
void serve_http_wake(void *unused);

/* Serves until SIGINT or SIGTERM. Returns false after printing the error that ended it. */
bool serve_http_run(void);

void serve_http_close(void);

#endif
