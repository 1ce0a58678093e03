/* A WebSocket at /ws uses the protocol of a board's line (docs/SERIAL.md), for
 * requests that a server can answer. This file handles the text; serve_ws.c has the
 * socket. */
#ifndef INGOT_HOST_SERVE_LINE_H
#define INGOT_HOST_SERVE_LINE_H

#include "host/api/serve_answer.h"

enum {
    SERVE_LINE_ID_BYTES = 400 /* room for an id as JSON: each of 64 bytes may be an escape */
};

struct cJSON;

/* The state of a socket; all members of a new socket's state are zero. */
struct serve_line {
    struct cJSON *history;           /* messages so far; NULL: none */
    char asked[SERVE_LINE_ID_BYTES]; /* the latest request's id, as JSON; "": none */
    char id[SERVE_LINE_ID_BYTES];    /* id of the running request, as JSON */
    bool keeps;                      /* the reply to the latest request goes into the history */
};

enum serve_line_kind {
    SERVE_LINE_REPLY,   /* the request asks for a reply */
    SERVE_LINE_CANCEL,  /* end the running reply */
    SERVE_LINE_NOTHING, /* the message was carried out; no reply follows */
    SERVE_LINE_REFUSED, /* *e says why */
};

/* Reads a request (n bytes) into *q, which was zeroed. busy: a reply is running, so only `cancel`
 * is accepted. */
enum serve_line_kind serve_line_take(struct serve_line *l, const char *text, size_t n, bool busy,
                                     struct api_request *q, const struct api_defaults *d,
                                     struct api_error *e);
void serve_line_free(struct serve_line *l);

/* Add events as lines to out: that the server is ready; that the latest request was refused, and
 * has ended; that the latest request has ended. */
void serve_line_ready(struct api_text *out, const char *model);
void serve_line_error(struct api_text *out, const struct serve_line *l, const struct api_error *e);
void serve_line_done(struct api_text *out, const struct serve_line *l, const char *reason);

/* Adds the job's text from *at on. If the job is done, also adds its end and puts the reply into
 * the history. The caller holds the job's lock. */
void serve_line_events(struct api_text *out, struct serve_line *l, const struct serve_job *j,
                       struct api_events *at);

#endif
