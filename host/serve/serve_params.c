#include "host/serve/serve_params.h"

#include "runtime/chat/chat_turn.h"

struct generate_params serve_params(const struct api_request *q, const struct ingot_chat *chat)
{
    struct generate_params p = { .limit = q->n,
                                 .wants_scores = q->wants_scores,
                                 .n_likeliest = q->n_likeliest,
                                 .stops.n = q->n_stops,
                                 .end_ids = chat->stops,
                                 .n_end_ids = chat->n_stops };

    for (uint32_t i = 0; i < q->n_stops; i++) {
        p.stops.text[i] = q->stops[i];
    }
    p.inside_thoughts = q->kind == API_CHAT && !q->no_thinking && chat_turn_opens_thoughts(chat);
    return p;
}
