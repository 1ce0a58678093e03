/* The planner over models of many shapes and every limit, and at the format's bounds. */
#include "runtime/plan.h"

#include <stdlib.h>
#include <string.h>

#include "board/block_device.h"
#include "runtime/activations.h"
#include "runtime/image.h"
#include "runtime/kv_cache.h"
#include "tests/unit/tap.h"

static struct ingot_header header;
static struct ingot_tensor tensors[9 * INGOT_MAX_LAYERS + 3];
static struct ingot_extent extents[INGOT_MAX_LAYERS + 2];
static struct image image = { .header = &header, .tensors = tensors, .extents = extents };
static struct plan_request request;
static struct plan plan, other;

static uint64_t up(uint64_t n, uint64_t to)
{
    return (n + to - 1) / to * to;
}

static void put_tensor(struct ingot_tensor *t, enum ingot_role role, unsigned layer,
                       uint32_t extent, enum ingot_type type)
{
    uint64_t *end = &extents[extent].bytes;

    memset(t, 0, sizeof *t);
    t->role = (uint16_t)role;
    t->layer = (uint16_t)layer;
    t->type = (uint8_t)type;
    t->interleave = (uint8_t)image_type_interleave(type);
    image_role_shape(&header.params, role, &t->rows, &t->cols);
    t->cols_padded = (uint32_t)up(t->cols, image_type_padding(type));
    t->extent = extent;
    t->offset = up(*end, INGOT_TENSOR_ALIGN);
    t->bytes = image_tensor_bytes(type, t->rows, t->cols);
    *end = t->offset + t->bytes;
}

/* The tables of a model, without its weights; header.params are set. gap: bytes that lie before
 * embedding and output matrix, which a packer leaves out. */
static void make_image(enum ingot_type type, uint64_t gap)
{
    struct ingot_tensor *t = tensors;
    uint32_t n = header.params.n_layers;
    uint64_t at = 5 * INGOT_PAGE;

    memset(extents, 0, sizeof extents);
    extents[0].bytes = gap;
    put_tensor(t++, INGOT_TOKEN_EMBEDDING, INGOT_NO_LAYER, 0, type);
    for (uint32_t layer = 0; layer < n; layer++) {
        for (int role = INGOT_ATTN_NORM; role < INGOT_OUTPUT_NORM; role++) {
            if (image_has_role(&header.params, (enum ingot_role)role)) {
                bool matrix = image_role_is_matrix((enum ingot_role)role);

                put_tensor(t++, (enum ingot_role)role, layer, layer + 1,
                           matrix ? type : INGOT_F32);
            }
        }
    }
    put_tensor(t++, INGOT_OUTPUT_NORM, INGOT_NO_LAYER, n + 1, INGOT_F32);
    extents[n + 1].bytes += header.params.tied ? 0 : gap;
    put_tensor(t, INGOT_OUTPUT, INGOT_NO_LAYER, n + 1, type);
    if (header.params.tied) {
        extents[n + 1].bytes = t[-1].bytes;
        *t = tensors[0];
        t->role = INGOT_OUTPUT;
    }
    for (uint32_t i = 0; i < n + 2; i++) {
        extents[i].offset = at;
        extents[i].bytes = up(extents[i].bytes, INGOT_PAGE);
        at += extents[i].bytes;
    }
    header.file_bytes = at;
    memset(&request, 0, sizeof request);
    request.image = &image;
    request.arena_bytes = (size_t)1 << 40;
}

static void set_params(uint32_t dim, uint32_t hidden, uint32_t layers, uint32_t heads,
                       uint32_t kv_heads, uint32_t vocab, uint32_t context, bool tied)
{
    memset(&header, 0, sizeof header);
    header.params = (struct ingot_params){
        .family = INGOT_LLAMA, .dim = dim, .hidden = hidden, .n_layers = layers, .n_heads = heads,
        .n_kv_heads = kv_heads, .head_dim = dim / heads, .vocab = vocab, .context = context,
        .tied = tied, .rope_base = 1e4f, .norm_eps = 1e-5f };
}

