/* Tiles by age: with the same type in each a session equals a flat one, bit for bit; with different
 * types no bit depends on chunks, cuts, guesses, saving and loading. The rings go round several
 * times. */
#include "runtime/compute/kv_tiers.h"
#include "runtime/session/speculative.h"
#include "tests/unit/rig.h"

enum { LENGTH = 520, CONTEXT = 1024, KEPT_BYTES = 4 << 20 };

static uint32_t ids[LENGTH];
static uint64_t expected[LENGTH + 1]; /* of the logits after the first n */

/* The made-up model has 256 positions only. */
static void lengthen(void)
{
    struct ingot_header *h = (void *)rig.packed;

    h->params.context = CONTEXT;
    h->header_crc32c = 0;
    h->header_crc32c = crc32c(0, h, sizeof *h);
}

static void start(const char *types, uint32_t chunk)
{
    if (!kv_types_parse(types, &rig.kv))
        rig_die(types);
    if (rig_start(0, chunk, false) != ERR_OK)
        rig_die(rig.model.error_message);
}

static uint64_t digest(void)
{
    const uint8_t *bytes = (const uint8_t *)rig.session.logits;
    uint64_t d = 1469598103934665603u;

    for (size_t i = 0; bytes != NULL && i < rig_logits_bytes(); i++)
        d = (d ^ bytes[i]) * 1099511628211u;
    return d;
}

static void append(uint32_t from, uint32_t to)
{
    if (session_append(&rig.session, ids + from, to - from, NULL) != ERR_OK)
        rig_die(rig.session.error_message);
}

/* Token by token. */
static void set_expected(const char *types)
{
    start(types, 16);
    for (uint32_t i = 0; i < LENGTH; i++) {
        append(i, i + 1);
        expected[i + 1] = digest();
    }
}

/* The sequence becomes its first n tokens. */
static bool is(uint32_t n)
{
    return rig.session.n_ids == n && rig.session.n_cached == n && digest() == expected[n];
}

static void test_chunks(const char *types)
{
    static const uint32_t chunks[] = { 128, 17 };
    bool good = true;

    for (unsigned i = 0; i < 2; i++) {
        start(types, chunks[i]);
        append(0, 200);
        good = good && is(200);
        append(200, LENGTH);
        good = good && is(LENGTH);
    }
    OK(good, "%s: chunks of 128, 17 and 1 token give the right logits", types);
}

/* Cuts to n tokens, and appends the rest again; *computed: how many had to be computed. */
static bool cut_is_true(uint32_t n, uint32_t end, uint32_t *computed)
{
    *computed = end - session_cut(&rig.session, n);
    append(n, end);
    return is(end);
}

static void test_cuts(const char *types)
{
    static const uint32_t far[] = { 1, 64, 200, 300, 400 };
    uint32_t computed, random = 3;
    bool good = true, near = true;

    start(types, 64);
    append(0, LENGTH);
    for (unsigned i = 0; i < sizeof far / sizeof far[0]; i++) {
        good = good && cut_is_true(LENGTH - far[i], LENGTH, &computed);
        near = near && (kv_tiers_tile(LENGTH) - kv_tiers_tile(LENGTH - far[i]) > KV_TIERS_KEPT) ==
                           (computed != far[i]);
    }
    OK(good, "%s: a sequence that is cut back and told again is right", types);
    OK(near, "a cut over four borders and fewer computes nothing again, over more all of it");
    for (unsigned i = 0; i < 8 && good; i++) {
        uint32_t n, end;

        random = random * 1664525u + 1013904223u;
        n = (random >> 8) % rig.session.n_ids;
        end = n + 1 + (random >> 16) % 250 % (LENGTH - n);
        good = cut_is_true(n, end, &computed);
    }
    OK(good, "eight more cuts at random are right");
    session_clear(&rig.session);
    append(0, 300);
    OK(is(300), "the sequence is right from the beginning, too");
}

/* ---- saved ---------------------------------------------------------------------------------- */

static uint8_t kept[KEPT_BYTES];
static size_t kept_bytes;

static enum err keep(void *context, void *memory, size_t bytes)
{
    (void)context;
    memcpy(kept + kept_bytes, memory, bytes);
    kept_bytes += bytes;
    return ERR_OK;
}

static enum err bring(void *context, void *memory, size_t bytes)
{
    (void)context;
    memcpy(memory, kept + kept_bytes, bytes);
    kept_bytes += bytes;
    return ERR_OK;
}

static bool load(uint32_t n)
{
    struct layer_state_io io = { bring, NULL, true, false };

    kept_bytes = 0;
    return session_move(&rig.session, n, n, &io) == ERR_OK &&
           session_restore(&rig.session, n, n) == ERR_OK;
}

