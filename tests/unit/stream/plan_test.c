/* The planner over models of many shapes and every limit, and at the format's bounds. */
#include "runtime/stream/plan.h"

#include <stdlib.h>
#include <string.h>

#include "board/block_device.h"
#include "runtime/compute/activations.h"
#include "runtime/compute/kv_cache.h"
#include "tests/unit/stream/plan_rig.h"
#include "tests/unit/tap.h"

static struct plan other;

/* Each streamed row is in one tile, the tiles are in order, every byte from there to the segment's
 * end is in at least one, each fits a slot and begins on a sector, and their sum is as planned. */
static bool tiles_cover(void)
{
    const struct ingot_tensor *w = image_tensor(&image, INGOT_OUTPUT, INGOT_NO_LAYER);
    const struct ingot_segment *x = &segments[w->segment];
    size_t row_bytes = image_type_row_bytes(w->type, w->cols_padded);
    uint32_t row = plan.head.first_row;
    uint64_t at = x->offset + w->offset + (uint64_t)row * row_bytes, sum = 0;

    if (at != plan.head.base || at != x->offset + plan.head.stays || row >= header.params.vocab) {
        return false;
    }

    for (uint32_t i = 0; i < plan.head.n_tiles; i++) {
        struct plan_tile t;

        plan_head_tile(&plan, &image, i, &t);
        if (t.first_row != row || t.n_rows == 0 || t.first_row % 8 != 0 ||
            t.offset % SECTOR_BYTES != 0 || t.bytes % SECTOR_BYTES != 0 || t.offset > at ||
            t.bytes > plan.memory.slot || t.offset + t.bytes > x->offset + x->bytes ||
            t.offset + t.skip != x->offset + w->offset + (uint64_t)row * row_bytes ||
            t.offset + t.bytes < x->offset + w->offset + ((uint64_t)row + t.n_rows) * row_bytes) {
            return false;
        }
        at = t.offset + t.bytes;
        row += t.n_rows;
        sum += t.bytes;
    }
    return row == header.params.vocab && at == x->offset + x->bytes && sum == plan.head.read;
}

/* Sums up a plan from its pinned segments. */
static bool sums_agree(void)
{
    uint32_t n = header.params.n_layers;
    uint64_t pinned = 0, layers = 0;
    uint32_t n_pinned = 0;

    for (uint32_t i = 0; i < n + 2; i++) {
        bool layer = i >= 1 && i <= n;

        pinned += plan.pinned[i] ? segments[i].bytes : 0;
        n_pinned += layer && plan.pinned[i];
        layers += layer && !plan.pinned[i] ? segments[i].bytes : 0;
        if (layer && !plan.pinned[i] && plan.memory.slot < segments[i].bytes) {
            return false;
        }
    }
    if (plan.head.tiled) {
        const struct ingot_tensor *w = image_tensor(&image, INGOT_OUTPUT, INGOT_NO_LAYER);
        size_t row_bytes = image_type_row_bytes(w->type, w->cols_padded);

        pinned += up(w->offset + plan.head.first_row * row_bytes, INGOT_PAGE);
    }
    return plan.memory.pinned == pinned && plan.layers.read == layers &&
           plan.layers.n_pinned == n_pinned && plan.layers.n_streamed == n - n_pinned &&
           plan.memory.io == plan.memory.n_slots * plan.memory.slot +
                                 plan.rows.n * plan.rows.bytes + plan.rows.sums &&
           (plan.residency == PLAN_RESIDENT) == (plan.memory.io == 0) &&
           plan.pinned[n + 1] == !(plan.head.tiled && !header.params.tied) &&
           (plan.rows.n == 0) == plan.pinned[0] && (plan.head.n_tiles != 0) == plan.head.tiled;
}

/* Rows after which a tile begins at the same place of a sector. */
static uint32_t step_rows(void)
{
    uint32_t groups = 1;

    while (groups * plan.head.group_bytes % SECTOR_BYTES != 0) {
        groups *= 2;
    }
    return groups * plan.head.group_rows;
}

/* As much of a head in tiles stays as fits: no room is left for a step, or no step. */
static bool head_fills(size_t limit)
{
    uint64_t left = limit - plan.memory.pinned - plan.memory.io;
    uint64_t step = step_rows() / plan.head.group_rows * plan.head.group_bytes;

    return left < step + INGOT_PAGE + PLAN_MOST_ROWS * plan.rows.bytes ||
           header.params.vocab - plan.head.first_row <= step_rows() + plan.head.group_rows;
}

