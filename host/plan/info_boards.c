/* For `ingot info`: the planner's results, before any weight is read. Nothing here is measured. */
#include <stdio.h>
#include <stdlib.h>

#include "host/plan/board_plan.h"
#include "host/plan/info.h"
#include "runtime/text/format_text.h"
#include "runtime/text/plural.h"

static void print_board(struct plan *plan, const struct image *img, const struct board_facts *b,
                        uint32_t ram_mib)
{
    const struct board_request r = { .image = img, .board = b, .ram = (uint64_t)ram_mib << 20 };
    uint32_t n = img->header->params.n_layers;
    char size[FORMAT_NUMBER_BYTES], read[FORMAT_NUMBER_BYTES] = "-",
                                    rate[FORMAT_NUMBER_BYTES] = "-", head[BOARD_PLAN_HEAD_BYTES];

    printf("%-12s %10s", b->name, format_bytes(size, r.ram));
    if (board_plan(plan, &r) != ERR_OK) {
        puts("  does not fit");
        return;
    }
    if (plan->residency == PLAN_STREAMED) {
        format_bytes(read, board_plan_read(plan, img));
    }
    if (plan->prediction.decode_ns != 0) {
        format_ratio(rate, 1000000000u, plan->prediction.decode_ns,
                     board_rate_decimals(plan->prediction.decode_ns));
    }
    printf("  %-9s %7u %11s %12s %9s", plan_residency_text(plan->residency), plan->context,
           format_bytes(size, board_plan_memory(plan, img)), read, rate);
    if (plan->residency == PLAN_STREAMED) {
        printf("  %u of %u %s stay%s", plan->layers.n_pinned, n, plural(n, "layer", "layers"),
               board_plan_head(plan, img, head));
    }
    putchar('\n');
}

static void print_memory(struct plan *plan, const struct image *img)
{
    struct kv_layers layers = { img->layers, img->header->params.n_layers };
    struct kv_types f16 = kv_both(KV_F16), q8 = kv_both(KV_Q8);
    const struct board_request r = { .image = img };
    char size[FORMAT_NUMBER_BYTES], kv[FORMAT_NUMBER_BYTES];

    printf("file        %s\n", format_bytes(size, img->header->file_bytes));
    if (board_plan(plan, &r) == ERR_OK) {
        printf("memory      resident weights %s, keys and values %s, and %s of work space for "
               "%u %s\n",
               format_bytes(size, plan->memory.pinned),
               format_bytes(kv, plan->memory.kv - plan->kv.states),
               format_bytes((char[FORMAT_NUMBER_BYTES]){ 0 }, plan->memory.scratch), plan->context,
               plural(plan->context, "token", "tokens"));
    }
    if (plan->kv.states != 0) {
        printf("            state of recurrent layers: %s, whatever the number of tokens\n",
               format_bytes(size, plan->kv.states));
    }
    printf("            keys and values of 1024 tokens: %s in f16, %s in q8\n",
           format_bytes(size, kv_cache_bytes(&layers, 1024, f16)),
           format_bytes(kv, kv_cache_bytes(&layers, 1024, q8)));
}

bool info_print_sizes(const struct image *img)
{
    struct plan *plan = malloc(sizeof *plan);
    const struct board_facts *b;
    size_t n;

    if (plan == NULL) {
        return false;
    }
    puts("\nsizes, computed by the planner and not measured:");
    print_memory(plan, img);
    printf("\nboards, computed for their RAM less %u MiB for firmware and program; tok/s is a\n"
           "roofline, the most that published rates of memory and card allow\n"
           "%-12s %10s  %-9s %7s %11s %12s %9s\n",
           (unsigned)BOARD_RESERVED_MIB, "board", "RAM", "weights", "context", "memory",
           "read/token", "tok/s");
    b = board_facts_all(&n);
    for (size_t i = 0; i < n; i++) {
        for (size_t s = 0; s < BOARD_MOST_SIZES && b[i].ram_mib[s] != 0; s++) {
            print_board(plan, img, &b[i], b[i].ram_mib[s]);
        }
    }
    free(plan);
    return true;
}
