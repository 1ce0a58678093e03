#include "runtime/chat/circles.h"

bool circles_add(struct circles *c, const uint32_t *latest)
{
    bool found = false;

    for (uint32_t period = 1; period <= CIRCLES_LONGEST && period <= c->n; period++) {
        uint32_t *same = &c->same[period];

        *same = latest[0] == latest[-(int32_t)period] ? *same + 1 : 0;
        found = found || (*same >= CIRCLES_TOKENS && *same >= 3 * period);
    }
    c->n += c->n <= CIRCLES_LONGEST;
    return found;
}
