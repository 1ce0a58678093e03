#include "host/plan/plan_fit.h"

#include <inttypes.h>
#include <stdio.h>

#include "host/plan/retyped.h"
#include "runtime/text/format_text.h"

/* Types by descending quality, as in docs/QUALITY.md. `few` types are advised only if no other type
 * is resident. */
static const struct offer {
    const char *name; /* as for --type */
    bool few;         /* it loses so much that speed alone does not justify it */
    bool divided;     /* the same bytes lose less if --type auto divides them among the matrices */
    uint32_t family;  /* only for models of this family; 0: all */
} offers[] = {
    { "f16", false, false, 0 },
    { "q8_0", false, false, 0 },
    { "q6_k", false, true, 0 },
    { "q5_k_m", false, true, 0 },
    { "q4_k_m", false, true, 0 },
    { "iq4_nl", false, true, 0 },
    { "q4_0", false, true, 0 },
    { "fig4", true, true, 0 }, /* 8 % fewer bytes than IQ4_NL, a quarter more divergence */
    { "tq2_0", false, false, INGOT_BITNET }, /* for weights of three values */
    { "q3_k", true, true, 0 },
    { "q2_k", true, true, 0 },
};

static void print_row(const char *name, uint64_t bytes, const struct plan *plan)
{
    char size[FORMAT_NUMBER_BYTES], read[FORMAT_NUMBER_BYTES], rate[FORMAT_NUMBER_BYTES];

    printf("  %-6s %10s  %s", name, format_bytes(size, bytes),
           plan_residency_text(plan->residency));
    if (plan->residency == PLAN_STREAMED) {
        printf(", %s read per token", format_bytes(read, plan->layers.read + plan->head.read));
    }
    if (plan->prediction.decode_ns != 0) {
        printf(", decode %s tok/s predicted",
               format_ratio(rate, 1000000000u, plan->prediction.decode_ns, 3));
    }
    putchar('\n');
}

/* The best offer so far, and the plan of the unchanged model. */
struct fit {
    const struct offer *chosen; /* NULL: none fits */
    struct plan best, own;
    bool own_fits;
    bool own_quantized;             /* the model is quantized, so another type would lose more */
    uint64_t own_bytes, best_bytes; /* of all segments */
    uint64_t best_file;             /* of the whole file */
    plan_fit_fn *plan;
    void *context;
};

static bool is_better(const struct fit *f, const struct offer *offer, const struct plan *plan)
{
    if (f->chosen == NULL || f->best.residency != PLAN_STREAMED) {
        return f->chosen == NULL;
    }
    if (plan->residency != PLAN_STREAMED) {
        return true;
    }
    return !offer->few &&
           plan->layers.read + plan->head.read < f->best.layers.read + f->best.head.read;
}

static bool is_quantized(const struct image *image)
{
    unsigned type = image_main_type(image);

    return type != INGOT_F32 && type != INGOT_F16;
}

/* True if the model should keep its type, because an offer gains too little for its loss. */
static bool is_kept(const struct fit *f)
{
    bool resident = f->own_fits && f->own.residency != PLAN_STREAMED;

    if (resident && (f->own_quantized || f->own_bytes <= f->best_bytes)) {
        return true;
    }
    if (f->chosen->few && f->best.residency != PLAN_STREAMED) {
        return resident;
    }
    return f->own_fits && f->best.residency == PLAN_STREAMED &&
           (resident ||
            f->own.layers.read + f->own.head.read <= f->best.layers.read + f->best.head.read);
}

static void print_choice(const struct fit *f)
{
    const char *why = ": the best type that fits into memory";

    if (f->chosen == NULL && f->own_fits) {
        puts("keep the present type");
    }
    if (f->chosen == NULL) {
        return;
    }
    if (is_kept(f)) {
        puts("keep the present type");
        return;
    }
    if (f->best.residency == PLAN_STREAMED) {
        why = ": it reads the fewest bytes per token";
    } else if (f->chosen->few) {
        why = ": nothing larger fits; ingot pack --report tells what it loses";
    }
    printf("take --type %s%s", f->chosen->name, why);
    if (f->chosen->divided) {
        printf("; the same size loses less with --type auto --size %" PRIu64, f->best_file);
    }
    putchar('\n');
}

static uint64_t bytes_of(const struct image *image)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < image->header->segments.count; i++) {
        bytes += image->segments[i].bytes;
    }
    return bytes;
}

static void try_offer(struct fit *f, struct retyped *r, const struct image *image,
                      const struct offer *offer)
{
    struct pack_options options = { 0 };
    struct plan plan;

    if ((offer->family != 0 && offer->family != image->header->params.family) ||
        !pack_parse_type(offer->name, &options)) {
        return;
    }
    retype(r, image, &options);
    if (f->plan(f->context, &r->image, &plan) != ERR_OK) {
        printf("  %-6s does not fit\n", offer->name);
        return;
    }
    print_row(offer->name, r->bytes, &plan);
    if (r->bytes <= f->own_bytes && is_better(f, offer, &plan)) {
        f->best = plan;
        f->best_bytes = r->bytes;
        f->best_file = retyped_file_bytes(r);
        f->chosen = offer;
    }
}

bool plan_fit_print(const struct image *image, plan_fit_fn *plan, void *context)
{
    struct retyped r;
    struct fit fit = { .chosen = NULL,
                       .own_quantized = is_quantized(image),
                       .own_bytes = bytes_of(image),
                       .plan = plan,
                       .context = context };
    bool good = retyped_open(&r, image);

    if (good) {
        fit.own_fits = plan(context, image, &fit.own) == ERR_OK;
        puts("the same model in other types:");
        for (size_t i = 0; i < sizeof offers / sizeof offers[0]; i++) {
            try_offer(&fit, &r, image, &offers[i]);
        }
        print_choice(&fit);
    } else {
        fprintf(stderr, "ingot: out of memory\n");
    }
    retyped_close(&r);
    return good;
}
