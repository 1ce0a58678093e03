#include "runtime/stream/stream_experts.h"

#include <string.h>

#include "board/min_max.h"
#include "runtime/base/crc32c.h"
#include "runtime/stream/stream_private.h"

enum {
    USE_ONE = 1 << 16,  /* the value of `use` for an expert that every token takes */
    USE_TOKENS = 32,    /* `use` is an average over about this many tokens */
    CRC_STEP = 1 << 17, /* the most bytes that core 0 checks in a poll */
};

static const struct ingot_layer *layer_of(const struct stream *s)
{
    return image_layer(s->image, s->experts.layer);
}

/* Return the experts of the list's layer. */
static struct stream_expert *all_of(const struct stream *s)
{
    return stream_experts_of(s, s->experts.layer);
}

void stream_experts_open(struct stream *s, struct arena *arena)
{
    struct stream_experts *x = &s->experts;
    const struct plan *plan = s->plan;

    if (plan->experts.n_slots == 0) {
        return;
    }
    /* Take memory for each layer's slots, then for a struct stream_expert for each expert. */
    for (uint32_t i = 0; i < s->image->header->params.n_layers; i++) {
        uint64_t slots = plan_experts_slots(s->image, i, plan->experts.n_slots);

        if (slots != 0) {
            x->slots[i] = arena_take(arena, ARENA_WEIGHTS,
                                     (size_t)(slots * image_layer(s->image, i)->expert_bytes));
        }
    }
    x->all = arena_take(arena, ARENA_WEIGHTS, plan->experts.n * sizeof *x->all);
    for (uint32_t i = 0; i < plan->experts.n; i++) {
        x->all[i] = (struct stream_expert){ .slot = STREAM_NO_SLOT, .listed = STREAM_NOT_LISTED };
    }
    for (uint32_t i = 0; i < s->image->header->params.n_layers; i++) {
        const struct ingot_layer *l = image_layer(s->image, i);

        for (uint32_t j = 0; j < l->n_experts; j++) {
            x->all[l->first_expert + j].order = (uint16_t)j;
        }
    }
}

/* ---- reads ----------------------------------------------------------------------------------- */

static void start_read(struct stream *s, struct stream_expert_read *r)
{
    const struct ingot_layer *l = image_layer(s->image, r->layer);
    uint64_t offset = s->image->segments[l->segment].offset + l->expert_offset +
                      r->expert * l->expert_bytes;

    r->crc = 0;
    r->crc_bytes = 0;
    r->stopped = false;
    if (r->item != STREAM_NOT_LISTED) {
        s->experts.list[r->item].again = s->experts.list[r->item].begun;
    }
    /* The next poll reports an error. */
    (void)file_read_start(&r->read, s->file, offset, r->at, (size_t)l->expert_bytes);
}

/* Return a read that is not in use. Return NULL if all are in use, or if an earlier read still has
 * pieces to request. These pieces go first, because the earlier read's expert is needed first. */
static struct stream_expert_read *idle_read(struct stream_experts *x)
{
    struct stream_expert_read *idle = NULL;

    for (uint32_t i = 0; i < STREAM_EXPERT_READS; i++) {
        struct stream_expert_read *r = &x->reads[i];

        if (r->used && !r->stopped && r->read.status == ERR_BUSY &&
            r->read.bytes_issued < r->read.bytes) {
            return NULL;
        }
        if (!r->used) {
            idle = r;
        }
    }
    return idle;
}

/* Begin to read an expert. Return NULL if the expert has to wait. */
static struct stream_expert_read *begin_read(struct stream *s, uint32_t layer, uint16_t expert,
                                             bool now)
{
    struct stream_experts *x = &s->experts;
    struct stream_expert_read *r = idle_read(x);
    uint64_t bytes = image_layer(s->image, layer)->expert_bytes;
    uint16_t slot;

    if (r == NULL) {
        return NULL;
    }
    /* Another expert may lose its slot to this expert. Without a slot the read waits. */
    slot = stream_experts_take_slot(s, layer, now);
    if (slot == STREAM_NO_SLOT) {
        return NULL;
    }
    stream_experts_of(s, layer)[expert].slot = slot;
    stream_begin_count(s);
    *r = (struct stream_expert_read){ .used = true,
                                      .item = STREAM_NOT_LISTED,
                                      .expert = expert,
                                      .layer = layer,
                                      .at = x->slots[layer] + slot * bytes,
                                      .begun = trace_begin(s->workers->trace) };
    start_read(s, r);
    s->stats.expert_bytes += bytes;
    s->stats.bytes_streamed += bytes;
    return r;
}

bool stream_experts_ask_for(struct stream *s, uint32_t i, bool now)
{
    struct stream_experts *x = &s->experts;
    struct stream_expert_wanted *w = &x->list[i];
    struct stream_expert_read *r = begin_read(s, x->layer, w->expert, now);

    if (r == NULL) {
        return false;
    }
    r->item = (uint16_t)i;
    w->at = r->at;
    w->state = STREAM_EXPERT_ARRIVING;
    s->stats.experts_read++;
    x->figures[x->layer].read++;
    return true;
}

