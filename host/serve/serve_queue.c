#include "host/serve/serve_queue.h"

bool serve_queue_put(struct serve_queue *q, struct serve_job *j)
{
    if (q->n >= SERVE_WAITING_MOST) {
        return false;
    }
    j->next = NULL;
    if (q->first == NULL) {
        q->first = j;
    } else {
        q->last->next = j;
    }
    q->last = j;
    q->n++;
    return true;
}

struct serve_job *serve_queue_take(struct serve_queue *q)
{
    struct serve_job *j = q->first;

    if (j != NULL) {
        q->first = j->next;
        q->n--;
    }
    return j;
}

bool serve_queue_take_out(struct serve_queue *q, const struct serve_job *j)
{
    struct serve_job **at = &q->first, *before = NULL;

    while (*at != NULL && *at != j) {
        before = *at;
        at = &before->next;
    }
    if (*at == NULL) {
        return false;
    }
    *at = j->next;
    q->last = q->last == j ? before : q->last;
    q->n--;
    return true;
}
