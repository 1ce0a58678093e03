/* A layer that remembers by a recurrence, which cannot be cut anywhere: undone, retried, wrongly
 * guessed, stopped, wrongly read or saved tokens must leave it as if they had never been. The mixer
 * is this test's own, in place of attention; the rest of the runtime knows only the table of
 * runtime/model/layer.h. */
#include "runtime/model/layer.h"
#include "tests/unit/chat/chat_rig.h"
#include "tests/unit/chat/saved_chat_rig.h"

/* ---- the mixer ------------------------------------------------------------------------------ */

enum { MARKS = 4, MOST_DIM = 128, MOST_VOCAB = 640 };

/* Adds up everything that came, with a slightly smaller weight for older tokens. */
struct decay {
    float sum[MOST_DIM];
    uint32_t n; /* tokens in it */
};

struct decay_state {
    struct decay now, pass, kept[MARKS];
    bool in_doubt;    /* a pass has entered the layer and not left it */
    uint32_t n_marks; /* number of marks ever kept: the latest is kept[(n_marks - 1) % MARKS] */
};

static unsigned n_restored; /* cuts that went back to a mark */

static size_t decay_bytes(const struct ingot_layer *l)
{
    (void)l;
    return sizeof(struct decay_state);
}

static void decay_clear(struct layer_state *st)
{
    memset(st->self, 0, sizeof(struct decay_state));
}

static enum err decay_enter(struct layer_state *st, uint32_t position)
{
    struct decay_state *d = st->self;

    (void)position;
    d->in_doubt = true;
    return ERR_OK;
}

static enum err decay_leave(struct layer_state *st, uint32_t end)
{
    struct decay_state *d = st->self;

    d->now.n = end;
    d->in_doubt = false;
    return ERR_OK;
}

static void decay_mark(struct layer_state *st, uint32_t n, enum layer_mark mark)
{
    struct decay_state *d = st->self;

    d->now.n = n;
    if (mark == LAYER_MARK_PASS)
        d->pass = d->now;
    else
        d->kept[d->n_marks++ % MARKS] = d->now;
}

/* Keeps the state if it is at n or before and no pass left it in doubt; else goes to the nearest
 * mark, or else to nothing. */
static uint32_t decay_cut(struct layer_state *st, uint32_t n)
{
    struct decay_state *d = st->self;
    struct decay best = { .n = 0 };

    if (!d->in_doubt && d->now.n <= n)
        return d->now.n;
    for (uint32_t i = 0; i < MARKS; i++) {
        if (d->kept[i].n <= n && d->kept[i].n > best.n)
            best = d->kept[i];
    }
    if (d->pass.n <= n && d->pass.n > best.n)
        best = d->pass;
    n_restored += best.n != 0;
    d->now = best;
    d->in_doubt = false;
    for (uint32_t i = 0; i < MARKS; i++) {
        if (d->kept[i].n > best.n)
            d->kept[i].n = 0; /* marks of tokens that are gone */
    }
    if (d->pass.n > best.n)
        d->pass.n = 0;
    return best.n;
}

static enum err decay_move(struct layer_state *st, uint32_t n, const struct layer_state_io *io)
{
    struct decay_state *d = st->self;
    enum err e = io->move(io->context, d->now.sum, sizeof d->now.sum);

    if (e == ERR_OK && io->loads && !io->discards)
        d->now.n = n;
    return e;
}

static const struct layer_state_kind decay_kind = {
    .name = "decay",
    .bytes = decay_bytes,
    .clear = decay_clear,
    .enter = decay_enter,
    .leave = decay_leave,
    .mark = decay_mark,
    .cut = decay_cut,
    .move = decay_move,
};

/* Computes this core's dimensions of every token in turn. */
static bool decay_run(const struct transformer *t, unsigned core)
{
    struct decay_state *d = t->parts[0].states[t->layer].self;
    size_t first, last;

    workers_share(t->workers, core, params(t)->dim, ROW_STEP, &first, &last);
    for (uint32_t i = 0; i < t->n_tokens; i++) {
        const float *x = t->act.norm + i * t->act.dim_stride;
        float *y = t->act.out + i * t->act.dim_stride;

        for (size_t k = first; k < last; k++) {
            d->now.sum[k] = 0.75f * d->now.sum[k] + x[k];
            y[k] = 0.25f * d->now.sum[k];
        }
    }
    layer_step(t, core);
    return layer_wait(t, core, INGOT_ATTN_OUT);
}

static const struct layer_block decay_mixer = {
    .kind = INGOT_MIXER_ATTENTION,
    .name = "decay",
    .waits = LAYER_ROLE(INGOT_ATTN_OUT),
    .state = &decay_kind,
    .run = decay_run,
};

/* Replaces runtime/model/layer_kinds.c. */
const struct layer_block *const layer_mixers[] = { &decay_mixer, NULL };
extern const struct layer_block ffn_dense;
const struct layer_block *const layer_ffns[] = { &ffn_dense, NULL };

/* ---- the sequence --------------------------------------------------------------------------- */

enum { N = 60 };

