/* Waits for an expert, and computes the checksum of a layer that arrives without its experts. */
#include "runtime/base/crc32c.h"
#include "runtime/stream/stream_private.h"

#define ALL UINT64_MAX /* wait for all bytes and a right checksum */

/* Return true if the first `bytes` of expert number i have arrived. */
static bool has_come(const struct stream_experts *x, uint32_t i, uint64_t bytes)
{
    if (x->list[i].state != STREAM_EXPERT_ARRIVING || bytes == ALL) {
        return x->list[i].state == STREAM_EXPERT_READY;
    }
    for (uint32_t j = 0; j < STREAM_EXPERT_READS; j++) {
        if (x->reads[j].used && x->reads[j].item == i) {
            return !x->reads[j].stopped && x->reads[j].read.bytes_done >= bytes;
        }
    }
    return false;
}

/* Wait for number i. Return false if the expert will not arrive. */
static bool wait_for(struct stream *s, uint32_t i, uint64_t bytes)
{
    struct stream_expert_wanted *w = &s->experts.list[i];
    struct stream_experts_figures *f = &s->experts.figures[s->experts.layer];
    uint64_t start = stream_ticks(s), begin, ticks;

    if (has_come(&s->experts, i, bytes)) {
        return true;
    }
    begin = trace_begin(s->workers->trace);
    s->stats.expert_stalls += !w->waited;
    f->stalls += !w->waited;
    w->waited = true;
    while (!has_come(&s->experts, i, bytes) && s->experts.failure == ERR_OK) {
        if (w->state == STREAM_EXPERT_MISSING) {
            (void)stream_experts_ask_for(s, i, true);
        }
        stream_pump(s);
    }
    ticks = stream_ticks(s) - start;
    s->stats.stall_ticks += ticks;
    f->stall_ticks += ticks;
    trace_end(s->workers->trace, TRACE_WAIT_EXPERT, trace_expert(s->experts.layer, w->expert), 0,
              begin);
    return s->experts.failure == ERR_OK;
}

void stream_expert_need(struct stream *s, uint32_t i)
{
    s->experts.list[i].failed = !wait_for(s, i, ALL);
}

void stream_expert_need_first(struct stream *s, uint32_t i, uint64_t bytes)
{
    struct stream_expert_wanted *w = &s->experts.list[i];

    w->first_failed = !wait_for(s, i, bytes);
    w->begun = w->state != STREAM_EXPERT_READY;
}

/* Return the CRC of a layer's segment, from the CRC of the bytes before its experts and the
 * experts' CRCs in the image. */
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
