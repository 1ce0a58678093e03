#include "runtime/chat/report.h"

#include <string.h>

#include "board/min_max.h"
#include "kernels/kernels.h"
#include "runtime/compute/selftest.h"
#include "runtime/model/layer_kinds.h"
#include "runtime/console/console.h"
#include "runtime/storage/storage.h"
#include "runtime/stream/kv_spread.h"
#include "runtime/text/format_text.h"
#include "runtime/text/plural.h"

void report_kernels(struct console *c, uint32_t features, size_t ahead)
{
    char names[KERNELS_TEXT_BYTES];

    kernels_features_text(names, features);
    if (ahead != 0) {
        console_log(c, "kernels: %s, prefetch %lu B", names, (unsigned long)ahead);
    } else {
        console_log(c, "kernels: %s, no prefetch", names);
    }
}

void report_model(struct console *c, const struct model *m, const char *name)
{
    const struct ingot_header *h = m->image.header;
    const struct ingot_params *p = &h->params;
    char size[FORMAT_NUMBER_BYTES];

    console_log(c,
                "model %.160s: %s, %u %s, dim %u, %u %s (%u kv), hidden %u, vocabulary %u, "
                "context %u, %s, %s",
                name, image_family_name(p->family), (unsigned)p->n_layers,
                plural((unsigned)p->n_layers, "layer", "layers"), (unsigned)p->dim,
                (unsigned)p->n_heads, plural((unsigned)p->n_heads, "head", "heads"),
                (unsigned)p->n_kv_heads, (unsigned)p->hidden, (unsigned)p->vocab,
                (unsigned)p->context, image_type_name(image_main_type(&m->image)),
                format_bytes(size, h->file_bytes));
}

static void row(struct console *c, const char *region, size_t bytes, const char *what)
{
    char size[FORMAT_NUMBER_BYTES];

    console_log(c, "  %-8s %10s  %s", region, format_bytes(size, bytes), what);
}

/* Append to `text` how many experts of a layer the cache holds at most. */
static void experts_text(const struct model *m, char *text, size_t bytes)
{
    uint32_t slots = 0, experts = 0;
    char size[FORMAT_NUMBER_BYTES];
    size_t n = strlen(text);

    for (uint32_t i = 0; i < m->image.header->params.n_layers; i++) {
        uint32_t here = plan_experts_slots(&m->image, i, m->plan.experts.n_slots);

        if (here > slots) {
            slots = here;
            experts = image_layer(&m->image, i)->n_experts;
        }
    }
    if (slots != 0) {
        format_text(text + n, bytes - n, ", %u of %u experts a layer in %s", (unsigned)slots,
                    (unsigned)experts, format_bytes(size, m->plan.experts.bytes));
    }
}

/* Return ", head", or a text such as ", 41 % of the head", or "". */
static const char *head_text(const struct model *m, char *text, size_t bytes)
{
    unsigned percent = plan_head_percent(&m->plan, &m->image);

    text[0] = '\0';
    if (percent == 100) {
        format_text(text, bytes, ", head");
    } else if (percent != 0) {
        format_text(text, bytes, ", %u %% of the head", percent);
    }
    return text;
}

static void weights_text(const struct model *m, char *text, size_t bytes)
{
    const struct plan *p = &m->plan;
    uint32_t n = m->image.header->params.n_layers;
    char head[32];

    if (p->residency == PLAN_RESIDENT) {
        format_text(text, bytes, "resident: all %u %s, embedding and head, read once", (unsigned)n,
                    plural((unsigned)n, "layer", "layers"));
    } else if (p->residency == PLAN_IN_PLACE) {
        format_text(text, bytes, "in place: all %u %s used where they lie", (unsigned)n,
                    plural((unsigned)n, "layer", "layers"));
    } else {
        format_text(text, bytes, "streamed: pinned %u of %u %s%s%s", (unsigned)p->layers.n_pinned,
                    (unsigned)n, plural((unsigned)n, "layer", "layers"),
                    p->pinned[0] ? ", embedding" : "", head_text(m, head, sizeof head));
        experts_text(m, text, bytes);
    }
}

