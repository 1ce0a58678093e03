/* Jobs that wait for the model, in their order. Its owner has the lock. */
#ifndef INGOT_HOST_SERVE_QUEUE_H
#define INGOT_HOST_SERVE_QUEUE_H

#include "host/serve/serve_backend.h"

/* Zeroed: empty. */
struct serve_queue {
    struct serve_job *first, *last;
    uint32_t n;
};

/* False: SERVE_WAITING_MOST wait already. */
bool serve_queue_put(struct serve_queue *q, struct serve_job *j);

/* The first, out of it. NULL: none waits. */
struct serve_job *serve_queue_take(struct serve_queue *q);

/* Take that one out of it. False: it does not wait. */
bool serve_queue_take_out(struct serve_queue *q, const struct serve_job *j);

#endif
