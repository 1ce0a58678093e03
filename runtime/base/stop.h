/* How long-running work learns that it should stop: it asks between two layers or two requests. */
#ifndef INGOT_RUNTIME_STOP_H
#define INGOT_RUNTIME_STOP_H

#include <stdbool.h>
#include <stddef.h>

struct stop {
    bool (*asked)(void *context); /* NULL: never */
    void *context;
};

/* s may be NULL: never. */
static inline bool stop_is_asked(const struct stop *s)
{
    return s != NULL && s->asked != NULL && s->asked(s->context);
}

#endif
