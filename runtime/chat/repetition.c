#include "runtime/chat/repetition.h"

bool repetition_add(struct repetition *c, const uint32_t *latest)
{
    bool found = false;

    for (uint32_t period = 1; period <= REPETITION_LONGEST && period <= c->n; period++) {
        uint32_t *same = &c->same[period];

        *same = latest[0] == latest[-(int32_t)period] ? *same + 1 : 0;
        found = found || (*same >= REPETITION_TOKENS && *same >= 3 * period);
    }
    c->n += c->n <= REPETITION_LONGEST;
    return found;
}
