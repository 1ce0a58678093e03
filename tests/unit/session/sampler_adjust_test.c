/* Biases and penalties against their definitions, computed here token by token over the whole
 * vocabulary; switched off they change nothing; and a fixed sequence that every ISA must give. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/session/sampler.h"
#include "tests/unit/tap.h"

enum { VOCAB = 200, RECENT = 150, BIASES = 12 };

static struct kernels kernels;
static _Alignas(64) float logits[VOCAB], work[VOCAB];
static _Alignas(8) unsigned char scratch[VOCAB * 8];
static uint32_t state = 2463534242u;

static uint32_t next(uint32_t below)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % below;
}

static float next_float(float most)
{
    return ((float)next(1 << 20) / (float)(1 << 19) - 1.0f) * most;
}

static void make_logits(void)
{
    for (int i = 0; i < VOCAB; i++) {
        logits[i] = next_float(8);
    }
}

/* Computes it by the definitions of OpenAI and llama.cpp, each with the tokens that count for
 * it. */
static float adjusted(const struct sampler *s, uint32_t id, const uint32_t *recent, size_t n)
{
    const struct sampler_params *p = &s->params;
    float logit = logits[id];
    uint32_t in_window = 0, in_reply = 0;

    for (size_t i = 0; i < n; i++) {
        in_window += recent[i] == id && n - i <= p->repeat_last;
        in_reply += recent[i] == id && i >= s->reply;
    }
    for (uint32_t i = 0; i < p->n_biases; i++) {
        if (p->biases[i].id == id) {
            logit = logit + p->biases[i].add;
        }
    }
    if (in_window != 0 && p->repeat != 1.0f) {
        logit = logit > 0 ? logit / p->repeat : logit * p->repeat;
    }
    if (in_reply != 0) {
        float often = (float)in_reply * p->frequency;
        float both = often + p->presence;

        logit = logit - both;
    }
    return logit;
}

static struct sampler_bias biases[BIASES];

/* Switches any of them on or off, over any part of the tokens. */
static struct sampler_params random_params(void)
{
    struct sampler_params p;

    sampler_params_default(&p);
    p.repeat = next(2) != 0 ? 1.0f : 0.5f + (float)next(100) / 100.0f;
    p.repeat_last = next(3) == 0 ? next(2) * UINT32_MAX : next(RECENT + 20);
    p.presence = next(2) != 0 ? 0 : next_float(2);
    p.frequency = next(2) != 0 ? 0 : next_float(2);
    p.n_biases = next(2) != 0 ? 0 : next(BIASES + 1);
    p.biases = p.n_biases != 0 ? biases : NULL;
    for (uint32_t i = 0; i < BIASES; i++) {
        biases[i] = (struct sampler_bias){ next(5) == 0 ? 0xfffffff0u : next(20),
                                           next(9) == 0 ? SAMPLER_BAN : next_float(100) };
    }
    return p;
}

static void test_definitions(void)
{
    uint32_t recent[RECENT], wrong = 0, far = 0;

    for (int round = 0; round < 3000; round++) {
        struct sampler_params p = random_params();
        struct sampler s;
        size_t n = next(RECENT + 1);

        make_logits();
        sampler_init(&s, &p);
        s.reply = next(RECENT + 10);
        for (size_t i = 0; i < n; i++) {
            recent[i] = next(30) == 0 ? VOCAB + next(5) : next(25); /* some are foreign */
        }
        memcpy(work, logits, sizeof work);
        sampler_adjust(&s, work, VOCAB, recent, n, scratch);
        for (uint32_t id = 0; id < VOCAB; id++) {
            float want = adjusted(&s, id, recent, n), back;

            wrong += memcmp(&want, &work[id], sizeof want) != 0;
            s.logit = work[id];
            back = sampler_logit(&s, id, recent, n);
            far += fabsf(back - logits[id]) > 1e-4f && want > SAMPLER_BAN / 200;
        }
    }
    OK(wrong == 0, "logits are those of the definitions, bit for bit (%u others)", wrong);
    OK(far == 0, "the model's logit is computed back (%u others)", far);
}

static void test_off(void)
{
    uint32_t recent[3] = { 1, 2, 3 };
    struct sampler_params p;
    struct sampler s;

    sampler_params_default(&p);
    OK(p.presence == 0 && p.frequency == 0 && p.n_biases == 0 && p.repeat == 1 &&
           p.repeat_last == 64,
       "all adjustments are off unless somebody sets them");
    sampler_init(&s, &p);
    make_logits();
    memcpy(work, logits, sizeof work);
    sampler_adjust(&s, work, VOCAB, recent, 3, NULL);
    OK(memcmp(work, logits, sizeof work) == 0,
       "sampling without adjustments changes no logit and no scratch");
    s.params.repeat = 2;
    s.params.repeat_last = 0;
    sampler_adjust(&s, work, VOCAB, recent, 3, NULL);
    OK(memcmp(work, logits, sizeof work) == 0, "repeat over no tokens is off, too");
}