static uint64_t total_bytes(void)
{
    uint64_t total = 0;

    for (uint32_t i = 0; i < header.params.n_layers + 2; i++) {
        total += extents[i].bytes;
    }
    return total;
}

static enum err plan_with(size_t limit)
{
    request.weight_limit = limit;
    return plan_make(&plan, &request);
}

/* Every row in one tile, the tiles in order, every byte from matrix to the extent's end in at
 * least one, each inside a slot and on sectors, and their sum as planned. */
static bool tiles_cover(void)
{
    const struct ingot_tensor *w = image_tensor(&image, INGOT_OUTPUT, INGOT_NO_LAYER);
    const struct ingot_extent *x = &extents[w->extent];
    size_t row_bytes = image_type_row_bytes(w->type, w->cols_padded);
    uint64_t at = x->offset + w->offset, sum = 0;
    uint32_t row = 0;

    for (uint32_t i = 0; i < plan.n_tiles; i++) {
        struct plan_tile t;

        plan_head_tile(&plan, &image, i, &t);
        if (t.first_row != row || t.n_rows == 0 || t.first_row % 8 != 0 ||
            t.offset % SECTOR_BYTES != 0 || t.bytes % SECTOR_BYTES != 0 || t.offset > at ||
            t.bytes > plan.slot_bytes || t.offset + t.bytes > x->offset + x->bytes ||
            t.offset + t.skip != x->offset + w->offset + (uint64_t)row * row_bytes ||
            t.offset + t.bytes < x->offset + w->offset + ((uint64_t)row + t.n_rows) * row_bytes) {
            return false;
        }
        at = t.offset + t.bytes;
        row += t.n_rows;
        sum += t.bytes;
    }
    return row == header.params.vocab && at == x->offset + x->bytes && sum == plan.head_read;
}

/* The sums of a plan, from which extents it pins. */
static bool sums_agree(void)
{
    uint32_t n = header.params.n_layers;
    uint64_t pinned = 0, layers = 0;
    uint32_t n_pinned = 0;

    for (uint32_t i = 0; i < n + 2; i++) {
        bool layer = i >= 1 && i <= n;

        pinned += plan.pinned[i] ? extents[i].bytes : 0;
        n_pinned += layer && plan.pinned[i];
        layers += layer && !plan.pinned[i] ? extents[i].bytes : 0;
        if (layer && !plan.pinned[i] && plan.slot_bytes < extents[i].bytes) {
            return false;
        }
    }
    if (plan.tiled_head && !header.params.tied) {
        pinned += up(header.params.dim * sizeof(float), INGOT_PAGE);
    }
    return plan.pinned_bytes == pinned && plan.layer_read == layers &&
           plan.n_pinned_layers == n_pinned && plan.n_streamed_layers == n - n_pinned &&
           plan.io_bytes == plan.n_slots * plan.slot_bytes + plan.n_rows * plan.row_bytes +
                                plan.row_sums_bytes &&
           (plan.residency == PLAN_RESIDENT) == (plan.io_bytes == 0) &&
           plan.pinned[n + 1] == !(plan.tiled_head && !header.params.tied) &&
           (plan.n_rows == 0) == plan.pinned[0] && (plan.n_tiles != 0) == plan.tiled_head;
}

/* Every row of a streamed embedding is inside the range that is read for it. */
static bool rows_found(void)
{
    const struct ingot_tensor *t = &tensors[0];
    size_t group = image_type_row_bytes(t->type, t->cols_padded) * t->interleave;

    for (uint32_t token = 0; token < header.params.vocab; token++) {
        uint64_t first = extents[0].offset + t->offset + token / t->interleave * group;
        uint64_t offset;
        size_t bytes;

        plan_embedding_range(&image, token, &offset, &bytes);
        if (offset % SECTOR_BYTES != 0 || bytes % SECTOR_BYTES != 0 || offset > first ||
            offset + bytes < first + group || offset + bytes > header.file_bytes ||
            (plan.row_bytes != 0 && bytes != plan.row_bytes)) {
            return false;
        }
    }
    return true;
}

