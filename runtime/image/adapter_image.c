#include "runtime/image/adapter_image.h"

#include <stdarg.h>
#include <string.h>

#include "kernels/ref/scalar.h"
#include "runtime/base/crc32c.h"
#include "runtime/text/format_text.h"

__attribute__((format(printf, 3, 4))) static enum err refuse(char *error_message, enum err e,
                                                             const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)format_text_args(error_message, ADAPTER_ERROR_MESSAGE_BYTES, format, args);
    va_end(args);
    return e;
}

/* ---- header ---------------------------------------------------------------------------------- */

static uint32_t header_crc(const struct adapter_header *h)
{
    return crc32c_of_header(h, sizeof *h, &h->header_crc32c);
}

static enum err check_front(const struct adapter_header *h, uint64_t file_bytes,
                            char *error_message)
{
    if (file_bytes < sizeof *h) {
        return refuse(error_message, ERR_TRUNCATED, "it is too short to be an adapter");
    }
    if (memcmp(h->magic, INGOT_MAGIC, sizeof h->magic) == 0) {
        return refuse(error_message, ERR_BAD_MAGIC, "it is a model, not an adapter");
    }
    if (memcmp(h->magic, ADAPTER_MAGIC, sizeof h->magic) != 0) {
        return refuse(error_message, ERR_BAD_MAGIC,
                      "it is not an adapter: `ingot adapter` makes one");
    }
    if (h->version != ADAPTER_VERSION) {
        return refuse(error_message, ERR_BAD_VERSION,
                      "it has version %u, this program reads %u: make it again",
                      (unsigned)h->version, (unsigned)ADAPTER_VERSION);
    }
    if (h->header_crc32c != header_crc(h)) {
        return refuse(error_message, ERR_BAD_CHECKSUM, "its header is damaged: copy it again");
    }
    if (h->file_bytes > file_bytes) {
        return refuse(error_message, ERR_TRUNCATED, "it is cut short: copy it again");
    }
    return ERR_OK;
}

static enum err check_numbers(const struct adapter_header *h, char *error_message)
{
    const struct {
        const char *name;
        uint64_t value, least, most;
    } fields[] = {
        { "dim", h->dim, 1, INGOT_MAX_DIM },
        { "n_layers", h->n_layers, 1, INGOT_MAX_LAYERS },
        { "vocab", h->vocab, 1, INGOT_MAX_VOCAB },
        { "n_pairs", h->n_pairs, 1, ADAPTER_MOST_PAIRS },
        { "reserved", h->reserved0, 0, 0 },
        { "data_bytes", h->data_bytes, INGOT_PAGE, h->file_bytes },
    };

    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (fields[i].value < fields[i].least || fields[i].value > fields[i].most) {
            return refuse(error_message, ERR_BAD_HEADER, "its %s is %llu, must be %llu to %llu",
                          fields[i].name, (unsigned long long)fields[i].value,
                          (unsigned long long)fields[i].least, (unsigned long long)fields[i].most);
        }
    }
    return ERR_OK;
}

uint64_t adapter_table_bytes(const struct adapter_header *h)
{
    uint64_t bytes = (uint64_t)h->n_pairs * sizeof(struct adapter_pair);

    return (bytes + INGOT_PAGE - 1) / INGOT_PAGE * INGOT_PAGE;
}

