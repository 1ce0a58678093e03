/* Steps with their guards, and the EWC penalty of earlier tasks. */
#include "runtime/features/lessons/learner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/features/lessons/vector.h"
#include "tests/unit/tap.h"

enum { DIM = 48, RANK = 2 };

static struct learner learner;
static float *memory;

static void open(bool ewc_penalty)
{
    struct learner_rule rule = learner_default_rule();

    rule.ewc_penalty = ewc_penalty;
    rule.rate = 0.05f;
    rule.stiff = 1.0f;
    free(memory);
    memory = malloc(learner_bytes(DIM, RANK));
    learner_open(&learner, memory, DIM, RANK, &rule);
}

static void vector(float *x, unsigned seed)
{
    vector_random(x, DIM, 1.0f, &seed);
}

static bool same(const float *w)
{
    return memcmp(w, learner.lora.weights, learner.ewc.n * sizeof *w) == 0;
}

static void check_guards(void)
{
    float h[DIM], e[DIM], was[2 * RANK * DIM], bad[DIM];

    open(true);
    vector(h, 1);
    vector(e, 2);
    memcpy(was, learner.lora.weights, sizeof was);
    OK(learner_step(&learner, h, e, 0.69f, 1) == LEARNER_POOR && same(was),
       "nothing is learnt from quality .69");
    OK(learner_step(&learner, h, e, NAN, 1) == LEARNER_POOR && same(was),
       "nothing is learnt without a quality");
    memcpy(bad, e, sizeof bad);
    bad[5] = NAN;
    OK(learner_step(&learner, h, bad, 1, 1) == LEARNER_THROWN && same(was),
       "a gradient of NaN is thrown away");
    bad[5] = 3e38f;
    OK(learner_step(&learner, h, bad, 1, 1) == LEARNER_THROWN && same(was),
       "a gradient beyond floats is thrown away");
    OK(learner.totals.thrown == 2 && learner.totals.steps == 0 && learner.ewc.samples == 0,
       "gradients that are thrown away are counted, and F does not hear of them");
    vector_scale(e, 1000.0f, DIM);
    OK(learner_step(&learner, h, e, 1, 1) == LEARNER_LEARNT && !same(was),
       "a long gradient is learnt");
    for (size_t i = 0; i < learner.ewc.n; i++)
        was[i] -= learner.lora.weights[i];
    OK(fabsf(sqrtf(vector_dot(was, was, learner.ewc.n)) - 0.05f * learner.rule.clip) < 1e-3f,
       "a long gradient counts as one of the rule's length");
    memcpy(was, learner.lora.weights, sizeof was);
    learner.rule.most = sqrtf(vector_dot(was, was, learner.ewc.n));
    OK(learner_step(&learner, h, e, 1, 1) == LEARNER_THROWN && same(was),
       "weights that grow past the rule's length are put back");
}

static void check_undo(void)
{
    float h[DIM], e[DIM], was[2 * RANK * DIM];

    open(false);
    vector(h, 3);
    vector(e, 4);
    OK(!learner_undo(&learner), "there is nothing to take back");
    learner_begin(&learner);
    (void)learner_step(&learner, h, e, 1, 1);
    memcpy(was, learner.lora.weights, sizeof was);
    learner_begin(&learner);
    for (int i = 0; i < 9; i++)
        (void)learner_step(&learner, h, e, 1, -1);
    OK(!same(was) && learner_undo(&learner) && same(was) && learner.totals.lessons == 1 &&
           learner.totals.steps == 1,
       "a lesson of nine steps is taken back to the bit");
    OK(!learner_undo(&learner), "the lesson before it is not taken back");
    learner_begin(&learner);
    vector_add(learner.lora.weights, h, 8.0f, DIM);
    for (int i = 0; i < 3; i++)
        learner_halve(&learner);
    vector_add(was, h, 1.0f, DIM);
    for (size_t i = 0; i < learner.ewc.n; i++)
        was[i] -= learner.lora.weights[i];
    OK(sqrtf(vector_dot(was, was, learner.ewc.n)) < 1e-5f,
       "a lesson that is halved three times leaves an eighth of it");
}

