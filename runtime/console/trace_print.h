/* Prints a trace as a Chrome trace (chrome://tracing, Perfetto). */
#ifndef INGOT_RUNTIME_TRACE_PRINT_H
#define INGOT_RUNTIME_TRACE_PRINT_H

#include "runtime/base/trace.h"
#include "runtime/console/console.h"

/* Write the events to the console as one JSON array, times in microseconds, and drop them. t
 * NULL: writes nothing. Core 0, between passes. */
void trace_print(struct console *c, struct trace *t);

#endif