/* Every row of a streamed embedding is inside the range that is read for it. */
static bool rows_found(void)
{
    const struct ingot_tensor *t = &tensors[0];
    size_t group = image_type_row_bytes(t->type, t->cols_padded) * t->interleave;

    for (uint32_t token = 0; token < header.params.vocab; token++) {
        uint64_t first = segments[0].offset + t->offset + token / t->interleave * group;
        uint64_t offset;
        size_t bytes;

        plan_embedding_range(&image, token, &offset, &bytes);
        if (offset % SECTOR_BYTES != 0 || bytes % SECTOR_BYTES != 0 || offset > first ||
            offset + bytes < first + group || offset + bytes > header.file_bytes ||
            (plan.rows.bytes != 0 && bytes != plan.rows.bytes)) {
            return false;
        }
    }
    return true;
}

static size_t named_bytes(void)
{
    const char *at = strstr(plan.error_message, "at least ");

    return at == NULL ? 0 : (size_t)strtoul(at + 9, NULL, 10) * 1024;
}

struct sweep {
    bool limits, monotone, tiles, sums, cures, fills, seen[4]; /* tiled, whole, resident, a part */
    uint64_t read; /* a token's bytes at the limit before */
    size_t least;  /* that fits */
    size_t n;
};

static void look(struct sweep *s, size_t limit)
{
    enum err e = plan_with(limit);
    uint64_t read = plan.layers.read + plan.head.read + plan.rows.bytes;

    s->n++;
    if (e != ERR_OK) {
        size_t named = named_bytes();

        s->monotone = s->monotone && e == ERR_NO_SPACE && s->least == 0;
        s->cures = s->cures && named > limit && strstr(plan.error_message, "raise mem=") != NULL &&
                   plan_with(named) == ERR_OK && plan_with(named - 1024) == ERR_NO_SPACE;
        return;
    }
    s->least = s->least == 0 ? limit : s->least;
    s->monotone = s->monotone && read <= s->read;
    s->read = read;
    s->limits = s->limits && plan.memory.pinned + plan.memory.io <= limit;
    s->sums = s->sums && sums_agree();
    s->tiles = s->tiles && (!plan.head.tiled || tiles_cover());
    s->fills = s->fills && (!plan.head.tiled || head_fills(limit));
    s->seen[3] = s->seen[3] || plan.head.first_row != 0;
    s->seen[plan.residency == PLAN_RESIDENT ? 2 : plan.head.tiled ? 0 : 1] = true;
}

static void test_sweep(const char *name, bool every_form)
{
    struct sweep s = { true, true, true, true, true, true, { false }, UINT64_MAX, 0, 0 };
    uint64_t total = total_bytes();

    for (size_t limit = 1; limit < total - 1; limit += 333 + total / 4000) {
        look(&s, limit);
    }
    look(&s, total - 1);
    look(&s, total + 1);
    OK(plan_with(total) == ERR_OK && plan.residency == PLAN_RESIDENT &&
           plan.memory.pinned == total && plan.layers.read + plan.head.read == 0,
       "%s: %d bytes are resident in as many", name, (int)total);
    OK(s.limits, "%s: pinned and slots keep each of %d limits", name, (int)s.n);
    OK(s.monotone, "%s: plans fit from %d bytes on, and more memory never reads more", name,
       (int)s.least);
    OK(s.cures, "%s: the refusal names how much is enough, and no KiB more", name);
    OK(s.sums, "%s: the sums are those of what is pinned", name);
    OK(s.tiles, "%s: tiles cover the matrix", name);
    OK(s.fills, "%s: the head gets what layers leave", name);
    OK(!every_form || (s.seen[0] && s.seen[1] && s.seen[2] && s.seen[3]),
       "%s: the head is in tiles, partly in tiles, whole, and resident", name);
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
            if (plan_with(named_bytes()) != ERR_OK || !plan.head.tiled) {
                continue;
            }
            n_tiled++;
            good += tiles_cover();
        }
    }
    OK(n_tiled > n / 3 && good == n_tiled,
       "%u of %u models have their head in tiles, and %u of these are right", n_tiled, n, good);
}

