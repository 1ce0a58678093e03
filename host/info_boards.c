/* Of `ingot info`: what the planner says before any weight is read. Nothing here is measured. */
#include <stdio.h>
#include <stdlib.h>

#include "board/min_max.h"
#include "host/info.h"
#include "runtime/base/arena.h"
#include "runtime/compute/activations.h"
#include "runtime/model/layer_kinds.h"
#include "runtime/session/session.h"
#include "runtime/session/sampler.h"
#include "runtime/stream/plan.h"
#include "runtime/text/format_text.h"

enum { RESERVED_MIB = 64 }; /* firmware, the program, its stacks */

/* By the names that BOARD= takes, with the sizes of RAM that they are sold with; of QEMU's machines
 * the size that `make run` gives them. */
static const struct {
    const char *name;
    unsigned ram_mib;
} boards[] = {
    { "rpi3 (Pi Zero 2 W)", 512 },
    { "rpi3", 1024 },
    { "rpi4", 2048 },
    { "rpi4", 4096 },
    { "rpi4", 8192 },
    { "rpi5", 4096 },
    { "rpi5", 8192 },
    { "visionfive2", 4096 },
    { "visionfive2", 8192 },
    { "icicle", 2048 },
    { "sifive_u (QEMU)", 512 },
    { "virt-arm64 (QEMU)", 512 },
    { "virt-riscv64 (QEMU)", 512 },
};

/* What Ingot asks of a machine with `ram` bytes, and what it plans (model_open). */
static enum err plan_for(struct plan *plan, const struct image *img, uint64_t ram, uint32_t context)
{
    uint64_t taken = INGOT_PAGE + image_meta_bytes(img->header);
    struct plan_request r = { .image = img,
                              .limits.context = context,
                              .work.extra_scratch = session_bytes(img),
                              .work.work_bytes = layer_work_bytes(img) };

    r.arena_bytes = (size_t)(max_u64(ram, taken) - taken);
    return plan_make(plan, &r);
}

static uint64_t read_bytes(const struct plan *plan, const struct image *img)
{
    size_t row = 0;
    uint64_t offset;

    if (plan->residency == PLAN_STREAMED && plan->rows.bytes != 0) {
        plan_embedding_range(img, 0, &offset, &row);
    }
    return plan->layers.read + plan->head.read + row;
}

/* With the whole default context, or the longest half, quarter ... of it that fits. */
static enum err plan_longest(struct plan *plan, const struct image *img, uint64_t ram)
{
    uint32_t context = img->header->params.context;
    enum err e;

    context = min_u32(context, PLAN_DEFAULT_CONTEXT);
    for (;;) {
        e = plan_for(plan, img, ram, context);
        if (e == ERR_OK || context < 512) {
            return e;
        }
        context /= 2;
    }
}

static void print_board(struct plan *plan, const struct image *img, const char *name,
                        unsigned ram_mib)
{
    uint64_t ram = (uint64_t)(ram_mib - RESERVED_MIB) << 20;
    uint32_t n = img->header->params.n_layers;
    char size[FORMAT_NUMBER_BYTES], read[FORMAT_NUMBER_BYTES];

    printf("%-22s %10s", name, format_bytes(size, (uint64_t)ram_mib << 20));
    if (plan_longest(plan, img, ram) != ERR_OK) {
        puts("  does not fit");
        return;
    }
    printf("  %-9s %7u %11s %12s", plan_residency_text(plan->residency), plan->context,
           format_bytes(size, INGOT_PAGE + image_meta_bytes(img->header) + plan->memory.pinned +
                                  plan->memory.io + plan->memory.kv + plan->memory.scratch),
           plan->residency == PLAN_STREAMED ? format_bytes(read, read_bytes(plan, img)) : "-");
    if (plan->residency == PLAN_STREAMED) {
        printf("  %u of %u layers stay%s", plan->layers.n_pinned, n,
               plan->head.tiled ? "" : ", and the head");
    }
    putchar('\n');
}

static void print_memory(struct plan *plan, const struct image *img)
{
    const struct ingot_params *p = &img->header->params;
    char size[FORMAT_NUMBER_BYTES], kv[FORMAT_NUMBER_BYTES];

    printf("file        %s\n", format_bytes(size, img->header->file_bytes));
    if (plan_for(plan, img, UINT64_MAX / 2, 0) == ERR_OK) {
        printf("memory      resident %s, with it %s of keys and values and %s of work space for "
               "%u tokens\n",
               format_bytes(size, plan->memory.pinned), format_bytes(kv, plan->memory.kv),
               format_bytes((char[FORMAT_NUMBER_BYTES]){ 0 }, plan->memory.scratch), plan->context);
    }
    printf("            keys and values of 1024 tokens: %s in f16",
           format_bytes(size, kv_cache_bytes(p, 1024, KV_F16)));
    if (p->head_dim % 32 == 0) {
        printf(", %s in q8", format_bytes(kv, kv_cache_bytes(p, 1024, KV_Q8)));
    }
    putchar('\n');
}

bool info_print_sizes(const struct image *img)
{
    struct plan *plan = malloc(sizeof *plan);

    if (plan == NULL) {
        return false;
    }
    puts("\nsizes, computed by the planner and not measured:");
    print_memory(plan, img);
    printf("\nboards, computed for their RAM less %u MiB for firmware and program:\n"
           "%-22s %10s  %-9s %7s %11s %12s\n",
           (unsigned)RESERVED_MIB, "board", "RAM", "weights", "context", "memory", "read/token");
    for (size_t i = 0; i < sizeof boards / sizeof boards[0]; i++) {
        print_board(plan, img, boards[i].name, boards[i].ram_mib);
    }
    free(plan);
    return true;
}
