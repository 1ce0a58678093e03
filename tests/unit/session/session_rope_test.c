/* LongRoPE: the logits after n tokens depend on these tokens alone. They equal those of a fresh session that
 * takes them in one run, whichever way a session got them: in chunks, one by one across the limit, cut back
 * below it, guessed, beside others in a pass, or loaded. */
#include "runtime/session/session_rope.h"

#include "runtime/session/session_group.h"
#include "tests/unit/model/hybrid_rig.h"

enum { LIMIT = 40, LENGTH = 64 };

static uint32_t ids[LENGTH + 8];
static float expected[LENGTH + 1][H_VOCAB]; /* after the first n */
static struct workers crews[3];

static void start(uint32_t chunk)
{
    if (rig_start(0, chunk, false) != ERR_OK)
        rig_die(rig.model.error_message);
}

static bool is_of(const struct session *s, uint32_t n)
{
    return s->n_ids == n && s->n_cached == n && s->logits != NULL &&
           memcmp(s->logits, expected[n], rig_logits_bytes()) == 0;
}

static bool is(uint32_t n)
{
    return is_of(&rig.session, n);
}

static enum err add(uint32_t from, uint32_t to)
{
    return session_append(&rig.session, ids + from, to - from, NULL);
}

static void set_expected(void)
{
    rig_ids(ids, LENGTH + 8);
    for (uint32_t n = 1; n <= LENGTH; n++) {
        session_clear(&rig.session);
        if (add(0, n) != ERR_OK)
            rig_die(rig.session.error_message);
        memcpy(expected[n], rig.session.logits, rig_logits_bytes());
    }
}

/* ---- rows of a whole sequence --------------------------------------------------------------- */

static float rows[LENGTH][H_VOCAB];
static unsigned visits[LENGTH];

static void keep_row(void *context, uint32_t position, const float *logits)
{
    (void)context;
    visits[position]++;
    memcpy(rows[position], logits, rig_logits_bytes());
}

static bool row_is(uint32_t position, uint32_t n)
{
    return memcmp(rows[position], expected[n], rig_logits_bytes()) == 0;
}

static void test_rows(void)
{
    bool once = true, right = true;

    start(8);
    OK(session_append_visit(&rig.session, ids, LIMIT, keep_row, NULL) == ERR_OK && row_is(9, 10) &&
           row_is(LIMIT - 1, LIMIT),
       "a sequence up to the limit has the short factors throughout");
    session_clear(&rig.session);
    OK(session_append_visit(&rig.session, ids, LIMIT + 1, keep_row, NULL) == ERR_OK &&
           !row_is(9, 10) && !row_is(LIMIT - 1, LIMIT) && row_is(LIMIT, LIMIT + 1),
       "a sequence of one token more has the long factors throughout");
    session_clear(&rig.session);
    memset(visits, 0, sizeof visits);
    for (uint32_t at = 0; at < LENGTH; at += 3) {
        uint32_t n = LENGTH - at < 3 ? LENGTH - at : 3;

        once = once && session_append_visit(&rig.session, ids + at, n, keep_row, NULL) == ERR_OK;
        right = right && row_is(at + n - 1, at + n);
    }
    for (uint32_t i = 0; i < LENGTH; i++)
        once = once && visits[i] == 1;
    OK(once && right, "each token is visited once, also if all are computed again");
}

/* ---- ways to the same tokens ----------------------------------------------------------------- */

static void test_chunks(void)
{
    static const uint32_t chunks[] = { 1, 3, 16, LENGTH };
    unsigned good = 0;

    for (unsigned c = 0; c < 3; c++) {
        rig.workers = &crews[c];
        for (unsigned i = 0; i < 4; i++) {
            start(chunks[i]);
            good += add(0, LIMIT - 7) == ERR_OK && is(LIMIT - 7) &&
                    add(LIMIT - 7, LIMIT) == ERR_OK && is(LIMIT) &&
                    add(LIMIT, LIMIT + 9) == ERR_OK && is(LIMIT + 9);
        }
    }
    rig.workers = &crews[0];
    OK(good == 12,
       "sequences cross the limit on 1, 2 and 4 cores, in chunks of four sizes: %u of 12", good);
}

static void test_steps(void)
{
    bool good = true, back = true;

    start(16);
    good = add(0, LIMIT - 5) == ERR_OK;
    for (uint32_t n = LIMIT - 5; n < LIMIT + 5; n++)
        good = good && add(n, n + 1) == ERR_OK && is(n + 1);
    OK(good, "the sequence crosses the limit token by token");
    for (uint32_t n = LIMIT + 4; n > LIMIT - 4; n--) {
        (void)session_cut(&rig.session, n - 1);
        back = back && add(n - 1, n) == ERR_OK && is(n);
    }
    OK(back, "the sequence is cut back below the limit token by token");
    (void)session_cut(&rig.session, 5);
    OK(add(5, LENGTH) == ERR_OK && is(LENGTH), "the sequence passes the limit at once again");
    (void)session_cut(&rig.session, 20);
    OK(session_run(&rig.session, NULL) == ERR_OK && is(20),
       "a sequence that is cut is computed without a new token");
}

