#include "runtime/model/pass_states.h"

#include <assert.h>

#include "runtime/model/layer.h"

/* Call a function for each state of the layer, for every sequence of the pass. */
typedef enum err state_fn(struct layer_state *st, const struct transformer_part *p);

static enum err each_state(const struct transformer *t, uint32_t layer, state_fn *act)
{
    enum err e = ERR_OK;

    for (uint32_t i = 0; i < t->n_pass_parts; i++) {
        const struct transformer_part *p = &t->pass_parts[i];

        for (uint32_t j = layer; j < t->n_states && e == ERR_OK; j += params(t)->n_layers) {
            e = act(&p->states[j], p);
        }
    }
    return e;
}

static enum err mark_state(struct layer_state *st, const struct transformer_part *p)
{
    layer_state_mark(st, p->position, LAYER_MARK_PASS);
    return ERR_OK;
}

static enum err put_state_back(struct layer_state *st, const struct transformer_part *p)
{
    uint32_t kept = st->kind->cut(st, p->position);

    assert(kept == p->position);
    (void)kept;
    return ERR_OK;
}

/* Wait until a state may be read, and written from the pass's position on. */
static enum err enter_state(struct layer_state *st, const struct transformer_part *p)
{
    return layer_state_enter(st, p->position);
}

static enum err leave_state(struct layer_state *st, const struct transformer_part *p)
{
    return layer_state_leave(st, p->position + p->n);
}

void pass_states_mark(const struct transformer *t, uint32_t layer)
{
    (void)each_state(t, layer, mark_state);
}

void pass_states_put_back(const struct transformer *t, uint32_t layer)
{
    (void)each_state(t, layer, put_state_back);
}

enum err pass_states_enter(const struct transformer *t, uint32_t layer)
{
    return each_state(t, layer, enter_state);
}

enum err pass_states_leave(const struct transformer *t, uint32_t layer)
{
    return each_state(t, layer, leave_state);
}
