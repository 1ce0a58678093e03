/* A part of each matrix is quantized to each type and compared with the original. The loss is the
 * sum of squared errors divided by the sum of squares. With --calibrate, both sums weigh each
 * column by the mean square of its inputs, so the loss is the relative error of the matrix's
 * products. How much a loss harms the model depends on the matrix's role;
 * docs/experiments/auto-types.md says how the weights of roles were measured. */
#include "flash_image/pack/pack_auto.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "flash_image/pack/pack_budget.h"
#include "flash_image/pack/pack_own_type.h"
#include "flash_image/pack/pack_types.h"
#include "flash_image/source/map_file.h"
#include "runtime/image/image.h"
#include "runtime/text/format_text.h"

/* Weights measured in each matrix, in evenly spaced groups of rows, for its loss within 1 %. */
enum { MEASURED = 1 << 17, GROUP = INGOT_INTERLEAVE, TRIES = 32 };

static const enum ingot_type offered[] = {
#define TYPE_AUTO(NAME) INGOT_##NAME,
#include "flash_image/format/types.def"
};
enum { N_OFFERED = sizeof offered / sizeof offered[0] };
static_assert(N_OFFERED + 1 <= BUDGET_MOST_OFFERS, "and the file's own type");

/* A matrix, and the types that it may get: types[i] belongs to offer i of its item. */
struct matrix {
    enum ingot_role role;
    unsigned layer;
    uint8_t types[BUDGET_MOST_OFFERS];
};

struct choice {
    struct writer *w;
    uint8_t *types; /* the result */
    struct matrix *matrices;
    struct budget_item *items; /* of each matrix */
    size_t n;
    const char *error_message; /* set if no type can store some matrix */
};

static struct ingot_tensor entry_of(const struct source_tensor *t, const struct matrix *m,
                                    enum ingot_type type)
{
    uint32_t padding = image_type_padding(type);

    return (struct ingot_tensor){
        .role = (uint16_t)m->role,
        .layer = (uint16_t)m->layer,
        .type = (uint8_t)type,
        .interleave = (uint8_t)image_type_interleave(type),
        .rows = t->rows,
        .cols = t->cols,
        .cols_padded = (t->cols + padding - 1) / padding * padding,
    };
}

/* Measure the loss of some groups of rows. False if the type cannot represent a weight. */
static bool measure_rows(struct choice *c, const struct source_tensor *t,
                         const struct ingot_tensor *entry, uint32_t groups)
{
    uint32_t all = (t->rows + GROUP - 1) / GROUP, step = max_u32(all / max_u32(groups, 1), 1);
    struct rows_buffers *rows = &c->w->rows;

    for (uint32_t group = 0; group < all; group += step) {
        uint32_t end = min_u32(t->rows, (group + 1) * GROUP);

        for (uint32_t row = group * GROUP; row < end; row += entry->interleave) {
            if (rows_pack_group(t, (enum ingot_type)entry->type, row, rows, &c->error_message) ==
                0) {
                return false;
            }
        }
    }
    return true;
}

/* The loss of a matrix, or of some of its experts; below 0 if the type cannot represent it. */
static double measure(struct choice *c, const struct matrix *m, enum ingot_type type)
{
    const struct source_tensor *t = source_tensor(c->w->s, m->role, m->layer);
    struct ingot_tensor entry = entry_of(t, m, type);
    uint32_t experts = max_u32(t->stack, 1);
    uint32_t groups = MEASURED / GROUP / max_u32(t->cols, 1) / experts + 1;
    struct rows_loss loss = { .squares = 0 };

    c->w->rows.importance = pack_importance(c->w, &entry);
    c->w->rows.loss = &loss;
    for (uint32_t i = 0; i < experts; i++) {
        struct source_tensor one = t->stack != 0 ? source_expert(t, i) : *t;
        const uint8_t *kept = one.data;

        rows_begin(&one, &entry, &c->w->rows);
        if (!measure_rows(c, &one, &entry, groups)) {
            return -1;
        }
        if (one.stride == 0) {
            map_release(&kept, source_row_data(&one, one.rows), true);
        }
    }
    return loss.counted > 0 ? loss.counted_errors / loss.counted : 0;
}

/* Return how much a model's divergence grows with a matrix's loss, as measured with noise in
 * matrices of real models. In a model with more layers, each matrix of a layer weighs less. */
static double weight_of(const struct source_params *p, enum ingot_role role)
{
    switch (role) {
    case INGOT_TOKEN_EMBEDDING: return p->tied ? 10 : 1;
    case INGOT_OUTPUT: return 10;
    case INGOT_ATTN_V:
    case INGOT_ATTN_V_B: return 10.0 / p->n_layers;
    case INGOT_FFN_DOWN:
    case INGOT_EXPERT_DOWN: return 15.0 / p->n_layers;
    case INGOT_FFN_UP:
    case INGOT_EXPERT_UP: return 7.5 / p->n_layers;
    case INGOT_FFN_GATE:
    case INGOT_EXPERT_GATE: return 4.0 / p->n_layers;
    default: return 2.0 / p->n_layers;
    }
}

static uint64_t bytes_of(const struct source_tensor *t, enum ingot_type type)
{
    uint64_t align = INGOT_TENSOR_ALIGN, bytes = image_tensor_bytes(type, t->rows, t->cols);

    return (bytes + align - 1) / align * align * max_u32(t->stack, 1);
}