static int calls_left;
static bool stop_soon(void *context)
{
    (void)context;
    return calls_left-- <= 0;
}

/* The run that crosses the limit is stopped at each place, and continues or is cut back. */
static void test_stop(void)
{
    static const struct stop stop = { stop_soon, NULL };
    unsigned stops = 0, good = 0;
    bool more = true;

    for (int k = 0; more; k++) {
        uint32_t n = k % 2 == 0 ? LIMIT + 2 : LIMIT - 2;

        start(16);
        (void)add(0, LIMIT);
        calls_left = k;
        more = session_append(&rig.session, ids + LIMIT, 2, &stop) == ERR_ABORTED;
        stops += more;
        (void)session_cut(&rig.session, n);
        good += n == rig.session.n_cached || (session_run(&rig.session, NULL) == ERR_OK && is(n));
    }
    OK(good == stops + 1 && stops > 2 * H_LAYERS,
       "a pass that computes again may stop at any of %u places", stops);
}

/* ---- guesses --------------------------------------------------------------------------------- */

static bool guess(uint32_t at, uint32_t right)
{
    struct session *s = &rig.session;
    uint32_t n = session_rope_limit(s, 4);
    bool good;

    memcpy(s->ids + at, ids + at, n * sizeof *ids);
    for (uint32_t i = right; i < n; i++)
        s->ids[at + i]++;
    good = session_run_guesses(s, n, NULL) == ERR_OK && is(at);
    while (good && session_put_next(s, ids[at])) {
        session_take_guess(s);
        good = is(++at);
    }
    return good;
}

static void test_guesses(void)
{
    struct session *s = &rig.session;
    bool good = true;

    rig.guesses = MODEL_GUESSES;
    start(16);
    good = session_put(s, ids, 30) == ERR_OK;
    for (uint32_t right = 0; good && s->n_ids < LENGTH - 8; right++)
        good = guess(s->n_ids, right % 6);
    OK(good, "guesses of which some are right cross the limit (%u tokens)", s->n_ids);
    (void)session_cut(s, 0);
    (void)session_put(s, ids, LIMIT - 2);
    OK(session_rope_limit(s, 9) == 2, "no guess lies beyond the limit");
    (void)session_put(s, ids + LIMIT - 2, 3);
    OK(session_rope_limit(s, 9) == 9, "all guesses are allowed after the limit");
    rig.guesses = MODEL_NO_GUESSES;
}

/* ---- beside others, embedded, saved ----------------------------------------------------------- */

static void test_group(void)
{
    static struct session both[2];
    static struct session_group group;
    bool good = true;

    rig.sequences = 2;
    start(16);
    both[0] = rig.session;
    session_open(&both[1], &rig.model, &rig.setup);
    group.n = 2;
    group.sessions[0] = &both[0];
    group.sessions[1] = &both[1];
    (void)session_put(&both[0], ids, LIMIT - 1);
    (void)session_put(&both[1], ids, LIMIT + 3);
    while (good && (both[0].n_cached < both[0].n_ids || both[1].n_cached < both[1].n_ids))
        good = session_group_pass(&group, NULL) == ERR_OK;
    OK(good && both[0].n_cached == LIMIT - 1 && both[1].n_cached == LIMIT + 3,
       "a short and a long sequence share passes");
    for (uint32_t i = 0; i < 4 && good; i++) {
        (void)session_put(&both[0], ids + LIMIT - 1 + i, 1);
        (void)session_put(&both[1], ids + LIMIT + 3 + i, 1);
        do {
            good = session_group_pass(&group, NULL) == ERR_OK;
        } while (good && both[0].n_cached < both[0].n_ids);
        good = good && is_of(&both[0], LIMIT + i);
        while (good && both[1].n_cached < both[1].n_ids)
            good = session_group_pass(&group, NULL) == ERR_OK;
        good = good && both[1].n_ids == LIMIT + 4 + i;
    }
    OK(good, "the short sequence crosses the limit");
    rig.sequences = 1;
}

static void test_embed(void)
{
    struct session *s = &rig.session;
    const float *mean;
    uint32_t room;

    start(16);
    (void)add(0, LIMIT + 5);
    memcpy(session_room(s, &room), ids, 10 * sizeof *ids);
    OK(session_embed(s, 10, NULL, &mean) == ERR_OK && session_run(s, NULL) == ERR_OK &&
           is(LIMIT + 5),
       "a short text is embedded beside a long sequence");
}

static uint8_t tape[1 << 20];
static size_t tape_at;

