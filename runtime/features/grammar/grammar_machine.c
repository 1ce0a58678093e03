#include "runtime/features/grammar/grammar_machine.h"

#include <assert.h>
#include <string.h>

/* The most states that can be reached without reading a byte, when calls begin or end. Each state
 * is visited once, in the order in which it was found. */
enum { REACHED = 192 };

struct reach {
    struct grammar_machine *m;
    struct grammar_way ways[REACHED];
    unsigned n;
    unsigned n_frames;
};

static const struct grammar_frame *frame_of(const struct grammar_machine *m, unsigned frame)
{
    return &m->frames[frame];
}

static bool same_frames(const struct grammar_machine *m, unsigned a, unsigned b)
{
    /* Two stacks that share a frame are equal below this frame. */
    while (a != b) {
        const struct grammar_frame *x = frame_of(m, a), *y = frame_of(m, b);

        if (a == 0 || b == 0 || x->call != y->call || x->done != y->done || x->depth != y->depth) {
            return false;
        }
        a = x->below;
        b = y->below;
    }
    return true;
}

static bool has_way(const struct grammar_machine *m, const struct grammar_way *ways, unsigned n,
                    struct grammar_way way)
{
    for (unsigned i = 0; i < n; i++) {
        if (ways[i].state == way.state && same_frames(m, ways[i].frame, way.frame)) {
            return true;
        }
    }
    return false;
}

static void reach(struct reach *r, unsigned state, unsigned frame)
{
    struct grammar_way way = { (uint16_t)state, (uint16_t)frame };

    /* Count the cost of the search for an equal state. */
    r->m->steps += r->n;
    if (r->n < REACHED && !has_way(r->m, r->ways, r->n, way)) {
        r->ways[r->n++] = way;
    }
}

/* Begin a call (done 0), or run it again after `done` runs. */
static void enter(struct reach *r, unsigned call, unsigned done, unsigned below)
{
    unsigned depth = below == 0 ? 1 : frame_of(r->m, below)->depth + 1u;

    /* Drop this state, because no grammar needs to be so deep. */
    if (depth > INGOT_GRAMMAR_DEPTH || r->n_frames == GRAMMAR_FRAMES) {
        return;
    }
    r->m->frames[r->n_frames] = (struct grammar_frame){ (uint16_t)call, (uint16_t)done,
                                                        (uint16_t)below, (uint16_t)depth };
    reach(r, r->m->grammar->calls[call].start, r->n_frames++);
}

/* Go on after one more run of the frame's call. */
static void leave(struct reach *r, unsigned frame)
{
    const struct grammar_frame *f = frame_of(r->m, frame);
    const struct ingot_grammar_call *c = &r->m->grammar->calls[f->call];
    unsigned done = f->done + 1u;

    /* Follow both ways if possible: run the call again, and leave the call. */
    if (done < c->most) {
        enter(r, f->call, done, f->below);
    }
    if (done >= c->least) {
        reach(r, c->then, f->below);
    }
}

/* Find all states that can be reached from a level without another byte. */
static void reach_all(struct reach *r, struct grammar_machine *m, unsigned level)
{
    const struct grammar *g = m->grammar;
    const struct grammar_level *from = &m->levels[level];

    r->m = m;
    r->n = from->n_ways;
    r->n_frames = from->n_frames;
    memcpy(r->ways, from->ways, from->n_ways * sizeof from->ways[0]);
    /* The loop adds states to its own list. */
    for (unsigned i = 0; i < r->n; i++) {
        struct grammar_way way = r->ways[i];
        const struct ingot_grammar_state *s = &g->states[way.state];

        m->steps += 1u + s->n_edges;
        for (unsigned j = s->edges; j < s->edges + s->n_edges; j++) {
            const struct ingot_grammar_edge *e = &g->edges[j];

            /* An edge without bytes is a call. */
            if (e->low > e->high) {
                enter(r, e->to, 0, way.frame);
                if (g->calls[e->to].least == 0) {
                    reach(r, g->calls[e->to].then, way.frame);
                }
            }
        }
        if (s->accepts && way.frame != 0) {
            leave(r, way.frame);
        }
    }
}