static size_t named_bytes(void)
{
    const char *at = strstr(plan.problem, "at least ");

    return at == NULL ? 0 : (size_t)strtoul(at + 9, NULL, 10) * 1024;
}

struct sweep {
    bool limits, monotone, tiles, sums, cures, seen[3]; /* tiled, streamed, resident */
    uint64_t read;  /* a token's bytes at the limit before */
    size_t least;   /* that fits */
    size_t n;
};

static void look(struct sweep *s, size_t limit)
{
    enum err e = plan_with(limit);
    uint64_t read = plan.layer_read + plan.head_read + plan.row_bytes;

    s->n++;
    if (e != ERR_OK) {
        size_t named = named_bytes();

        s->monotone = s->monotone && e == ERR_NO_SPACE && s->least == 0;
        s->cures = s->cures && named > limit && strstr(plan.problem, "raise mem=") != NULL &&
                   plan_with(named) == ERR_OK && plan_with(named - 1024) == ERR_NO_SPACE;
        return;
    }
    s->least = s->least == 0 ? limit : s->least;
    s->monotone = s->monotone && read <= s->read;
    s->read = read;
    s->limits = s->limits && plan.pinned_bytes + plan.io_bytes <= limit;
    s->sums = s->sums && sums_agree();
    s->tiles = s->tiles && (!plan.tiled_head || tiles_cover());
    s->seen[plan.residency == PLAN_RESIDENT ? 2 : plan.tiled_head ? 0 : 1] = true;
}

static void test_sweep(const char *name, bool every_form)
{
    struct sweep s = { true, true, true, true, true, { false }, UINT64_MAX, 0, 0 };
    uint64_t total = total_bytes();

    for (size_t limit = 1; limit < total - 1; limit += 333 + total / 4000) {
        look(&s, limit);
    }
    look(&s, total - 1);
    look(&s, total + 1);
    OK(plan_with(total) == ERR_OK && plan.residency == PLAN_RESIDENT &&
           plan.pinned_bytes == total && plan.layer_read + plan.head_read == 0,
       "%s: %d bytes are resident in as many", name, (int)total);
    OK(s.limits, "%s: pinned and slots keep each of %d limits", name, (int)s.n);
    OK(s.monotone, "%s: from %d bytes on it fits, and more memory never reads more", name,
       (int)s.least);
    OK(s.cures, "%s: the refusal names what is enough, and no KiB more", name);
    OK(s.sums, "%s: the sums are those of what is pinned", name);
    OK(s.tiles, "%s: tiles cover the matrix", name);
    OK(!every_form || (s.seen[0] && s.seen[1] && s.seen[2]), "%s: in tiles, streamed, resident",
       name);
    (void)plan_with(s.least);
    OK(rows_found(), "%s: every embedding row is in its range", name);
}

static void test_shapes(void)
{
    static const enum ingot_type types[] = { INGOT_F32, INGOT_Q8_0, INGOT_Q4_0 };
    static const char *const names[] = { "f32", "q8_0", "q4_0" };

    for (int tied = 0; tied < 2; tied++) {
        for (int i = 0; i < 3; i++) {
            char name[64];

            snprintf(name, sizeof name, "64 wide, 4 layers, %s, %s", names[i],
                     tied ? "tied" : "untied");
            set_params(64, 172, 4, 8, 4, 515, 256, tied);
            make_image(types[i], 0);
            test_sweep(name, true);
            snprintf(name, sizeof name, "wide vocabulary, %s, %s", names[i],
                     tied ? "tied" : "untied");
            set_params(96, 128, 3, 6, 2, 9001, 256, tied);
            make_image(types[i], 0);
            test_sweep(name, true);
            snprintf(name, sizeof name, "a gap before the matrices, %s, %s", names[i],
                     tied ? "tied" : "untied");
            make_image(types[i], 192);
            test_sweep(name, true);
            snprintf(name, sizeof name, "one layer, 3 tokens, %s, %s", names[i],
                     tied ? "tied" : "untied");
            set_params(2, 1, 1, 1, 1, 3, 1, tied);
            make_image(types[i], 0);
            test_sweep(name, false);
        }
    }
}

