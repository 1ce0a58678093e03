/* The memory fabric: gates by the turn so far, their effect, time, promotion, conflicts,
 * forgetting, and the form in which it is kept. */
#include "runtime/features/fabric/fabric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/features/lessons/vector.h"
#include "tests/unit/tap.h"

enum { DIM = 48, VOCAB = 100, HOUR = 3600 };
static const struct fabric_room room = { FABRIC_LEAST_NOTES, FABRIC_LEAST_EXAMPLES };

static struct fabric f;
static void *memory;

static void open_fabric(void)
{
    free(memory);
    memory = aligned_alloc(64, (fabric_bytes(DIM, room) + 63) / 64 * 64);
    if (memory == NULL)
        abort();
    memset(memory, 0x5a, fabric_bytes(DIM, room));
    fabric_open(&f, memory, DIM, room);
}

static void axis(float *h, int i, float length)
{
    memset(h, 0, DIM * sizeof *h);
    h[i % DIM] = length;
    h[(i + 7) % DIM] = 0.2f * length;
}

static void see_turn(int i)
{
    float h[DIM];

    fabric_watch(&f, 3);
    axis(h, i + 20, 9.0f);
    fabric_see(&f, 2, h); /* before the turn: does not count */
    axis(h, i, 2.0f);
    fabric_see(&f, 3, h);
    fabric_see(&f, 4, h);
}

static void look_around(void)
{
    for (int i = 0; i < 12; i++) {
        see_turn(i + 24);
        fabric_add_background(&f);
    }
}

static struct fabric_note *add_note(enum fabric_name space, int i, uint32_t n_examples)
{
    struct fabric_note *n;
    float h[DIM];

    see_turn(i);
    n = fabric_add_note(&f, space, "a question = an answer", 22, 10);
    for (uint32_t k = 0; k < n_examples; k++) {
        axis(h, i + (int)k, 3.0f);
        fabric_add_example(&f, h, (uint32_t)i + k);
    }
    fabric_leave(&f);
    return n;
}

/* Makes the state after a token like example 0 of a note, as the head gets it. */
static bool changes(int i, float *out)
{
    float h[DIM], before[DIM];

    axis(h, i, 3.0f);
    memcpy(before, h, sizeof h);
    fabric_adapt(&f, h);
    if (out != NULL)
        memcpy(out, h, sizeof h);
    return memcmp(h, before, sizeof h) != 0;
}

static void teach(enum fabric_name space, int i, int to)
{
    float h[DIM], e[DIM];

    fabric_ask_note(&f, &f.notes[f.n_notes - 1]);
    axis(h, i, 3.0f);
    memset(e, 0, sizeof e);
    e[to] = -1.0f; /* the loss falls along this axis */
    for (int k = 0; k < 4; k++)
        (void)fabric_step(&f, space, h, e, 1.0f);
    fabric_leave(&f);
}

static void test_gates(void)
{
    bool right = true, shut = true;

    open_fabric();
    look_around();
    for (int i = 0; i < FABRIC_SPACES; i++) {
        (void)add_note((enum fabric_name)i, 2 * i, 1);
        (void)add_note((enum fabric_name)i, 2 * i + 1, 1);
    }
    OK(fabric_make_gates(&f), "gates of ten notes can be told apart");
    for (int i = 0; i < 2 * FABRIC_SPACES; i++) {
        see_turn(i);
        fabric_hold(&f);
        for (int k = 0; k < FABRIC_SPACES; k++)
            right = right &&
                    (k == i / 2 ? f.spaces[k].open > 0.9f : f.spaces[k].open <= FABRIC_SHUT);
    }
    OK(right, "each turn opens the gate of its own namespace, and no other");
    for (int i = 0; i < 12; i++) {
        see_turn(i + 24);
        fabric_hold(&f);
        for (int k = 0; k < FABRIC_SPACES; k++)
            shut = shut && f.spaces[k].open <= FABRIC_SHUT;
    }
    OK(shut, "text that the model says anyway opens no gate");
    see_turn(0);
    fabric_hold(&f);
    {
        float open = f.spaces[0].open, h[DIM];

        axis(h, 9, 9.0f);
        fabric_see(&f, 5, h);
        OK(f.spaces[0].open == open && !f.watches, "the reply does not move a gate that is held");
        fabric_leave(&f);
        OK(f.spaces[0].open == 0.0f && !changes(0, NULL), "all gates are shut without a turn");
    }
}

