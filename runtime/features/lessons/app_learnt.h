/* Lessons saved by an earlier start, for every feature that learns. */
#ifndef INGOT_RUNTIME_APP_LEARNT_H
#define INGOT_RUNTIME_APP_LEARNT_H

#include "runtime/app/app.h"

/* The file NAME.sav; NULL: there is none. */
const struct file *app_find_learnt(struct app *a, const char *name);

/* Report the result of loading at the start; an error is logged. True: it was loaded, and
 * app_log_learnt logs what: n of `what`. */
bool app_was_learnt(struct app *a, enum err e);
void app_log_learnt(struct app *a, const struct file *file, unsigned n, const char *what);

/* The same for /load, printed. True: it was loaded. */
bool app_was_loaded(struct app *a, enum err e);

/* The word for /save and /load that learning features share, and the error when no feature
 * learns. */
#define LEARNT_WORD "learn"
#define LEARNT_OFF "learning is off: start with learn=on or policy=on"

#endif