/* Many lengths of the matrix and of its last tile, in the smallest slots. */
static void test_tiles(void)
{
    static const uint32_t dims[] = { 16, 32, 64, 96, 160, 288 };
    unsigned n = 0, n_tiled = 0, good = 0;

    for (uint32_t vocab = 1; vocab < 4000; vocab += 13) {
        for (uint32_t i = 0; i < 6 * 3 * 2; i++) {
            static const enum ingot_type types[] = { INGOT_F32, INGOT_Q8_0, INGOT_Q4_0 };

            set_params(dims[i % 6], 32, 2, 2, 2, vocab, 16, i / 18 != 0);
            make_image(types[i / 6 % 3], 64 * (vocab % 3));
            (void)plan_with(1);
            n++;
            if (plan_with(named_bytes()) != ERR_OK || !plan.tiled_head) {
                continue;
            }
            n_tiled++;
            good += tiles_cover();
        }
    }
    OK(n_tiled > n / 3 && good == n_tiled, "%u of %u models have their head in tiles, %u well",
       n_tiled, n, good);
}

/* Without mem= the arena is the limit, and every region is cut in pages. */
static void test_arena(void)
{
    size_t most = 0;
    bool fits = true, later = true, named = true, ok = false;

    set_params(64, 172, 4, 8, 4, 515, 256, true);
    make_image(INGOT_Q8_0, 0);
    request.extra_scratch = 1000 * 64;
    for (size_t bytes = 0; bytes < (3u << 20); bytes += 509) {
        request.arena_bytes = bytes;
        if (plan_with(0) != ERR_OK) {
            later = later && !ok;
            named = named && strstr(plan.problem, "ctx=") != NULL;
            continue;
        }
        ok = true;
        most = (size_t)(up(plan.pinned_bytes, INGOT_PAGE) + up(plan.io_bytes, INGOT_PAGE) +
                        up(plan.kv_bytes, INGOT_PAGE) + up(plan.scratch_bytes, INGOT_PAGE));
        fits = fits && most <= bytes && plan.scratch_bytes > request.extra_scratch;
    }
    OK(ok && fits, "the regions in pages never exceed the arena");
    OK(later, "and once it fits it fits");
    OK(named, "below, the cure is another model or context: %s", plan_with(0) == ERR_OK ? "" : "?");
    request.in_place = true;
    request.arena_bytes = most;
    OK(plan_with(0) == ERR_OK && plan.residency == PLAN_IN_PLACE && plan.pinned_bytes == 0 &&
           plan.io_bytes == 0, "in place takes neither weights nor slots");
    OK(plan_with(total_bytes() - 1) == ERR_OK && plan.residency == PLAN_STREAMED,
       "with mem= the weights are copied all the same");
}

static void test_context(void)
{
    set_params(64, 172, 4, 8, 4, 512, 9000, true);
    make_image(INGOT_Q8_0, 0);
    OK(plan_with(0) == ERR_OK && plan.context == PLAN_DEFAULT_CONTEXT &&
           plan.chunk == PLAN_DEFAULT_CHUNK, "a long context is cut to %u", plan.context);
    request.context = 9000;
    OK(plan_with(0) == ERR_OK && plan.context == 9000, "unless it is asked for");
    request.context = 9001;
    OK(plan_with(0) == ERR_BAD_ARGUMENT && strstr(plan.problem, "9001") != NULL &&
           strstr(plan.problem, "9000") != NULL, "%s", plan.problem);
    request.context = 5;
    OK(plan_with(0) == ERR_OK && plan.context == 5 && plan.chunk == 5, "a chunk is no longer");
    other = plan;
    request.chunk = 3;
    OK(plan_with(0) == ERR_OK && plan.chunk == 3 && plan.kv_bytes == other.kv_bytes &&
           plan.scratch_bytes < other.scratch_bytes, "a smaller chunk takes less work space");
    header.params.context = 7;
    request.context = 0;
    request.chunk = UINT32_MAX;
    OK(plan_with(0) == ERR_OK && plan.context == 7 && plan.chunk == 7, "a short model's is kept");
}

