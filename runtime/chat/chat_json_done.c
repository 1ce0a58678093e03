/* Send the event that ends an answer, with a reply's figures. */
#include "runtime/chat/chat_json.h"

#include <string.h>

#include "runtime/chat/report.h"
#include "runtime/console/console_json.h"
#include "runtime/text/format_text.h"

struct number {
    char text[FORMAT_NUMBER_BYTES];
};

/* Return a / b as text, or null if b is 0. */
static const char *ratio(struct number *n, uint64_t a, uint64_t b, unsigned decimals)
{
    if (b == 0) {
        return "null";
    }
    return format_ratio(n->text, a, b, decimals);
}

static const char *temperature(const struct console *c, struct number *n)
{
    const struct platform_health *p = &c->platform->health;
    struct board_health health = { .temperature = BOARD_NO_TEMPERATURE };

    if (p->read != NULL) {
        p->read(p->context, &health);
    }
    if (health.temperature == BOARD_NO_TEMPERATURE) {
        return "null";
    }
    return report_temperature(n->text, health.temperature);
}

/* Times of a reply, in ticks; all 0 if it ended before the first token. */
struct reply_times {
    uint64_t hz, prefill, decode, all;
    uint64_t decoded, decoding; /* tokens after the first one, and their time; both may be 0 */
};

static struct reply_times times_of(const struct console *c, const struct generate_result *r)
{
    struct reply_times t = { .prefill = r->first - r->start };

    if (r->first == 0) {
        return (struct reply_times){ .hz = 0 };
    }
    t.hz = c->platform->clock.hz;
    t.decode = r->last - r->first;
    t.all = r->last - r->start;
    if (r->new_tokens > 1) {
        t.decoded = r->new_tokens - 1;
        t.decoding = t.decode;
    }
    return t;
}

/* Add the card's work during the reply. */
static void put_card(const struct console *c, const struct model *m,
                     const struct generate_result *r, const struct reply_times *t, char *out,
                     size_t bytes)
{
    const struct stream_stats *now = &m->stream.stats, *before = &r->before;
    uint64_t hz = c->platform->clock.hz, planned = 0, all = 0;
    uint64_t kept = now->experts_kept - before->experts_kept;
    struct number n[4];

    if (m->plan.residency == PLAN_STREAMED) {
        planned = model_planned_bytes(m);
        all = t->all;
    }
    format_text(out, bytes,
                "'streamed_bytes':%llu,'streamed_bytes_per_pass':%s,'planned_bytes_per_pass':%llu,"
                "'card_mb_per_s':%s,'stalled_percent':%s,'card_retries':%llu,"
                "'experts_in_cache_percent':%s,'expert_bytes':%llu,'expert_stalls':%llu",
                (unsigned long long)(now->bytes_streamed - before->bytes_streamed),
                ratio(&n[0], r->decode_bytes, r->passes, 0), (unsigned long long)planned,
                ratio(&n[1], (now->arrived - before->arrived) * hz / 1000000,
                      now->busy_ticks - before->busy_ticks, 1),
                ratio(&n[2], (now->stall_ticks - before->stall_ticks) * 100, all, 1),
                (unsigned long long)(now->retries - before->retries + now->reread - before->reread),
                ratio(&n[3], kept * 100, kept + now->experts_read - before->experts_read, 1),
                (unsigned long long)(now->expert_bytes - before->expert_bytes),
                (unsigned long long)(now->expert_stalls - before->expert_stalls));
}

void chat_json_reply(struct console *c, const struct session *s, const struct generate_result *r,
                     const char *reason)
{
    struct reply_times t = times_of(c, r);
    char card[448];
    struct number n[5];

    put_card(c, s->model, r, &t, card, sizeof card);
    console_event_begin(
        c,
        "'done','reason':'%s','prompt_tokens':%u,'reply_tokens':%u,'first_token_ms':%s,"
        "'decode_ms':%s,'prefill_tokens_per_s':%s,'decode_tokens_per_s':%s,'decode_passes':%u,"
        "'guessed_tokens':%u,'right_guesses':%u,%s,'temperature_c':%s,'context_tokens':%u",
        reason, (unsigned)r->prompt_tokens, (unsigned)r->new_tokens,
        ratio(&n[0], t.prefill * 1000, t.hz, 3), ratio(&n[1], t.decode * 1000, t.hz, 3),
        ratio(&n[2], r->prompt_tokens * t.hz, t.prefill, 1),
        ratio(&n[3], t.decoded * t.hz, t.decoding, 1), (unsigned)r->passes, (unsigned)r->guessed,
        (unsigned)r->right, card, temperature(c, &n[4]), (unsigned)s->n_ids);
    console_event_end(c);
}

/* Return the name that other services use for this reason. */
static const char *finish_reason(const char *reason)
{
    static const char *const lengths[] = { "limit", "context", "repetition" };

    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        if (strcmp(reason, lengths[i]) == 0) {
            return "length";
        }
    }
    return strcmp(reason, "stopped") == 0 || strcmp(reason, "error") == 0 ? reason : "stop";
}

/* Add the tokens before the reply, and how many of them were already computed. */
static void put_usage(struct chat *c, const struct generate_result *r, const char *reason)
{
    uint32_t prompt = r != NULL ? r->first_new : 0, kept = 0;

    if (r != NULL && r->first != 0 && prompt > r->prompt_tokens) {
        kept = prompt - r->prompt_tokens;
    }
    console_event_begin(c->console,
                        "'usage','finish_reason':'%s','prompt_tokens':%u,'cached_tokens':%u,"
                        "'completion_tokens':%u",
                        finish_reason(reason), (unsigned)prompt, (unsigned)kept,
                        r != NULL ? (unsigned)r->new_tokens : 0);
    console_event_end(c->console);
}

void chat_json_done(struct chat *c, const struct generate_result *r, const char *reason)
{
    uint32_t n_ids = 0;

    if (c->session != NULL) {
        n_ids = c->session->n_ids;
    }
    if (c->program.protocol >= 2 && r != NULL) {
        put_usage(c, r, reason);
    }
    if (r != NULL) {
        chat_json_reply(c->console, c->session, r, reason);
    } else {
        console_event_begin(c->console, "'done','reason':'%s','context_tokens':%u", reason,
                            (unsigned)n_ids);
        console_event_end(c->console);
    }
    c->program.answered = true;
}
