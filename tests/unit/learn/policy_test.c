/* The policy: its gradient against differences, what it learns, and when it leaves the defaults. */
#include "runtime/features/policy/policy.h"

#include <math.h>
#include <string.h>

#include "runtime/features/lessons/vector.h"
#include "tests/unit/tap.h"

enum { N = sizeof(struct policy_weights) / sizeof(float) };

static struct policy policy;

static void check_gradient(void)
{
    struct trajectory t = { .choice = { 1, 0, 2, 1 }, .quality = 1.0f };
    struct policy_weights g;
    float *w = (float *)&policy.weights;
    unsigned seed = 3;
    double worst = 0, largest = 0;

    policy_open(&policy, 9);
    vector_random(w, N, 0.5f, &seed);
    vector_random(t.inputs, POLICY_INPUTS, 1.0f, &seed);
    vector_random(t.hidden, POLICY_HIDDEN, 1.0f, &seed);
    (void)policy_loss(&policy, &t, &g);
    for (int i = 0; i < N; i++) {
        float was = w[i], up, down;
        double d;

        w[i] = was + 0x1p-7f;
        up = policy_loss(&policy, &t, NULL);
        w[i] = was - 0x1p-7f;
        down = policy_loss(&policy, &t, NULL);
        w[i] = was;
        d = ((double)up - (double)down) * 64.0;
        worst = fmax(worst, fabs(d - (double)((float *)&g)[i]));
        largest = fmax(largest, fabs(d));
    }
    OK(largest > 0.1 && worst < 5e-4,
       "all %d weights have the gradient of differences: %.1e of %.2g", N, worst, largest);
}

static struct policy_state state_of(bool hard)
{
    struct policy_state s = { .inputs = { 1.0f, hard ? 1.0f : 0.0f, hard ? 0.0f : 1.0f } };

    return s;
}

static void check_learning(void)
{
    struct policy_choice c;
    int right = 0;

    policy_open(&policy, 4);
    for (int i = 0; i < 2; i++) {
        struct policy_state s = state_of(i);

        policy_begin(&policy);
        policy_choose(&policy, &s, &c);
        right += c.choice[POLICY_THOUGHTS] == 0 && c.sure[POLICY_THOUGHTS] < 0.7f;
    }
    OK(right == 2, "a policy is not sure before it has learnt, and takes the defaults");
    for (int i = 0; i < 4000; i++) {
        struct trajectory t = { .choice = { 0, (uint8_t)(i / 2 % 2), 0, 0 } };
        struct policy_state s = state_of(i % 2);

        memcpy(t.inputs, s.inputs, sizeof t.inputs);
        t.quality = t.choice[POLICY_THOUGHTS] == i % 2 ? 1.0f : 0.0f;
        (void)policy_learn(&policy, &t, 0.05f);
    }
    right = 0;
    for (int i = 0; i < 2; i++) {
        struct policy_state s = state_of(i);

        policy_begin(&policy);
        policy_choose(&policy, &s, &c);
        right += c.choice[POLICY_THOUGHTS] == i && c.sure[POLICY_THOUGHTS] > 0.7f;
    }
    OK(right == 2, "the policy learns to think in hard turns and not in easy ones");
}

static void check_triggers(void)
{
    struct policy_state s = state_of(false);
    struct policy_choice c;
    struct trajectory t = { .choice = { 0 }, .quality = 1.0f };
    struct policy_weights was;

    policy_open(&policy, 4);
    s.pressure = 0.95f;
    policy_choose(&policy, &s, &c);
    OK(c.choice[POLICY_CONTEXT] == 2 && c.choice[POLICY_DRAFT] == 0,
       "pressure makes the context short");
    s.pressure = 0.5f;
    s.throughput = 0.4f;
    policy_choose(&policy, &s, &c);
    OK(c.choice[POLICY_CONTEXT] == 0 && c.choice[POLICY_DRAFT] == 1,
       "few tokens a second call the draft");
    t.inputs[2] = INFINITY;
    was = policy.weights;
    OK(!policy_learn(&policy, &t, 0.1f) && memcmp(&was, &policy.weights, sizeof was) == 0,
       "a step that leaves NaN is thrown away");
}

static void check_quality(void)
{
    OK(turn_quality(&(struct turn_signs){ .good = true, .undone = true }) > 0.99f,
       "only /good counts if there is one");
    OK(turn_quality(&(struct turn_signs){ .bad = true, .stopped = true }) < 0.01f,
       "only /bad counts if there is one");
    OK(turn_quality(&(struct turn_signs){ .stopped = true }) > 0.7f,
       "a turn that ended by itself was good");
    OK(turn_quality(&(struct turn_signs){ .stopped = true, .repeated = true }) < 0.7f,
       "a turn that repeated itself is not good");
    OK(turn_quality(&(struct turn_signs){ .stopped = true, .undone = true }) < 0.3f,
       "a reply that was undone is not good");
}

int main(void)
{
    check_gradient();
    check_learning();
    check_triggers();
    check_quality();
    return tap_done();
}