/* If no gate is open, or the state is like nothing learnt, every bit stays. */
static void test_untouched(void)
{
    float h[DIM];

    open_fabric();
    look_around();
    (void)add_note(FABRIC_PERSONAL, 0, 2);
    (void)fabric_make_gates(&f);
    teach(FABRIC_PERSONAL, 0, 40);
    see_turn(0);
    OK(changes(0, h) && h[40] > 0.5f, "an open gate changes the output: %.3f", (double)h[40]);
    OK(!changes(13, NULL), "an open gate changes nothing if the state is like none it learnt from");
    see_turn(12);
    OK(f.spaces[0].open == 0.0f && !changes(0, NULL) && f.spaces[0].open <= FABRIC_SHUT &&
           f.spaces[0].open > 0.0f,
       "another turn leaves the gate at %.5f, and every bit stays", (double)f.spaces[0].open);
}

static void test_step(void)
{
    float h[DIM], e[DIM], at;
    uint32_t thrown;

    for (int space = 0; space < FABRIC_SPACES; space++) {
        open_fabric();
        look_around();
        (void)add_note((enum fabric_name)space, 0, 1);
        (void)fabric_make_gates(&f);
        fabric_ask_note(&f, &f.notes[0]);
        axis(h, 0, 3.0f);
        memset(e, 0, sizeof e);
        e[30] = -1.0f;
        OK(fabric_step(&f, (enum fabric_name)space, h, e, 0.75f), "%s: a step is taken",
           fabric_kinds[space].name);
        (void)changes(0, h);
        at = h[30];
        OK(fabsf(at - 0.75f) < 1e-3f, "a step is as long as what is missing: %.4f of .75",
           (double)at);
    }
    thrown = f.thrown;
    axis(h, 0, 3.0f);
    e[30] = NAN;
    OK(!fabric_step(&f, FABRIC_CONTESTED, h, e, 1.0f), "a step of NaN is not taken");
    e[30] = -1e-12f;
    (void)changes(0, h);
    at = h[30];
    axis(h, 0, 3.0f);
    OK(!fabric_step(&f, FABRIC_CONTESTED, h, e, 1.0f) && f.thrown == thrown + 1,
       "a step that leaves weights too long is thrown away");
    (void)changes(0, h);
    OK(h[30] == at, "a lesson that was thrown away leaves no trace");
}

static double length_of(int space)
{
    const struct micro_lora *m = &f.spaces[space].lora;
    double sum = 0;

    for (size_t i = 0; i < micro_lora_floats(DIM, m->rank); i++)
        sum += (double)m->weights[i] * m->weights[i];
    return sqrt(sum);
}

static void test_time(void)
{
    double before[FABRIC_SPACES];
    bool right = true;
    float h[DIM];

    open_fabric();
    look_around();
    fabric_correct_clock(&f, 1795527000);
    for (int i = 0; i < FABRIC_SPACES; i++) {
        (void)add_note((enum fabric_name)i, 3 * i, 1);
        (void)fabric_make_gates(&f);
        teach((enum fabric_name)i, 3 * i, 40);
        before[i] = length_of(i);
    }
    fabric_set_clock(&f, f.clock + HOUR - 1);
    OK(length_of(FABRIC_SCHEDULE) == before[FABRIC_SCHEDULE], "part of an hour fades nothing");
    fabric_set_clock(&f, f.clock + 1 + 9 * HOUR);
    for (int i = 0; i < FABRIC_SPACES; i++) {
        double left = length_of(i) / before[i], want = exp(-10.0 * (double)fabric_kinds[i].decay);

        right = right && fabs(left - want) < 1e-5 &&
                fabs((double)f.notes[i].strength - want * want) < 1e-5;
    }
    OK(right, "ten hours leave exp(-10 decay) of A and of B, of each namespace its own");
    see_turn(3 * FABRIC_SCHEDULE);
    fabric_hold(&f);
    axis(h, 3 * FABRIC_SCHEDULE, 3.0f);
    fabric_adapt(&f, h);
    fabric_needed(&f);
    OK(f.notes[FABRIC_SCHEDULE].used == 1 && f.notes[FABRIC_WIKI].used == 0 &&
           f.notes[FABRIC_SCHEDULE].when == f.clock && f.spaces[FABRIC_SCHEDULE].replied > 0.9f,
       "a used memory is counted, and its hours start again");
    before[0] = length_of(FABRIC_SCHEDULE);
    fabric_set_clock(&f, f.clock - 5 * HOUR);
    OK(length_of(FABRIC_SCHEDULE) == before[0], "a clock that goes back fades nothing");
    before[0] = length_of(FABRIC_EPISODIC);
    fabric_correct_clock(&f, f.clock + 1000 * HOUR);
    OK(length_of(FABRIC_EPISODIC) == before[0] &&
           f.notes[FABRIC_SCHEDULE].when > f.clock - 6 * HOUR,
       "a clock that is corrected fades nothing");
}

