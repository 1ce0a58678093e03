/* WebSockets at /ws of `ingot serve`: requests and events of a board's line, each a message. Their frames are runtime/http's. */
#ifndef INGOT_HOST_SERVE_WS_H
#define INGOT_HOST_SERVE_WS_H

#include "host/serve/serve_http.h"

struct serve_ws; /* one socket's */

/* A new one. NULL: no memory. */
struct serve_ws *serve_ws_open(const struct serve_setup *setup);

/* Its caller is gone, and the running reply ends. It is freed. */
void serve_ws_leave(struct serve_ws *s);

/* A piece of a message; last: its end, and text: it says that it is UTF-8. 0, or why the socket ends: a code of http_frames.h. */
uint16_t serve_ws_take(struct serve_ws *s, const char *bytes, size_t n, bool last, bool text);

/* Whether a message is being read: no other may come until then. */
bool serve_ws_is_reading(const struct serve_ws *s);

/* Something may have come of what was asked. False: no memory. */
bool serve_ws_woken(struct serve_ws *s);

/* The message that goes out next (*n bytes), until serve_ws_said; NULL: none. */
const char *serve_ws_say(struct serve_ws *s, size_t *n);
void serve_ws_said(struct serve_ws *s);

/* Whether a message is being read, or a reply is at work. */
bool serve_ws_is_busy(const struct serve_ws *s);

#endif
