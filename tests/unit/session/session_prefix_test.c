/* A common beginning of sequences is computed once, and whatever comes between, their logits equal
 * those of a session that keeps nothing, bit for bit: in models with a recurrence of each kind, and
 * in one whose layers all attend. */
#include "tests/unit/model/hybrid_rig.h"

enum { SEQUENCES = 4, LENGTH = 60, PREFIX = 24 };

static uint32_t ids[SEQUENCES][LENGTH];
static float expected[SEQUENCES][LENGTH + 1][H_VOCAB]; /* after the first n */
static struct session_prefix prefix;

/* Two begin with the same 24 tokens, one with 9 of these, and one with none. */
static const uint32_t alike[SEQUENCES] = { PREFIX, PREFIX, 9, 0 };

static void start(void)
{
    if (rig_start(0, 8, false) != ERR_OK)
        rig_die(rig.model.error_message);
}

static void set_expected(void)
{
    start();
    for (uint32_t k = 0; k < SEQUENCES; k++) {
        session_clear(&rig.session);
        for (uint32_t i = 0; i < LENGTH; i++) {
            ids[k][i] = i < alike[k] ? 3 + i * 7 % 90 : 3 + (i * 11 + k * 17 + 5) % 90;
            if (session_append(&rig.session, &ids[k][i], 1, NULL) != ERR_OK)
                rig_die(rig.session.error_message);
            memcpy(expected[k][i + 1], rig.session.logits, rig_logits_bytes());
        }
    }
}

static bool is(uint32_t k, uint32_t n)
{
    const struct session *s = &rig.session;

    return s->n_ids == n && s->n_cached == n &&
           memcmp(s->logits, expected[k][n], rig_logits_bytes()) == 0;
}

/* Begins as a conversation does. Returns how many tokens need not be computed. */
static uint32_t begin(uint32_t k, uint32_t n, uint32_t wanted)
{
    struct session *s = &rig.session;
    uint32_t kept;

    session_clear(s);
    if (session_put(s, ids[k], n) != ERR_OK)
        rig_die(s->error_message);
    session_want_prefix(s, ids[k], wanted);
    kept = s->n_cached;
    session_mark(s);
    return kept;
}

static void test_once(const char *name)
{
    struct session *s = &rig.session;

    start();
    session_keep_prefix(s, &prefix);
    OK(begin(0, 40, PREFIX) == 0 && session_run(s, NULL) == ERR_OK && is(0, 40) &&
           prefix.n == PREFIX,
       "%s: the first sequence computes the prefix", name);
    session_append(s, ids[0] + 40, 5, NULL);
    OK(begin(1, 30, PREFIX) == PREFIX && session_run(s, NULL) == ERR_OK && is(1, 30),
       "the second sequence does not compute the prefix");
    (void)session_cut(s, 0);
    OK(session_append(s, ids[1], 26, NULL) == ERR_OK && is(1, 26) && prefix.n == PREFIX,
       "a conversation that is cut to nothing and told anew does not compute the prefix again");
    (void)session_cut(s, 10);
    OK(session_append(s, ids[1] + 10, 50, NULL) == ERR_OK && is(1, 60) && prefix.n == PREFIX,
       "a conversation that is cut within the prefix does not compute it again");
    OK(begin(2, 30, 0) < PREFIX && session_run(s, NULL) == ERR_OK && is(2, 30) && prefix.n == 0,
       "a sequence that begins otherwise has nothing of the prefix");
    OK(begin(1, PREFIX + 1, PREFIX) == 0 && session_run(s, NULL) == ERR_OK && is(1, PREFIX + 1) &&
           begin(0, PREFIX + 1, PREFIX) == PREFIX && session_run(s, NULL) == ERR_OK &&
           is(0, PREFIX + 1),
       "the prefix is kept again");
    OK(begin(0, PREFIX, PREFIX) < PREFIX && session_run(s, NULL) == ERR_OK && is(0, PREFIX),
       "the last token of a prefix by itself is computed, for its logits");
}

static int calls_left;
static bool soon(void *context)
{
    (void)context;
    return calls_left-- <= 0;
}

static uint32_t seed = 1;
static uint32_t some(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)seed * n) >> 32);
}

