/* Jobs that wait for the model, in the order in which they came. The owner's lock protects them. */
#ifndef INGOT_HOST_SERVE_QUEUE_H
#define INGOT_HOST_SERVE_QUEUE_H

#include "host/api/serve_backend.h"

/* Zeroed: empty. */
struct serve_queue {
    struct serve_job *first, *last;
    uint32_t n;
};

/* Adds a job. False: SERVE_WAITING_MOST jobs are waiting. */
bool serve_queue_put(struct serve_queue *q, struct serve_job *j);

/* Takes the first job out of the queue. NULL: no job waits. */
struct serve_job *serve_queue_take(struct serve_queue *q);

/* Takes this job out of the queue. Returns false if the job is not in it. */
bool serve_queue_take_out(struct serve_queue *q, const struct serve_job *j);

#endif
