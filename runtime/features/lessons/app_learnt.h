/* Lessons that an earlier start saved, of any feature that learns. */
#ifndef INGOT_RUNTIME_APP_LEARNT_H
#define INGOT_RUNTIME_APP_LEARNT_H

#include "runtime/app/app.h"

/* The file NAME.sav; NULL: there is none. */
const struct file *app_find_learnt(struct app *a, const char *name);

/* The result of loading it; a error_message is logged. True: it was loaded, and app_log_learnt says what: n of `what`. */
bool app_was_learnt(struct app *a, enum err e);
void app_log_learnt(struct app *a, const struct file *file, unsigned n, const char *what);

/* The same at /load: what came of it is printed. True: it was loaded. */
bool app_was_loaded(struct app *a, enum err e);

/* The word of /save and /load that features which learn share, and the error while none of them does. */
#define LEARNT_WORD "learn"
#define LEARNT_OFF "nothing is learnt at this start: learn=on or policy=on, at the start, lets it"

#endif
