/* Lessons saved by an earlier start, for every feature that learns. */
#ifndef INGOT_RUNTIME_APP_LEARNT_H
#define INGOT_RUNTIME_APP_LEARNT_H

#include "runtime/app/app.h"

/* Return the file NAME.sav, or NULL if there is none. */
const struct file *app_find_learnt(struct app *a, const char *name);

/* Return true if a load at the start succeeded; otherwise log the error. After a success,
 * app_log_learnt logs that n of `what` were loaded. */
bool app_was_learnt(struct app *a, enum err e);
void app_log_learnt(struct app *a, const struct file *file, unsigned n, const char *what);

/* Do as app_was_learnt, for /load, but print the result instead of logging it. */
bool app_was_loaded(struct app *a, enum err e);

/* The word for /save and /load that learning features share, and the error when no feature
 * learns. */
#define LEARNT_WORD "learn"
#define LEARNT_OFF "learning is off: start with learn=on or policy=on"

#endif
