/* What the files of this folder share; nobody else includes it. */
#ifndef INGOT_RUNTIME_APP_PRIVATE_H
#define INGOT_RUNTIME_APP_PRIVATE_H

#include "runtime/app/app.h"

/* An error and its sentence, which outlives it. Returns e. */
static inline enum err app_fail(struct app *a, enum err e, const char *problem)
{
    a->problem = problem;
    return e;
}

/* Arm the watchdog, where the platform has one; doing: for the log of the next start. */
void app_watch(struct app *a, const char *doing);

/* What the cores at work have in common. */
uint32_t app_cpu_features(const struct app *a);

#endif
