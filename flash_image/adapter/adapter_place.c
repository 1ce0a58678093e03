/* Finds the base's matrices that a pair A, B of an adapter changes, and copies the pair with its
 * rows and columns in the order of those matrices. */
#include <math.h>
#include <stdlib.h>

#include "flash_image/adapter/adapter_private.h"
#include "flash_image/quantize/source_rows.h"
#include "runtime/image/adapter_image.h"

/* A part of a pair's B: the role and shape of the base's matrix, and the part's rows. */
struct part {
    enum ingot_role role;
    unsigned layer;
    uint32_t rows, cols;
    uint32_t first, run, step; /* row r of the part is row first + r / run * step + r % run of B */
};

static enum err refuse_shape(struct adapter_build *b, const struct adapter_raw *raw)
{
    return source_refuse(b->s, ERR_BAD_MODEL,
                         "%s: A is %u x %u and B is %u x %u, so the adapter is for another model",
                         raw->name, raw->a.rows, raw->a.cols, raw->b.rows, raw->b.cols);
}

/* ---- the order of rows ----------------------------------------------------------------------- */

/* True if the base stores rotated rows in pairs and the adapter in halves, or the reverse. */
static bool rotates_otherwise(const struct adapter_build *b)
{
    const struct ingot_header *h = b->o->base->header;
    bool base_pairs = h->params.n_ropes != 0 && h->ropes[0].kind == INGOT_ROPE_PAIRS;

    if (!family_has(b->family, FAMILY_GGUF_PAIRS) || family_has(b->family, FAMILY_PAIRS)) {
        return false;
    }
    if (b->o->order != ADAPTER_ORDER_KNOWN) {
        base_pairs = b->o->order == ADAPTER_ORDER_GGUF;
    }
    return base_pairs == b->peft;
}

/* False if the order of the rows cannot be determined, because no layer of the model rotates. */
static bool is_order_known(const struct adapter_build *b)
{
    return !family_has(b->family, FAMILY_GGUF_PAIRS) || family_has(b->family, FAMILY_PAIRS) ||
           b->o->order != ADAPTER_ORDER_KNOWN || b->o->base->header->params.n_ropes != 0;
}

/* The adapter's row for row r of the base. One of the two orders is halves, the other is pairs:
 * element i of half j is element 2 i + j in pairs. */
static uint32_t rotated_row(const struct adapter_build *b, uint32_t r, uint32_t head_dim)
{
    uint32_t head = r / head_dim * head_dim, at = r % head_dim, half = head_dim / 2;

    if (b->peft) {
        return head + at % 2 * half + at / 2;
    }
    return head + at % half * 2 + at / half;
}

/* True if the base stores the heads of a delta net tiled (head j n_groups + g) and the adapter
 * grouped (head g ratio + j), or the reverse. */
static bool groups_otherwise(const struct adapter_build *b, const struct ingot_layer *l)
{
    bool tiled = (l->features & INGOT_TILED_GROUPS) != 0;

    return l->mixer == INGOT_MIXER_DELTA && l->inner_heads != l->n_groups && tiled == b->peft;
}

static uint32_t other_head(const struct adapter_build *b, const struct ingot_layer *l,
                           uint32_t head)
{
    uint32_t ratio = l->inner_heads / l->n_groups;

    if (b->peft) { /* the base is tiled */
        return head % l->n_groups * ratio + head / l->n_groups;
    }
    return head % ratio * l->n_groups + head / ratio;
}

/* The adapter's index for the base's index `at`: of an element, or of a head if width is 1. */
static uint32_t other_inner(const struct adapter_build *b, const struct ingot_layer *l, uint32_t at,
                            uint32_t width)
{
    return other_head(b, l, at / width) * width + at % width;
}

/* The row of the adapter for row r of the base's matrix. */
static uint32_t row_of(const struct adapter_build *b, const struct part *p, uint32_t r)
{
    const struct ingot_layer *l;
    uint32_t front;

    if (p->layer == INGOT_NO_LAYER) {
        return r;
    }
    l = image_layer(b->o->base, p->layer);
    if ((p->role == INGOT_ATTN_Q || p->role == INGOT_ATTN_K) && rotates_otherwise(b)) {
        return rotated_row(b, r, l->head_dim);
    }
    if (!groups_otherwise(b, l)) {
        return r;
    }
    switch ((int)p->role) {
    case INGOT_SSM_IN:
        front = 2 * l->n_groups * l->state_dim; /* queries and keys */
        return r < front ? r : front + other_inner(b, l, r - front, l->inner_dim / l->inner_heads);
    case INGOT_SSM_GATE: return other_inner(b, l, r, l->inner_dim / l->inner_heads);
    case INGOT_SSM_BETA:
    case INGOT_SSM_ALPHA: return other_inner(b, l, r, 1);
    default: return r;
    }
}

