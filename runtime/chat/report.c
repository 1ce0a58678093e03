#include "runtime/chat/report.h"

#include "board/board.h"

#include "kernels/kernels.h"
#include "runtime/compute/selftest.h"
#include "runtime/console/console.h"
#include "runtime/text/format_text.h"

void report_kernels(uint32_t features, size_t ahead)
{
    char names[KERNELS_TEXT_BYTES];

    kernels_features_text(names, features);
    if (ahead != 0) {
        console_log("kernels: %s, prefetch %lu B", names, (unsigned long)ahead);
    } else {
        console_log("kernels: %s, no prefetch", names);
    }
}

void report_model(const struct model *m)
{
    const struct ingot_header *h = m->image.header;
    const struct ingot_params *p = &h->params;
    char size[FORMAT_NUMBER_BYTES];

    console_log("model %.63s: %s, %u layers, dim %u, %u heads (%u kv), hidden %u, vocabulary %u, "
                "context %u, %s, %s",
                h->name, image_family_name(p->family), (unsigned)p->n_layers, (unsigned)p->dim,
                (unsigned)p->n_heads, (unsigned)p->n_kv_heads, (unsigned)p->hidden,
                (unsigned)p->vocab, (unsigned)p->context,
                image_type_name(image_main_type(&m->image)), format_bytes(size, h->file_bytes));
}

static void row(const char *region, size_t bytes, const char *what)
{
    char size[FORMAT_NUMBER_BYTES];

    console_log("  %-8s %10s  %s", region, format_bytes(size, bytes), what);
}

static void weights_text(const struct model *m, char *text, size_t bytes)
{
    const struct plan *p = &m->plan;
    uint32_t n = m->image.header->params.n_layers;

    if (p->residency == PLAN_RESIDENT) {
        format_text(text, bytes, "resident: all %u layers, embedding and head, read once",
                    (unsigned)n);
    } else if (p->residency == PLAN_IN_PLACE) {
        format_text(text, bytes, "in place: all %u layers used where they lie", (unsigned)n);
    } else {
        format_text(text, bytes, "streamed: pinned %u of %u layers%s%s",
                    (unsigned)p->layers.n_pinned, (unsigned)n, p->pinned[0] ? ", embedding" : "",
                    p->head.tiled ? "" : ", head");
    }
}

static void io_text(const struct model *m, char *text, size_t bytes)
{
    const struct plan *p = &m->plan;
    char slot[FORMAT_NUMBER_BYTES];
    char pass[FORMAT_NUMBER_BYTES];

    if (p->residency != PLAN_STREAMED) {
        format_text(text, bytes, "no streaming");
        return;
    }
    format_text(text, bytes, "%u slots of %s for %u layers%s; %s read per token",
                (unsigned)p->memory.n_slots, format_bytes(slot, p->memory.slot),
                (unsigned)p->layers.n_streamed, p->head.tiled ? " and the head in tiles" : "",
                format_bytes(pass, model_planned_bytes(m)));
}

static void kv_text(const struct plan *p, uint32_t n_layers, char *text, size_t bytes)
{
    char card[FORMAT_NUMBER_BYTES], read[FORMAT_NUMBER_BYTES];
    size_t n = format_text(text, bytes, "keys and values, %s", kv_type_name(p->kv.type));

    if (p->kv.n_spilled != 0) {
        format_text(text + n, bytes - n,
                    "; %u of %u layers on the card: up to %s there, %s "
                    "read for each token",
                    (unsigned)p->kv.n_spilled, (unsigned)n_layers, format_bytes(card, p->kv.card),
                    format_bytes(read, p->kv.card_read));
    }
}

static const char *per_second(char text[FORMAT_NUMBER_BYTES], uint64_t tokens, uint64_t ns)
{
    uint64_t milli = tokens * 1000000000000u / ns;

    return format_milli(text, milli, milli < 10000 ? 3 : 1);
}

static bool log_selftest(void *context, const char *line)
{
    (void)context;
    console_log("%s", line);
    return !console_aborted();
}

static void log_fault(const char *line)
{
    console_log("  %s", line);
}

bool report_selftest(struct kernels *k, uint32_t features, uint64_t seed, struct memory_range work)
{
    struct selftest_report report = { .say = log_selftest, .fault = log_fault };

    return selftest_run(k, features, seed, work, &report);
}

