/* The closing line of a reply, and the board's condition. */
#include "runtime/chat/report.h"

#include "runtime/console/console.h"
#include "runtime/text/format_text.h"
#include "runtime/text/plural.h"

static void print_kv(struct console *c, const struct stream_stats *now,
                     const struct stream_stats *before)
{
    char read[FORMAT_NUMBER_BYTES], wrote[FORMAT_NUMBER_BYTES];

    console_printf(c, ", keys and values: read %s, wrote %s",
                   format_bytes(read, now->kv_read - before->kv_read),
                   format_bytes(wrote, now->kv_written - before->kv_written));
}

static void print_bytes(struct console *c, const struct model *m, const struct generate_result *r)
{
    char one[FORMAT_NUMBER_BYTES], planned[FORMAT_NUMBER_BYTES], all[FORMAT_NUMBER_BYTES];
    uint64_t bytes = 0;
    const char *of = "token";

    if (r->passes != 0) {
        bytes = r->decode_bytes / r->passes;
    }
    if (r->speculates) {
        of = "pass";
    }
    console_printf(c, ", read %s a %s (planned %s), %s in all", format_bytes(one, bytes), of,
                   format_bytes(planned, model_planned_bytes(m)),
                   format_bytes(all, m->stream.stats.bytes_streamed - r->before.bytes_streamed));
}

static void print_stream_stats(struct console *c, const struct model *m,
                               const struct generate_result *r)
{
    const struct platform_clock *clock = &c->platform->clock;
    const struct stream_stats *now = &m->stream.stats, *before = &r->before;
    uint64_t millions = (now->arrived - before->arrived) * clock->hz / 1000000;
    uint64_t retries = now->retries - before->retries + now->reread - before->reread;
    char rate[FORMAT_NUMBER_BYTES], stalled[FORMAT_NUMBER_BYTES];

    if (m->plan.kv.n_spilled != 0) {
        print_kv(c, now, before);
    }
    if (m->plan.residency != PLAN_STREAMED) {
        return;
    }
    print_bytes(c, m, r);
    console_printf(c, " at %s MB/s, stalled %s %% of the time",
                   format_ratio(rate, millions, now->busy_ticks - before->busy_ticks, 1),
                   format_ratio(stalled, (now->stall_ticks - before->stall_ticks) * 100,
                                platform_ticks(clock) - r->start, 1)); /* includes the time of a
                                                                        * failed pass */
    if (m->plan.experts.n_slots != 0) {
        report_experts(c, now, r);
    }
    if (retries != 0) {
        console_printf(c, ", %lu %s", (unsigned long)retries,
                       plural((unsigned long)retries, "retry", "retries"));
    }
}

static void print_guesses(struct console *c, const struct generate_result *r)
{
    char share[FORMAT_NUMBER_BYTES];
    char gain[FORMAT_NUMBER_BYTES];

    if (!r->speculates) {
        return;
    }
    console_printf(c, ", %u of %u %s right (%s %%), %u %s, %s tokens a pass", (unsigned)r->right,
                   (unsigned)r->guessed, plural((unsigned)r->guessed, "guess", "guesses"),
                   format_ratio(share, (uint64_t)r->right * 100, r->guessed, 1),
                   (unsigned)r->passes, plural((unsigned)r->passes, "pass", "passes"),
                   format_ratio(gain, (uint64_t)r->passes + r->right, r->passes, 2));
}

enum { CONDITION_BYTES = 128 };

const char *report_temperature(char text[FORMAT_NUMBER_BYTES], int32_t millidegrees)
{
    char degrees[FORMAT_NUMBER_BYTES];
    const char *sign = "";

    if (millidegrees < 0) {
        sign = "-";
        millidegrees = -millidegrees;
    }
    format_text(text, FORMAT_NUMBER_BYTES, "%s%s", sign,
                format_milli(degrees, (uint64_t)millidegrees, 1));
    return text;
}

/* Write the temperature and the causes that slow the cores, or slowed them before: ", 61.2 C,
 * under-voltage". */
static const char *condition(char text[CONDITION_BYTES], const struct board_health *h)
{
    static const char *const names[] = { "under-voltage", "capped clock", "throttled", "hot" };
    char degrees[FORMAT_NUMBER_BYTES];
    size_t at = 0;

    text[0] = '\0';
    if (h->temperature != BOARD_NO_TEMPERATURE) {
        at = format_text(text, CONDITION_BYTES, ", %s C",
                         report_temperature(degrees, h->temperature));
    }
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (h->limits >> i & 1) {
            at += format_text(text + at, CONDITION_BYTES - at, ", %s", names[i]);
        } else if (h->limits_past >> i & 1) {
            at += format_text(text + at, CONDITION_BYTES - at, ", %s before", names[i]);
        }
    }
    return text;
}

static bool read_health(const struct console *c, struct board_health *h)
{
    const struct platform_health *p = &c->platform->health;

    if (p->read == NULL) {
        return false;
    }
    p->read(p->context, h);
    return true;
}

void report_health(struct console *c)
{
    struct board_health health;
    char text[CONDITION_BYTES];

    if (read_health(c, &health)) {
        console_log(c, "board: %lu MHz%s", (unsigned long)(health.clock_hz / 1000000),
                    condition(text, &health));
    }
}

static void print_condition(struct console *c)
{
    struct board_health health;
    char text[CONDITION_BYTES];

    if (read_health(c, &health)) {
        console_printf(c, "%s", condition(text, &health));
    }
}

void report_stats(struct console *c, const struct model *m, const struct generate_result *r)
{
    uint64_t hz = c->platform->clock.hz, decoded = r->new_tokens;
    char prefill[FORMAT_NUMBER_BYTES], decode[FORMAT_NUMBER_BYTES], first[FORMAT_NUMBER_BYTES];

    if (decoded != 0) {
        decoded--; /* the first token belongs to the prompt */
    }
    console_style(c, CONSOLE_DIM);
    console_printf(c,
                   "[%u prompt + %u new %s, prefill %s tok/s, decode %s tok/s, first token "
                   "%s s, %s",
                   (unsigned)r->prompt_tokens, (unsigned)r->new_tokens,
                   plural((unsigned)r->new_tokens, "token", "tokens"),
                   format_ratio(prefill, r->prompt_tokens * hz, r->first - r->start, 1),
                   format_ratio(decode, decoded * hz, r->last - r->first, 1),
                   format_ratio(first, r->first - r->start, hz, 3),
                   plan_residency_text(m->plan.residency));
    print_stream_stats(c, m, r);
    print_guesses(c, r);
    print_condition(c);
    console_printf(c, "]\n");
    console_style(c, CONSOLE_NORMAL);
}
