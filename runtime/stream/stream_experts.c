#include "runtime/stream/stream_experts.h"

#include "board/min_max.h"
#include "runtime/base/crc32c.h"
#include "runtime/stream/stream_private.h"

enum {
    USE_ONE = 1 << 16,  /* an expert that every token takes */
    USE_TOKENS = 32,    /* after so many tokens an average forgets: it is the mean of about those */
    CRC_STEP = 1 << 17, /* bytes that core 0 checks in a poll */
};

static const struct ingot_layer *layer_of(const struct stream *s)
{
    return image_layer(s->image, s->experts.layer);
}

/* The experts of the layer of the list. */
static struct stream_expert *all_of(const struct stream *s)
{
    return s->experts.all + layer_of(s)->first_expert;
}

void stream_experts_open(struct stream *s, struct arena *arena)
{
    struct stream_experts *x = &s->experts;
    const struct plan *plan = s->plan;

    if (plan->experts.n_slots == 0) {
        return;
    }
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

/* ---- slots ------------------------------------------------------------------------------------- */

/* A slot that no expert of the layer has; the number of slots: there is none. */
static uint32_t free_slot(const struct stream *s, uint32_t n_slots)
{
    const struct stream_expert *all = all_of(s);
    uint8_t taken[INGOT_MAX_EXPERTS / 8] = { 0 };
    uint32_t slot = 0;

    for (uint32_t i = 0; i < layer_of(s)->n_experts; i++) {
        if (all[i].slot != STREAM_NO_SLOT) {
            taken[all[i].slot / 8] |= (uint8_t)(1u << all[i].slot % 8);
        }
    }
    while (slot < n_slots && (taken[slot / 8] >> slot % 8 & 1) != 0) {
        slot++;
    }
    return slot;
}

/* The expert that goes: of those with a slot that nobody needs the one that is used least, of several
 * the one with the highest number. NULL: all are needed. */
static struct stream_expert *least_used(const struct stream *s)
{
    struct stream_expert *all = all_of(s), *least = NULL;

    for (uint32_t i = 0; i < layer_of(s)->n_experts; i++) {
        bool free = all[i].slot != STREAM_NO_SLOT && all[i].listed == STREAM_NOT_LISTED;

        if (free && (least == NULL || all[i].use <= least->use)) {
            least = &all[i];
        }
    }
    return least;
}

/* A chunk may need more experts than there are slots. Then one that was there before the chunk, and
 * that is needed last, makes room and is read again in its turn: it has not been read in this chunk,
 * because those that were have lower numbers. */
static struct stream_expert *needed_last(struct stream *s)
{
    struct stream_experts *x = &s->experts;
    uint32_t i = x->n - 1;

    while (x->list[i].state != STREAM_EXPERT_READY) {
        i--;
    }
    x->list[i].state = STREAM_EXPERT_MISSING;
    return &all_of(s)[x->list[i].expert];
}

/* A slot for an expert of the list; STREAM_NO_SLOT: none is free, and it is not needed now. */
static uint16_t take_slot(struct stream *s, bool now)
{
    uint32_t n_slots = plan_experts_slots(s->image, s->experts.layer, s->plan->experts.n_slots);
    uint32_t slot = free_slot(s, n_slots);
    struct stream_expert *other;

    if (slot < n_slots) {
        return (uint16_t)slot;
    }
    other = least_used(s);
    if (other == NULL && now) {
        other = needed_last(s);
    }
    if (other == NULL) {
        return STREAM_NO_SLOT;
    }
    slot = other->slot;
    other->slot = STREAM_NO_SLOT;
    return (uint16_t)slot;
}

/* ---- reads ------------------------------------------------------------------------------------- */

static void start_read(const struct stream *s, struct stream_expert_read *r)
{
    const struct ingot_layer *l = layer_of(s);
    const struct stream_expert_wanted *w = &s->experts.list[r->item];
    uint64_t offset = s->image->segments[l->segment].offset + l->expert_offset +
                      w->expert * l->expert_bytes;

    r->crc = 0;
    r->crc_bytes = 0;
    /* The slot is the stream's, which gives it out for reading. A refusal shows in the poll. */
    (void)file_read_start(&r->read, s->file, offset, (uint8_t *)(uintptr_t)w->at,
                          (size_t)l->expert_bytes);
}

/* One that is not in use, unless an earlier one has more to ask for: the expert that is needed first
 * shall come first. */
static struct stream_expert_read *idle_read(struct stream_experts *x)
{
    struct stream_expert_read *idle = NULL;

    for (uint32_t i = 0; i < STREAM_EXPERT_READS; i++) {
        struct stream_expert_read *r = &x->reads[i];

        if (r->used && r->read.status == ERR_BUSY && r->read.bytes_issued < r->read.bytes) {
            return NULL;
        }
        if (!r->used) {
            idle = r;
        }
    }
    return idle;
}

bool stream_experts_ask_for(struct stream *s, uint32_t i, bool now)
{
    struct stream_experts *x = &s->experts;
    struct stream_expert_wanted *w = &x->list[i];
    struct stream_expert_read *r = idle_read(x);
    uint16_t slot;

    if (r == NULL) {
        return false;
    }
    slot = take_slot(s, now);
    if (slot == STREAM_NO_SLOT) {
        return false;
    }
    all_of(s)[w->expert].slot = slot;
    w->at = x->slots[x->layer] + slot * layer_of(s)->expert_bytes;
    w->state = STREAM_EXPERT_ARRIVING;
    stream_begin_count(s);
    *r = (struct stream_expert_read){ .used = true,
                                      .item = (uint16_t)i,
                                      .begun = trace_begin(s->workers->trace) };
    start_read(s, r);
    s->stats.experts_read++;
    s->stats.expert_bytes += layer_of(s)->expert_bytes;
    s->stats.bytes_streamed += layer_of(s)->expert_bytes;
    x->figures[x->layer].read++;
    return true;
}

static void ask_ahead(struct stream *s)
{
    struct stream_experts *x = &s->experts;

    for (uint32_t i = 0; i < x->n && x->failure == ERR_OK; i++) {
        if (x->list[i].state == STREAM_EXPERT_MISSING && !stream_experts_ask_for(s, i, false)) {
            return;
        }
    }
}

static void fail(struct stream *s, struct stream_expert_read *r, enum err e)
{
    struct stream_experts *x = &s->experts;

    x->failure = e;
    x->list[r->item].failed = true;
    stream_name_expert(s, x->layer, x->list[r->item].expert, &r->read, e);
}

/* All of it has come. Reading again cures a bit that flipped on the way, but not one on the card. */
static void finish(struct stream *s, struct stream_expert_read *r)
{
    struct stream_experts *x = &s->experts;
    struct stream_expert_wanted *w = &x->list[r->item];

    s->stats.retries += r->read.n_retries;
    if (r->crc == s->image->expert_crcs[layer_of(s)->first_expert + w->expert]) {
        trace_end(s->workers->trace, TRACE_EXPERT, trace_expert(x->layer, w->expert), TRACE_CARD,
                  r->begun);
        w->state = STREAM_EXPERT_READY;
        r->used = false;
    } else if (r->tries++ < STREAM_REREADS) {
        s->stats.reread++;
        start_read(s, r);
    } else {
        fail(s, r, ERR_BAD_CHECKSUM);
    }
}

/* Collect what has come. checks: and carry its checksum along. */
static void poll_read(struct stream *s, struct stream_expert_read *r, bool checks)
{
    uint64_t before = r->read.bytes_done, n;
    enum err e = file_read_poll(&r->read);

    s->stats.arrived += r->read.bytes_done - before;
    if (e != ERR_BUSY && e != ERR_OK) {
        fail(s, r, e);
        return;
    }
    if (!checks) {
        return;
    }
    n = min_u64(r->read.bytes_done - r->crc_bytes, CRC_STEP);
    r->crc = crc32c(r->crc, s->experts.list[r->item].at + r->crc_bytes, (size_t)n);
    r->crc_bytes += n;
    if (e == ERR_OK && r->crc_bytes == r->read.bytes) {
        finish(s, r);
    }
}

void stream_experts_poll(struct stream *s, bool checks)
{
    struct stream_experts *x = &s->experts;

    for (uint32_t i = 0; i < STREAM_EXPERT_READS && x->n != 0; i++) {
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

/* The slots of what was still arriving, or was wrong, hold nothing. */
void stream_experts_reset(struct stream *s)
{
    struct stream_experts *x = &s->experts;

    for (uint32_t i = 0; i < STREAM_EXPERT_READS; i++) {
        struct stream_expert_read *r = &x->reads[i];

        while (r->used && r->read.status == ERR_BUSY) {
            (void)file_read_poll(&r->read);
        }
        if (r->used) {
            all_of(s)[x->list[r->item].expert].slot = STREAM_NO_SLOT;
        }
        r->used = false;
    }
    for (uint32_t i = 0; i < x->n; i++) {
        all_of(s)[x->list[i].expert].listed = STREAM_NOT_LISTED;
    }
    x->n = 0;
    x->failure = ERR_OK;
}

/* ---- the list ---------------------------------------------------------------------------------- */

/* The average moves by n_tokens / USE_TOKENS of the way to their share. */
static void count_use(struct stream_expert *e, uint32_t count, uint32_t n_tokens)
{
    int64_t share = (int64_t)count * USE_ONE / n_tokens;
    int64_t step = (share - (int64_t)e->use) * min_u32(n_tokens, USE_TOKENS) / USE_TOKENS;

    e->use = (uint32_t)((int64_t)e->use + step);
}

static void list_expert(struct stream *s, uint32_t expert)
{
    struct stream_experts *x = &s->experts;
    struct stream_expert *e = &all_of(s)[expert];
    bool there = e->slot != STREAM_NO_SLOT;

    e->listed = (uint16_t)x->n;
    x->list[x->n++] = (struct stream_expert_wanted){
        .expert = (uint16_t)expert,
        .state = there ? STREAM_EXPERT_READY : STREAM_EXPERT_MISSING,
        .there = there,
        .at = there ? x->slots[x->layer] + e->slot * layer_of(s)->expert_bytes : NULL,
    };
    s->stats.experts_kept += there;
    x->figures[x->layer].kept += there;
}

void stream_experts_ask(struct stream *s, uint32_t layer, uint32_t n_tokens)
{
    struct stream_experts *x = &s->experts;

    for (uint32_t i = 0; i < x->n; i++) { /* of the layer before, each of which has come */
        all_of(s)[x->list[i].expert].listed = STREAM_NOT_LISTED;
    }
    x->layer = layer;
    x->n = 0;
    x->figures[layer].lists++;
    for (uint32_t i = 0; i < layer_of(s)->n_experts; i++) {
        count_use(&all_of(s)[i], x->counts[i], n_tokens);
        if (x->counts[i] != 0) {
            list_expert(s, i);
        }
    }
    stream_experts_count(s, n_tokens);
    ask_ahead(s);
}

void stream_expert_done(struct stream *s, uint32_t i)
{
    all_of(s)[s->experts.list[i].expert].listed = STREAM_NOT_LISTED;
}