static uint32_t ids[N + 16];
static float expected[N + 1][MOST_VOCAB]; /* after ids[0 .. i) */

static bool is_after(uint32_t n)
{
    const struct session *s = &rig.session;

    return s->n_ids == n && s->n_cached == n && s->logits != NULL &&
           memcmp(s->logits, expected[n], rig_logits_bytes()) == 0;
}

static void set_expected(void)
{
    rig_start(0, 1, false);
    rig_ids(ids, N);
    for (uint32_t i = 0; i < N; i++) {
        if (session_append(&rig.session, ids + i, 1, NULL) != ERR_OK)
            rig_die(rig.session.error_message);
        memcpy(expected[i + 1], rig.session.logits, rig_logits_bytes());
    }
}

static void test_chunks(void)
{
    static const uint32_t chunks[] = { 2, 7, 32, 1000 };
    unsigned good = 0;

    OK(memcmp(expected[10], expected[11], rig_logits_bytes()) != 0, "the pending input matters");
    for (int i = 0; i < 4; i++)
        good += rig_start(0, chunks[i], false) == ERR_OK &&
                session_append(&rig.session, ids, N, NULL) == ERR_OK && is_after(N);
    OK(good == 4, "chunks of 1, 2, 7, 32 and all tokens give the same logits");
}

static void test_cut(void)
{
    struct session *s = &rig.session;

    rig_start(0, 0, false);
    session_append(s, ids, 10, NULL);
    session_mark(s);
    session_append(s, ids + 10, 10, NULL);
    session_mark(s);
    session_append(s, ids + 20, 10, NULL);
    OK(session_cut(s, 25) == 20 && s->n_ids == 25, "a cut at 25 keeps what was marked at 20");
    OK(session_run(s, NULL) == ERR_OK && is_after(25),
       "the five tokens after the mark are computed again");
    OK(session_cut(s, 15) == 10 && session_run(s, NULL) == ERR_OK && is_after(15),
       "a cut at 15 keeps 10 tokens");
    OK(session_cut(s, 5) == 0 && session_run(s, NULL) == ERR_OK && is_after(5),
       "a cut at 5 keeps no token");
    OK(session_append(s, ids + 5, 3, NULL) == ERR_OK && is_after(8),
       "the sequence continues after the cut");
}

static int calls_left;
static bool soon(void *context)
{
    (void)context;
    return calls_left-- <= 0;
}

/* Then some layers have the tokens, and others have not. */
static void test_stops(void)
{
    static const struct stop stop = { soon, NULL };
    struct session *s = &rig.session;
    unsigned good = 0, n = 0;

    for (int k = 0; k < 12; k++) {
        rig_start(0, 8, false);
        session_append(s, ids, 10, NULL);
        calls_left = k;
        n++;
        if (session_append(s, ids + 10, 20, &stop) == ERR_ABORTED)
            good += session_run(s, NULL) == ERR_OK && is_after(30);
        else
            good += is_after(30);
    }
    OK(good == n, "a pass that stops between any two layers goes on as if it had not: %u of %u",
       good, n);
}

static void test_guesses(void)
{
    struct session *s = &rig.session;
    unsigned good = 0, runs = 0;

    rig.guesses = MODEL_GUESSES;
    rig_start(0, 0, false);
    rig.guesses = MODEL_NO_GUESSES;
    session_append(s, ids, 4, NULL);
    for (uint32_t at = 4; at + 10 < N; runs++) {
        uint32_t right = runs % 5, room;

        session_put(s, ids + at, 1);
        memcpy(session_room(s, &room), ids + at + 1, 4 * sizeof *ids);
        if (right < 4)
            session_room(s, &room)[right] ^= 1;
        if (session_run_guesses(s, 4, NULL) != ERR_OK)
            break;
        at++;
        for (uint32_t i = 0; i < right && session_put_next(s, ids[at]); i++, at++)
            session_take_guess(s);
        good += s->n_ids == at && memcmp(s->logits, expected[at], rig_logits_bytes()) == 0;
    }
    OK(runs > 10 && good == runs,
       "guesses of which some are right give the same logits: %u of %u runs", good, runs);
}

/* A layer is computed before its checksum is known, and then again. */
static void test_redo(void)
{
    struct session *s = &rig.session;
    struct rig_limits l = rig_limits();
    unsigned good = 0, n = 0;
    uint64_t reread = 0;

    for (uint32_t segment = 0; segment < 4; segment++) {
        const struct ingot_segment *x;

        rig_start(l.least, 0, false);
        rig.pace = RIG_SLOW;
        x = &rig.model.image.segments[1 + segment];
        for (uint32_t i = 0; i < 6; i++) {
            rig.flip_sector = (long)((x->offset + x->bytes) / SECTOR_BYTES - 1);
            rig.flip_times = i == 2;
            n++;
            good += session_append(s, ids + i, 1, NULL) == ERR_OK && is_after(i + 1);
        }
        reread += rig.model.stream.stats.reread;
    }
    OK(good == n && reread > 2,
       "layers are computed again after a bad checksum: %u of %u tokens, %u read again", good, n,
       (unsigned)reread);
}