static void io_text(const struct model *m, char *text, size_t bytes)
{
    const struct plan *p = &m->plan;
    const char *rest = p->head.first_row != 0 ? " and the rest of the head in tiles"
                                              : " and the head in tiles";
    char slot[FORMAT_NUMBER_BYTES];
    char pass[FORMAT_NUMBER_BYTES];

    if (p->residency != PLAN_STREAMED) {
        format_text(text, bytes, "no streaming");
        return;
    }
    format_text(text, bytes, "%u %s of %s for %u %s%s; %s read per token",
                (unsigned)p->memory.n_slots, plural((unsigned)p->memory.n_slots, "slot", "slots"),
                format_bytes(slot, p->memory.slot), (unsigned)p->layers.n_streamed,
                plural((unsigned)p->layers.n_streamed, "layer", "layers"),
                p->head.tiled ? rest : "", format_bytes(pass, model_planned_bytes(m)));
}

/* The table per layer is not a region: its bytes are on the card. */
static void table_text(const struct plan *p, char *text, size_t bytes)
{
    char read[FORMAT_NUMBER_BYTES];

    format_text(text, bytes, "embeddings per layer: %s read per token, rows of %u tokens kept",
                format_bytes(read, p->table.bytes), (unsigned)p->table.n);
}

/* Count the layers that have a state of fixed size, with or without keys and values. */
static uint32_t count_states(const struct image *image)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < layer_state_count(image); i++) {
        n += layer_state_bytes(image, i) != 0;
    }
    return n;
}

static void kv_text(const struct plan *p, const struct image *image, char *text, size_t bytes)
{
    char card[FORMAT_NUMBER_BYTES], read[FORMAT_NUMBER_BYTES], types[KV_TYPES_NAME_BYTES];
    uint32_t n_layers = kv_spread_most(image), n_states = count_states(image);
    size_t n = format_text(text, bytes, "keys and values, %s", kv_types_name(p->kv.types, types));

    if (p->sequences > 1) {
        n += format_text(text + n, bytes - n, ", of %u sequences", (unsigned)p->sequences);
    }
    if (p->kv.n_spilled != 0) {
        n += format_text(text + n, bytes - n,
                         "; %u of %u %s on the card: up to %s there, %s "
                         "read for each token",
                         (unsigned)p->kv.n_spilled, (unsigned)n_layers,
                         plural((unsigned)n_layers, "layer", "layers"),
                         format_bytes(card, p->kv.card), format_bytes(read, p->kv.card_read));
    }
    if (n_states != 0) {
        format_text(text + n, bytes - n, "; state of %u recurrent %s, %s", (unsigned)n_states,
                    plural((unsigned)n_states, "layer", "layers"),
                    format_bytes(card, p->kv.states));
    }
}

static const char *per_second(char text[FORMAT_NUMBER_BYTES], uint64_t tokens, uint64_t ns)
{
    uint64_t milli = tokens * 1000000000000u / ns;

    return format_milli(text, milli, milli < 10000 ? 3 : 1);
}

static bool log_selftest(void *context, const char *line)
{
    console_log(context, "%s", line);
    return !console_aborted(context);
}

static void log_fault(void *context, const char *line)
{
    console_log(context, "  %s", line);
}

bool report_selftest(struct console *c, struct kernels *k, uint32_t features, uint64_t seed,
                     struct memory_range work)
{
    struct selftest_report report = { c, log_selftest, log_fault };

    return selftest_run(k, features, seed, work, &report);
}

/* Name the core that moves the card's data, if a core does. */
static void mover_text(const struct plan *p, char *text, size_t bytes)
{
    const char *rest = ", which computes for prompts only";

    text[0] = '\0';
    if (p->rates.io_core == 0) {
        return;
    }
    if (!p->prediction.lends_decode) {
        format_text(text, bytes, ", moved by core 0");
        return;
    }
    if (p->prediction.prefill_ns == 0 || p->prediction.lends_prefill) {
        rest = ", which does not compute";
    }
    format_text(text, bytes, ", moved by core %u%s", (unsigned)p->rates.cores - 1, rest);
}

static void log_rates(struct console *c, const struct plan *p, uint32_t ps)
{
    char weights[FORMAT_NUMBER_BYTES], rate[FORMAT_NUMBER_BYTES], check[FORMAT_NUMBER_BYTES];
    char card[96] = "", mover[64];

    mover_text(p, mover, sizeof mover);
    if (p->rates.card != 0) {
        format_text(card, sizeof card, ", card %s MB/s",
                    format_ratio(rate, p->rates.card, 1000000, 1));
    }
    if (p->rates.card != 0 && p->residency == PLAN_STREAMED && p->rates.check != 0) {
        format_text(card, sizeof card, ", checksum %s MB/s, card %s MB/s",
                    format_ratio(check, 1000000, p->rates.check, 1),
                    format_ratio(rate, p->rates.card, 1000000, 1));
    }
    console_log(c, "rates: weights %s MB/s%s%s", format_ratio(weights, 1000000, ps, 1), card,
                mover);
}

