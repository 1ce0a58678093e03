/* WebSockets at /ws of `ingot serve`, by libwebsockets: serve_http.c hands their events on. */
#ifndef INGOT_HOST_SERVE_WS_H
#define INGOT_HOST_SERVE_WS_H

#include <libwebsockets.h>

#include "host/serve_http.h"
#include "host/serve_line.h"

/* One socket's. Zeroed: a new one. */
struct serve_ws {
    struct serve_line line;
    struct serve_text in,
        out;               /* a message that comes, and lines that go, each of which is a message */
    struct serve_job *job; /* at work; NULL: none */
    struct serve_events events;
};

/* An event of a socket that may be there. 0; -1: it is closed. */
int serve_ws_event(struct lws *wsi, enum lws_callback_reasons reason, struct serve_ws *s,
                   const void *in, size_t n, const struct serve_setup *setup);

#endif