/* Without mem= the arena is the limit, and every region is cut in pages. */
static void test_arena(void)
{
    size_t most = 0;
    bool fits = true, later = true, named = true, ok = false;

    set_params(64, 172, 4, 8, 4, 515, 256, true);
    make_image(INGOT_Q8_0, 0);
    request.work.extra_scratch = 1000 * 64;
    for (size_t bytes = 0; bytes < (3u << 20); bytes += 509) {
        request.arena_bytes = bytes;
        if (plan_with(0) != ERR_OK) {
            later = later && !ok;
            named = named && strstr(plan.error_message, "ctx=") != NULL;
            continue;
        }
        ok = true;
        most = (size_t)(up(plan.memory.pinned, INGOT_PAGE) + up(plan.memory.io, INGOT_PAGE) +
                        up(plan.memory.kv, INGOT_PAGE) + up(plan.memory.scratch, INGOT_PAGE));
        fits = fits && most <= bytes && plan.memory.scratch > request.work.extra_scratch;
    }
    OK(ok && fits, "the regions in pages never exceed the arena");
    OK(later, "a plan that fits also fits in every larger arena");
    OK(named, "less memory needs another model or context: %s", plan_with(0) == ERR_OK ? "" : "?");
    request.in_place = true;
    request.arena_bytes = most;
    OK(plan_with(0) == ERR_OK && plan.residency == PLAN_IN_PLACE && plan.memory.pinned == 0 &&
           plan.memory.io == 0,
       "a plan in place takes neither weights nor slots");
    OK(plan_with(total_bytes() - 1) == ERR_OK && plan.residency == PLAN_STREAMED,
       "the weights are copied with mem=, even in place");
}

static void test_context(void)
{
    set_params(64, 172, 4, 8, 4, 512, 9000, true);
    make_image(INGOT_Q8_0, 0);
    OK(plan_with(0) == ERR_OK && plan.context == PLAN_DEFAULT_CONTEXT &&
           plan.chunk == PLAN_DEFAULT_CHUNK,
       "a long context is cut to %u", plan.context);
    request.limits.context = 9000;
    OK(plan_with(0) == ERR_OK && plan.context == 9000, "a context that is asked for stays");
    request.limits.context = 9001;
    OK(plan_with(0) == ERR_BAD_ARGUMENT && strstr(plan.error_message, "9001") != NULL &&
           strstr(plan.error_message, "9000") != NULL,
       "a context beyond the model's is refused: %s", plan.error_message);
    request.limits.context = 5;
    OK(plan_with(0) == ERR_OK && plan.context == 5 && plan.chunk == 5, "a chunk fits the context");
    other = plan;
    request.limits.chunk = 3;
    OK(plan_with(0) == ERR_OK && plan.chunk == 3 && plan.memory.kv == other.memory.kv &&
           plan.memory.scratch < other.memory.scratch,
       "a smaller chunk takes less work space");
    header.params.context = 7;
    request.limits.context = 0;
    request.limits.chunk = UINT32_MAX;
    OK(plan_with(0) == ERR_OK && plan.context == 7 && plan.chunk == 7, "a short context is kept");
}

static uint32_t chunk_with(size_t cache)
{
    request.cache_bytes = cache;
    return plan_with(0) == ERR_OK ? plan.chunk : 0;
}

/* A token's widest input: 5,632 columns, 22 blocks of 292 bytes. */
static void test_cache(void)
{
    set_params(2048, 5632, 2, 32, 4, 32000, 2048, false);
    make_image(INGOT_Q4_K, 0);
    OK(chunk_with(0) == PLAN_DEFAULT_CHUNK && chunk_with(2 << 20) == 128 &&
           chunk_with(1 << 20) == 128,
       "a chunk's inputs fit a large cache");
    other = plan;
    OK(chunk_with(512 << 10) == 64 && chunk_with(256 << 10) == 32 &&
           plan.memory.scratch < other.memory.scratch,
       "fewer tokens pass together in a smaller cache");
    OK(chunk_with(1 << 10) == PLAN_CACHED_CHUNK, "a chunk has at least %u tokens", plan.chunk);
    request.work.sequences = 40;
    OK(chunk_with(256 << 10) == 64, "a chunk has a token of each sequence");
    request.work.sequences = 0;
    request.limits.chunk = 128;
    OK(chunk_with(256 << 10) == 128, "a chunk that is asked for does not depend on the cache");
    request.limits.chunk = 0;
    OK(plan_with(total_bytes() / 2) == ERR_OK && plan.residency == PLAN_STREAMED &&
           plan.chunk == 128,
       "a chunk is large where a card is read for each chunk");
    make_image(INGOT_F32, 0);
    OK(chunk_with(1 << 20) == 32, "floats take four times as much");
}

