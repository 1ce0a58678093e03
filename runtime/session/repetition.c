#include "runtime/session/repetition.h"

bool repetition_add(struct repetition *r, const uint32_t *latest)
{
    bool found = false;

    for (uint32_t period = 1; period <= REPETITION_LONGEST && period <= r->n; period++) {
        uint32_t *same = &r->same[period];

        if (latest[0] != latest[-(int32_t)period]) {
            *same = 0;
            continue;
        }
        (*same)++;
        found = found || (*same >= REPETITION_TOKENS && *same >= 3 * period);
    }
    if (r->n <= REPETITION_LONGEST) {
        r->n++;
    }
    return found;
}
