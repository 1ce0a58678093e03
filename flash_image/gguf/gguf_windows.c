/* Finds which layers of a GGUF see only a window of positions. */
#include "flash_image/gguf/gguf_private.h"

enum { EXAONE_LARGE_LAYERS = 64, GEMMA2_WINDOW = 4096 };

static enum err refuse_pattern(struct gguf *g)
{
    return source_refuse(g->s, ERR_UNSUPPORTED,
                         "%.*s.attention.sliding_window_pattern has a pattern that is not "
                         "supported",
                         SOURCE_SHOW(g->architecture));
}

/* Read the period of windows from the family or from the file. The last layer of each period sees
 * all positions. */
static enum err read_period(struct gguf *g, uint32_t *period)
{
    uint64_t number = 0;

    *period = g->family->global_every;
    if (!g->has_pattern || g->pattern.type == VALUE_ARRAY) {
        return ERR_OK;
    }
    if (!gguf_value_number(&g->pattern, &number) || number == 0 || number > INGOT_MAX_LAYERS ||
        g->family->window == FAMILY_ALL_LOCAL) {
        return refuse_pattern(g);
    }
    *period = (uint32_t)number;
    return ERR_OK;
}

/* Read the list with true or false for each layer; blocks that guess further tokens may be
 * missing from it. */
static enum err read_list(struct gguf *g)
{
    struct source_params *p = &g->s->params;

    if (g->pattern.count != g->n_blocks && g->pattern.count != p->n_layers) {
        return refuse_pattern(g);
    }
    p->global_every = 0;
    for (uint32_t i = 0; i < min_u32(p->n_layers, INGOT_MAX_LAYERS); i++) {
        uint64_t local = 0;

        if (!gguf_value_element(&g->pattern, i, &local) || local > 1) {
            return refuse_pattern(g);
        }
        p->layers[i].local = local != 0;
    }
    family_set_rotations(p, g->family);
    return ERR_OK;
}

/* The model's window. The first files of Gemma 2 do not give a window. EXAONE 4's small models give
 * a window that they do not use, and no pattern. */
static uint64_t window_of(const struct gguf *g)
{
    uint64_t window = g->number[N_WINDOW];

    if (!g->has_number[N_WINDOW] && g->family->family == INGOT_GEMMA2) {
        return GEMMA2_WINDOW;
    }
    if (g->family->family == INGOT_EXAONE4 && !g->has_pattern &&
        g->s->params.n_layers != EXAONE_LARGE_LAYERS) {
        return 0;
    }
    return window;
}

enum err gguf_read_windows(struct gguf *g)
{
    struct source_params *p = &g->s->params;
    uint32_t period;
    enum err e = read_period(g, &period);

    if (e == ERR_OK) {
        e = family_set_window(g->s, g->family, window_of(g), period);
    }
    if (e != ERR_OK || p->window == 0) {
        return e;
    }
    if (g->has_real[R_ROPE_BASE_LOCAL]) {
        p->rope_base_local = (float)g->real[R_ROPE_BASE_LOCAL];
    }
    if (g->pattern.type == VALUE_ARRAY) {
        return read_list(g);
    }
    return ERR_OK;
}
