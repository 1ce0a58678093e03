/* A WebSocket at /ws speaks as a board's line does (docs/SERIAL.md): requests come in and events go
 * out, for those requests that a server can answer. This is the text side; serve_ws.c has the
 * socket. */
#ifndef INGOT_HOST_SERVE_LINE_H
#define INGOT_HOST_SERVE_LINE_H

#include "host/api/serve_answer.h"

enum {
    SERVE_LINE_ID_BYTES =
        400 /* bytes of an id as JSON writes it: 64 bytes, at most an escape each */
};

struct cJSON;

/* The state of one socket; zeroed for a new one. */
struct serve_line {
    struct cJSON *history;           /* messages so far; NULL: none */
    char asked[SERVE_LINE_ID_BYTES]; /* the latest request's id, as JSON; "": none */
    char id[SERVE_LINE_ID_BYTES];    /* of the current one */
    bool keeps;                      /* its reply goes into the history */
};

enum serve_line_kind {
    SERVE_LINE_REPLY,   /* the request asks for a reply */
    SERVE_LINE_CANCEL,  /* the running reply is to end */
    SERVE_LINE_NOTHING, /* nothing is asked for: the message itself is obeyed */
    SERVE_LINE_REFUSED, /* *e */
};

/* Reads a request (n bytes) into *q, which was zeroed. busy: a reply is running, so only cancel is
 * accepted. */
enum serve_line_kind serve_line_take(struct serve_line *l, const char *text, size_t n, bool busy,
                                     struct api_request *q, const struct api_defaults *d,
                                     struct api_error *e);
void serve_line_free(struct serve_line *l);

/* Add events as lines to out: who is there; why the latest request was refused, and its end; its
 * end alone. */
void serve_line_ready(struct api_text *out, const char *model);
void serve_line_error(struct api_text *out, const struct serve_line *l, const struct api_error *e);
void serve_line_done(struct api_text *out, const struct serve_line *l, const char *reason);

/* Adds the job's text from *at on. When the job is done, adds its end as well and puts the reply
 * into the history. The caller holds the job's lock. */
void serve_line_events(struct api_text *out, struct serve_line *l, const struct serve_job *j,
                       struct api_events *at);

#endif
