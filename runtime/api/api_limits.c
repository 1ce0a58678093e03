#include "runtime/api/api_limits.h"

#include "runtime/options/options.h"

bool api_may_answer(const struct api_request *q, struct api_error *e)
{
    if (q->n_stops > OPTIONS_STOPS) {
        return api_refuse(e, 400, "stop", "unsupported_parameter",
                          "stop has %u texts: a board takes up to %u", (unsigned)q->n_stops,
                          OPTIONS_STOPS);
    }
    for (uint32_t i = 0; i < q->n_turns && q->kind == API_EMBED; i++) {
        if (q->turns[i].tokens.n != 0) {
            return api_refuse(e, 400, "input", "unsupported_parameter",
                              "input has to be texts: a board takes no token numbers");
        }
    }
    return true;
}
