/* The planner's predictions, its advice, and the settings that it lowers by itself. */
#include "runtime/stream/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/text/format_text.h"
#include "tests/unit/stream/plan_rig.h"
#include "tests/unit/tap.h"

static void set_rates(uint64_t card, uint32_t decode_ps)
{
    request.rates.card = card;
    for (unsigned type = 0; type < INGOT_N_TYPES; type++) {
        request.rates.decode[type] = decode_ps;
        request.rates.prefill[type] = decode_ps;
    }
}

static bool within(uint64_t a, uint64_t b, uint64_t percent)
{
    uint64_t difference = a > b ? a - b : b - a;

    return difference * 100 <= b * percent;
}

/* A card that is slow, cores that are slow, and both at once. */
static void test_prediction(void)
{
    uint64_t transfer, compute, limit;

    set_params(512, 2048, 12, 8, 8, 2000, 256, true);
    make_image(INGOT_Q8_0, 0);
    OK(plan_with(0) == ERR_OK && plan.prediction.decode_ns == 0 && plan.prediction.prefill_ns == 0,
       "nothing is predicted without rates");
    limit = 2 * segments[1].bytes + segments[0].bytes + segments[13].bytes + 3 * segments[1].bytes;
    set_rates(20000000, 1);
    (void)plan_with((size_t)limit);
    transfer = plan.layers.read * 50; /* ns at 20 MB/s */
    OK(plan.layers.n_pinned == 3 && within(plan.prediction.decode_ns, transfer, 1) &&
           within(plan.prediction.prefill_ns, transfer, 1),
       "a token takes the time of a slow card");
    set_rates(2000000000, 10000);
    (void)plan_with((size_t)limit);
    compute = total_bytes() * 10;
    OK(within(plan.prediction.decode_ns, compute, 2), "a token takes the time of slow cores");
    /* From the last layer, a prompt takes keys and values, which are an eighth of its numbers. */
    OK(within(plan.prediction.prefill_ns,
              128 * 10 * (11 * segments[1].bytes + segments[1].bytes / 8) + 10 * segments[0].bytes,
              2),
       "prefill computes each token, but for most of the last layer and the head");
    set_rates(20000000, 10000);
    request.rates.io_core = 100;
    (void)plan_with((size_t)limit);
    OK(within(plan.prediction.decode_ns, transfer + compute, 2),
       "a token takes both times if core 0 moves the data");
    request.rates.io_core = 0;
    set_rates(0, 10000);
    (void)plan_with((size_t)limit);
    OK(plan.prediction.decode_ns == 0, "a card of unknown rate predicts nothing");
    (void)plan_with(0);
    OK(plan.residency == PLAN_RESIDENT && within(plan.prediction.decode_ns, compute, 2),
       "only the cores count if nothing streams");
}

/* The parts of a layer beside its matrices, and the checksum of what comes. */
static void test_rest(void)
{
    uint64_t transfer, compute, read;
    size_t limit;

    set_params(512, 2048, 12, 8, 8, 2000, 256, true);
    make_image(INGOT_Q8_0, 0);
    set_rates(0, 10000);
    (void)plan_with(0);
    compute = plan.prediction.decode_ns;
    transfer = plan.prediction.prefill_ns;
    request.rates.layer = 1000000;
    (void)plan_with(0);
    OK(plan.prediction.decode_ns == compute + 12 * 1000000, "each layer has a fixed rest of time");
    OK(plan.prediction.prefill_ns == transfer + 11 * 128 * 1000000ull + 128 * 500000ull,
       "prefill has a rest for each token and layer, half of it in the last layer");
    request.rates.layer = 0;
    set_rates(2000000000, 10000);
    limit = (size_t)(2 * segments[1].bytes + segments[0].bytes + segments[13].bytes);
    (void)plan_with(limit);
    compute = plan.prediction.decode_ns;
    read = plan.layers.read;
    request.rates.check = 2000;
    (void)plan_with(limit);
    OK(plan.layers.n_streamed == 12 && within(plan.prediction.decode_ns, compute + read * 2, 2) &&
           plan.prediction.decode_ns > compute,
       "a checksum adds to the time of slow cores");
    request.rates.check = 500;
    request.rates.cores = 4;
    (void)plan_with(limit);
    OK(within(plan.prediction.decode_ns, compute + read / 2, 2),
       "each of four cores has a part of the checksum");
    request.rates.check = 2000;
    request.rates.cores = 0;
    request.rates.card = 20000000;
    transfer = plan.layers.read * 50;
    (void)plan_with(limit);
    OK(within(plan.prediction.decode_ns, transfer, 2),
       "a checksum is computed while a slow card is waited for");
    request.rates.card = 2000000000;
    request.rates.check = 0;
    limit = 2 * (size_t)segments[1].bytes + 65536;
    (void)plan_with(limit);
    compute = plan.prediction.decode_ns;
    request.rates.check = 2000;
    (void)plan_with(limit);
    OK(plan.head.tiled &&
           within(plan.prediction.decode_ns, compute + (plan.layers.read + plan.head.read) * 2, 2),
       "the tiles of a head have a checksum too");
}

