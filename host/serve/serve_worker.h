/* Threads that read requests of `ingot serve`: compiling a grammar may take long, and the server's
 * own thread must answer others meanwhile. */
#ifndef INGOT_HOST_SERVE_WORKER_H
#define INGOT_HOST_SERVE_WORKER_H

#include <stdbool.h>

#include "host/serve/serve_backend.h"

/* The first member of a task. Set run and drop, zero the rest. */
struct serve_task {
    void (*run)(struct serve_task *t); /* in a worker's thread */
    void (*drop)(
        struct serve_task *t); /* nobody waits for it any more: frees the task, in any thread */
    struct serve_task *next;
    enum { SERVE_TASK_IDLE, SERVE_TASK_WAITS, SERVE_TASK_RUNS, SERVE_TASK_DONE } state;
    bool left;
};

/* Starts the threads. wake: called when a task is done. False: no thread could start. */
bool serve_workers_open(struct serve_wake wake);

/* Ends the threads, after the last task was left. */
void serve_workers_close(void);

void serve_worker_put(struct serve_task *t);

/* Returns whether it has run; then it is idle and the caller's again. */
bool serve_worker_take(struct serve_task *t);

/* Drops it, now or when it has run. True: it never runs. */
bool serve_worker_leave(struct serve_task *t);

#endif
