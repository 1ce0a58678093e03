/* Writes the file of an adapter: numbers in the file's type, tables, checksums. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "flash_image/adapter/adapter_private.h"
#include "flash_image/output/output_file.h"
#include "kernels/ref/scalar.h"
#include "runtime/base/crc32c.h"
#include "runtime/image/adapter_image.h"

enum { BLOCK = 32 };

/* The whole file is in memory, because an adapter is small compared with its base. */
struct file {
    struct adapter_header *header;
    struct adapter_pair *pairs;
    uint8_t *data;
    uint64_t bytes;
};

static int in_order(const void *a, const void *b)
{
    const struct adapter_pair *x = &((const struct adapter_made *)a)->pair;
    const struct adapter_pair *y = &((const struct adapter_made *)b)->pair;

    if (x->layer != y->layer) {
        return x->layer < y->layer ? -1 : 1;
    }
    return (x->role > y->role) - (x->role < y->role);
}

static enum err check_twice(struct adapter_build *b)
{
    for (size_t i = 1; i < b->n_made; i++) {
        if (in_order(&b->made[i - 1], &b->made[i]) == 0) {
            return source_refuse(b->s, ERR_BAD_MODEL,
                                 "%s of layer %u has two pairs of matrices: "
                                 "give an adapter with one",
                                 image_role_name(b->made[i].pair.role), b->made[i].pair.layer);
        }
    }
    if (b->n_made > ADAPTER_MOST_PAIRS) {
        return source_refuse(b->s, ERR_UNSUPPORTED, "has %zu pairs, but the maximum is %u",
                             b->n_made, (unsigned)ADAPTER_MOST_PAIRS);
    }
    return ERR_OK;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* A block of Q8_0: the largest number becomes 127. */
static void put_block(uint8_t *to, const float *x, uint64_t n)
{
    float most = 0.0f;
    uint16_t scale;

    for (uint64_t i = 0; i < n; i++) {
        most = fmaxf(most, fabsf(x[i]));
    }
    scale = f16_from_f32(most / 127.0f);
    memcpy(to, &scale, sizeof scale);
    for (uint64_t i = 0; i < BLOCK; i++) {
        float q = i < n && most > 0.0f ? roundf(x[i] * (127.0f / most)) : 0.0f;

        to[2 + i] = (uint8_t)(int8_t)q;
    }
}

static bool put_numbers(uint8_t *to, uint32_t type, const float *x, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        uint16_t half = f16_from_f32(x[i]);

        if (!isfinite(x[i]) || (type != INGOT_F32 && (half & 0x7c00u) == 0x7c00u)) {
            return false;
        }
        if (type == INGOT_F16) {
            memcpy(to + i * sizeof half, &half, sizeof half);
        } else if (type == INGOT_F32) {
            memcpy(to + i * sizeof *x, &x[i], sizeof *x);
        }
    }
    for (uint64_t i = 0; type == INGOT_Q8_0 && i < n; i += BLOCK, to += 2 + BLOCK) {
        put_block(to, x + i, min_u64(n - i, BLOCK));
    }
    return true;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Assign offsets to the pairs; returns the size of the data in whole pages, in bytes. */
static uint64_t lay_out(struct adapter_build *b)
{
    uint64_t at = 0;

    for (size_t i = 0; i < b->n_made; i++) {
        struct adapter_pair *p = &b->made[i].pair;

        p->a = at;
        p->b = at + adapter_type_bytes(b->o->type, adapter_a_numbers(p));
        at = p->b + adapter_type_bytes(b->o->type, adapter_b_numbers(p));
    }
    return (at + INGOT_PAGE - 1) / INGOT_PAGE * INGOT_PAGE;
}

static void set_name(char *to, size_t room, const char *from)
{
    size_t n = min_size(strlen(from), room - 1);

    while (n > 0 && ((unsigned char)from[n] & 0xc0) == 0x80) {
        n--; /* inside a character */
    }
    memset(to, 0, room);
    memcpy(to, from, n);
}

static void fill_header(const struct adapter_build *b, struct adapter_header *h,
                        uint64_t data_bytes)
{
    const struct ingot_header *base = b->o->base->header;
    uint32_t sum = 0;

    memcpy(h->magic, ADAPTER_MAGIC, sizeof h->magic);
    h->version = ADAPTER_VERSION;
    set_name(h->name, sizeof h->name, b->o->name != NULL ? b->o->name : b->name);
    set_name(h->base, sizeof h->base, base->name);
    h->family = base->params.family;
    h->dim = base->params.dim;
    h->n_layers = base->params.n_layers;
    h->vocab = base->params.vocab;
    h->type = b->o->type;
    h->n_pairs = (uint32_t)b->n_made;
    h->data_bytes = data_bytes;
    h->file_bytes = sizeof *h + adapter_table_bytes(h) + data_bytes;
    for (size_t i = 0; i < b->n_made; i++) {
        if (i != 0 && b->made[i].pair.layer != b->made[i - 1].pair.layer) {
            sum = 0;
        }
        sum += b->made[i].pair.rank;
        h->most_ranks = max_u32(h->most_ranks, sum);
    }
}

static enum err fill_data(struct adapter_build *b, const struct file *f)
{
    for (size_t i = 0; i < b->n_made; i++) {
        const struct adapter_made *m = &b->made[i];

        f->pairs[i] = m->pair;
        if (!put_numbers(f->data + m->pair.a, b->o->type, m->a, adapter_a_numbers(&m->pair)) ||
            !put_numbers(f->data + m->pair.b, b->o->type, m->b, adapter_b_numbers(&m->pair))) {
            return source_refuse(b->s, ERR_BAD_MODEL,
                                 "%s of layer %u has a weight that is not finite, or too large for "
                                 "%s",
                                 image_role_name(m->pair.role), m->pair.layer,
                                 image_type_name(b->o->type));
        }
    }
    f->header->pairs_crc32c = crc32c(0, f->pairs, (size_t)adapter_table_bytes(f->header));
    f->header->data_crc32c = crc32c(0, f->data, (size_t)f->header->data_bytes);
    f->header->header_crc32c = 0;
    f->header->header_crc32c = crc32c(0, f->header, sizeof *f->header);
    return ERR_OK;
}

static enum err write_all(struct adapter_build *b, const struct file *f)
{
    const struct output_wish wish = { .path = b->o->output,
                                      .input = b->o->input,
                                      .instead = "name a new file, such as adapter.ingot" };
    char error_message[sizeof b->s->error_message];
    enum err e = output_write(&wish, f->header, (size_t)f->bytes, error_message,
                              sizeof error_message);

