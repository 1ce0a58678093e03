/* A model on this computer as a backend of `ingot serve`: one thread computes several replies at
 * the same time. */
#ifndef INGOT_HOST_SERVE_MODEL_H
#define INGOT_HOST_SERVE_MODEL_H

#include "host/app/host_app.h"
#include "host/api/serve_backend.h"
#include "host/serve/serve_kept.h"

/* Starts the backend with a loaded model; app and wake must outlive it. Returns false after
 * printing the error to standard error. Only one per process. */
bool serve_model_open(struct serve_backend *b, struct app *app, struct serve_wake wake,
                      const struct serve_kept_setup *kept);

/* Ends the thread; waiting and running requests end with an error. */
void serve_model_close(struct serve_backend *b);

#endif