static void test_saved(const char *types)
{
    static const uint32_t lengths[] = { 1, 64, 65, 411 };
    struct layer_state_io io = { keep, NULL, false, false };
    struct session *s = &rig.session;
    bool good = true, sized = true;

    for (unsigned i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        uint32_t n = lengths[i];
        uint32_t computed;

        start(types, 64);
        append(0, n + 30);
        (void)session_cut(s, n);
        kept_bytes = 0;
        good = good && session_move(s, n, n, &io) == ERR_OK;
        sized = sized && kept_bytes == session_move_bytes(s, n, n);
        append(n, n + 100);
        good = good && is(n + 100);
        start(types, 64);
        memset(s->kv.layers[0].place, 0x33,
               kv_cache_bytes(&(struct kv_layers){ rig.model.image.layers, 1 }, CONTEXT, rig.kv));
        good = good && load(n);
        append(n, n + 100);
        good = good && is(n + 100) && cut_is_true(n + 20, n + 90, &computed) &&
               cut_is_true(n / 2, n + 5, &computed);
    }
    OK(good, "%s: a sequence that is saved, loaded, continued and cut back is right", types);
    OK(sized, "a save has as many bytes as are told");
}

/* ---- the plan ------------------------------------------------------------------------------- */

static void test_memory(void)
{
    struct kv_layers layers = { rig.model.image.layers, rig.model.image.header->params.n_layers };
    struct kv_types tiers, flat;
    size_t f16 = kv_cache_bytes(&layers, CONTEXT, kv_both(KV_F16));

    (void)kv_types_parse("tiers:64,64,f16,f16,f16", &tiers);
    (void)kv_types_parse("flat16", &flat);
    OK(kv_cache_bytes(&layers, CONTEXT, flat) == f16 && kv_types_equal(flat, kv_both(KV_F16)),
       "flat16 is f16");
    OK(kv_cache_bytes(&layers, CONTEXT, tiers) == f16 / (CONTEXT / KV_TILE) * (5 + 5 + 14),
       "one tile is hot and one warm, four more of each are in use, and all others are cold");
    OK(kv_cache_bytes(&layers, 64, tiers) == f16 / (CONTEXT / KV_TILE),
       "a short context has one tile");
}

static void test_names(void)
{
    static const char *const wrong[] = {
        "tiers:",
        "tiers:64",
        "tiers:64,64",
        "tiers:64,64,",
        "tiers:0,64,kivi",
        "tiers:60,64,kivi",
        "tiers:64,64,kivi,kivi,kivi",
        "tiers:64,64,f16,q8",
        "tiers:64,64,f16,q8,kivi,q8",
        "tiers:99999999999,64,q8",
        "tiers:64,1048640,q8",
        "tiers:64,64,nothing",
        "tiers:-64,64,q8",
        "tiers:64,64,f16,f16,f16,",
        "f16,",
        ",f16",
        "f16,f16,f16",
        "tiers,f16",
    };
    struct kv_types t;
    char name[KV_TYPES_NAME_BYTES];
    bool good = true;

    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        good = good && !kv_types_parse(wrong[i], &t);
    OK(good, "text that is not a list of tiers is refused");
    good = kv_types_parse("ruv", &t) && t.hot_tiles == 4 && t.warm_tiles == 28 &&
           strcmp(kv_types_name(t, name), "tiers:256,1792,f16,q8,kivi") == 0 &&
           kv_types_parse(kv_types_name(t, name), &t) && t.cold == KV_KIVI;
    OK(good && kv_types_parse("tiers:1048576,0,uniform_4b,uniform_4b,uniform_4b", &t) &&
           kv_types_parse(kv_types_name(t, name), &t) && t.hot_tiles == 16384 &&
           t.keys == KV_UNIFORM_4B,
       "names of tiers are read and written: %s", kv_types_name(t, name));
}

int main(void)
{
    static const char *const types[] = { "tiers:64,64,kivi", "tiers:128,0,f16,f16,rot_q4" };
    uint64_t flat[LENGTH + 1];

    rig_compute(false);
    rig_alone();
    rig_make_model("tiny", INGOT_Q8_0);
    lengthen();
    start("f16", 0);
    rig_ids(ids, LENGTH);
    test_names();
    test_memory();
    set_expected("f16");
    memcpy(flat, expected, sizeof flat);
    test_chunks("tiers:64,64,f16,f16,f16");
    test_cuts("tiers:64,64,f16,f16,f16");
    for (unsigned i = 0; i < 2; i++) {
        set_expected(types[i]);
        OK(memcmp(flat, expected, sizeof flat) != 0 &&
               memcmp(flat, expected, (KV_TILE + 1) * sizeof *flat) == 0,
           "%s: the first tile's logits are those of f16, later ones are not", types[i]);
        test_chunks(types[i]);
        test_cuts(types[i]);
        test_saved(types[i]);
    }
    return tap_done();
}
