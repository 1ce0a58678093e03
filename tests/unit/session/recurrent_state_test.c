/* The states of recurrent mixers in everything that a session does: tokens that are cut, guessed
 * wrongly, stopped, read wrongly from the card, saved and loaded leave the logits of a sequence
 * that never had them, bit for bit. In a model of each kind, in one with attention beside it, and
 * in one whose attention has latent keys. */
#include "runtime/model/state_recurrent.h"
#include "tests/unit/model/hybrid_rig.h"

enum { N = 60 };

static uint32_t ids[N + 16];
static float expected[N + 1][H_VOCAB]; /* after ids[0 .. i) */

static bool is_after(uint32_t n)
{
    const struct session *s = &rig.session;

    return s->n_ids == n && s->n_cached == n && s->logits != NULL &&
           memcmp(s->logits, expected[n], rig_logits_bytes()) == 0;
}

static void start(size_t limit, uint32_t chunk)
{
    if (rig_start(limit, chunk, false) != ERR_OK)
        rig_die(rig.model.error_message);
}

static void set_expected(void)
{
    start(0, 1);
    rig_ids(ids, N);
    for (uint32_t i = 0; i < N; i++) {
        if (session_append(&rig.session, ids + i, 1, NULL) != ERR_OK)
            rig_die(rig.session.error_message);
        memcpy(expected[i + 1], rig.session.logits, rig_logits_bytes());
    }
}

/* The beginnings of the latest turns are kept; earlier tokens are computed from the start. */
static void test_cut(const char *name)
{
    struct session *s = &rig.session;
    unsigned good = 0;

    start(0, 0);
    for (uint32_t at = 10; at <= 40; at += 10) { /* turns begin at 10, 20, 30 and 40 */
        session_append(s, ids + at - 10, 10, NULL);
        session_mark(s);
    }
    session_append(s, ids + 40, 10, NULL);
    OK(session_cut(s, 45) == 40 && session_run(s, NULL) == ERR_OK && is_after(45),
       "%s: a cut at 45 keeps 40 tokens", name);
    OK(session_cut(s, 40) == 40 && session_append(s, ids + 40, 3, NULL) == ERR_OK && is_after(43) &&
           session_cut(s, 40) == 40 && session_append(s, ids + 40, 2, NULL) == ERR_OK &&
           is_after(42),
       "the same turn is taken back twice");
    OK(session_cut(s, 35) == 30 && session_run(s, NULL) == ERR_OK && is_after(35),
       "a cut at 35 keeps 30 tokens");
    OK(session_cut(s, 25) == (RECURRENT_KEPT > 2 ? 20 : 0) && session_run(s, NULL) == ERR_OK &&
           is_after(25),
       "a cut at 25 starts from what is kept");
    session_mark(s);
    session_append(s, ids + 25, 5, NULL);
    OK(session_cut(s, 25) == 25 && session_append(s, ids + 25, 5, NULL) == ERR_OK && is_after(30),
       "marks continue after the cut");
    for (uint32_t n = 0; n < 30; n++) {
        (void)session_cut(s, n);
        good += session_append(s, ids + n, 30 - n, NULL) == ERR_OK && is_after(30);
    }
    OK(good == 30, "a cut at any token gives the right state: %u of 30", good);
}

/* A turn that was taken back and another of the same length have different beginnings. */
static void test_taken_back(void)
{
    struct session *s = &rig.session;

    start(0, 0);
    for (uint32_t at = 10; at <= 20; at += 10) {
        session_append(s, ids + at - 10, 10, NULL);
        session_mark(s);
    }
    OK(session_cut(s, 10) == 10 && session_append(s, ids + 30, 15, NULL) == ERR_OK &&
           session_cut(s, 20) == 10,
       "marks of old tokens are gone after other tokens");
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
    unsigned good = 0, n = 0, stopped = 0;

    for (int k = 0; k < 3 * H_LAYERS; k++, n++) {
        start(0, 8);
        session_append(s, ids, 10, NULL);
        calls_left = k;
        if (session_append(s, ids + 10, 20, &stop) == ERR_ABORTED) {
            stopped++;
            (void)session_run(s, NULL);
        }
        good += is_after(30);
    }
    OK(good == n && stopped > H_LAYERS, "a pass that stops between two layers goes on: %u of %u",
       good, n);
}

