#include "host/api/serve_worker.h"

#include <stddef.h>

/* A request with a slow grammar occupies one thread until a time limit; the other threads continue
 * to read. */
enum { THREADS = 4 };

static struct reading {
    pthread_mutex_t lock; /* protects the members below, and every task's state */
    pthread_cond_t more;
    struct serve_task *first, *last;
    bool closing;
    unsigned n;
    pthread_t threads[THREADS];
    struct serve_wake wake;
} reading = { .lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER };

static struct serve_task *take_first(void)
{
    struct serve_task *t = reading.first;

    reading.first = t->next;
    reading.last = reading.first != NULL ? reading.last : NULL;
    t->next = NULL;
    t->state = SERVE_TASK_RUNS;
    return t;
}

static void *work(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&reading.lock);
    while (reading.first != NULL || !reading.closing) {
        struct serve_task *t;
        bool left;

        if (reading.first == NULL) {
            pthread_cond_wait(&reading.more, &reading.lock);
            continue;
        }
        t = take_first();
        pthread_mutex_unlock(&reading.lock);
        t->run(t);
        pthread_mutex_lock(&reading.lock);
        left = t->left;
        t->state = SERVE_TASK_DONE;
        pthread_mutex_unlock(&reading.lock);
        if (left) {
            t->drop(t);
        } else {
            reading.wake.call(reading.wake.context);
        }
        pthread_mutex_lock(&reading.lock);
    }
    pthread_mutex_unlock(&reading.lock);
    return NULL;
}

bool serve_workers_open(struct serve_wake wake)
{
    reading.wake = wake;
    reading.closing = false;
    for (reading.n = 0; reading.n < THREADS; reading.n++) {
        if (pthread_create(&reading.threads[reading.n], NULL, work, NULL) != 0) {
            break;
        }
    }
    return reading.n != 0;
}

void serve_workers_close(void)
{
    pthread_mutex_lock(&reading.lock);
    reading.closing = true;
    pthread_cond_broadcast(&reading.more);
    pthread_mutex_unlock(&reading.lock);
    while (reading.n != 0) {
        pthread_join(reading.threads[--reading.n], NULL);
    }
}

void serve_worker_put(struct serve_task *t)
{
    pthread_mutex_lock(&reading.lock);
    t->state = SERVE_TASK_WAITS;
    t->next = NULL;
    t->left = false;
    if (reading.first == NULL) {
        reading.first = t;
    } else {
        reading.last->next = t;
    }
    reading.last = t;
    pthread_cond_signal(&reading.more);
    pthread_mutex_unlock(&reading.lock);
}

bool serve_worker_take(struct serve_task *t)
{
    bool done;

    pthread_mutex_lock(&reading.lock);
    done = t->state == SERVE_TASK_DONE;
    if (done) {
        t->state = SERVE_TASK_IDLE;
    }
    pthread_mutex_unlock(&reading.lock);
    return done;
}

/* Takes a task out of the queue. The caller has the lock. */
static void take_out(struct serve_task *t)
{
    struct serve_task **at = &reading.first, *before = NULL;

    while (*at != t) {
        before = *at;
        at = &before->next;
    }
    *at = t->next;
    reading.last = reading.last == t ? before : reading.last;
}

bool serve_worker_leave(struct serve_task *t)
{
    bool runs, waits;

    pthread_mutex_lock(&reading.lock);
    runs = t->state == SERVE_TASK_RUNS;
    waits = t->state == SERVE_TASK_WAITS;
    t->left = true;
    if (waits) {
        take_out(t);
    }
    pthread_mutex_unlock(&reading.lock);
    if (!runs) {
        t->drop(t);
    }
    return waits;
}