/* What the plan reckoned with, and what comes of it. */
static void report_rates(const struct plan *p, unsigned type)
{
    uint32_t ps = p->rates.decode[type];
    char weights[FORMAT_NUMBER_BYTES], card[FORMAT_NUMBER_BYTES], mover[64] = "";

    if (p->rates.io_core != 0) {
        bool lends = p->prediction.lends_decode;

        format_text(mover, sizeof mover, ", moved by core %u%s",
                    lends ? (unsigned)p->rates.cores - 1 : 0,
                    !lends ? ""
                    : p->prediction.prefill_ns == 0 || p->prediction.lends_prefill
                        ? ", which does not compute"
                        : ", which computes for prompts only");
    }

    if (ps != 0) {
        console_log("rates: weights %s MB/s%s%s%s%s", format_ratio(weights, 1000000, ps, 1),
                    p->rates.card != 0 ? ", card " : "",
                    p->rates.card != 0 ? format_ratio(card, p->rates.card, 1000000, 1) : "",
                    p->rates.card != 0 ? " MB/s" : "", mover);
    }
    if (p->prediction.decode_ns != 0) {
        console_log("predicted: decode %s tok/s%s%s",
                    per_second(weights, 1, p->prediction.decode_ns),
                    p->prediction.prefill_ns != 0 ? ", prefill " : "",
                    p->prediction.prefill_ns != 0
                        ? per_second(card, p->chunk, p->prediction.prefill_ns)
                        : "");
    }
    if (p->kv.card != 0 && p->rates.card != 0) {
        console_log("behind a full context the card takes at least %s s a token",
                    format_ratio(card, p->kv.card_read + p->layers.read + p->head.read,
                                 p->rates.card, 2));
    }
    if (p->advice[0] != '\0') {
        console_log("%s", p->advice);
    }
}

static size_t planned_memory(const struct model *m)
{
    const struct plan *p = &m->plan;

    return m->arena.regions[ARENA_META].bytes + p->memory.pinned + p->memory.io + p->memory.kv +
           p->memory.scratch;
}

void report_summary(const struct model *m)
{
    const struct ingot_header *h = m->image.header;
    const struct plan *p = &m->plan;
    unsigned type = image_main_type(&m->image);
    char text[128], size[FORMAT_NUMBER_BYTES], left[FORMAT_NUMBER_BYTES];

    console_log("model %.63s: %s, %u layers, dim %u, %s, %s", h->name,
                image_family_name(h->params.family), (unsigned)h->params.n_layers,
                (unsigned)h->params.dim, image_type_name(type), format_bytes(size, h->file_bytes));
    console_log("plan: %s, context %u, prompt chunk %u, %s of %s",
                plan_residency_text(p->residency), (unsigned)p->context, (unsigned)p->chunk,
                format_bytes(size, planned_memory(m)), format_bytes(left, m->arena.bytes));
    if (p->residency == PLAN_STREAMED) {
        weights_text(m, text, sizeof text);
        console_log("%s, %s read per token", text, format_bytes(size, model_planned_bytes(m)));
    }
    if (p->kv.n_spilled != 0) {
        kv_text(p, h->params.n_layers, text, sizeof text);
        console_log("%s", text);
    }
    report_rates(p, type);
}

void report_plan(const struct model *m)
{
    const struct plan *p = &m->plan;
    char text[128];
    char left[FORMAT_NUMBER_BYTES];

    console_log("plan: %s, context %u, prompt chunk %u", plan_residency_text(p->residency),
                (unsigned)p->context, (unsigned)p->chunk);
    row("meta", m->arena.regions[ARENA_META].bytes, "header, tables, tokenizer");
    weights_text(m, text, sizeof text);
    row("weights", p->memory.pinned, text);
    io_text(m, text, sizeof text);
    row("io", p->memory.io, text);
    kv_text(p, m->image.header->params.n_layers, text, sizeof text);
    row("kv", p->memory.kv, text);
    row("scratch", p->memory.scratch, "activations, logits, work space");
    format_text(text, sizeof text, "of %s", format_bytes(left, m->arena.bytes));
    row("total", planned_memory(m), text);
    report_rates(p, image_main_type(&m->image));
}

void report_ready(const struct model *m, uint64_t load_millis)
{
    uint64_t bytes = m->stream.stats.bytes_loaded;
    char size[FORMAT_NUMBER_BYTES], speed[FORMAT_NUMBER_BYTES];
    bool read = bytes != 0 && load_millis != 0;

    console_log("ready: entry to prompt %lu ms, and %lu ms of loading%s%s%s%s%s",
                (unsigned long)(console_millis() - load_millis), (unsigned long)load_millis,
                read ? ", " : "", read ? format_bytes(size, bytes) : "", read ? " at " : "",
                read ? format_ratio(speed, bytes, load_millis * 1000, 1) : "", read ? " MB/s" : "");
}

void report_draft(const struct model *m)
{
    char size[FORMAT_NUMBER_BYTES];

    console_log("draft %.63s: %s, context %u, takes %s", m->image.header->name,
                plan_residency_text(m->plan.residency), (unsigned)m->plan.context,
                format_bytes(size, model_bytes(m)));
}

void report_high_water(const struct model *m)
{
    char mark[FORMAT_NUMBER_BYTES];
    char size[FORMAT_NUMBER_BYTES];

    for (int i = 0; i < ARENA_N_REGIONS; i++) {
        const struct arena_region *r = &m->arena.regions[i];

        console_log("  %-8s used %s of %s", arena_region_text((enum arena_region_name)i),
                    format_bytes(mark, r->high_water), format_bytes(size, r->bytes));
    }
}

