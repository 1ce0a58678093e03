/* WebSockets at /ws of `ingot serve` carry the requests and events of a board's line, each in a
 * message. runtime/http handles the frames. */
#ifndef INGOT_HOST_SERVE_WS_H
#define INGOT_HOST_SERVE_WS_H

#include "host/serve/serve_http.h"

struct serve_ws; /* the state of a socket */

/* Makes the state of a new socket. NULL: no memory. */
struct serve_ws *serve_ws_open(const struct serve_setup *setup);

/* Ends the running reply and frees the socket, because its caller is gone. */
void serve_ws_leave(struct serve_ws *s);

/* Takes a piece of a message. last: it is the last piece; text: the message should be UTF-8.
 * Returns 0, or a code of http_frames.h that says why the socket ends. */
uint16_t serve_ws_take(struct serve_ws *s, const char *bytes, size_t n, bool last, bool text);

/* True while a message is being read; meanwhile no other message may be taken. */
bool serve_ws_is_reading(const struct serve_ws *s);

/* Writes the results of the requests so far. False: no memory. */
bool serve_ws_woken(struct serve_ws *s);

/* Returns the next message to send (*n bytes), valid until serve_ws_said. NULL: none. */
const char *serve_ws_say(struct serve_ws *s, size_t *n);
void serve_ws_said(struct serve_ws *s);

/* True if a message is being read or a reply is running. */
bool serve_ws_is_busy(const struct serve_ws *s);

#endif
