/* Report the work of the cache of experts: in a reply's line, and for each layer. */
#include "runtime/chat/report.h"

#include "runtime/console/console.h"
#include "runtime/text/format_text.h"

static const char *share_of(char text[FORMAT_NUMBER_BYTES], uint64_t kept, uint64_t read)
{
    return format_ratio(text, kept * 100, kept + read, 1);
}

void report_experts(struct console *c, const struct stream_stats *now,
                    const struct generate_result *r)
{
    const struct stream_stats *before = &r->before;
    uint64_t read = now->experts_read - before->experts_read;
    char share[FORMAT_NUMBER_BYTES], bytes[FORMAT_NUMBER_BYTES], each[FORMAT_NUMBER_BYTES];

    console_printf(c, ", experts: %s %% in the cache, %lu read (%s), %lu waited for (%s a %s)",
                   share_of(share, now->experts_kept - before->experts_kept, read),
                   (unsigned long)read,
                   format_bytes(bytes, now->expert_bytes - before->expert_bytes),
                   (unsigned long)(now->expert_stalls - before->expert_stalls),
                   format_ratio(each, r->decode_expert_stalls, r->passes, 2),
                   r->speculates ? "pass" : "token");
    if (now->experts_ahead != before->experts_ahead) {
        console_printf(c, ", %lu read ahead, %s %% of them needed",
                       (unsigned long)(now->experts_ahead - before->experts_ahead),
                       format_ratio(share, (now->ahead_right - before->ahead_right) * 100,
                                    now->experts_ahead - before->experts_ahead, 1));
    }
}

/* Layers without experts have no lists. */
void report_expert_layers(struct console *c, const struct model *m)
{
    const struct stream_stats *s = &m->stream.stats;
    uint64_t hz = c->platform->clock.hz;
    char share[FORMAT_NUMBER_BYTES], bytes[FORMAT_NUMBER_BYTES], each[FORMAT_NUMBER_BYTES];
    char seconds[FORMAT_NUMBER_BYTES];

    if (m->stream.experts.all == NULL) {
        return;
    }
    console_printf(c, "experts: %s %% in the cache, %lu read (%s), %lu waited for\n",
                   share_of(share, s->experts_kept, s->experts_read),
                   (unsigned long)s->experts_read, format_bytes(bytes, s->expert_bytes),
                   (unsigned long)s->expert_stalls);
    for (uint32_t i = 0; i < m->image.header->params.n_layers; i++) {
        const struct stream_experts_figures *f = &m->stream.experts.figures[i];

        if (f->lists != 0) {
            console_printf(c,
                           "  layer %-3u %5s %% of %lu in the cache, %s waited for in a pass, %s s "
                           "waited in all\n",
                           (unsigned)i, share_of(share, f->kept, f->read),
                           (unsigned long)f->kept + f->read,
                           format_ratio(each, f->stalls, f->lists, 2),
                           format_ratio(seconds, f->stall_ticks, hz, 3));
        }
    }
}

/* Return how many percent of a token's experts are in a cache with this many slots, on
 * average. */
static uint64_t there(const struct plan *p, const struct image *image, uint32_t n_slots)
{
    uint64_t missing = 0, all = 0;

    for (uint32_t i = 0; i < image->header->params.n_layers; i++) {
        missing += plan_experts_missing(p->experts.use, image, i, n_slots);
        all += (uint64_t)image_layer(image, i)->n_experts_used << 16;
    }
    return all == 0 ? 0 : 100 - missing * 100 / all;
}

void report_experts_plan(const struct plan *p, const struct image *image, char *text, size_t bytes)
{
    uint32_t slots = 0, experts = 0;
    size_t n;

    for (uint32_t i = 0; i < image->header->params.n_layers; i++) {
        uint32_t here = plan_experts_slots(image, i, p->experts.n_slots);

        if (here > slots) {
            slots = here;
            experts = image_layer(image, i)->n_experts;
        }
    }
    n = format_text(text, bytes, "%u %% of a token's experts cached, %s",
                    (unsigned)there(p, image, slots),
                    p->experts.use == NULL ? "if all are used equally" : "as measured");
    for (uint32_t quarter = 1; quarter < 4; quarter++) {
        uint32_t others = experts * quarter / 4;

        if (others != slots && others >= plan_experts_slots(image, 0, 1)) {
            n += format_text(text + n, bytes - n, "; with %u of %u: %u %%", (unsigned)others,
                             (unsigned)experts, (unsigned)there(p, image, others));
        }
    }
}
