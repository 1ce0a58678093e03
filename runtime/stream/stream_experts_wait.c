/* Waiting for an expert; and the checksum of a layer that arrives without its experts. */
#include "runtime/base/crc32c.h"
#include "runtime/stream/stream_private.h"

void stream_expert_need(struct stream *s, uint32_t i)
{
    struct stream_expert_wanted *w = &s->experts.list[i];
    uint64_t start = stream_ticks(s), begin;

    if (w->state == STREAM_EXPERT_READY) {
        return;
    }
    begin = trace_begin(s->workers->trace);
    s->stats.expert_stalls++;
    while (w->state != STREAM_EXPERT_READY && s->experts.failure == ERR_OK) {
        if (w->state == STREAM_EXPERT_MISSING) {
            (void)stream_experts_ask_for(s, i, true);
        }
        stream_pump(s);
    }
    w->failed = s->experts.failure != ERR_OK;
    s->stats.stall_ticks += stream_ticks(s) - start;
    trace_end(s->workers->trace, TRACE_WAIT, w->expert, 0, begin);
}

/* The CRC of a layer's segment, from that of the bytes before its experts and from theirs in the
 * image. */
uint32_t stream_layer_crc(const struct stream *s, uint32_t segment, uint32_t crc)
{
    const struct ingot_segment *x = &s->image->segments[segment];
    const struct ingot_layer *l;
    uint32_t power;

    if (x->kind != INGOT_SEGMENT_LAYER ||
        plan_experts_slots(s->image, x->layer, s->plan->experts.n_slots) == 0) {
        return crc;
    }
    l = image_layer(s->image, x->layer);
    power = crc32c_power(l->expert_bytes);
    for (uint32_t i = 0; i < l->n_experts; i++) {
        crc = crc32c_times(crc, power) ^ s->image->expert_crcs[l->first_expert + i];
    }
    return crc;
}