enum err adapter_check_header(const struct adapter_header *h, uint64_t file_bytes,
                              char *error_message)
{
    enum err e = check_front(h, file_bytes, error_message);

    if (e == ERR_OK) {
        e = check_numbers(h, error_message);
    }
    if (e != ERR_OK) {
        return e;
    }
    if (h->type != INGOT_F32 && h->type != INGOT_F16 && h->type != INGOT_Q8_0) {
        return refuse(error_message, ERR_BAD_HEADER, "its type is %u, must be f32, f16 or q8_0",
                      (unsigned)h->type);
    }
    if (memchr(h->name, '\0', sizeof h->name) == NULL ||
        memchr(h->base, '\0', sizeof h->base) == NULL) {
        return refuse(error_message, ERR_BAD_HEADER, "its name has no terminating zero");
    }
    if (h->file_bytes != sizeof *h + adapter_table_bytes(h) + h->data_bytes) {
        return refuse(error_message, ERR_BAD_HEADER, "its file_bytes is not the sum of its parts");
    }
    return ERR_OK;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

bool adapter_takes_role(enum ingot_role role)
{
    static const uint64_t roles = (uint64_t)1 << INGOT_TOKEN_EMBEDDING |
                                  (uint64_t)1 << INGOT_ATTN_Q_A | (uint64_t)1 << INGOT_ATTN_Q |
                                  (uint64_t)1 << INGOT_ATTN_GATE | (uint64_t)1 << INGOT_ATTN_K |
                                  (uint64_t)1 << INGOT_ATTN_V | (uint64_t)1 << INGOT_ATTN_OUT |
                                  (uint64_t)1 << INGOT_SSM_IN | (uint64_t)1 << INGOT_SSM_GATE |
                                  (uint64_t)1 << INGOT_SSM_BETA | (uint64_t)1 << INGOT_SSM_ALPHA |
                                  (uint64_t)1 << INGOT_SSM_OUT | (uint64_t)1 << INGOT_FFN_GATE |
                                  (uint64_t)1 << INGOT_FFN_UP | (uint64_t)1 << INGOT_FFN_DOWN |
                                  (uint64_t)1 << INGOT_OUTPUT;

    return role < INGOT_N_ROLES && (roles >> role & 1) != 0;
}

uint64_t adapter_a_numbers(const struct adapter_pair *p)
{
    if (p->role == INGOT_TOKEN_EMBEDDING) {
        return (uint64_t)p->cols * p->rank;
    }
    return (uint64_t)p->rank * adapter_cols_padded(p->cols);
}

uint64_t adapter_b_numbers(const struct adapter_pair *p)
{
    return (uint64_t)(p->rows + INGOT_INTERLEAVE - 1) / INGOT_INTERLEAVE * INGOT_INTERLEAVE *
           p->rank;
}

uint64_t adapter_type_bytes(unsigned type, uint64_t n)
{
    uint64_t bytes = n * sizeof(float);

    if (type == INGOT_F16) {
        bytes = n * sizeof(uint16_t);
    } else if (type == INGOT_Q8_0) {
        bytes = (n + 31) / 32 * (sizeof(uint16_t) + 32);
    }
    return (bytes + ADAPTER_ALIGN - 1) / ADAPTER_ALIGN * ADAPTER_ALIGN;
}

static bool is_finite(float x)
{
    return (f32_bits(x) & 0x7f800000u) != 0x7f800000u;
}

/* Check pair number i; *end is where the previous pair ended in the data. */
static enum err check_pair(const struct adapter_header *h, const struct adapter_pair *pairs,
                           uint32_t i, uint64_t *end, char *error_message)
{
    const struct adapter_pair *p = &pairs[i];

    if (!adapter_takes_role((enum ingot_role)p->role)) {
        return refuse(error_message, ERR_BAD_HEADER,
                      "its pair %u is for %s, which takes no "
                      "adapter",
                      (unsigned)i, image_role_name(p->role));
    }
    if ((p->layer == INGOT_NO_LAYER) == image_role_is_layer((enum ingot_role)p->role) ||
        (p->layer != INGOT_NO_LAYER && p->layer >= h->n_layers)) {
        return refuse(error_message, ERR_BAD_HEADER, "its pair %u has a wrong layer, %u",
                      (unsigned)i, (unsigned)p->layer);
    }
    if (i != 0 && (pairs[i - 1].layer > p->layer ||
                   (pairs[i - 1].layer == p->layer && pairs[i - 1].role >= p->role))) {
        return refuse(error_message, ERR_BAD_HEADER,
                      "its pair %u is out of order, or appears twice", (unsigned)i);
    }
    if (p->rank == 0 || p->rank > ADAPTER_MOST_RANK) {
        return refuse(error_message, ERR_BAD_HEADER, "its pair %u has rank %u, must be 1 to %u",
                      (unsigned)i, (unsigned)p->rank, (unsigned)ADAPTER_MOST_RANK);
    }
    if (p->rows == 0 || p->cols == 0 || p->rows > INGOT_MAX_VOCAB || p->cols > INGOT_MAX_VOCAB ||
        !is_finite(p->scale) || p->reserved != 0) {
        return refuse(error_message, ERR_BAD_HEADER, "its pair %u has an impossible size or scale",
                      (unsigned)i);
    }
    if (p->a != *end || p->b != p->a + adapter_type_bytes(h->type, adapter_a_numbers(p))) {
        return refuse(error_message, ERR_BAD_HEADER,
                      "its pair %u does not lie where the one before ends", (unsigned)i);
    }
    *end = p->b + adapter_type_bytes(h->type, adapter_b_numbers(p));
    if (*end > h->data_bytes) {
        return refuse(error_message, ERR_BAD_HEADER, "its pair %u ends beyond the data",
                      (unsigned)i);
    }
    return ERR_OK;
}

/* Return the largest sum of ranks in one layer. */
static uint32_t most_ranks(const struct adapter_header *h, const struct adapter_pair *pairs)
{
    uint32_t most = 0, sum = 0;

    for (uint32_t i = 0; i < h->n_pairs; i++) {
        if (i != 0 && pairs[i].layer != pairs[i - 1].layer) {
            sum = 0;
        }
        sum += pairs[i].rank;
        most = sum > most ? sum : most;
    }
    return most;
}

enum err adapter_check_pairs(const struct adapter_header *h, const struct adapter_pair *pairs,
                             char *error_message)
{
    uint64_t end = 0;

    if (crc32c(0, pairs, (size_t)adapter_table_bytes(h)) != h->pairs_crc32c) {
        return refuse(error_message, ERR_BAD_CHECKSUM, "its table is damaged: copy it again");
    }
    for (uint32_t i = 0; i < h->n_pairs; i++) {
        enum err e = check_pair(h, pairs, i, &end, error_message);

        if (e != ERR_OK) {
            return e;
        }
    }
    if (most_ranks(h, pairs) != h->most_ranks) {
        return refuse(error_message, ERR_BAD_HEADER, "its most_ranks is %u, but its pairs make %u",
                      (unsigned)h->most_ranks, (unsigned)most_ranks(h, pairs));
    }
    return ERR_OK;
}

/* ---- the model ------------------------------------------------------------------------------- */

static enum err refuse_base(const struct adapter_header *h, const struct image *base,
                            char *error_message)
{
    const struct ingot_params *p = &base->header->params;

    return refuse(error_message, ERR_BAD_MODEL,
                  "it is for %s (%u layers of %u, vocabulary %u), the model has %u of %u, "
                  "vocabulary %u",
                  h->base[0] != '\0' ? h->base : "another model", (unsigned)h->n_layers,
                  (unsigned)h->dim, (unsigned)h->vocab, (unsigned)p->n_layers, (unsigned)p->dim,
                  (unsigned)p->vocab);
}

enum err adapter_check_base(const struct adapter_header *h, const struct adapter_pair *pairs,
                            const struct image *base, char *error_message)
{
    const struct ingot_params *p = &base->header->params;

    if (h->dim != p->dim || h->n_layers != p->n_layers || h->vocab != p->vocab) {
        return refuse_base(h, base, error_message);
    }
    for (uint32_t i = 0; i < h->n_pairs; i++) {
        enum ingot_role role = (enum ingot_role)pairs[i].role;
        const struct ingot_tensor *w = image_tensor(base, role, pairs[i].layer);
        uint32_t rows = w == NULL ? 0 : w->rows, cols = w == NULL ? 0 : w->cols;

        if (role == INGOT_TOKEN_EMBEDDING) { /* the input of an embedding is a token, and its output
                                              * is the token's row */
            uint32_t swap = rows;

            rows = cols;
            cols = swap;
        }
        if (pairs[i].rows != rows || pairs[i].cols != cols) {
            return refuse(error_message, ERR_BAD_MODEL,
                          "it is for another model: %s of layer %u is %u x %u there, here %u x %u",
                          image_role_name(role), (unsigned)pairs[i].layer, (unsigned)pairs[i].rows,
                          (unsigned)pairs[i].cols, (unsigned)rows, (unsigned)cols);
        }
    }
    return ERR_OK;
}