static void test_random(void)
{
    static const struct stop stop = { soon, NULL };
    struct session *s = &rig.session;
    unsigned good = 0, runs = 0, reused = 0;
    uint32_t k = 0;

    start();
    session_keep_prefix(s, &prefix);
    for (unsigned step = 0; step < 1000; step++) {
        uint32_t n = s->n_ids;

        switch (some(n == 0 ? 1 : 14)) {
        case 0:
        case 1:
            k = some(8) * SEQUENCES / 10 % SEQUENCES;
            reused += begin(k, 1 + some(LENGTH), some(2) ? PREFIX : some(40)) != 0;
            break;
        case 2:
        case 7: (void)session_cut(s, some(n + 1)); break;
        case 3:
        case 8: (void)session_put(s, ids[k] + n, some(LENGTH - n + 1)); break;
        case 4: session_mark(s); break;
        case 5:
            calls_left = (int)some(3 * H_LAYERS);
            if (s->n_cached < n)
                (void)session_run(s, &stop);
            break;
        case 6: session_forget_prefix(s); break;
        default: break;
        }
        if (some(2) && s->n_ids != 0 && s->n_cached < s->n_ids) {
            runs++;
            good += session_run(s, NULL) == ERR_OK && is(k, s->n_ids);
        }
    }
    OK(runs > 50 && good == runs && reused > 4,
       "1000 random steps, %u begun with a prefix, give the same logits: %u of %u runs", reused,
       good, runs);
}

/* ---- replaced by a loaded one --------------------------------------------------------------- */

static struct {
    uint8_t bytes[1 << 20];
    size_t at;
} tape;

static enum err move(void *context, void *memory, size_t bytes)
{
    bool loads = *(bool *)context;

    if (loads)
        memcpy(memory, tape.bytes + tape.at, bytes);
    else
        memcpy(tape.bytes + tape.at, memory, bytes);
    tape.at += bytes;
    return ERR_OK;
}

static void play(bool loads, uint32_t n)
{
    struct layer_state_io io = { move, &loads, loads, false };

    tape.at = 0;
    if (session_move(&rig.session, n, n, &io) != ERR_OK ||
        (loads && session_restore(&rig.session, n, n) != ERR_OK))
        rig_die("the tape");
}

static void test_loaded(void)
{
    struct session *s = &rig.session;
    unsigned good = 0;

    for (uint32_t k = 1; k < SEQUENCES; k++) {
        start();
        session_keep_prefix(s, &prefix);
        (void)begin(k, 30, 0);
        session_run(s, NULL);
        play(false, 30);
        (void)begin(0, 40, PREFIX);
        session_run(s, NULL);
        play(true, 30);
        good += session_append(s, ids[k] + 30, 5, NULL) == ERR_OK && is(k, 35);
        (void)begin(0, 40, PREFIX);
        good += session_run(s, NULL) == ERR_OK && is(0, 40);
        (void)begin(0, 40, PREFIX);
        play(true, 30); /* while the prefix is held */
        session_clear(s);
        good += session_append(s, ids[0], 40, NULL) == ERR_OK && is(0, 40);
    }
    OK(good == 3 * (SEQUENCES - 1), "a loaded sequence and one after it are right: %u of 9", good);
    start();
    session_keep_prefix(s, &prefix);
    (void)begin(0, PREFIX, 0);
    session_run(s, NULL);
    play(false, PREFIX);
    start();
    session_keep_prefix(s, &prefix);
    play(true, PREFIX);
    session_make_prefix(s);
    OK(begin(1, 50, PREFIX) == PREFIX && session_run(s, NULL) == ERR_OK && is(1, 50) &&
           begin(0, 50, PREFIX) == PREFIX && session_run(s, NULL) == ERR_OK && is(0, 50),
       "a loaded prefix is computed by nobody");
}

static void test_all(const char *name)
{
    set_expected();
    test_once(name);
    test_random();
    test_loaded();
}

int main(void)
{
    static const struct hybrid plain = { "attention alone", INGOT_MIXER_ATTENTION,
                                         .attends = 0x3f };

    static const struct hybrid by_length = { "LongRoPE", INGOT_MIXER_ATTENTION, .attends = 0x3f,
                                             .long_context = 33 };

    rig_compute(false);
    rig_alone();
    for (size_t i = 0; i < N_HYBRIDS; i++) {
        hybrid_make(&hybrids[i], INGOT_Q8_0);
        test_all(hybrids[i].name);
    }
    hybrid_make(&hybrid_latent, INGOT_Q8_0);
    test_all(hybrid_latent.name);
    hybrid_make(&plain, INGOT_Q8_0);
    test_all(plain.name);
    hybrid_make(&by_length, INGOT_Q8_0);
    test_all(by_length.name);
    return tap_done();
}
