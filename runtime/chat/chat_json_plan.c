/* The plan for programs: the parts of a model in memory, the streamed parts, and the predicted
 * times. */
#include "runtime/chat/chat_json.h"
#include "runtime/console/console.h"
#include "runtime/console/console_json.h"
#include "runtime/stream/plan.h"
#include "runtime/text/format_text.h"

/* Write a rate of n in `ns` nanoseconds, or null without a prediction. */
static const char *per_second(char *out, uint64_t n, uint64_t ns)
{
    return ns == 0 ? "null" : format_ratio(out, n * 1000000000, ns, 1);
}

static void say_streaming(struct console *c, const struct model *m)
{
    const struct plan *p = &m->plan;

    console_event_more(
        c,
        ",'layers':%u,'layers_streamed':%u,'head_streamed':%s,'head_pinned_percent':%u,'slots':%u,"
        "'slot_bytes':%llu,'read_bytes_per_pass':%llu",
        (unsigned)m->image.header->params.n_layers, (unsigned)p->layers.n_streamed,
        p->head.tiled ? "true" : "false", plan_head_percent(p, &m->image),
        (unsigned)p->memory.n_slots, (unsigned long long)p->memory.slot,
        (unsigned long long)model_planned_bytes(m));
    console_event_more(c, ",'expert_cache_bytes':%llu,'kv_card_bytes':%llu",
                       (unsigned long long)p->experts.bytes, (unsigned long long)p->kv.card);
}

static void say_foretold(struct console *c, const struct plan *p)
{
    char decode[FORMAT_NUMBER_BYTES], prefill[FORMAT_NUMBER_BYTES];

    console_event_more(c, ",'decode_tokens_per_s':%s,'prefill_tokens_per_s':%s",
                       per_second(decode, 1, p->prediction.decode_ns),
                       per_second(prefill, p->chunk, p->prediction.prefill_ns));
}

void chat_json_plan(struct console *c, const struct model *m)
{
    console_event_begin(
        c,
        "'plan','residency':'%s','file_bytes':%llu,'memory_bytes':%llu,'taken_bytes':%llu,"
        "'weights_bytes':%llu,'kv_bytes':%llu,'context_limit_tokens':%u,'prompt_chunk_tokens':%u",
        plan_residency_text(m->plan.residency), (unsigned long long)m->image.header->file_bytes,
        (unsigned long long)m->arena.bytes, (unsigned long long)m->arena.reserved,
        (unsigned long long)m->plan.memory.pinned, (unsigned long long)m->plan.memory.kv,
        (unsigned)m->plan.context, (unsigned)m->plan.chunk);
    say_streaming(c, m);
    say_foretold(c, &m->plan);
    console_event_end(c);
}
