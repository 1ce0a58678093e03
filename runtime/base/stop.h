/* Long work asks, between two layers or two requests, whether it should stop. */
#ifndef INGOT_RUNTIME_STOP_H
#define INGOT_RUNTIME_STOP_H

#include <stdbool.h>
#include <stddef.h>

struct stop {
    bool (*asked)(void *context); /* NULL: never */
    void *context;
};

/* If s is NULL, work is never asked to stop. */
static inline bool stop_is_asked(const struct stop *s)
{
    return s != NULL && s->asked != NULL && s->asked(s->context);
}

#endif
