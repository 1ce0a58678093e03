/* The speed of the model that is open, measured: /bench of a conversation, and `ingot bench`. */
#ifndef INGOT_RUNTIME_BENCH_H
#define INGOT_RUNTIME_BENCH_H

#include <stdbool.h>

#include "runtime/app/app.h"

/* Tokens a second of a prompt and of a reply, printed, measured behind the conversation, which stays.
 * A model is open. Ctrl-C stops it. False: an error was printed. */
bool bench_print(struct app *a);

#endif
