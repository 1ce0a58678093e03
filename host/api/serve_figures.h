/* Figures of a reply (runtime/api/api_job.h) in objects of cJSON. */
#ifndef INGOT_HOST_SERVE_FIGURES_H
#define INGOT_HOST_SERVE_FIGURES_H

#include "runtime/api/api_job.h"

struct cJSON;

/* Adds all figures to an object under their names; an unknown figure is null. */
void serve_figures_add(struct cJSON *object, const struct api_figures *f);

#endif