static void test_guesses(void)
{
    struct session *s = &rig.session;
    unsigned good = 0, runs = 0, kept = 0;

    rig.guesses = MODEL_GUESSES;
    start(0, 0);
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
        session_forget_guesses(s);
        kept += s->n_cached + 1 + right >= at; /* no more than this pass is lost */
    }
    OK(runs > 10 && good == runs,
       "guesses of which some are right give the same logits: %u of %u runs", good, runs);
    OK(kept == runs, "wrong guesses cost the tokens of their pass: %u of %u", kept, runs);
}

/* A layer is computed before its checksum is known, and then again. */
static void test_redo(void)
{
    struct session *s = &rig.session;
    struct rig_limits l = rig_limits();
    unsigned good = 0, n = 0;
    uint64_t reread = 0;

    for (uint32_t segment = 0; segment < H_LAYERS; segment++) {
        const struct ingot_segment *x;

        start(l.least, 0);
        rig.pace = RIG_SLOW;
        x = &rig.model.image.segments[1 + segment];
        for (uint32_t i = 0; i < 6; i++, n++) {
            rig.flip_sector = (long)((x->offset + x->bytes) / SECTOR_BYTES - 1);
            rig.flip_times = i == 2;
            good += session_append(s, ids + i, 1, NULL) == ERR_OK && is_after(i + 1);
        }
        reread += rig.model.stream.stats.reread;
    }
    OK(good == n && reread > 2,
       "layers are computed again after a bad checksum: %u of %u tokens, %u read again", good, n,
       (unsigned)reread);
}

/* ---- saved and loaded ------------------------------------------------------------------------ */

static struct {
    uint8_t bytes[1 << 20];
    size_t at, end; /* end: it fails there */
} tape;

static enum err move(void *context, void *memory, size_t bytes)
{
    bool loads = *(bool *)context, fails = tape.at + bytes > tape.end;
    size_t n = fails ? tape.end - tape.at : bytes;

    if (loads)
        memcpy(memory, tape.bytes + tape.at, n);
    else
        memcpy(tape.bytes + tape.at, memory, n);
    tape.at += n;
    return fails ? ERR_IO : ERR_OK;
}

static enum err play(bool loads, uint32_t n)
{
    struct layer_state_io io = { move, &loads, loads, false };

    tape.at = 0;
    return session_move(&rig.session, n, n, &io);
}

static void test_saved(void)
{
    struct session *s = &rig.session;
    unsigned good = 0, n = 0;
    uint64_t bytes;

    start(0, 0);
    session_append(s, ids, 20, NULL);
    bytes = session_move_bytes(s, 20, 20);
    tape.end = sizeof tape.bytes;
    OK(play(false, 20) == ERR_OK && tape.at == bytes, "%zu bytes are saved, as many as were told",
       tape.at);
    session_append(s, ids + 30, 10, NULL);
    OK(play(true, 20) == ERR_OK && session_restore(s, 20, 20) == ERR_OK &&
           session_append(s, ids + 20, 10, NULL) == ERR_OK && is_after(30),
       "the loaded state continues as before");
    for (tape.end = 0; tape.end < bytes; tape.end += bytes / 7, n++) { /* a card that fails */
        session_clear(s);
        session_append(s, ids + 5, 10, NULL);
        good += play(true, 20) == ERR_IO && session_append(s, ids, 12, NULL) == ERR_OK &&
                is_after(12);
    }
    OK(good == n, "a load that failed leaves nothing of it: %u of %u", good, n);
}

int main(void)
{
    rig_compute(false);
    rig_alone();
    for (size_t i = 0; i <= N_HYBRIDS; i++) {
        const struct hybrid *h = i < N_HYBRIDS ? &hybrids[i] : &hybrid_latent;

        hybrid_make(h, INGOT_Q8_0);
        set_expected();
        test_cut(h->name);
        test_taken_back();
        test_stops();
        test_guesses();
        test_redo();
        test_saved();
    }
    return tap_done();
}
