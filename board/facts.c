#include "board/facts.h"

#include <stddef.h>

static struct facts_state {
    struct {
        void (*tell_of)(const void *of, const struct facts *f);
        const void *of;
    } sources[FACTS_SOURCES];
    unsigned n;
} state;

void facts_add(void (*tell)(const void *of, const struct facts *f), const void *of)
{
    for (unsigned i = 0; i < state.n; i++)
        if (state.sources[i].tell_of == tell && state.sources[i].of == of)
            return;
    if (state.n == FACTS_SOURCES)
        return;
    state.sources[state.n].tell_of = tell;
    state.sources[state.n++].of = of;
}

void facts_tell(const struct facts *f)
{
    for (unsigned i = 0; i < state.n; i++)
        state.sources[i].tell_of(state.sources[i].of, f);
}
