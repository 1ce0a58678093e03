#include "host/plan_fit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flash_image/pack/pack_types.h"
#include "runtime/text/format_text.h"

static const enum ingot_type types[] = { INGOT_F16, INGOT_Q8_0, INGOT_Q6_K, INGOT_Q4_K,
                                         INGOT_Q4_0 };

struct retyped {
    struct image image;
    struct ingot_tensor *tensors;
    struct ingot_segment *segments;
    uint64_t bytes; /* of all segments */
};

static uint64_t up(uint64_t n, uint64_t to)
{
    return (n + to - 1) / to * to;
}

/* The packer's choice where a matrix' columns do not suit the type. */
static void set_type(struct ingot_tensor *t, enum ingot_type type)
{
    if (!image_role_is_matrix((enum ingot_role)t->role)) {
        return;
    }
    type = pack_type_for_cols(type, t->cols);
    t->type = (uint8_t)type;
    t->interleave = (uint8_t)image_type_interleave(type);
    t->chunk = (uint8_t)image_type_chunk(type);
    t->cols_padded = (uint32_t)up(t->cols, image_type_padding(type));
    t->bytes = image_tensor_bytes(type, t->rows, t->cols);
}

/* Where a phase ended at the tensor that lay at `old`, it ends at `now`. */
static void move_phases(struct ingot_segment *to, const struct ingot_segment *from, uint64_t old,
                        uint64_t now)
{
    for (unsigned i = 0; i < INGOT_PHASES; i++) {
        if (from->phase_end[i] == old) {
            to->phase_end[i] = now;
        }
    }
}

static void set_segments(struct retyped *r, const struct ingot_segment *from)
{
    uint32_t n = image_segment_count(&r->image);
    uint64_t at = r->image.segments[0].offset;

    r->bytes = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct ingot_segment *x = &r->segments[i];

        x->bytes = up(x->bytes, INGOT_PAGE);
        x->offset = at;
        move_phases(x, &from[i], from[i].bytes, x->bytes);
        at += x->bytes;
        r->bytes += x->bytes;
    }
}

/* The tables as a packer of `type` would write them. */
static void retype(struct retyped *r, const struct image *image, enum ingot_type type)
{
    const struct ingot_params *p = &image->header->params;
    uint32_t n = image->header->tensors.count;

    memcpy(r->tensors, image->tensors, n * sizeof *r->tensors);
    memcpy(r->segments, image->segments, image_segment_count(image) * sizeof *r->segments);
    for (uint32_t i = 0; i < image_segment_count(image); i++) {
        r->segments[i].bytes = 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        struct ingot_tensor *t = &r->tensors[i];
        struct ingot_segment *x = &r->segments[t->segment];

        set_type(t, type);
        if (t->role == INGOT_OUTPUT && p->tied) {
            t->offset = r->tensors[0].offset;
            continue;
        }
        t->offset = up(x->bytes, INGOT_TENSOR_ALIGN);
        move_phases(x, &image->segments[t->segment], image->tensors[i].offset, t->offset);
        x->bytes = t->offset + t->bytes;
    }
    r->image = *image;
    r->image.tensors = r->tensors;
    r->image.segments = r->segments;
    set_segments(r, image->segments);
}

static void print_row(enum ingot_type type, const struct retyped *r, const struct plan *plan)
{
    char bytes[FORMAT_NUMBER_BYTES], read[FORMAT_NUMBER_BYTES], rate[FORMAT_NUMBER_BYTES];

    printf("  %-6s %10s  %s", image_type_name(type), format_bytes(bytes, r->bytes),
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

/* Is `plan` better than the best so far? Types come by descending quality. */
static bool is_better(const struct plan *plan, const struct plan *best, bool any)
{
    if (!any || best->residency != PLAN_STREAMED) {
        return !any;
    }
    return plan->residency != PLAN_STREAMED ||
           plan->layers.read + plan->head.read < best->layers.read + best->head.read;
}

bool plan_fit_print(const struct model *m)
{
    const struct image *image = &m->image;
    uint32_t n = image->header->tensors.count;
    struct retyped r = { .tensors = calloc(n, sizeof *r.tensors),
                         .segments = calloc(INGOT_MAX_SEGMENTS, sizeof *r.segments) };
    struct plan plan, best = { 0 };
    enum ingot_type chosen = INGOT_N_TYPES;

    if (r.tensors == NULL || r.segments == NULL) {
        fprintf(stderr, "ingot: out of memory\n");
        return false;
    }
    puts("the same model in other types:");
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        struct plan_request request = m->request;

        retype(&r, image, types[i]);
        request.image = &r.image;
        if (plan_make(&plan, &request) != ERR_OK) {
            printf("  %-6s does not fit\n", image_type_name(types[i]));
            continue;
        }
        print_row(types[i], &r, &plan);
        if (is_better(&plan, &best, chosen != INGOT_N_TYPES)) {
            best = plan;
            chosen = types[i];
        }
    }
    if (chosen != INGOT_N_TYPES) {
        printf("take --type %s%s\n", image_type_name(chosen),
               best.residency == PLAN_STREAMED ? ": it reads the least" : ": the best in memory");
    }
    free(r.tensors);
    free(r.segments);
    return true;
}