static void offer(struct choice *c, enum ingot_type type)
{
    struct budget_item *item = &c->items[c->n];
    struct matrix *m = &c->matrices[c->n];
    const struct source_tensor *t = source_tensor(c->w->s, m->role, m->layer);
    double loss;

    for (unsigned k = 0; k < item->n; k++) {
        if (m->types[k] == type) {
            return;
        }
    }
    loss = measure(c, m, type);
    if (loss < 0) {
        return;
    }
    m->types[item->n] = (uint8_t)type;
    item->offers[item->n].bytes = bytes_of(t, type);
    item->offers[item->n].loss = loss * weight_of(&c->w->s->params, m->role);
    item->n++;
}

/* Offer a matrix the type that an option names, else the file's own type and the listed types. */
static void offer_types(struct choice *c)
{
    struct matrix *m = &c->matrices[c->n];
    struct source *s = c->w->s;
    struct source_tensor *t = source_tensor(s, m->role, m->layer);
    enum ingot_type fixed;

    if (pack_type_is_named(c->w->options, s, m->role)) {
        fixed = pack_choose_type(c->w->options, s, m->role, m->layer);
        offer(c, fixed);
        return;
    }
    offer(c, pack_type_allowed(pack_own_type(t), m->role, t->cols));
    for (unsigned i = 0; i < N_OFFERED; i++) {
        if (pack_type_allowed(offered[i], m->role, t->cols) == offered[i]) {
            offer(c, offered[i]);
        }
    }
}

static enum err measure_all(struct choice *c)
{
    struct source *s = c->w->s;

    for (struct source_slot at = source_first_slot; at.role < INGOT_N_ROLES;
         source_next_slot(&s->params, &at)) {
        if (!source_has_role(s, at.role, at.layer) || !image_role_is_matrix(at.role)) {
            continue;
        }
        c->matrices[c->n] = (struct matrix){ .role = at.role, .layer = at.layer };
        offer_types(c);
        if (c->items[c->n].n == 0) {
            return source_refuse(s, ERR_BAD_MODEL, "the tensor %s %s",
                                 image_role_name((unsigned)at.role), c->error_message);
        }
        c->n++;
    }
    return ERR_OK;
}

/* Lay out the file with the chosen types. Return its size in bytes. */
static uint64_t lay(struct choice *c)
{
    struct source *s = c->w->s;

    for (size_t i = 0; i < c->n; i++) {
        const struct matrix *m = &c->matrices[i];

        c->types[source_tensor(s, m->role, m->layer) - s->tensors] = m->types[c->items[i].chosen];
    }
    pack_lay_tables(&c->w->tables);
    return c->w->header->file_bytes;
}

/* Choose types. The file also has padding, which depends on the types, so several sizes are
 * tried. */
static enum err choose(struct choice *c)
{
    uint64_t size = c->w->options->size, more, bytes;

    (void)budget_choose(c->items, c->n, 0);
    bytes = lay(c);
    more = bytes - budget_bytes(c->items, c->n);
    if (bytes > size) {
        return source_refuse(c->w->s, ERR_NO_SPACE,
                             "does not fit into %" PRIu64 " bytes (--size): the smallest file that "
                             "--type auto makes has %" PRIu64 " bytes",
                             size, bytes);
    }
    for (int i = 0; i < TRIES; i++) {
        if (more > size || !budget_choose(c->items, c->n, size - more)) {
            break;
        }
        bytes = lay(c);
        if (bytes <= size) {
            return ERR_OK;
        }
        more += bytes - size;
    }
    (void)budget_choose(c->items, c->n, 0);
    (void)lay(c);
    return ERR_OK;
}

/* Report the types, and how many matrices have each. */
static void tell(const struct choice *c)
{
    char size[FORMAT_NUMBER_BYTES];
    unsigned counts[INGOT_N_TYPES] = { 0 };

    if (c->w->options->quiet) {
        return;
    }
    for (size_t i = 0; i < c->n; i++) {
        counts[c->matrices[i].types[c->items[i].chosen]]++;
    }
    fprintf(stderr, "%s: --type auto takes", c->w->s->path);
    for (unsigned type = 0; type < INGOT_N_TYPES; type++) {
        if (counts[type] != 0) {
            fprintf(stderr, " %u x %s,", counts[type], image_type_name(type));
        }
    }
    fprintf(stderr, " %s\n", format_bytes(size, c->w->header->file_bytes));
}

enum err pack_auto_choose(struct writer *w, uint8_t *types)
{
    size_t most = pack_count_tensors(w->s);
    struct choice c = { .w = w,
                        .types = types,
                        .matrices = calloc(most, sizeof *c.matrices),
                        .items = calloc(most, sizeof *c.items) };
    enum err e = ERR_OK;

    if (c.matrices == NULL || c.items == NULL) {
        e = source_refuse(w->s, ERR_NO_SPACE, "out of memory");
    }
    if (e == ERR_OK) {
        e = measure_all(&c);
    }
    if (e == ERR_OK) {
        e = choose(&c);
    }
    if (e == ERR_OK) {
        tell(&c);
    }
    free(c.matrices);
    free(c.items);
    return e;
}
