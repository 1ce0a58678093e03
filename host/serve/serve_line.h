/* A WebSocket at /ws speaks as a board's line does (docs/SERIAL.md): requests in, events out, of what a server can answer: replies.
 * The text side of it; the socket is serve_ws.c's. */
#ifndef INGOT_HOST_SERVE_LINE_H
#define INGOT_HOST_SERVE_LINE_H

#include "host/api/serve_answer.h"

enum {
    SERVE_LINE_ID_BYTES = 400 /* of an id as JSON writes it: 64 bytes, each an escape at most */
};

struct cJSON;

/* One socket's. Zeroed: a new one. */
struct serve_line {
    struct cJSON *history;           /* messages so far; NULL: none */
    char asked[SERVE_LINE_ID_BYTES]; /* id of the latest request, as JSON; "": none */
    char id[SERVE_LINE_ID_BYTES];    /* of the current one */
    bool keeps;                      /* its reply belongs to the history */
};

enum serve_line_kind {
    SERVE_LINE_REPLY,   /* the request is one for a reply */
    SERVE_LINE_CANCEL,  /* the running reply is to end */
    SERVE_LINE_NOTHING, /* nothing is asked for: what it says is obeyed */
    SERVE_LINE_REFUSED, /* *e */
};

/* A request (n bytes); *q was zero. busy: a reply is at work, and only cancel is taken. */
enum serve_line_kind serve_line_take(struct serve_line *l, const char *text, size_t n, bool busy,
                                     struct serve_request *q, const struct serve_defaults *d,
                                     struct serve_error *e);
void serve_line_free(struct serve_line *l);

/* Events as lines, added to out: who is there; why the latest request is none, and its end; its end alone. */
void serve_line_ready(struct serve_text *out, const char *model);
void serve_line_error(struct serve_text *out, const struct serve_line *l,
                      const struct serve_error *e);
void serve_line_done(struct serve_text *out, const struct serve_line *l, const char *reason);

/* The job's text since *at, to its end where it is done, whose reply is then part of the history. The caller has its lock. */
void serve_line_events(struct serve_text *out, struct serve_line *l, const struct serve_job *j,
                       struct serve_events *at);

#endif