/* The largest of everything: the sums in 128 bits are those that the plan has in 64. */
static void test_bounds(void)
{
    for (int tied = 0; tied < 2; tied++) {
        unsigned __int128 kv, total = 0;

        set_params(INGOT_MAX_DIM, INGOT_MAX_HIDDEN, INGOT_MAX_LAYERS, INGOT_MAX_HEADS,
                   INGOT_MAX_HEADS, INGOT_MAX_VOCAB, INGOT_MAX_CONTEXT, tied);
        make_image(INGOT_F32, 0);
        request.limits.context = INGOT_MAX_CONTEXT;
        request.arena_bytes = SIZE_MAX / 2;
        request.limits.chunk = UINT32_MAX;
        kv = (unsigned __int128)2 * 2 * INGOT_MAX_LAYERS * INGOT_MAX_CONTEXT * INGOT_MAX_DIM;
        for (uint32_t i = 0; i < INGOT_MAX_SEGMENTS; i++) {
            total += segments[i].bytes;
        }
        OK(plan_with(0) == ERR_OK && plan.residency == PLAN_RESIDENT && plan.memory.kv == kv &&
               plan.memory.pinned == total,
           "a model at all bounds is resident in an endless arena");
        OK(plan.memory.scratch > (size_t)INGOT_MAX_CONTEXT * INGOT_MAX_HIDDEN * 8,
           "the whole context has work space, %d GiB", (int)(plan.memory.scratch >> 30));
        OK(plan_with(1) == ERR_NO_SPACE && plan_with(named_bytes()) == ERR_OK && tiles_cover() &&
               sums_agree() && plan.memory.pinned + plan.memory.io <= request.limits.weights,
           "a model at all bounds streams with %d GiB", (int)(request.limits.weights >> 30));
        request.arena_bytes = 1 << 20;
        OK(plan_with(0) == ERR_NO_SPACE, "an arena of 1 MiB is refused: %s", plan.error_message);
    }
}

/* The distance between two streamed layers, a pinned head counted, is equal everywhere, as far as
 * layers and order allow. */
static void test_spread(uint32_t vocab)
{
    set_params(64, 172, 12, 8, 4, vocab, 256, true);
    make_image(INGOT_Q8_0, 0);
    for (uint32_t pinned = 1; pinned < 10; pinned++) { /* with two more it is resident */
        uint64_t layer = segments[1].bytes, gap = 0, least = UINT64_MAX, most = 0;
        bool found = false;

        (void)plan_with((size_t)(segments[0].bytes + segments[13].bytes + (2 + pinned) * layer));
        for (uint32_t i = 0; i < 12; i++) {
            if (plan.pinned[1 + i]) {
                gap += layer;
                continue;
            }
            least = found && gap < least ? gap : least;
            most = found && gap > most ? gap : most;
            found = true;
            gap = 0;
        }
        OK(plan.layers.n_pinned == pinned && !plan.pinned[1] && !plan.head.tiled &&
               most <= least + layer && (gap == 0 || gap + tensors[0].bytes < least + 2 * layer),
           "%u of 12 layers are pinned (%u tokens), %d to %d KiB lie between two streamed",
           plan.layers.n_pinned, vocab, (int)(least >> 10), (int)(most >> 10));
    }
}

/* SmolLM2-135M's shape, of which so many layers stream; computing takes percent / 100 of the
 * transfer's time. */
static void plan_rated(uint32_t streamed, uint32_t percent)
{
    uint64_t ps = 1700, layer = segments[1].bytes, total = total_bytes();

    memset(&request.rates, 0, sizeof request.rates);
    request.rates.decode[INGOT_Q8_0] = (uint32_t)ps;
    request.rates.prefill[INGOT_Q8_0] = (uint32_t)ps / 2;
    request.rates.card = streamed * layer * percent / 100 * 1000000 / (total * ps / 1000000);
    (void)plan_with((size_t)(total - (streamed - 2) * layer));
}

