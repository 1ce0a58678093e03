/* The replies to one request of an HTTP connection: each of `n` replies to each prompt is a job,
 * and their choices together are one answer. If a finished reply does not satisfy its schema,
 * because the grammar cannot enforce all of it, the reply is made again; if no try succeeds, the
 * request fails. */
#ifndef INGOT_HOST_SERVE_CHOICES_H
#define INGOT_HOST_SERVE_CHOICES_H

#include "host/api/serve_answer.h"
#include "host/api/serve_whole.h"
#include "host/api/serve_check.h"

/* A zeroed struct has no request. */
struct serve_choices {
    struct serve_job *jobs[API_REPLIES_MOST];
    struct api_events at[API_REPLIES_MOST];
    uint8_t tries[API_REPLIES_MOST]; /* number of refused replies */
    bool checked[API_REPLIES_MOST];
    struct serve_check *checks[API_REPLIES_MOST]; /* the current check of each reply; NULL:
                                                     none */
    uint32_t n;
    const struct serve_backend *backend;
    bool streams, ended; /* the answer is a stream of events; all events were sent */
    struct api_answer answer;
    struct api_text echo;      /* answer.echo */
    struct serve_whole *whole; /* the answer being written; NULL: none */
};

/* Reads a body of answer->kind, and submits its jobs. If it returns false, *e gives the reason. */
bool serve_choices_ask(struct serve_choices *c, const struct serve_backend *b,
                       const struct api_answer *answer, const struct api_text *body,
                       const struct api_defaults *d, struct api_error *e);

/* True if there is something to send: the first piece of a stream, or the whole answer. If the
 * request failed before that, the caller sends only *e. */
bool serve_choices_begun(struct serve_choices *c, struct api_error *e);

/* Sends the events that were not sent yet, or the whole answer. */
void serve_choices_say(struct serve_choices *c, struct api_text *out);

/* Cancel the replies that still run, and free everything. */
void serve_choices_leave(struct serve_choices *c, const struct serve_backend *b);

#endif