/* The largest of everything: the sums in 128 bits are those that the plan has in 64. */
static void test_bounds(void)
{
    for (int tied = 0; tied < 2; tied++) {
        unsigned __int128 kv, total = 0;

        set_params(INGOT_MAX_DIM, INGOT_MAX_HIDDEN, INGOT_MAX_LAYERS, INGOT_MAX_HEADS,
                   INGOT_MAX_HEADS, INGOT_MAX_VOCAB, INGOT_MAX_CONTEXT, tied);
        make_image(INGOT_F32, 0);
        request.context = INGOT_MAX_CONTEXT;
        request.arena_bytes = SIZE_MAX / 2;
        request.chunk = UINT32_MAX;
        kv = (unsigned __int128)2 * 2 * INGOT_MAX_LAYERS * INGOT_MAX_CONTEXT * INGOT_MAX_DIM;
        for (uint32_t i = 0; i < INGOT_MAX_LAYERS + 2; i++) {
            total += extents[i].bytes;
        }
        OK(plan_with(0) == ERR_OK && plan.residency == PLAN_RESIDENT && plan.kv_bytes == kv &&
               plan.pinned_bytes == total, "at all bounds it is resident in an endless arena");
        OK(plan.scratch_bytes > (size_t)INGOT_MAX_CONTEXT * INGOT_MAX_HIDDEN * 8,
           "with work space for the whole context, %d GiB", (int)(plan.scratch_bytes >> 30));
        OK(plan_with(1) == ERR_NO_SPACE && plan_with(named_bytes()) == ERR_OK && tiles_cover() &&
               sums_agree() && plan.pinned_bytes + plan.io_bytes <= request.weight_limit,
           "streamed it takes %d GiB", (int)(request.weight_limit >> 30));
        request.arena_bytes = 1 << 20;
        OK(plan_with(0) == ERR_NO_SPACE, "%s", plan.problem);
    }
}

/* As pass follows pass, pinned and streamed layers alternate as evenly as they can. */
static void test_spread(void)
{
    set_params(64, 172, 12, 8, 4, 512, 256, true);
    make_image(INGOT_Q8_0, 0);
    for (uint32_t pinned = 1; pinned < 10; pinned++) { /* with two more it is resident */
        uint32_t run = 0, longest = 0;
        uint64_t limit = 2 * extents[1].bytes + extents[0].bytes + extents[13].bytes +
                         pinned * extents[1].bytes;

        (void)plan_with((size_t)limit);
        for (uint32_t i = 0; i < 24; i++) {
            run = plan.pinned[1 + i % 12] ? 0 : run + 1;
            longest = run > longest ? run : longest;
        }
        OK(plan.n_pinned_layers == pinned && longest == (12 - 1) / pinned,
           "%u of 12 layers pinned: %u stream in a row", plan.n_pinned_layers, longest);
    }
}

static void set_rates(uint64_t card, uint32_t decode_ps)
{
    request.rates.card = card;
    for (unsigned type = 0; type < INGOT_N_TYPES; type++) {
        request.rates.decode[type] = decode_ps;
        request.rates.prefill[type] = decode_ps;
    }
}

static bool within(uint64_t a, uint64_t b, uint64_t percent)
{
    uint64_t difference = a > b ? a - b : b - a;

    return difference * 100 <= b * percent;
}

