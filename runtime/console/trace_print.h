/* Prints a trace as a Chrome trace (chrome://tracing, Perfetto). */
#ifndef INGOT_RUNTIME_TRACE_PRINT_H
#define INGOT_RUNTIME_TRACE_PRINT_H

#include "runtime/base/trace.h"
#include "runtime/console/console.h"

/* Write the events to the console as one JSON array, with times in microseconds, and drop them. If
 * t is NULL, write nothing. Call on core 0, between passes. */
void trace_print(struct console *c, struct trace *t);

#endif