static enum err move(void *context, void *memory, size_t bytes)
{
    if (*(bool *)context)
        memcpy(memory, tape + tape_at, bytes);
    else
        memcpy(tape + tape_at, memory, bytes);
    tape_at += bytes;
    return ERR_OK;
}

static bool play(bool loads, uint32_t n, uint32_t cached)
{
    struct layer_state_io io = { move, &loads, loads, false };

    tape_at = 0;
    return session_move(&rig.session, n, cached, &io) == ERR_OK &&
           (!loads || session_restore(&rig.session, n, cached) == ERR_OK);
}

static void test_saved(void)
{
    struct session *s = &rig.session;
    unsigned good = 0;

    for (uint32_t n = LIMIT - 1; n <= LIMIT + 1; n++) {
        uint32_t cached;

        start(16);
        (void)add(0, LENGTH);
        (void)session_cut(s, n); /* with long factors, whatever n is */
        session_rope_settle(s);
        cached = s->n_cached;
        if (!play(false, n, cached))
            rig_die("the tape");
        session_clear(s);
        (void)add(3, 20);
        good += play(true, n, cached) && add(n, n + 1) == ERR_OK && is(n + 1);
    }
    OK(good == 3, "a sequence saved after a cut is loaded on both sides of the limit: %u of 3",
       good);
    session_clear(s);
    (void)add(0, LIMIT + 1);
    good = play(false, LIMIT + 1, LIMIT + 1);
    start(16);
    good += play(true, LIMIT + 1, LIMIT + 1);
    session_rope_settle(s);
    OK(good == 2 && s->n_cached == LIMIT + 1, "a loaded sequence keeps its keys");
    (void)session_cut(s, LIMIT - 3);
    OK(add(LIMIT - 3, LIMIT - 2) == ERR_OK && is(LIMIT - 2),
       "the keys are computed again if a loaded sequence is cut back below the limit");
}

/* ---- lines beside it -------------------------------------------------------------------------- */

static struct session_sequence sequence;

static void start_with_line(void)
{
    struct session_sequence *all[] = { &sequence };

    rig.kept_sequences = 1;
    start(16);
    session_sequences_open(&rig.session, all, 1);
    OK(sequence.table != NULL, "a line that shares places has a table");
    rig.kept_sequences = 0;
}

/* A line has the keys of some of its tokens by the short factors; the current sequence has all by
 * the long ones. */
static void test_line_of_short(void)
{
    struct session *s = &rig.session;

    start_with_line();
    (void)add(0, 10);
    (void)session_put(s, ids + 10, 20);
    session_sequence_keep(s, &sequence);
    OK(session_run(s, NULL) == ERR_OK && is(30) && add(30, LIMIT + 5) == ERR_OK && is(LIMIT + 5),
       "the sequence grows beyond the limit");
    session_sequence_swap(s, &sequence);
    OK(session_run(s, NULL) == ERR_OK && is(30), "the line does not take keys of other factors");
    session_sequence_swap(s, &sequence);
    OK(add(LIMIT + 5, LIMIT + 6) == ERR_OK && is(LIMIT + 6),
       "a sequence that is back below the limit does not take keys of other factors");
}

static void test_line_of_long(void)
{
    struct session *s = &rig.session;

    start_with_line();
    (void)add(0, LIMIT + 5);
    session_sequence_keep(s, &sequence);
    (void)session_cut(s, 0);
    OK(add(3, 20) == ERR_OK, "another sequence is at work");
    session_sequence_swap(s, &sequence);
    session_rope_settle(s);
    OK(s->n_cached == LIMIT + 5, "a long line keeps its keys");
    (void)session_cut(s, LIMIT - 3);
    OK(add(LIMIT - 3, LIMIT - 2) == ERR_OK && is(LIMIT - 2),
       "a long line's keys are computed again when it is cut back below the limit");
}

static void test_header(void)
{
    struct ingot_rope *ropes = ((struct ingot_header *)(void *)rig.packed)->ropes;

    OK(rig.session.long_context == LIMIT && ropes[0].long_context == LIMIT,
       "the limit is the file's");
}

int main(void)
{
    static const struct hybrid model = { "LongRoPE", INGOT_MIXER_ATTENTION, .attends = 0x3f,
                                         .long_context = LIMIT };

    for (unsigned i = 0; i < 3; i++)
        workers_start(&crews[i], rig_platform(), 1u << i);
    rig_compute(false);
    rig.workers = &crews[0];
    hybrid_make(&model, INGOT_Q8_0);
    start(LENGTH);
    set_expected();
    test_header();
    test_rows();
    test_chunks();
    test_steps();
    test_stop();
    test_guesses();
    test_group();
    test_embed();
    test_saved();
    test_line_of_short();
    test_line_of_long();
    return tap_done();
}