/* Greedy: the prompt's tokens do not count for presence and frequency, and do for repeat. */
static void test_prompt(void)
{
    uint32_t recent[3] = { 0, 0, 1 };
    struct sampler_params p;
    struct sampler s;

    sampler_params_default(&p);
    p.temp = 0;
    p.presence = 2;
    sampler_init(&s, &p);
    s.reply = 2;
    memcpy(work, (float[4]){ 3, 2.9f, 2.8f, 0 }, 4 * sizeof *work);
    OK(sampler_pick(&s, work, 4, recent, 3, &kernels, scratch) == 0,
       "a token of the prompt alone has no presence");
    s.reply = 0;
    memcpy(work, (float[4]){ 3, 2.9f, 2.8f, 0 }, 4 * sizeof *work);
    OK(sampler_pick(&s, work, 4, recent, 3, &kernels, scratch) == 2,
       "a token of the reply has presence");
    s.params.presence = 0;
    s.params.repeat = 4;
    s.reply = 3;
    memcpy(work, (float[4]){ 3, 2.9f, 2.8f, 0 }, 4 * sizeof *work);
    OK(sampler_pick(&s, work, 4, recent, 3, &kernels, scratch) == 2, "repeat counts the prompt");
    s.params.repeat_last = 1;
    memcpy(work, (float[4]){ 3, 2.9f, 2.8f, 0 }, 4 * sizeof *work);
    OK(sampler_pick(&s, work, 4, recent, 3, &kernels, scratch) == 0,
       "repeat counts as far as repeat_last goes");
}

static void test_ban(void)
{
    const struct sampler_bias ban[] = { { 0, SAMPLER_BAN }, { 1, SAMPLER_BAN } };
    struct sampler_params p;
    struct sampler s;
    uint32_t banned = 0;

    sampler_params_default(&p);
    p.temp = 100;
    p.top_k = 0;
    p.min_p = 0;
    p.top_p = 1;
    p.biases = ban;
    p.n_biases = 2;
    sampler_init(&s, &p);
    for (int i = 0; i < 1000; i++) {
        memcpy(work, (float[4]){ 30, 20, 1, 1 }, 4 * sizeof *work);
        banned += sampler_pick(&s, work, 4, NULL, 0, &kernels, scratch) < 2;
    }
    OK(banned == 0, "a banned token is never drawn");
    memcpy(work, (float[4]){ 30, -INFINITY, -INFINITY, -INFINITY }, 4 * sizeof *work);
    OK(sampler_pick(&s, work, 4, NULL, 0, &kernels, scratch) == 0,
       "a banned token is drawn if no other may come, as a grammar demands");
    s.params.temp = 0;
    memcpy(work, (float[4]){ 30, 20, 1, 2 }, 4 * sizeof *work);
    OK(sampler_pick(&s, work, 4, NULL, 0, &kernels, scratch) == 3,
       "a banned token is not picked as the likeliest");
}

static void test_sequence(void)
{
    const struct sampler_bias add[] = { { 3, 2.5f }, { 7, -1.25f }, { 3, 0.3f } };
    struct sampler_params p;
    struct sampler s;
    uint32_t recent[RECENT], hash = 2166136261u;

    state = 99;
    make_logits();
    sampler_params_default(&p);
    p.repeat = 1.1f;
    p.repeat_last = 20;
    p.presence = 0.7f;
    p.frequency = 0.3f;
    p.biases = add;
    p.n_biases = 3;
    p.seed = 5;
    sampler_init(&s, &p);
    for (uint32_t i = 0; i < RECENT; i++) {
        memcpy(work, logits, sizeof work);
        recent[i] = sampler_pick(&s, work, VOCAB, recent, i, &kernels, scratch);
        hash = (hash ^ recent[i]) * 16777619u;
    }
    if (!OK(hash == 0xa164948fu, "every instruction set gives the same sequence")) {
        printf("# %#x\n", hash);
    }
}

int main(void)
{
    kernels_select(&kernels, CPU_ANY);
    test_definitions();
    test_off();
    test_prompt();
    test_ban();
    test_sequence();
    return tap_done();
}
