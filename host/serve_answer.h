/* What `ingot serve` says: OpenAI's objects as JSON. All add to *out; where it lacks memory, out->failed. */
#ifndef INGOT_HOST_SERVE_ANSWER_H
#define INGOT_HOST_SERVE_ANSWER_H

#include "host/serve_backend.h"

/* Of one request. */
struct serve_answer {
    enum serve_kind kind;
    uint64_t number; /* makes its id */
    int64_t created; /* seconds since 1970 */
    const char *model;
};

void serve_answer_error(struct serve_text *out, const struct serve_error *e);

/* {"object":"list",...} of /v1/models. */
void serve_answer_models(struct serve_text *out, const char *model, int64_t created);

/* The metrics of Prometheus. */
void serve_answer_metrics(struct serve_text *out, const struct serve_stats *s);

/* The whole reply of a job that is done, without an error. The caller has its lock. */
void serve_answer_whole(struct serve_text *out, const struct serve_answer *a,
                        const struct serve_job *j);

/* How far the events of a reply are. */
struct serve_events {
    bool begun, ended;
    bool called;                      /* the call's name was said */
    size_t text, thoughts, arguments; /* bytes that were said */
};

/* The events from there on, to the last one where the job is done. The caller has its lock. */
void serve_answer_events(struct serve_text *out, const struct serve_answer *a,
                         const struct serve_job *j, struct serve_events *at);

#endif