static void test_promotion(void)
{
    static float a[2 * 32 * DIM], b[2 * 32 * DIM];
    const struct micro_lora *from = &f.spaces[FABRIC_SCHEDULE].lora,
                            *to = &f.spaces[FABRIC_WIKI].lora;
    bool right = true;

    open_fabric();
    look_around();
    (void)add_note(FABRIC_SCHEDULE, 0, 1);
    (void)fabric_make_gates(&f);
    teach(FABRIC_SCHEDULE, 0, 40);
    (void)add_note(FABRIC_WIKI, 5, 1);
    (void)fabric_make_gates(&f);
    teach(FABRIC_WIKI, 5, 41);
    memcpy(a, from->weights, micro_lora_floats(DIM, from->rank) * sizeof(float));
    memcpy(b, to->weights, micro_lora_floats(DIM, to->rank) * sizeof(float));
    fabric_promote(&f, FABRIC_WIKI, FABRIC_SCHEDULE);
    for (uint32_t half = 0; half < 2; half++) {
        for (uint32_t r = 0; r < 32; r++) {
            for (uint32_t i = 0; i < DIM; i++) {
                size_t at = (size_t)(half * 32 + r) * DIM + i;
                float want = b[at] + (r < 4 ? 0.5f * a[(size_t)(half * 4 + r) * DIM + i] : 0.0f);

                right = right && to->weights[at] == want;
            }
        }
    }
    OK(right, "half of the smaller rank's rows of A and B are added");
    OK(f.spaces[FABRIC_SCHEDULE].notes == 0 && f.spaces[FABRIC_WIKI].notes == 2 &&
           f.notes[0].space == FABRIC_WIKI,
       "the notes of the namespace move along, and the old one is empty");
}

static void test_conflict(void)
{
    float h[DIM];

    open_fabric();
    look_around();
    (void)add_note(FABRIC_WIKI, 0, 1);
    (void)fabric_make_gates(&f);
    teach(FABRIC_WIKI, 0, 40);
    (void)add_note(FABRIC_CONTESTED, 0, 1);
    OK(!fabric_make_gates(&f), "the gates of two namespaces do not tell one question apart");
    f.spaces[FABRIC_WIKI].open = 0.6f;
    f.spaces[FABRIC_CONTESTED].open = 0.9f;
    axis(h, 0, 3.0f);
    {
        float e[DIM] = { 0 };

        e[40] = 1.0f;
        (void)fabric_step(&f, FABRIC_CONTESTED, h, e, 1.0f);
        OK(f.conflicts == 0 && changes(0, h) && f.conflicts == 1 && f.conflict[0] == FABRIC_WIKI &&
               f.conflict[1] == FABRIC_CONTESTED,
           "two namespaces that want opposites of one state are a conflict");
        OK(h[40] < -0.9f, "the surer of two opposites decides: %.3f", (double)h[40]);
    }
    f.spaces[FABRIC_WIKI].open = 0.95f;
    OK(changes(0, h) && h[40] > 0.5f, "the other one decides when it is the surer: %.3f",
       (double)h[40]);
}

static void test_forget(void)
{
    bool right = true;
    float h[DIM];

    open_fabric();
    look_around();
    for (int i = 0; i < 6; i++)
        (void)add_note(i % 2 == 0 ? FABRIC_PERSONAL : FABRIC_WIKI, 3 * i, (uint32_t)i + 1);
    fabric_forget(&f, 2);
    OK(f.n_notes == 5 && f.n_examples == 18 && f.spaces[FABRIC_PERSONAL].notes == 2 &&
           fabric_is_sound(&f, VOCAB),
       "a note goes with its examples");
    for (uint32_t i = 2; i < 5; i++) {
        axis(h, 3 * ((int)i + 1), 3.0f);
        right = right && f.notes[i].n_examples == i + 2 &&
                f.targets[f.notes[i].first] == 3 * (i + 1) &&
                memcmp(f.hidden + (size_t)f.notes[i].first * DIM, h, sizeof h) == 0;
    }
    OK(right, "later notes keep their examples");
    fabric_forget_space(&f, FABRIC_WIKI);
    OK(f.n_notes == 2 && f.spaces[FABRIC_WIKI].notes == 0 && fabric_is_sound(&f, VOCAB),
       "a namespace is forgotten whole");
    while (!fabric_is_full(&f))
        (void)add_note(FABRIC_EPISODIC, (int)f.n_notes, 3);
    f.notes[0].used = f.notes[1].used = f.notes[3].used = 1;
    OK(f.n_notes == room.notes && fabric_is_sound(&f, 1000) && fabric_least(&f) == 2,
       "the least needed note of a full fabric is named");
    f.notes[3].strength = 0.1f;
    OK(fabric_least(&f) == 3, "a note that has faded is named first");
    f.that = 4;
    fabric_drop(&f, 3);
    OK(f.n_notes == room.notes - 1 && f.that == 0 && fabric_is_sound(&f, 1000),
       "a drop removes only its own note");
    fabric_drop_examples(&f, 4);
    OK(f.notes[4].n_examples == 0 && fabric_is_sound(&f, 1000) &&
           fabric_free_examples(&f) == room.examples - f.n_examples,
       "a note may lose its examples");
}

