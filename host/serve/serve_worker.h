/* Threads that read requests of `ingot serve`: to compile a grammar may take long, and the server's own thread has to answer others
 * meanwhile. */
#ifndef INGOT_HOST_SERVE_WORKER_H
#define INGOT_HOST_SERVE_WORKER_H

#include <stdbool.h>

#include "host/serve/serve_backend.h"

/* The first member of what is to be done. Set run and drop, zero the rest. */
struct serve_task {
    void (*run)(struct serve_task *t);  /* in a worker's thread */
    void (*drop)(struct serve_task *t); /* nobody waits for it any more: frees it; in any thread */
    struct serve_task *next;
    enum { SERVE_TASK_IDLE, SERVE_TASK_WAITS, SERVE_TASK_RUNS, SERVE_TASK_DONE } state;
    bool left;
};

/* wake: called when a task is done. False: no thread could be started. */
bool serve_workers_open(struct serve_wake wake);

/* After the last task was left. */
void serve_workers_close(void);

void serve_worker_put(struct serve_task *t);

/* Whether it has run; it is idle then, and the caller's again. */
bool serve_worker_take(struct serve_task *t);

/* It is dropped, now or once it has run. True: it never runs. */
bool serve_worker_leave(struct serve_task *t);

#endif
