/* What card and cores did when: the latest events, as a Chrome trace (chrome://tracing, Perfetto).
 * Off, an event costs one look at a flag. */
#ifndef INGOT_RUNTIME_TRACE_H
#define INGOT_RUNTIME_TRACE_H

#include <stdbool.h>
#include <stdint.h>

enum { TRACE_EVENTS = 1024, TRACE_CARD = 64 /* stands beside the cores */ };
enum trace_kind { TRACE_LAYER, TRACE_HEAD, TRACE_TILE, TRACE_WAIT, TRACE_KV, TRACE_MOVE };

/* Forget all events, and from now on keep the latest ones. */
void trace_start(void);

/* When an event begins; 0 where nothing is kept. */
uint64_t trace_begin(void);

/* What began then ends now: layer or tile `number`, or the sector that a move begins with,
 * on a core or TRACE_CARD. Any core may call. */
void trace_end(enum trace_kind kind, uint32_t number, unsigned on, uint64_t begin);

/* Write the events to the console as one JSON array, times in microseconds. Core 0, between
 * passes. */
void trace_print(void);

#endif