/* Request the predicted experts, as long as reads and slots are free. */
static void fetch_next(struct stream *s)
{
    struct stream_experts *x = &s->experts;

    for (uint32_t i = 0; i < x->next.n && x->failure == ERR_OK; i++) {
        struct stream_expert *e = &stream_experts_of(s, x->next.layer)[x->next.experts[i]];

        /* Skip experts that are there or already requested. */
        if (e->slot != STREAM_NO_SLOT || x->next.asked[i]) {
            continue;
        }
        if (begin_read(s, x->next.layer, x->next.experts[i], false) == NULL) {
            return;
        }
        e->flags |= STREAM_EXPERT_COMING;
        x->next.asked[i] = true;
        s->stats.experts_ahead++;
    }
}

static void ask_ahead(struct stream *s)
{
    struct stream_experts *x = &s->experts;

    for (uint32_t i = 0; i < x->n && x->failure == ERR_OK; i++) {
        if (x->list[i].state == STREAM_EXPERT_MISSING && !stream_experts_ask_for(s, i, false)) {
            return;
        }
    }
    /* After all experts of the list, continue with guesses for the next layer. */
    fetch_next(s);
}

void stream_experts_look_ahead(struct stream *s, uint32_t layer, uint32_t n)
{
    s->experts.next.layer = layer;
    s->experts.next.n = n;
    memset(s->experts.next.asked, 0, n * sizeof s->experts.next.asked[0]);
    if (s->experts.n != 0) {
        ask_ahead(s);
    }
}

/* Drop an expert from its slot. */
static void drop(const struct stream *s, struct stream_expert_read *r)
{
    struct stream_expert *e = &stream_experts_of(s, r->layer)[r->expert];

    e->slot = STREAM_NO_SLOT;
    e->flags &= (uint16_t)~STREAM_EXPERT_COMING;
    r->used = false;
}

/* End a failed read. If no core waits for the expert, the error is ignored, and the expert is
 * requested again when needed. */
static void fail(struct stream *s, struct stream_expert_read *r, enum err e)
{
    struct stream_experts *x = &s->experts;

    if (r->item == STREAM_NOT_LISTED) {
        drop(s, r);
        return;
    }
    if (r->stopped) { /* the read was stopped, but its expert was named in the meantime */
        start_read(s, r);
        return;
    }
    x->failure = e;
    x->list[r->item].failed = true;
    stream_name_expert(s, r->layer, r->expert, &r->read, e);
}

/* Finish an expert that has arrived completely. Reading again repairs a bit that flipped in the
 * transfer, but not a wrong bit on the card. */
static void finish(struct stream *s, struct stream_expert_read *r)
{
    struct stream_expert *e = &stream_experts_of(s, r->layer)[r->expert];
    const struct ingot_layer *l = image_layer(s->image, r->layer);

    s->stats.retries += r->read.n_retries;
    if (r->crc == s->image->expert_crcs[l->first_expert + r->expert]) {
        trace_end(s->workers->trace, TRACE_EXPERT, trace_expert(r->layer, r->expert), TRACE_CARD,
                  r->begun);
        e->flags &= (uint16_t)~STREAM_EXPERT_COMING;
        if (r->item != STREAM_NOT_LISTED) {
            s->experts.list[r->item].state = STREAM_EXPERT_READY;
        }
        r->used = false;
    } else if (r->tries++ < STREAM_REREADS) {
        s->stats.reread++;
        start_read(s, r);
    } else {
        fail(s, r, ERR_BAD_CHECKSUM);
    }
}

/* Collect the bytes that have arrived. With `checks` also continue the checksum. */
static void poll_read(struct stream *s, struct stream_expert_read *r, bool checks)
{
    uint64_t before = r->read.bytes_done, n;
    enum err e = file_read_poll(&r->read);

    s->stats.arrived += r->read.bytes_done - before;
    if (r->read.bytes_done != before) {
        s->card.moved_at = stream_ticks(s);
    }
    if (e != ERR_BUSY && e != ERR_OK) {
        fail(s, r, e);
        return;
    }
    /* Without `checks`, core 0 has no time for checksums. */
    if (!checks) {
        return;
    }
    n = min_u64(r->read.bytes_done - r->crc_bytes, CRC_STEP);
    r->crc = crc32c(r->crc, r->at + r->crc_bytes, (size_t)n);
    r->crc_bytes += n;
    /* Finish once the checksum includes the last byte. */
    if (e == ERR_OK && r->crc_bytes == r->read.bytes) {
        finish(s, r);
    }
}

void stream_experts_poll(struct stream *s, bool checks)
{
    struct stream_experts *x = &s->experts;

    for (uint32_t i = 0; i < STREAM_EXPERT_READS; i++) {
        if (x->reads[i].used && x->failure == ERR_OK) {
            poll_read(s, &x->reads[i], checks);
        }
    }
    ask_ahead(s);
}