/* The column of the adapter for column c. */
static uint32_t col_of(const struct adapter_build *b, const struct part *p, uint32_t c)
{
    const struct ingot_layer *l;

    if (p->role != INGOT_SSM_OUT) {
        return c;
    }
    l = image_layer(b->o->base, p->layer);
    return groups_otherwise(b, l) ? other_inner(b, l, c, l->inner_dim / l->inner_heads) : c;
}

/* ---- one part -------------------------------------------------------------------------------- */

static struct adapter_made *add_made(struct adapter_build *b)
{
    struct adapter_made *more;

    if (b->n_made == b->made_room) {
        b->made_room = b->made_room != 0 ? 2 * b->made_room : 64;
        more = realloc(b->made, b->made_room * sizeof *more);
        if (more == NULL) {
            return NULL;
        }
        b->made = more;
    }
    more = &b->made[b->n_made++];
    *more = (struct adapter_made){ .a = NULL };
    return more;
}

/* A has one row per rank and the base's columns; for an embedding it has one row per token. */
static void copy_a(const struct adapter_build *b, const struct adapter_raw *raw,
                   const struct part *p, struct adapter_made *m, float *row)
{
    uint32_t padded = adapter_cols_padded(p->cols);

    for (uint32_t i = 0; i < raw->a.rows; i++) {
        source_read_row(&raw->a, i, row);
        for (uint32_t c = 0; c < raw->a.cols; c++) {
            if (p->role == INGOT_TOKEN_EMBEDDING) {
                m->a[(size_t)i * raw->a.cols + c] = row[c];
            } else {
                m->a[(size_t)i * padded + c] = row[col_of(b, p, c)];
            }
        }
    }
}

static void copy_b(const struct adapter_build *b, const struct adapter_raw *raw,
                   const struct part *p, struct adapter_made *m, float *row)
{
    uint32_t rank = m->pair.rank;

    for (uint32_t r = 0; r < p->rows; r++) {
        uint32_t from = row_of(b, p, r);
        float *to = m->b + (size_t)r / INGOT_INTERLEAVE * rank * INGOT_INTERLEAVE +
                    r % INGOT_INTERLEAVE;

        source_read_row(&raw->b, p->first + from / p->run * p->step + from % p->run, row);
        for (uint32_t k = 0; k < rank; k++) {
            to[(size_t)k * INGOT_INTERLEAVE] = row[k];
        }
    }
}