    if (e != ERR_OK) {
        memcpy(b->s->error_message, error_message, sizeof error_message);
    }
    return e;
}

/* Check the file with the reader that boards use. */
static enum err check_file(struct adapter_build *b, const struct file *f)
{
    char error_message[ADAPTER_ERROR_MESSAGE_BYTES];
    enum err e = adapter_check_header(f->header, f->bytes, error_message);

    if (e == ERR_OK) {
        e = adapter_check_pairs(f->header, f->pairs, error_message);
    }
    if (e == ERR_OK) {
        e = adapter_check_base(f->header, f->pairs, b->o->base, error_message);
    }
    return e == ERR_OK ? ERR_OK : source_refuse(b->s, e, "%s", error_message);
}

static void fill_result(const struct adapter_build *b, const struct file *f,
                        struct adapter_result *r)
{
    *r = (struct adapter_result){ f->header->n_pairs, UINT32_MAX, 0, f->bytes };
    for (size_t i = 0; i < b->n_made; i++) {
        r->least_rank = min_u32(r->least_rank, b->made[i].pair.rank);
        r->most_rank = max_u32(r->most_rank, b->made[i].pair.rank);
    }
}

enum err adapter_write(struct adapter_build *b, struct adapter_result *result)
{
    struct adapter_header *h;
    struct file f;
    uint64_t data_bytes, table;
    enum err e;

    qsort(b->made, b->n_made, sizeof *b->made, in_order);
    e = check_twice(b);
    if (e != ERR_OK) {
        return e;
    }
    data_bytes = lay_out(b);
    table = (b->n_made * sizeof *f.pairs + INGOT_PAGE - 1) / INGOT_PAGE * INGOT_PAGE;
    h = calloc(1, (size_t)(sizeof *h + table + data_bytes));
    if (h == NULL) {
        return source_refuse(b->s, ERR_NO_SPACE, "%s", err_text(ERR_NO_SPACE));
    }
    fill_header(b, h, data_bytes);
    f = (struct file){ h, (void *)(h + 1), (uint8_t *)(h + 1) + table, h->file_bytes };
    e = fill_data(b, &f);
    if (e == ERR_OK) {
        e = check_file(b, &f);
    }
    if (e == ERR_OK) {
        e = write_all(b, &f);
    }
    fill_result(b, &f, result);
    free(h);
    return e;
}