static void add_way(struct grammar_machine *m, struct grammar_level *to, struct grammar_way way)
{
    if (to->n_ways < GRAMMAR_WAYS && !has_way(m, to->ways, to->n_ways, way)) {
        to->ways[to->n_ways++] = way;
    }
}

void grammar_begin(struct grammar_machine *m, const struct grammar *g)
{
    m->grammar = g;
    m->steps = 0;
    m->levels[0].n_ways = 1;
    m->levels[0].n_frames = 1; /* frame 0 stands for "no frame" */
    m->levels[0].ways[0] = (struct grammar_way){ g->head->start, 0 };
}

bool grammar_push(struct grammar_machine *m, unsigned level, uint8_t byte)
{
    const struct grammar *g = m->grammar;
    struct grammar_level *to = &m->levels[level + 1];
    struct reach r;

    assert(level < GRAMMAR_LEVELS);
    to->n_ways = 0;
    if (grammar_is_spent(m)) {
        return false;
    }
    reach_all(&r, m, level);
    for (unsigned i = 0; i < r.n; i++) {
        const struct ingot_grammar_state *s = &g->states[r.ways[i].state];

        m->steps += s->n_edges;
        for (unsigned j = s->edges; j < s->edges + s->n_edges; j++) {
            const struct ingot_grammar_edge *e = &g->edges[j];

            if (e->low <= byte && byte <= e->high) {
                add_way(m, to, (struct grammar_way){ e->to, r.ways[i].frame });
            }
        }
    }
    /* Frames of dropped states stay until grammar_settle. */
    to->n_frames = (uint16_t)r.n_frames;
    return to->n_ways != 0;
}

bool grammar_accepts(struct grammar_machine *m, unsigned level)
{
    struct reach r;

    reach_all(&r, m, level);
    for (unsigned i = 0; i < r.n; i++) {
        if (r.ways[i].frame == 0 && m->grammar->states[r.ways[i].state].accepts) {
            return true;
        }
    }
    return false;
}

bool grammar_goes_on(struct grammar_machine *m, unsigned level)
{
    const struct grammar *g = m->grammar;
    struct reach r;

    reach_all(&r, m, level);
    for (unsigned i = 0; i < r.n; i++) {
        const struct ingot_grammar_state *s = &g->states[r.ways[i].state];

        for (unsigned j = s->edges; j < s->edges + s->n_edges; j++) {
            if (g->edges[j].low <= g->edges[j].high) {
                return true;
            }
        }
    }
    return false;
}

/* Move the frames that the level's states use to the front. Each frame comes after those below
 * it. */
void grammar_settle(struct grammar_machine *m, unsigned level)
{
    uint16_t *moved = m->moved;
    struct grammar_level *to = &m->levels[0];
    unsigned n = 1;

    *to = m->levels[level];
    memset(moved, 0, to->n_frames * sizeof *moved);
    /* Mark the frames of every state, down to the first marked frame. */
    for (unsigned i = 0; i < to->n_ways; i++) {
        for (unsigned f = to->ways[i].frame; f != 0 && moved[f] == 0; f = m->frames[f].below) {
            moved[f] = 1;
        }
    }
    moved[0] = 0;
    for (unsigned f = 1; f < to->n_frames; f++) {
        /* Move each marked frame; the frame below it has moved already. */
        if (moved[f] != 0) {
            m->frames[n] = m->frames[f];
            m->frames[n].below = moved[m->frames[f].below];
            moved[f] = (uint16_t)n++;
        }
    }
    for (unsigned i = 0; i < to->n_ways; i++) {
        to->ways[i].frame = moved[to->ways[i].frame];
    }
    to->n_frames = (uint16_t)n;
}
