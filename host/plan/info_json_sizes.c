/* For `ingot info --json`: the planner's results, as info_boards.c prints them. */
#include <stdlib.h>

#include "host/plan/board_plan.h"
#include "host/plan/info_json.h"

enum { KV_TOKENS = 1024 };

static void add_memory(cJSON *to, struct plan *plan, const struct image *img)
{
    struct kv_layers layers = { img->layers, img->header->params.n_layers };
    struct kv_types f16 = kv_both(KV_F16), q8 = kv_both(KV_Q8);
    const struct board_request r = { .image = img };
    cJSON *o = cJSON_AddObjectToObject(to, "sizes"), *kv;

    info_json_add_count(o, "file_bytes", img->header->file_bytes);
    if (board_plan(plan, &r) == ERR_OK) {
        info_json_add_count(o, "resident_bytes", plan->memory.pinned);
        info_json_add_count(o, "kv_bytes", plan->memory.kv - plan->kv.states);
        info_json_add_count(o, "state_bytes", plan->kv.states);
        info_json_add_count(o, "work_bytes", plan->memory.scratch);
        info_json_add_count(o, "context", plan->context);
    }
    kv = cJSON_AddObjectToObject(o, "kv_of_some_tokens");
    info_json_add_count(kv, "tokens", KV_TOKENS);
    info_json_add_count(kv, "f16_bytes", kv_cache_bytes(&layers, KV_TOKENS, f16));
    info_json_add_count(kv, "q8_bytes", kv_cache_bytes(&layers, KV_TOKENS, q8));
}

static cJSON *board_value(struct plan *plan, const struct image *img, const struct board_facts *b,
                          uint32_t ram_mib)
{
    const struct board_request r = { .image = img, .board = b, .ram = (uint64_t)ram_mib << 20 };
    cJSON *o = cJSON_CreateObject();
    bool fits = board_plan(plan, &r) == ERR_OK;

    cJSON_AddStringToObject(o, "board", b->name);
    info_json_add_count(o, "ram_bytes", r.ram);
    cJSON_AddBoolToObject(o, "fits", fits);
    if (!fits) {
        return o;
    }
    cJSON_AddStringToObject(o, "weights", plan_residency_text(plan->residency));
    info_json_add_count(o, "context", plan->context);
    info_json_add_count(o, "memory_bytes", board_plan_memory(plan, img));
    info_json_add_count(o, "read_bytes_per_token", board_plan_read(plan, img));
    if (plan->prediction.decode_ns != 0) {
        cJSON_AddNumberToObject(o, "roofline_tokens_per_s",
                                1e9 / (double)plan->prediction.decode_ns);
    }
    if (plan->residency == PLAN_STREAMED) {
        info_json_add_count(o, "layers_that_stay", plan->layers.n_pinned);
        cJSON_AddBoolToObject(o, "head_stays", !plan->head.tiled);
        info_json_add_count(o, "head_percent_that_stays", plan_head_percent(plan, img));
    }
    return o;
}

bool info_json_add_sizes(cJSON *to, const struct image *img)
{
    struct plan *plan = malloc(sizeof *plan);
    size_t n;
    const struct board_facts *b = board_facts_all(&n);
    cJSON *list;

    if (plan == NULL) {
        return false;
    }
    add_memory(to, plan, img);
    info_json_add_count(to, "reserved_bytes", (uint64_t)BOARD_RESERVED_MIB << 20);
    list = cJSON_AddArrayToObject(to, "boards");
    for (size_t i = 0; i < n; i++) {
        for (size_t s = 0; s < BOARD_MOST_SIZES && b[i].ram_mib[s] != 0; s++) {
            cJSON_AddItemToArray(list, board_value(plan, img, &b[i], b[i].ram_mib[s]));
        }
    }
    free(plan);
    return true;
}