static enum err make_part(struct adapter_build *b, const struct adapter_raw *raw,
                          const struct part *p)
{
    uint32_t rank = raw->b.cols;
    float *row = malloc(max_size(raw->a.cols, rank) * sizeof *row);
    struct adapter_made *m = add_made(b);

    if (m != NULL) {
        float divisor = raw->rslora ? sqrtf((float)rank) : (float)rank;

        m->pair = (struct adapter_pair){ .role = (uint16_t)p->role,
                                         .layer = (uint16_t)p->layer,
                                         .rank = rank,
                                         .rows = p->rows,
                                         .cols = p->cols,
                                         .scale = raw->alpha == 0.0f ? 1.0f
                                                                     : raw->alpha / divisor };
        m->a = calloc((size_t)adapter_a_numbers(&m->pair), sizeof *m->a);
        m->b = calloc((size_t)adapter_b_numbers(&m->pair), sizeof *m->b);
    }
    if (m == NULL || row == NULL || m->a == NULL || m->b == NULL) {
        free(row);
        return source_refuse(b->s, ERR_NO_SPACE, "%s", err_text(ERR_NO_SPACE));
    }
    copy_a(b, raw, p, m, row);
    copy_b(b, raw, p, m, row);
    free(row);
    return ERR_OK;
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* Find the base's matrix in a role. False: there is none, or it may not have an adapter. */
static bool find_part(struct adapter_build *b, enum ingot_role role, unsigned layer, struct part *p)
{
    const struct ingot_tensor *w = image_tensor(b->o->base, role, layer);

    if (w == NULL || !adapter_takes_role(role)) {
        (void)source_refuse(b->s, ERR_UNSUPPORTED, "%s of layer %u: %s", image_role_name(role),
                            layer,
                            w == NULL ? "the model has no such matrix"
                                      : "this matrix cannot have an adapter here");
        return false;
    }
    *p = (struct part){ role, layer, w->rows, w->cols, 0, w->rows, w->rows };
    if (role == INGOT_TOKEN_EMBEDDING) {
        p->rows = p->run = p->step = w->cols;
        p->cols = w->rows;
    }
    return true;
}

/* Check that both halves have the same rank, and that A has as many columns as the base. */
static enum err check_raw(struct adapter_build *b, const struct adapter_raw *raw,
                          const struct part *p)
{
    uint32_t rank = raw->b.cols, a_rows = rank, a_cols = p->cols;

    if (raw->a.data == NULL || raw->b.data == NULL) {
        return source_refuse(b->s, ERR_BAD_MODEL, "%s has only one half of a pair", raw->name);
    }
    if (p->role == INGOT_TOKEN_EMBEDDING) {
        a_rows = p->cols;
        a_cols = rank;
    }
    if (raw->a.rows != a_rows || raw->a.cols != a_cols) {
        return refuse_shape(b, raw);
    }
    if (rank == 0 || rank > ADAPTER_MOST_RANK) {
        return source_refuse(b->s, ERR_UNSUPPORTED, "%s has rank %u, but the maximum is %u",
                             raw->name, rank, (unsigned)ADAPTER_MOST_RANK);
    }
    return ERR_OK;
}

static enum err place_query_gate(struct adapter_build *b, const struct adapter_raw *raw,
                                 const struct adapter_place *place)
{
    uint32_t width = image_layer(b->o->base, place->layer)->head_dim;
    struct part query, gate;
    enum err e;

    if (!find_part(b, INGOT_ATTN_Q, place->layer, &query) ||
        !find_part(b, INGOT_ATTN_GATE, place->layer, &gate)) {
        return ERR_UNSUPPORTED;
    }
    e = check_raw(b, raw, &query);
    if (e == ERR_OK && raw->b.rows != query.rows + gate.rows) {
        e = refuse_shape(b, raw);
    }
    query.run = gate.run = width;
    query.step = gate.step = 2 * width;
    gate.first = width;
    if (e == ERR_OK) {
        e = make_part(b, raw, &query);
    }
    return e == ERR_OK ? make_part(b, raw, &gate) : e;
}

static enum err place_parts(struct adapter_build *b, const struct adapter_raw *raw,
                            const struct adapter_place *place)
{
    uint32_t first = 0;
    struct part p;

    for (unsigned i = 0; i < place->n; i++) {
        enum ingot_role role = place->role;
        enum err e;

        if (place->fusion == ADAPTER_PARTS) {
            role = source_part_role(place->role, i);
        }
        if (!find_part(b, role, place->layer, &p)) {
            return ERR_UNSUPPORTED;
        }
        e = check_raw(b, raw, &p);
        if (e == ERR_OK && (p.rows > raw->b.rows - first ||
                            (i == place->n - 1 && p.rows != raw->b.rows - first))) {
            e = refuse_shape(b, raw);
        }
        p.first = first;
        first += p.rows;
        e = e == ERR_OK ? make_part(b, raw, &p) : e;
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

enum err adapter_place(struct adapter_build *b, const struct adapter_raw *raw,
                       const struct adapter_place *place)
{
    if (place->layer != INGOT_NO_LAYER && place->layer >= b->s->params.n_layers) {
        return source_refuse(b->s, ERR_BAD_MODEL, "%s: the model has only %u layers", raw->name,
                             b->s->params.n_layers);
    }
    if (place->role == INGOT_ATTN_Q && !is_order_known(b)) {
        return source_refuse(
            b->s, ERR_UNSUPPORTED,
            "the order of the model's rows is unknown: with --base, give the GGUF or the folder "
            "that the model was packed from");
    }
    if (place->fusion == ADAPTER_QUERY_GATE) {
        return place_query_gate(b, raw, place);
    }
    return place_parts(b, raw, place);
}
