/* Waiting for an expert; and the checksum of a layer that arrives without its experts. */
#include "runtime/base/crc32c.h"
#include "runtime/stream/stream_private.h"

void stream_expert_need(struct stream *s, uint32_t i)
{
    struct stream_expert_wanted *w = &s->experts.list[i];
    struct stream_experts_figures *f = &s->experts.figures[s->experts.layer];
    uint64_t start = stream_ticks(s), begin, ticks;

    if (w->state == STREAM_EXPERT_READY) {
        return;
    }
    begin = trace_begin(s->workers->trace);
    s->stats.expert_stalls++;
    f->stalls++;
    while (w->state != STREAM_EXPERT_READY && s->experts.failure == ERR_OK) {
        if (w->state == STREAM_EXPERT_MISSING) {
            (void)stream_experts_ask_for(s, i, true);
        }
        stream_pump(s);
    }
    w->failed = s->experts.failure != ERR_OK;
    ticks = stream_ticks(s) - start;
    s->stats.stall_ticks += ticks;
    f->stall_ticks += ticks;
    trace_end(s->workers->trace, TRACE_WAIT_EXPERT, trace_expert(s->experts.layer, w->expert), 0,
              begin);
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
