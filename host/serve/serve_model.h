/* A model on this computer as a backend of `ingot serve`: one thread computes several replies side
 * by side. */
#ifndef INGOT_HOST_SERVE_MODEL_H
#define INGOT_HOST_SERVE_MODEL_H

#include "host/app/host_app.h"
#include "host/serve/serve_backend.h"
#include "host/serve/serve_kept.h"

/* Begins with a model that is loaded; app and wake must outlive it. False: the error is printed to
 * standard error. There is one for each process. */
bool serve_model_open(struct serve_backend *b, struct app *app, struct serve_wake wake,
                      const struct serve_kept_setup *kept);

/* Requests that wait or run end with an error; the thread ends. */
void serve_model_close(struct serve_backend *b);

#endif
