/* Shared parts of adapters.c and adapters_work.c; no other folder includes this header. */
#ifndef INGOT_RUNTIME_ADAPTERS_PRIVATE_H
#define INGOT_RUNTIME_ADAPTERS_PRIVATE_H

#include "runtime/features/adapters/adapters.h"

/* Return the entry of this name, or NULL if the adapter is not loaded. */
struct adapters_entry *adapters_entry(struct adapters *a, const char *name);

/* Return true if any set uses the adapter. */
bool adapters_is_at_work(const struct adapters *a, const struct adapters_entry *e);

/* Drop the longest unused adapter; returns false if all are in use. */
bool adapters_forget_oldest(struct adapters *a);

/* Set a->error_message to a message about the adapter. Returns e. */
__attribute__((format(printf, 4, 5))) enum err
adapters_refuse(struct adapters *a, enum err e, const char *name, const char *format, ...);

#endif