/* The advice comes true. */
static void test_advice(void)
{
    size_t rest, total;
    const char *at;
    char *end;

    set_params(512, 1408, 12, 8, 8, 4000, 4096, true);
    make_image(INGOT_Q8_0, 0);
    total = (size_t)total_bytes();
    (void)plan_with(0);
    rest = (size_t)(up(plan.memory.kv, INGOT_PAGE) + up(plan.memory.scratch, INGOT_PAGE));
    request.arena_bytes = total + rest - (12u << 20);
    OK(plan_with(0) == ERR_OK && plan.residency == PLAN_STREAMED,
       "a plan that lacks 12 MiB streams, with advice: %s", plan.advice);
    at = strstr(plan.advice, "with ctx=");
    OK(at != NULL &&
           strstr(plan.advice, "would fit with 13 MiB more memory, or packed as q4_0 (") != NULL &&
           strtoul(at + 9, &end, 10) < 4096,
       "the advice names a type and a context");
    request.limits.context = at != NULL ? (uint32_t)strtoul(at + 9, NULL, 10) : 0;
    OK(plan_with(0) == ERR_OK && plan.residency == PLAN_RESIDENT && plan.advice[0] == '\0',
       "the plan is resident with ctx=%u", plan.context);
    request.limits.context *= 2;
    OK(plan_with(0) == ERR_OK && plan.residency == PLAN_STREAMED,
       "twice the context is not resident");
    OK(plan_bytes_as(&image, INGOT_Q8_0) >= total &&
           plan_bytes_as(&image, INGOT_Q8_0) < total + 14 * INGOT_PAGE,
       "the size in a type is reckoned up to the rounding of the segments");
    request.limits.context = 0;
    make_image(INGOT_Q4_0, 0);
    request.arena_bytes = total + rest - (12u << 20);
    OK(plan_with(0) == ERR_OK && plan.residency == PLAN_RESIDENT, "the plan is resident with q4_0");
}

/* Takes the type behind "kv=" in an error message as the request's. */
static bool take_kv(const char *error_message)
{
    const char *at = strstr(error_message, "kv=");
    char name[KV_TYPES_NAME_BYTES] = "";

    if (at == NULL) {
        return false;
    }
    memcpy(name, at + 3, strcspn(at + 3, ", ;"));
    return kv_types_parse(name, &request.limits.kv);
}

/* A type of keys and values that makes room for the weights; none if that is not enough. */
static void test_kv(void)
{
    size_t rest, total;

    set_params(512, 1408, 12, 8, 8, 4000, 4096, true);
    make_image(INGOT_Q8_0, 0);
    total = (size_t)total_bytes();
    (void)plan_with(0);
    rest = (size_t)(up(plan.memory.kv, INGOT_PAGE) + up(plan.memory.scratch, INGOT_PAGE));
    request.arena_bytes = total + rest - (12u << 20);
    OK(plan_with(0) == ERR_OK && take_kv(plan.advice),
       "a plan that lacks 12 MiB advises another kv=: %s", plan.advice);
    OK(plan_with(0) == ERR_OK && plan.residency == PLAN_RESIDENT,
       "all weights are in memory with the advised kv=");
    request.limits.kv = kv_both(KV_F16);
    request.arena_bytes = rest - (4u << 20);
    OK(plan_with(0) != ERR_OK &&
           strstr(plan.error_message, "with which context 4096 fits") != NULL &&
           take_kv(plan.error_message),
       "an error advises a kv= with which the context fits: %s", plan.error_message);
    OK(plan_with(0) == ERR_OK && plan.context == 4096, "the context fits with the advised kv=");
    request.limits.kv = kv_both(KV_F16);
    request.arena_bytes = 1u << 20;
    OK(plan_with(0) != ERR_OK && strstr(plan.error_message, "kv=") == NULL,
       "no kv= is advised if none is enough: %s", plan.error_message);
}

/* A model whose columns suit all types, and `part` of its bytes in Q8_0 as room for weights. */
static const char *advice_for(double part)
{
    set_params(512, 1536, 12, 8, 8, 4096, 4096, true);
    make_image(INGOT_Q8_0, 0);
    (void)plan_with((size_t)((double)total_bytes() * part));
    return plan.advice;
}

/* Each type is named when it is the largest that fits, with its bytes; those of one or two bits
 * never are, because only models that were trained for them can bear them. */
static void test_types(void)
{
    static const struct {
        double part;
        enum ingot_type type;
    } cases[] = { { .95, INGOT_Q6_K },
                  { .75, INGOT_Q5_K },
                  { .6, INGOT_Q4_0 },
                  { .52, INGOT_FIG4 },
                  { .45, INGOT_Q3_K } };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *advice = advice_for(cases[i].part);
        char wanted[64], size[FORMAT_NUMBER_BYTES];

        snprintf(wanted, sizeof wanted, ", or packed as %s (%s)", image_type_name(cases[i].type),
                 format_bytes(size, plan_bytes_as(&image, cases[i].type)));
        OK(plan.residency == PLAN_STREAMED && strstr(advice, wanted) != NULL,
           "advice for %.2f of the bytes names a type: %s", cases[i].part, advice);
    }
    OK(strstr(advice_for(.35), "packed") == NULL && strstr(plan.advice, "more memory") != NULL,
       "no type is advised if none is enough");
}