static void log_prediction(struct console *c, const struct plan *p)
{
    char decode[FORMAT_NUMBER_BYTES], prefill[FORMAT_NUMBER_BYTES];
    const char *doubt = "";

    if (p->rates.disturbed) {
        doubt = "; measured while other programs used the cores, so it may be faster";
    }
    per_second(decode, 1, p->prediction.decode_ns);
    if (p->prediction.prefill_ns == 0) {
        console_log(c, "predicted: decode %s tok/s%s", decode, doubt);
    } else {
        console_log(c, "predicted: decode %s tok/s, prefill %s%s", decode,
                    per_second(prefill, p->chunk, p->prediction.prefill_ns), doubt);
    }
}

void report_rates(struct console *c, const struct model *m)
{
    const struct plan *p = &m->plan;
    uint32_t ps = p->rates.decode[image_main_type(&m->image)];
    char seconds[FORMAT_NUMBER_BYTES];

    if (ps != 0) {
        log_rates(c, p, ps);
    }
    if (p->prediction.decode_ns != 0) {
        log_prediction(c, p);
    }
    if (p->kv.card != 0 && p->rates.card != 0) {
        console_log(c, "with a full context the card takes at least %s s a token",
                    format_ratio(seconds, p->kv.card_read + p->layers.read + p->head.read,
                                 p->rates.card, 2));
    }
    if (p->advice[0] != '\0') {
        console_log(c, "%s", p->advice);
    }
}

static size_t planned_memory(const struct model *m)
{
    const struct plan *p = &m->plan;

    return m->arena.regions[ARENA_META].bytes + p->memory.pinned + p->memory.io + p->memory.kv +
           p->memory.scratch + p->memory.learn;
}

void report_summary(struct console *c, const struct model *m, const char *name)
{
    const struct ingot_header *h = m->image.header;
    const struct plan *p = &m->plan;
    unsigned type = image_main_type(&m->image);
    char text[192], size[FORMAT_NUMBER_BYTES], left[FORMAT_NUMBER_BYTES];

    console_log(c, "model %.160s: %s, %u %s, dim %u, %s, %s", name,
                image_family_name(h->params.family), (unsigned)h->params.n_layers,
                plural((unsigned)h->params.n_layers, "layer", "layers"), (unsigned)h->params.dim,
                image_type_name(type), format_bytes(size, h->file_bytes));
    console_log(c, "plan: %s, context %u, prompt chunk %u, %s of %s",
                plan_residency_text(p->residency), (unsigned)p->context, (unsigned)p->chunk,
                format_bytes(size, planned_memory(m)), format_bytes(left, m->arena.bytes));
    if (p->residency == PLAN_STREAMED) {
        weights_text(m, text, sizeof text);
        console_log(c, "%s, %s read per token", text, format_bytes(size, model_planned_bytes(m)));
    }
    if (p->kv.n_spilled != 0) {
        kv_text(p, &m->image, text, sizeof text);
        console_log(c, "%s", text);
    }
    report_rates(c, m);
}

void report_signature(struct console *c, const struct model *m)
{
    const struct platform_clock *clock = &c->platform->clock;
    char millis[FORMAT_NUMBER_BYTES];

    console_log(
        c,
        "signature: key %s, header verified in %s ms; tables are verified too, weights while loading",
        m->signature.signing->name,
        format_milli(millis, m->signature.ticks * 1000000 / clock->hz, 1));
}

/* Report how many bytes needed an extra copy so far, because DMA does not reach all memory. */
static void report_bounce(struct console *c, const struct model *m)
{
    const struct bounce *b = storage_bounce(m->file->device);
    char copied[FORMAT_NUMBER_BYTES], all[FORMAT_NUMBER_BYTES];
    uint64_t bytes;

    if (b == NULL) {
        return;
    }
    bytes = atomic_load(&b->copied);
    console_log(c,
                "bounce: %s were read and written, %s of that copied once more: DMA ends at "
                "0x%llx",
                format_bytes(all, bytes + atomic_load(&b->in_reach)), format_bytes(copied, bytes),
                (unsigned long long)b->inner->dma_end);
}

