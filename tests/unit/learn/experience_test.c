/* Turns that are watched, judged and practised: questions of two kinds, one of which goes badly
 * under the defaults; patterns; which turns are judged; bytes that can be restored, and bytes that
 * cannot. */
#include "runtime/features/policy/experience.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/features/lessons/vector.h"
#include "tests/unit/tap.h"

enum { DIM = 48 };

static struct experience e;
static void *memory;
static unsigned seed = 5;

static void open_fresh(void)
{
    free(memory);
    memory = aligned_alloc(64, (experience_bytes(DIM) + 63) / 64 * 64);
    memset(memory, 0xa5, experience_bytes(DIM));
    experience_open(&e, memory, DIM);
}

/* Makes a question of a kind: its hidden states are around an axis of their own. */
static void ask(int kind, struct policy_choice *choice)
{
    struct experience_question q = { .text = kind ? "What is 17 + 25?" : "tell me about cats",
                                     .bytes = kind ? 16 : 18,
                                     .tokens = kind ? 9 : 6 };
    float hidden[DIM];

    experience_watch(&e, 10);
    for (uint32_t i = 0; i < 16; i++) {
        vector_random(hidden, DIM, 0.2f, &seed);
        hidden[kind ? 3 : 30] += 2.0f;
        if (i < 10)
            hidden[20] += 100.0f; /* comes before the question and does not count */
        experience_see(&e, i, hidden);
    }
    experience_choose(&e, &q, choice);
}

static void check_learning(void)
{
    struct policy_choice c;
    unsigned first = 0, turns = 0, wrong = 0, others = 0;

    open_fresh();
    ask(1, &c);
    OK(c.choice[POLICY_THOUGHTS] == 0 && c.sure[POLICY_THOUGHTS] < 0.7f,
       "the defaults are chosen before there is experience");
    experience_forget(&e);
    for (int i = 0; i < 120; i++) {
        int kind = i % 2;

        experience_begin(&e);
        ask(kind, &c);
        others += kind == 0 && c.choice[POLICY_THOUGHTS] != 0;
        if (kind && c.choice[POLICY_THOUGHTS] == 1 && first++ == 0)
            turns = (unsigned)i;
        wrong += i >= 100 && c.choice[POLICY_THOUGHTS] != kind;
        experience_ended(&e, true, false);
        (void)experience_rate(&e, c.choice[POLICY_THOUGHTS] == kind);
    }
    experience_settle(&e);
    OK(first != 0 && wrong == 0 && others == 0,
       "sums that are called bad with thoughts lose them after %u turns, and stories keep theirs",
       turns);
    OK(e.totals.turns == 120 && e.totals.good + e.totals.bad == 120 && e.totals.thrown == 0 &&
           e.n == EXPERIENCE_TURNS,
       "%u turns make %u steps", (unsigned)e.totals.turns, (unsigned)e.totals.steps);
    OK(e.patterns.n == 2 && e.patterns.list[0].merged + e.patterns.list[1].merged == 120,
       "two kinds of questions are two patterns");
    ask(1, &c);
    OK(e.near > 0.9f && e.went > 0.5f, "a known question is recognized: cosine %.2f, went %.2f",
       (double)e.near, (double)e.went);
    experience_forget(&e);
}

static void check_signs(void)
{
    struct policy_choice c;
    uint32_t n;

    open_fresh();
    OK(!experience_rate(&e, true) && !experience_undone(&e), "there is nothing to rate at first");
    ask(0, &c);
    OK(!experience_rate(&e, true), "there is nothing to rate before the reply has ended");
    experience_ended(&e, true, false);
    OK(experience_rate(&e, true) && experience_rate(&e, false),
       "an ended reply can be rated, and the last rating counts");
    experience_settle(&e);
    OK(e.totals.turns == 1 && e.totals.bad == 1 && e.totals.good == 0 && e.totals.last < 0.01f,
       "a bad rating is counted");
    OK(!experience_rate(&e, true), "a turn that was judged cannot be rated again");
    n = e.patterns.n;
    ask(1, &c);
    experience_forget(&e);
    experience_settle(&e);
    OK(e.totals.turns == 1 && e.patterns.n == n, "a turn that came to nothing does not count");
    ask(1, &c);
    experience_ended(&e, true, false);
    OK(experience_undone(&e), "a turn may be taken back");
    ask(1, &c);
    OK(e.totals.undone == 1 && fabsf(e.totals.last - 0.1f) < 1e-6f,
       "a turn is judged when the next one begins");
    experience_ended(&e, false, true);
    experience_settle(&e);
    OK(fabsf(e.totals.last - 0.3f) < 1e-6f, "a turn that goes round in circles is judged poor");
    experience_watch(&e, 0);
    experience_choose(&e, &(struct experience_question){ .text = "" }, &c);
    experience_ended(&e, true, false);
    n = e.patterns.n;
    experience_settle(&e);
    OK(e.patterns.n == n && e.totals.turns == 4, "a question without a direction is not a pattern");
}

/* ---- bytes ---- */

static uint8_t bytes[1 << 18];
static size_t at, most;

static enum err put(void *context, void *from, size_t n)
{
    (void)context;
    memcpy(bytes + at, from, n);
    at += n;
    return ERR_OK;
}

static enum err get(void *context, void *to, size_t n)
{
    (void)context;
    if (at + n > most)
        return ERR_IO;
    memcpy(to, bytes + at, n);
    at += n;
    return ERR_OK;
}

static enum err load(void)
{
    at = 0;
    return experience_move(&e, true, get, NULL);
}

static void check_bytes(void)
{
    struct policy_choice c, again;
    uint32_t n;
    unsigned refused = 0, kept = 0;

    open_fresh();
    for (int i = 0; i < 30; i++) {
        ask(i % 2, &c);
        experience_ended(&e, i % 3 != 0, i % 5 == 0);
    }
    experience_begin(&e);
    at = 0;
    OK(experience_move(&e, false, put, NULL) == ERR_OK &&
           at == experience_move_bytes(&e, e.patterns.n),
       "as many bytes are saved as were predicted: %zu", at);
    most = at;
    n = e.patterns.n;
    seed = 77;
    ask(1, &c);
    open_fresh();
    OK(load() == ERR_OK && experience_is_sound(&e) && e.patterns.n == n && e.totals.turns == 30,
       "the patterns come back");
    seed = 77;
    ask(1, &again);
    OK(memcmp(&c, &again, sizeof c) == 0, "loaded patterns choose the same, to the bit");
    for (size_t i = 0; i < most; i += 5) { /* a wrong byte is refused, or harmless */
        bytes[i] ^= 0xff;
        if (load() != ERR_OK || !experience_is_sound(&e)) {
            refused++;
            experience_clear(&e);
        } else {
            ask(1, &c);
            experience_ended(&e, true, false);
            experience_settle(&e);
            kept += experience_is_sound(&e);
        }
        bytes[i] ^= 0xff;
    }
    OK(refused > 50 && kept + refused == (most + 4) / 5,
       "wrong bytes are refused (%u) or do no harm (%u)", refused, kept);
    most /= 2;
    OK(load() == ERR_IO, "an error of the file is reported");
}

int main(void)
{
    check_learning();
    check_signs();
    check_bytes();
    free(memory);
    return tap_done();
}