/* The refusal of a model in that much memory, with the smallest keys and values. */
static const char *refusal_of(enum ingot_type type, unsigned kib)
{
    set_params(512, 1536, 2, 8, 8, 4096, 512, true);
    make_image(type, 0);
    request.limits.kv = kv_both(KV_ROT_Q8);
    request.arena_bytes = (size_t)kib * 1024;
    OK(plan_with(0) != ERR_OK, "%u KiB are too little for %s", kib, image_type_name(type));
    return plan.error_message;
}

/* A model that does not fit at all gets the type with which it fits, if there is one. */
static void test_refusal(void)
{
    static const struct {
        enum ingot_type type;
        unsigned kib;
        const char *cure;
    } cases[] = {
        { INGOT_Q8_0, 7000, "use a smaller type (ingot pack --type q4_0) or a shorter ctx=" },
        { INGOT_Q8_0, 5200, "use a smaller type (ingot pack --type q3_k) or a shorter ctx=" },
        { INGOT_Q4_0, 5200, "use a smaller type (ingot pack --type q3_k) or a shorter ctx=" },
        { INGOT_Q8_0, 1024, "use a smaller model or a shorter ctx=" },
        { INGOT_Q4_0, 1024, "use a smaller model or a shorter ctx=" },
        { INGOT_Q3_K, 1024, "use a smaller model or a shorter ctx=" },
        { INGOT_TQ2_0, 1024, "use a smaller model or a shorter ctx=" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *error_message = refusal_of(cases[i].type, cases[i].kib);

        OK(strstr(error_message, cases[i].cure) != NULL, "the error names a cure: %s",
           error_message);
    }
    request.limits.kv = kv_both(KV_F16);
}

/* The error tells what the smallest chunk needs, so that a kv= that is enough with it is named. */
static void test_refusal_of_chunk(void)
{
    set_params(512, 1536, 2, 8, 8, 4096, 512, true);
    make_image(INGOT_Q4_0, 0);
    request.arena_bytes = 6000 << 10;
    OK(plan_with(0) != ERR_OK && take_kv(plan.error_message),
       "a kv= with which a small chunk fits is advised: %s", plan.error_message);
    OK(plan_with(0) == ERR_OK && plan.chunk < 128, "the model fits with it, with chunk %u",
       (unsigned)plan.chunk);
    request.limits.kv = kv_both(KV_F16);
}

/* With kv=card, mem= limits keys and values, too: the size that the error names has to be enough for
 * both, and no more than that. */
static void test_refusal_of_mem(void)
{
    static const char before[] = "raise mem= to at least ";
    unsigned n = 0, wrong = 0;

    set_params(512, 1536, 4, 8, 8, 4096, 512, true);
    make_image(INGOT_Q8_0, 0);
    request.limits.kv_card = true;
    for (size_t limit = INGOT_PAGE; plan_with(limit) != ERR_OK; limit += 17 * INGOT_PAGE) {
        const char *at = strstr(plan.error_message, before);
        size_t named = at == NULL ? 0 : strtoul(at + sizeof before - 1, NULL, 10) * 1024;

        n++;
        wrong += strstr(plan.error_message, "KiB, for weights, keys and values") == NULL;
        wrong += named <= limit || plan_with(named) != ERR_OK || plan_with(named - 1024) == ERR_OK;
    }
    OK(n > 2 && wrong == 0, "kv=card: %u refusals name the least mem=, %u are wrong", n, wrong);
    OK(plan.kv.n_spilled == 4, "the least mem= lets all layers spill");
}

/* A chunk that is in the way gets smaller, unless it was asked for. */
static void test_chunk(void)
{
    size_t full, total;

    set_params(512, 1408, 4, 8, 8, 4000, 1024, true);
    make_image(INGOT_Q8_0, 0);
    total = (size_t)total_bytes();
    (void)plan_with(0);
    full = total + (size_t)(up(plan.memory.kv, INGOT_PAGE) + up(plan.memory.scratch, INGOT_PAGE)) +
           2 * INGOT_PAGE;
    request.arena_bytes = full;
    OK(plan_with(0) == ERR_OK && plan.residency == PLAN_RESIDENT && plan.chunk == 128,
       "room for all gives 128 tokens");
    request.arena_bytes = full - (1u << 20);
    OK(plan_with(0) == ERR_OK && plan.residency == PLAN_RESIDENT && plan.chunk < 128,
       "a MiB less gives chunks of %u tokens, and the plan is still resident", plan.chunk);
    request.limits.chunk = 128;
    OK(plan_with(0) == ERR_OK && plan.residency == PLAN_STREAMED && plan.chunk == 128,
       "a chunk that is asked for stays");
}

int main(void)
{
    test_prediction();
    test_rest();
    test_advice();
    test_kv();
    test_types();
    test_refusal();
    test_refusal_of_chunk();
    test_refusal_of_mem();
    test_chunk();
    return tap_done();
}