/* A card that is slow, cores that are slow, and both at once. */
static void test_prediction(void)
{
    uint64_t transfer, compute, limit;

    set_params(512, 2048, 12, 8, 8, 2000, 256, true);
    make_image(INGOT_Q8_0, 0);
    OK(plan_with(0) == ERR_OK && plan.decode_ns == 0 && plan.prefill_ns == 0,
       "without rates nothing is foretold");
    limit = 2 * extents[1].bytes + extents[0].bytes + extents[13].bytes + 3 * extents[1].bytes;
    set_rates(20000000, 1);
    (void)plan_with((size_t)limit);
    transfer = plan.layer_read * 50; /* ns at 20 MB/s */
    OK(plan.n_pinned_layers == 3 && within(plan.decode_ns, transfer, 1) &&
           within(plan.prefill_ns, transfer, 1), "with a slow card the card is what it takes");
    set_rates(2000000000, 10000);
    (void)plan_with((size_t)limit);
    compute = total_bytes() * 10;
    OK(within(plan.decode_ns, compute, 2), "with slow cores the cores are");
    OK(within(plan.prefill_ns, 128 * compute, 20) && plan.prefill_ns < 128 * compute,
       "and a prompt's tokens each, but for the head");
    set_rates(0, 10000);
    (void)plan_with((size_t)limit);
    OK(plan.decode_ns == 0, "a card of unknown rate foretells nothing");
    (void)plan_with(0);
    OK(plan.residency == PLAN_RESIDENT && within(plan.decode_ns, compute, 2),
       "unless nothing streams");
}

/* What the advice says comes true. */
static void test_advice(void)
{
    size_t rest, total;
    const char *at;
    char *end;

    set_params(512, 1408, 12, 8, 8, 4000, 4096, true);
    make_image(INGOT_Q8_0, 0);
    total = (size_t)total_bytes();
    (void)plan_with(0);
    rest = (size_t)(up(plan.kv_bytes, INGOT_PAGE) + up(plan.scratch_bytes, INGOT_PAGE));
    request.arena_bytes = total + rest - (12u << 20);
    OK(plan_with(0) == ERR_OK && plan.residency == PLAN_STREAMED, "12 MiB short: %s", plan.advice);
    at = strstr(plan.advice, "with ctx=");
    OK(at != NULL && strstr(plan.advice, "as q4_0") != NULL && strtoul(at + 9, &end, 10) < 4096,
       "it names a type and a context");
    request.context = at != NULL ? (uint32_t)strtoul(at + 9, NULL, 10) : 0;
    OK(plan_with(0) == ERR_OK && plan.residency == PLAN_RESIDENT && plan.advice[0] == '\0',
       "ctx=%u is resident", plan.context);
    request.context *= 2;
    OK(plan_with(0) == ERR_OK && plan.residency == PLAN_STREAMED, "and twice as much is not");
    OK(plan_bytes_as(&image, INGOT_Q8_0) >= total &&
           plan_bytes_as(&image, INGOT_Q8_0) < total + 14 * INGOT_PAGE,
       "the size in a type is reckoned up to the rounding of the extents");
    request.context = 0;
    make_image(INGOT_Q4_0, 0);
    request.arena_bytes = total + rest - (12u << 20);
    OK(plan_with(0) == ERR_OK && plan.residency == PLAN_RESIDENT, "q4_0 is");
}

/* A chunk that is in the way gets smaller, unless it was asked for. */
static void test_chunk(void)
{
    size_t full, total;

    set_params(512, 1408, 4, 8, 8, 4000, 1024, true);
    make_image(INGOT_Q8_0, 0);
    total = (size_t)total_bytes();
    (void)plan_with(0);
    full = total + (size_t)(up(plan.kv_bytes, INGOT_PAGE) + up(plan.scratch_bytes, INGOT_PAGE)) +
           2 * INGOT_PAGE;
    request.arena_bytes = full;
    OK(plan_with(0) == ERR_OK && plan.residency == PLAN_RESIDENT && plan.chunk == 128,
       "room for all: 128 tokens");
    request.arena_bytes = full - (1u << 20);
    OK(plan_with(0) == ERR_OK && plan.residency == PLAN_RESIDENT && plan.chunk < 128,
       "a MiB less: %u tokens, and still resident", plan.chunk);
    request.chunk = 128;
    OK(plan_with(0) == ERR_OK && plan.residency == PLAN_STREAMED && plan.chunk == 128,
       "asked for, it stays");
}

int main(void)
{
    test_prediction();
    test_advice();
    test_chunk();
    test_shapes();
    test_tiles();
    test_arena();
    test_context();
    test_bounds();
    test_spread();
    return tap_done();
}