bool stream_experts_arrive(const struct stream *s)
{
    for (uint32_t i = 0; i < STREAM_EXPERT_READS; i++) {
        if (s->experts.reads[i].used && s->experts.reads[i].read.status == ERR_BUSY) {
            return true;
        }
    }
    return false;
}

/* Empty the slots of experts that were still arriving, or were wrong. */
void stream_experts_reset(struct stream *s)
{
    struct stream_experts *x = &s->experts;

    for (uint32_t i = 0; i < STREAM_EXPERT_READS; i++) {
        struct stream_expert_read *r = &x->reads[i];

        while (r->used && r->read.status == ERR_BUSY) {
            (void)file_read_poll(&r->read);
        }
        /* The expert has not become ready, so free its slot and the read. */
        if (r->used) {
            drop(s, r);
        }
    }
    x->next.n = 0;
    for (uint32_t i = 0; i < x->n; i++) {
        all_of(s)[x->list[i].expert].listed = STREAM_NOT_LISTED;
    }
    x->n = 0;
    x->failure = ERR_OK;
}

/* ---- the list -------------------------------------------------------------------------------- */

/* Move the average towards the expert's share of these tokens, by n_tokens / USE_TOKENS of the
 * difference. */
static void count_use(struct stream_expert *e, uint32_t count, uint32_t n_tokens)
{
    int64_t share = (int64_t)count * USE_ONE / n_tokens;
    int64_t step = (share - (int64_t)e->use) * min_u32(n_tokens, USE_TOKENS) / USE_TOKENS;

    e->use = (uint32_t)((int64_t)e->use + step);
}

/* Let number i of the list use the read that was begun ahead for this expert. */
static void join_read(struct stream *s, uint32_t i)
{
    struct stream_experts *x = &s->experts;
    uint32_t n = 0;

    while (!x->reads[n].used || x->reads[n].layer != x->layer ||
           x->reads[n].expert != x->list[i].expert) {
        n++;
    }
    x->reads[n].item = (uint16_t)i;
    x->list[i].at = x->reads[n].at;
    x->list[i].state = STREAM_EXPERT_ARRIVING;
}

/* Stop reads of experts that were requested ahead but are not named. */
static void stop_reads(struct stream *s)
{
    struct stream_experts *x = &s->experts;

    /* Count the right guesses, for the figures. */
    for (uint32_t i = 0; i < x->next.n; i++) {
        s->stats.ahead_right += x->next.layer == x->layer && x->counts[x->next.experts[i]] != 0 &&
                                x->next.asked[i];
    }
    /* End the reads of wrong guesses, so that the card is free for needed experts. */
    for (uint32_t i = 0; i < STREAM_EXPERT_READS; i++) {
        struct stream_expert_read *r = &x->reads[i];

        if (r->used && r->item == STREAM_NOT_LISTED && r->read.bytes_issued < r->read.bytes) {
            r->stopped = true;
            file_read_stop(&r->read);
        }
    }
    x->next.n = 0;
}

static void list_expert(struct stream *s, uint32_t expert)
{
    struct stream_experts *x = &s->experts;
    struct stream_expert *e = &all_of(s)[expert];
    bool coming = (e->flags & STREAM_EXPERT_COMING) != 0;
    bool there = e->slot != STREAM_NO_SLOT && !coming;

    e->listed = (uint16_t)x->n;
    x->list[x->n++] = (struct stream_expert_wanted){
        .expert = (uint16_t)expert,
        .state = there ? STREAM_EXPERT_READY : STREAM_EXPERT_MISSING,
        .there = there,
        .at = there ? x->slots[x->layer] + e->slot * layer_of(s)->expert_bytes : NULL,
    };
    /* If a guess was right, its read continues for the list. */
    if (coming) {
        join_read(s, x->n - 1);
    }
    s->stats.experts_kept += there;
    x->figures[x->layer].kept += there;
}

void stream_experts_ask(struct stream *s, uint32_t layer, uint32_t n_tokens)
{
    struct stream_experts *x = &s->experts;

    for (uint32_t i = 0; i < x->n; i++) { /* the list still has the previous layer's experts, which
                                           * have all arrived */
        all_of(s)[x->list[i].expert].listed = STREAM_NOT_LISTED;
    }
    x->layer = layer;
    x->n = 0;
    x->figures[layer].lists++;
    /* Count all experts, even those that were not chosen, so that averages also fall. */
    for (uint32_t i = 0; i < layer_of(s)->n_experts; i++) {
        count_use(&all_of(s)[i], x->counts[i], n_tokens);
        if (x->counts[i] != 0) {
            list_expert(s, i);
        }
    }
    /* End wrong guesses before the list is requested. */
    stop_reads(s);
    stream_experts_count(s, n_tokens);
    ask_ahead(s);
}

void stream_expert_done(struct stream *s, uint32_t i)
{
    all_of(s)[s->experts.list[i].expert].listed = STREAM_NOT_LISTED;
}
