/* Figures of a reply (runtime/api/api_job.h) from events and in objects of cJSON. */
#ifndef INGOT_HOST_SERVE_FIGURES_H
#define INGOT_HOST_SERVE_FIGURES_H

#include "runtime/api/api_job.h"

struct cJSON;

/* Those that an event contains; the others are not known. */
void serve_figures_read(struct api_figures *f, const struct cJSON *event);

/* All of them to an object under their names; null: not known. */
void serve_figures_add(struct cJSON *object, const struct api_figures *f);

#endif
