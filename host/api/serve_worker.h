/* Threads that read requests of `ingot serve`, because compiling a grammar may take long and the
 * server's own thread must answer other requests. */
#ifndef INGOT_HOST_SERVE_WORKER_H
#define INGOT_HOST_SERVE_WORKER_H

#include <stdbool.h>

#include "host/api/serve_backend.h"

/* The first member of a task. Set run and drop, and zero the other members. */
struct serve_task {
    void (*run)(struct serve_task *t); /* in a worker's thread */
    void (*drop)(
        struct serve_task *t); /* frees the task if nobody waits for it any more; may run in any
                                  thread */
    struct serve_task *next;
    enum { SERVE_TASK_IDLE, SERVE_TASK_WAITS, SERVE_TASK_RUNS, SERVE_TASK_DONE } state;
    bool left;
};

/* Starts the threads. wake: called when a task is done. Returns false if no thread could start. */
bool serve_workers_open(struct serve_wake wake);

/* Ends the threads; all tasks must have been taken or left before. */
void serve_workers_close(void);

void serve_worker_put(struct serve_task *t);

/* True if the task has run; then the task is idle and belongs to the caller again. */
bool serve_worker_take(struct serve_task *t);

/* Drops the task, now or when it has run. True: the task never runs. */
bool serve_worker_leave(struct serve_task *t);

#endif