/* Runs the same history twice and hashes the result: every board must have these bits. */
static uint32_t history(void)
{
    float h[DIM], e[DIM];
    uint32_t hash = 2166136261u;
    const uint8_t *bytes;

    open(true);
    for (unsigned i = 0; i < 1000; i++) {
        vector(h, i % 7 + 1);
        vector(e, i + (i > 500 ? 1000000u : 100u));
        if (i % 50 == 0)
            learner_begin(&learner);
        if (i % 31 == 0)
            e[i % DIM] = NAN;
        learner_feel(&learner, h, e);
        (void)learner_step(&learner, h, e, 0.5f + 0.1f * (float)(i % 6), i % 3 ? 1.0f : -1.0f);
        if (i % 170 == 0)
            (void)learner_undo(&learner);
    }
    bytes = (const uint8_t *)learner.lora.weights;
    for (size_t i = 0; i < learner.ewc.n * sizeof(float); i++)
        hash = (hash ^ bytes[i]) * 16777619u;
    return hash;
}

static void check_ewc_penalty(void)
{
    struct ewc e;
    float work[4 * 3], w[3] = { 1, 1, 1 }, g[3] = { 1, 0.001f, 0 };
    bool kept = true;

    ewc_open(&e, work, 3);
    OK(ewc_lambda(&e) <= 0.0f, "there is no EWC penalty before a task has ended");
    for (int i = 0; i < 1000; i++)
        ewc_sample(&e, g);
    OK(fabsf(e.fisher[0] - (1 - powf(0.999f, 1000))) < 1e-4f, "F is a running mean of squares");
    OK(ewc_end_task(&e, w) && ewc_lambda(&e) > 2199.0f && ewc_lambda(&e) < 2201.0f,
       "lambda is 2200 after one task");
    for (int i = 0; i < 100; i++) {
        static const float push[3] = { 1, 1, 1 };

        ewc_step(&e, w, push, 0.01f, 1.0f);
        kept = kept && w[0] <= 1.0f && w[0] > 0.9f;
    }
    OK(kept && w[1] < 0.5f && w[2] < 0.5f,
       "important weights stay at %.4f, others move: %.3f, %.3f", (double)w[0], (double)w[1],
       (double)w[2]);
    w[0] = -5.0f;
    kept = true;
    for (int i = 0; i < 50; i++) {
        static const float none[3] = { 0, 0, 0 };
        float before = w[0];

        ewc_step(&e, w, none, 10.0f, 1.0f);
        kept = kept && w[0] >= before && w[0] <= 1.0f;
    }
    OK(kept && w[0] > 0.99f, "a strong EWC penalty goes to its anchor and never past it");
    for (int i = 0; i < 20; i++)
        (void)ewc_end_task(&e, w);
    OK(e.tasks == EWC_MOST_TASKS && !ewc_end_task(&e, w), "there are no more than ten tasks");
}

static void check_tasks(void)
{
    struct ewc e;
    static float work[4 * DIM];
    float g[DIM];
    unsigned seed = 5;
    bool early = false;

    ewc_open(&e, work, DIM);
    for (int i = 0; i < 200; i++) {
        vector_random(g, DIM, 1.0f, &seed);
        early = early || ewc_is_new_task(&e, g);
        ewc_sample(&e, g);
    }
    OK(!early, "200 gradients of one kind are one task");
    for (int i = 0; i < DIM; i++)
        g[i] += i % 2 ? 3.0f : -3.0f;
    OK(ewc_is_new_task(&e, g), "gradients of another kind are another task");
    (void)ewc_end_task(&e, g);
    OK(!ewc_is_new_task(&e, g), "no new task is found before its 50th gradient");
}

int main(void)
{
    uint32_t first;

    check_guards();
    check_undo();
    check_ewc_penalty();
    check_tasks();
    first = history();
    OK(first == history(), "the same 1000 steps, some thrown, some undone, have the same bits");
    OK(first == 0xb5db751du, "the 1000 steps have the same bits on every machine: %08x", first);
    OK(learner.ewc.tasks >= 1, "%u tasks end by themselves", learner.ewc.tasks);
    free(memory);
    return tap_done();
}