static void test_room(void)
{
    struct fabric_room least = fabric_plan_room(576, 0), some = fabric_plan_room(576, 64 << 20),
                       most = fabric_plan_room(576, (uint64_t)16 << 30);

    OK(least.notes == FABRIC_LEAST_NOTES && least.examples == FABRIC_LEAST_EXAMPLES &&
           some.notes > least.notes && some.notes < most.notes && most.notes == FABRIC_MOST_NOTES &&
           most.examples == FABRIC_MOST_EXAMPLES,
       "the plan's bytes tell how many notes there is room for: %u, %u, %u", least.notes,
       some.notes, most.notes);
    OK(fabric_bytes(576, some) - fabric_bytes(576, least) < (2 << 20),
       "the notes do not exceed their share");
}

/* ---- kept ----------------------------------------------------------------------------------- */

static uint8_t *kept;
static size_t kept_bytes, at;

static enum err save_part(void *context, void *part, size_t bytes)
{
    (void)context;
    memcpy(kept + at, part, bytes);
    at += bytes;
    return ERR_OK;
}

static enum err load_part(void *context, void *part, size_t bytes)
{
    (void)context;
    if (bytes > kept_bytes - at)
        return ERR_BAD_MODEL;
    memcpy(part, kept + at, bytes);
    at += bytes;
    return ERR_OK;
}

static void test_kept(void)
{
    float before[DIM], after[DIM];
    uint32_t strange = 0;

    open_fabric();
    look_around();
    fabric_correct_clock(&f, 1795527000);
    (void)add_note(FABRIC_WIKI, 0, 2);
    (void)add_note(FABRIC_PERSONAL, 4, 3);
    (void)fabric_make_gates(&f);
    teach(FABRIC_PERSONAL, 4, 40);
    see_turn(4);
    (void)changes(4, before);
    kept_bytes = fabric_move_bytes(&f, f.n_notes, f.n_examples);
    kept = malloc(kept_bytes);
    at = 0;
    OK(kept != NULL && fabric_move(&f, false, save_part, NULL) == ERR_OK && at == kept_bytes,
       "the fabric is saved in %zu bytes", kept_bytes);
    open_fabric();
    at = 0;
    OK(fabric_move(&f, true, load_part, NULL) == ERR_OK && fabric_is_sound(&f, VOCAB) &&
           f.n_notes == 2 && f.spaces[FABRIC_WIKI].notes == 1 && f.clock == 1795527000,
       "the saved fabric comes back");
    see_turn(4);
    (void)changes(4, after);
    OK(memcmp(before, after, sizeof before) == 0, "the loaded fabric has the same bits");
    for (size_t i = 0; i < kept_bytes && strange < 100000; i += 1 + i / 64) {
        uint8_t was = kept[i];

        kept[i] = (uint8_t)~was;
        at = 0;
        open_fabric();
        if (fabric_move(&f, true, load_part, NULL) == ERR_OK && fabric_is_sound(&f, VOCAB)) {
            see_turn(4);
            (void)changes(4, NULL);
            fabric_set_clock(&f, f.clock + 100 * HOUR);
            if (f.n_notes != 0)
                fabric_forget(&f, 0);
        }
        kept[i] = was;
        strange++;
    }
    OK(strange > 200, "%u damaged fabrics are refused, or stay within bounds", strange);
    kept_bytes -= 40;
    at = 0;
    open_fabric();
    OK(fabric_move(&f, true, load_part, NULL) == ERR_BAD_MODEL,
       "a fabric that ends early is refused");
    free(kept);
}

int main(void)
{
    OK(fabric_find("wiki", 4) == FABRIC_WIKI && fabric_find("wik", 3) == FABRIC_SPACES &&
           fabric_find("", 0) == FABRIC_SPACES,
       "namespaces are found by name");
    test_gates();
    test_untouched();
    test_step();
    test_time();
    test_promotion();
    test_conflict();
    test_forget();
    test_room();
    test_kept();
    return tap_done();
}