/* ---- the conversation ----------------------------------------------------------------------- */

/* Whether an empty session that computes it afresh gives the same next logits. */
static bool is_true(void)
{
    static float logits[MOST_VOCAB];
    static uint32_t told[1024];
    struct session *s = &rig.session;
    uint32_t n = s->n_ids, next = 5;
    bool same;

    memcpy(told, s->ids, n * sizeof *told);
    if (session_append(s, &next, 1, NULL) != ERR_OK)
        return false;
    memcpy(logits, s->logits, rig_logits_bytes());
    session_clear(s);
    if (session_append(s, told, n, NULL) != ERR_OK || session_append(s, &next, 1, NULL) != ERR_OK)
        return false;
    same = memcmp(logits, s->logits, rig_logits_bytes()) == 0;
    (void)session_cut(s, n);
    return same;
}

static void test_chat(void)
{
    unsigned before;

    start_over(6);
    say("bade", true);
    say("gogo", true);
    before = rig.session.n_ids;
    say("something else", true);
    n_restored = 0;
    OK(chat_undo(&chat) && rig.session.n_ids == before && rig.session.n_cached + 8 > before &&
           n_restored != 0,
       "a turn is taken back to its mark: %u of %u tokens stay computed",
       (unsigned)rig.session.n_cached, before);
    OK(is_true(), "after the cut the state is the same as without the turn");
    start_over(6);
    say("bade", true);
    say("gogo", true);
    OK(chat_retry(&chat) == ERR_OK && is_true(), "a turn is answered again");
    options.reply.stop[0][0] = 'a';
    options.reply.n_stops = 1;
    OK(say("bade gogo", true) == ERR_OK && is_true(),
       "a reply that ends at a stop string leaves the right state");
}

/* ---- saved ---------------------------------------------------------------------------------- */

static void test_saved(void)
{
    struct session *s = &rig.session;
    struct saved_chat_state state = {
        .session = s, .reply_start = 0, .started = true, .turns = &turns
    };

    rig_start(0, 0, false);
    insert_blank_card();
    session_append(s, ids, 20, NULL);
    OK(saved_chat_write(&saved, &file, &state, NULL, NULL) == ERR_OK, "the state is saved %s",
       saved.error_message);
    session_append(s, ids + 30, 10, NULL);
    OK(saved_chat_read(&saved, &file, &state, NULL, NULL) == ERR_OK && s->n_cached == 20,
       "the state is loaded %s", saved.error_message);
    OK(session_append(s, ids + 20, 10, NULL) == ERR_OK && is_after(30),
       "the sequence goes on from the loaded state");
}

/* After a failed load the state is the earlier one, or is computed again from nothing. */
static void test_not_loaded(void)
{
    struct session *s = &rig.session;
    struct saved_chat_state state = {
        .session = s, .reply_start = 0, .started = true, .turns = &turns
    };
    unsigned wrong = 0, untouched = 0, pending = 0, n = 0;
    enum err e;

    do {
        session_clear(s);
        session_append(s, ids, 10, NULL);
        session_mark(s);
        session_append(s, ids + 10, 18, NULL);
        insert_card(FILE_BYTES);
        card.reads_left = (long)n++;
        e = saved_chat_read(&saved, &file, &state, NULL, NULL);
        untouched += e != ERR_OK && s->n_cached == 28;
        pending += e != ERR_OK && s->n_cached == 0 && s->n_ids == 28;
        if (e != ERR_OK)
            wrong += session_append(s, ids + 28, 10, NULL) != ERR_OK || !is_after(38);
    } while (e == ERR_IO && n < 1000);
    OK(e == ERR_OK && wrong == 0 && untouched > 2 && pending > 2 && untouched + pending == n - 1,
       "a load that fails after any of %u sectors keeps the logits (%u untouched, %u by tokens, %u "
       "wrong)",
       n, untouched, pending, wrong);
    session_clear(s);
    session_append(s, ids, 28, NULL);
    insert_card(FILE_BYTES);
    card_data[SECTOR_BYTES + 3] ^= 1;
    card_data[FILE_BYTES / 2 + SECTOR_BYTES + 3] ^= 1;
    OK(saved_chat_read(&saved, &file, &state, NULL, NULL) == ERR_BAD_CHECKSUM &&
           s->n_cached == 28 && session_append(s, ids + 28, 10, NULL) == ERR_OK && is_after(38),
       "a damaged file does not change the state: %s", saved.error_message);
}

int main(void)
{
    static const char *strings[INGOT_CHAT_STRINGS] = {
        [INGOT_CHAT_NAME] = "short",
        [INGOT_CHAT_USER_PREFIX] = "U",
        [INGOT_CHAT_REPLY_PREFIX] = "R",
        [INGOT_CHAT_REPLY_SUFFIX] = "/",
    };

    rig_compute(false);
    rig_alone();
    rig_make_model("tiny", INGOT_Q8_0);
    put_template(strings);
    set_expected();
    test_chunks();
    test_cut();
    test_stops();
    test_guesses();
    test_redo();
    test_chat();
    test_saved();
    test_not_loaded();
    return tap_done();
}