void report_plan(struct console *c, const struct model *m)
{
    const struct plan *p = &m->plan;
    char text[192];
    char left[FORMAT_NUMBER_BYTES];

    console_log(c, "plan: %s, context %u, prompt chunk %u", plan_residency_text(p->residency),
                (unsigned)p->context, (unsigned)p->chunk);
    row(c, "meta", m->arena.regions[ARENA_META].bytes, "header, tables, tokenizer");
    weights_text(m, text, sizeof text);
    row(c, "weights", p->memory.pinned, text);
    if (p->experts.n_slots != 0) {
        report_experts_plan(p, &m->image, text, sizeof text);
        row(c, "experts", p->experts.bytes, text);
    }
    io_text(m, text, sizeof text);
    row(c, "io", p->memory.io, text);
    if (p->table.n != 0) {
        table_text(p, text, sizeof text);
        row(c, "card", p->table.card, text);
    }
    kv_text(p, &m->image, text, sizeof text);
    row(c, "kv", p->memory.kv, text);
    row(c, "scratch", p->memory.scratch, "activations, logits, work space");
    if (p->memory.learn != 0) {
        row(c, "learn", p->memory.learn, "what is learnt");
    }
    format_text(text, sizeof text, "of %s", format_bytes(left, m->arena.bytes));
    row(c, "total", planned_memory(m), text);
    report_rates(c, m);
    report_bounce(c, m);
}

void report_ready(struct console *c, const struct model *m, uint64_t since_ms, uint64_t load_ms)
{
    const struct stream_stats *stats = &m->stream.stats;
    uint64_t bytes = stats->bytes_loaded, retries = stats->retries + stats->reread;
    char size[FORMAT_NUMBER_BYTES], speed[FORMAT_NUMBER_BYTES], read[64] = "", again[32] = "";
    const char *from = since_ms == 0 ? "entry" : "/model";

    if (bytes != 0 && load_ms != 0) {
        format_text(read, sizeof read, ", %s at %s MB/s", format_bytes(size, bytes),
                    format_ratio(speed, bytes, load_ms * 1000, 1));
    }
    /* Repeated requests are an early sign that a card is failing. */
    if (retries != 0) {
        format_text(again, sizeof again, ", %lu %s", (unsigned long)retries,
                    plural((unsigned long)retries, "retry", "retries"));
    }
    console_log(c, "ready: %s to prompt %lu ms, and %lu ms of loading%s%s", from,
                (unsigned long)(console_millis(c) - since_ms - load_ms), (unsigned long)load_ms,
                read, again);
}

void report_draft(struct console *c, const struct model *m, const char *name)
{
    char size[FORMAT_NUMBER_BYTES];

    console_log(c, "draft %.160s: %s, context %u, takes %s", name,
                plan_residency_text(m->plan.residency), (unsigned)m->plan.context,
                format_bytes(size, model_bytes(m)));
}

void report_high_water(struct console *c, const struct model *m)
{
    char mark[FORMAT_NUMBER_BYTES];
    char size[FORMAT_NUMBER_BYTES];

    for (int i = 0; i < ARENA_N_REGIONS; i++) {
        const struct arena_region *r = &m->arena.regions[i];

        console_log(c, "  %-8s used %s of %s", arena_region_text((enum arena_region_name)i),
                    format_bytes(mark, r->high_water), format_bytes(size, r->bytes));
    }
}

void report_ids(struct console *c, const struct session *s, const struct generate_result *r)
{
    uint32_t n = min_u32(r->new_tokens, s->n_ids - r->first_new);

    console_printf(c, "ids:");
    for (uint32_t i = 0; i < n; i++) {
        console_printf(c, " %u", (unsigned)s->ids[r->first_new + i]);
    }
    console_printf(c, "\nlogits: %016llx over %u %s\n", (unsigned long long)s->hash.value,
                   (unsigned)s->hash.rows, plural((unsigned)s->hash.rows, "position", "positions"));
}

void report_ticks(struct console *c, const struct generate_result *r)
{
    console_printf(c, "ticks: prefill %llu decode %llu of %llu per second\n",
                   (unsigned long long)(r->first - r->start),
                   (unsigned long long)(r->last - r->first),
                   (unsigned long long)c->platform->clock.hz);
}
