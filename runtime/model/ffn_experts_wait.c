/* Tells which experts of the cache have arrived and where they are, and waits for missing ones. */
#include "board/min_max.h"
#include "runtime/image/image.h"
#include "runtime/model/ffn_experts_private.h"

bool expert_is_there(const struct transformer *t, uint32_t i)
{
    return !is_cached(t) || t->stream->experts.list[i].there;
}

const uint8_t *expert_extent(const struct transformer *t, uint32_t i, uint32_t expert)
{
    if (is_cached(t)) {
        return t->stream->experts.list[i].at;
    }
    return t->segment + t->data->expert_offset + expert * t->data->expert_bytes;
}

bool expert_wait(const struct transformer *t, unsigned core, uint32_t i)
{
    if (!is_cached(t)) {
        return true;
    }
    if (core == 0) {
        uint64_t begin = workers_wait_begin(t->workers);

        stream_expert_need(t->stream, i);
        workers_wait_end(t->workers, core, begin);
    }
    layer_step(t, core);
    return !t->stream->experts.list[i].failed;
}

/* Return the end of the bytes in an expert's extent that hidden values need. */
static uint64_t end_of_first(const struct transformer *t)
{
    uint64_t end = 0;

    for (unsigned role = INGOT_EXPERT_GATE; role <= INGOT_EXPERT_UP_BIAS; role++) {
        const struct ingot_tensor *w = t->tensors[role];

        if (w != NULL) {
            end = max_u64(end, w->offset + w->bytes);
        }
    }
    return end;
}

bool expert_wait_first(const struct transformer *t, unsigned core, uint32_t i)
{
    if (core == 0) {
        uint64_t begin = workers_wait_begin(t->workers);

        stream_expert_need_first(t->stream, i, end_of_first(t));
        workers_wait_end(t->workers, core, begin);
    }
    layer_step(t, core);
    return !t->stream->experts.list[i].first_failed;
}