/* The head's place: in memory, unless tiles are predicted to be faster. */
static void test_choice(void)
{
    uint32_t tiled = 0, parts = 0, wrong = 0, slower = 0;

    set_params(576, 1536, 30, 9, 3, 49152, 2048, true);
    make_image(INGOT_Q8_0, 0);
    for (uint32_t streamed = 3; streamed <= 29; streamed++) {
        for (uint32_t percent = 10; percent <= 400; percent += 30) {
            struct plan_rates rates;

            plan_rated(streamed, percent);
            other = plan;
            rates = request.rates;
            wrong += !sums_agree() ||
                     plan.memory.pinned + plan.memory.io > request.limits.weights ||
                     (plan.head.tiled && !tiles_cover());
            tiled += plan.head.tiled;
            memset(&request.rates, 0, sizeof request.rates);
            (void)plan_with(request.limits.weights);
            wrong += plan.head.tiled || plan.prediction.decode_ns != 0;
            plan.rates = rates;
            plan_predict(&plan, &image);
            slower += other.head.tiled
                          ? other.prediction.decode_ns * 103 >= plan.prediction.decode_ns * 100
                          : other.prediction.decode_ns != plan.prediction.decode_ns;
            parts += other.head.first_row != 0;
        }
    }
    OK(tiled > 10 && tiled < 250 && parts > 10 && wrong == 0 && slower == 0,
       "%u of 378 plans have the head in tiles, %u only partly, and are 3 %% faster by it", tiled,
       parts);
    plan_rated(27, 100);
    OK(plan.head.tiled && plan.layers.n_streamed < 23, "a plan of 27 layers has its head in tiles");
    plan_rated(27, 300);
    OK(!plan.head.tiled, "the head is not tiled if the cores take the time");
    plan_rated(5, 100);
    OK(!plan.head.tiled, "the head is not tiled if few layers stream");
}

/* Gemma 3 270M's shape, whose head is as large as 31 of its 18 layers: what of it stays when all layers do,
 * what a token then reads, and where slots need not be as large as layers. */
static void test_part(void)
{
    uint64_t total, both, unrated;
    bool exact = true, smaller = true;
    uint32_t n = 0;

    set_params(640, 2048, 18, 4, 1, 262144, 2048, true);
    make_image(INGOT_Q8_0, 0);
    total = total_bytes();
    both = PLAN_SLOTS * segments[1].bytes;
    for (uint64_t limit = total / 8; limit < total; limit += total / 40) {
        memset(&request.rates, 0, sizeof request.rates);
        (void)plan_with((size_t)limit);
        unrated = plan.layers.read + plan.head.read;
        if (plan.head.tiled) {
            uint64_t room = limit - both - plan.rows.sums - PLAN_MOST_ROWS * plan.rows.bytes;
            uint64_t step = step_rows() / plan.head.group_rows * plan.head.group_bytes;

            n++;
            exact = exact && unrated >= total - room &&
                    unrated < total - room + step + 2 * INGOT_PAGE &&
                    (plan.head.first_row != 0 || plan.layers.n_streamed != 0);
        }
        request.rates.decode[INGOT_Q8_0] = 50;
        request.rates.prefill[INGOT_Q8_0] = 25;
        request.rates.card = 20 * 1000 * 1000;
        (void)plan_with((size_t)limit);
        exact = exact && sums_agree() && plan.memory.pinned + plan.memory.io <= limit;
        smaller = smaller && plan.layers.read + plan.head.read <= unrated &&
                  (plan.layers.n_streamed != 0 ||
                   (plan.memory.slot < segments[1].bytes && plan.head.tiled));
    }
    OK(exact && n > 20,
       "with %u limits a token reads what does not fit beside two slots, to a step of the head", n);
    OK(smaller, "a token reads no more with a slow card, through smaller slots if all layers stay");
    (void)plan_with((size_t)(total - total / 20));
    OK(plan.layers.n_streamed == 0 && plan.head.first_row > header.params.vocab * 9 / 10,
       "%u %% of the head stay if 95 %% of all weights fit", plan_head_percent(&plan, &image));
}

int main(void)
{
    test_shapes();
    test_tiles();
    test_arena();
    test_context();
    test_cache();
    test_bounds();
    test_spread(512);
    test_spread(1500);
    test_spread(4096);
    test_choice();
    test_part();
    return tap_done();
}
