/* Measure the speed of the open model: /bench in a conversation, and `ingot bench`. */
#ifndef INGOT_RUNTIME_BENCH_H
#define INGOT_RUNTIME_BENCH_H

#include <stdbool.h>

#include "runtime/app/app.h"

/* Measure and print tokens a second for a prompt and for a reply. The conversation stays
 * unchanged. A model must be open. Ctrl-C stops it. Returns false if an error was printed. */
bool bench_print(struct app *a);

#endif