static void print_stream_stats(const struct model *m, const struct generate_result *r)
{
    const struct stream_stats *now = &m->stream.stats;
    char per_token[FORMAT_NUMBER_BYTES];
    char planned[FORMAT_NUMBER_BYTES];
    uint64_t millions = (now->arrived - r->before.arrived) * board.ticks_hz() / 1000000;

    if (m->plan.kv.n_spilled != 0) {
        console_printf(", keys and values: read %s, wrote %s",
                       format_bytes(per_token, now->kv_read - r->before.kv_read),
                       format_bytes(planned, now->kv_written - r->before.kv_written));
    }
    if (m->plan.residency != PLAN_STREAMED) {
        return;
    }
    console_printf(", read %s a %s (planned %s)",
                   format_bytes(per_token, r->passes != 0 ? r->decode_bytes / r->passes : 0),
                   r->speculates ? "pass" : "token", format_bytes(planned, model_planned_bytes(m)));
    console_printf(", %s in all",
                   format_bytes(planned, now->bytes_streamed - r->before.bytes_streamed));
    console_printf(" at %s MB/s, stalled %s %% of the time",
                   format_ratio(per_token, millions, now->busy_ticks - r->before.busy_ticks, 1),
                   format_ratio(planned, (now->stall_ticks - r->before.stall_ticks) * 100,
                                board.ticks() - r->start, 1)); /* and a pass that failed */
    if (now->retries != r->before.retries || now->reread != r->before.reread) {
        console_printf(", %lu retries", (unsigned long)(now->retries - r->before.retries +
                                                        now->reread - r->before.reread));
    }
}

static void print_guesses(const struct generate_result *r)
{
    char share[FORMAT_NUMBER_BYTES];
    char gain[FORMAT_NUMBER_BYTES];

    if (!r->speculates) {
        return;
    }
    console_printf(", %u of %u guesses right (%s %%), %u passes, %s tokens a pass",
                   (unsigned)r->right, (unsigned)r->guessed,
                   format_ratio(share, (uint64_t)r->right * 100, r->guessed, 1),
                   (unsigned)r->passes,
                   format_ratio(gain, (uint64_t)r->passes + r->right, r->passes, 2));
}

/* Tokens per second of `tokens` in `ticks`. */
static const char *rate(char text[FORMAT_NUMBER_BYTES], uint32_t tokens, uint64_t ticks)
{
    return format_ratio(text, (uint64_t)tokens * board.ticks_hz(), ticks, 1);
}

enum { CONDITION_BYTES = 128 };

/* ", 61.2 C, under-voltage": temperature, what slows the cores now, and what did before. */
static const char *condition(char text[CONDITION_BYTES], const struct board_health *h)
{
    static const char *const names[] = { "under-voltage", "capped clock", "throttled", "hot" };
    uint32_t past = h->limits_past & ~h->limits;
    int32_t heat = h->temperature;
    char degrees[FORMAT_NUMBER_BYTES];
    size_t at = 0;

    text[0] = '\0';
    if (heat != BOARD_NO_TEMPERATURE) {
        at = format_text(text, CONDITION_BYTES, ", %s%s C", heat < 0 ? "-" : "",
                         format_milli(degrees, (uint64_t)(heat < 0 ? -heat : heat), 1));
    }
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        if ((h->limits | past) >> i & 1) {
            at += format_text(text + at, CONDITION_BYTES - at, ", %s%s", names[i],
                              past >> i & 1 ? " before" : "");
        }
    }
    return text;
}

void report_health(void)
{
    struct board_health health;
    char text[CONDITION_BYTES];

    if (board.health == NULL) {
        return;
    }
    board.health(&health);
    console_log("board: %lu MHz%s", (unsigned long)(health.clock_hz / 1000000),
                condition(text, &health));
}

static void print_condition(void)
{
    struct board_health health;
    char text[CONDITION_BYTES];

    if (board.health != NULL) {
        board.health(&health);
        console_printf("%s", condition(text, &health));
    }
}

void report_stats(const struct model *m, const struct generate_result *r)
{
    char prefill[FORMAT_NUMBER_BYTES];
    char decode[FORMAT_NUMBER_BYTES];
    char first[FORMAT_NUMBER_BYTES];

    console_style(CONSOLE_DIM);
    console_printf("[%u prompt + %u new tokens, prefill %s tok/s, decode %s tok/s, first token "
                   "%s s, %s",
                   (unsigned)r->prompt_tokens, (unsigned)r->new_tokens,
                   rate(prefill, r->prompt_tokens, r->first - r->start),
                   rate(decode, r->new_tokens != 0 ? r->new_tokens - 1 : 0, r->last - r->first),
                   format_ratio(first, r->first - r->start, board.ticks_hz(), 3),
                   plan_residency_text(m->plan.residency));
    print_stream_stats(m, r);
    print_guesses(r);
    print_condition();
    console_printf("]\n");
    console_style(CONSOLE_NORMAL);
}
