/* `ingot info` of an adapter: prints its base model, matrices, ranks and type. */
#include <stdio.h>
#include <string.h>

#include "flash_image/source/map_file.h"
#include "host/plan/info.h"
#include "host/plan/info_json.h"
#include "host/args/shown_streams.h"
#include "runtime/image/adapter_image.h"
#include "runtime/text/format_text.h"
#include "runtime/text/plural.h"

/* A summary of the table of pairs. */
struct summary {
    uint32_t least_rank, most_rank;
    float least_scale, most_scale;
    uint64_t numbers; /* how many numbers A and B of all pairs have, without padding */
};

static struct summary sum_up(const struct adapter_header *h, const struct adapter_pair *pairs)
{
    struct summary sum = { UINT32_MAX, 0, pairs[0].scale, pairs[0].scale, 0 };

    for (uint32_t i = 0; i < h->n_pairs; i++) {
        const struct adapter_pair *p = &pairs[i];

        sum.least_rank = p->rank < sum.least_rank ? p->rank : sum.least_rank;
        sum.most_rank = p->rank > sum.most_rank ? p->rank : sum.most_rank;
        sum.least_scale = p->scale < sum.least_scale ? p->scale : sum.least_scale;
        sum.most_scale = p->scale > sum.most_scale ? p->scale : sum.most_scale;
        sum.numbers += (uint64_t)p->rank * ((uint64_t)p->rows + p->cols);
    }
    return sum;
}

static void print_text(const char *path, const struct adapter_header *h, const struct summary *sum)
{
    char size[FORMAT_NUMBER_BYTES];

    printf("adapter     %s\nname        %s\nfor         %s: %s, %u layers, width %u, %u tokens\n",
           name_shown(path), name_shown(h->name), name_shown(h->base), image_family_name(h->family),
           h->n_layers, h->dim, h->vocab);
    printf("matrices    %u of rank %u", h->n_pairs, sum->least_rank);
    if (sum->least_rank != sum->most_rank) {
        printf(" to %u", sum->most_rank);
    }
    printf(", scale %.7g", (double)sum->least_scale);
    if (sum->least_scale < sum->most_scale) {
        printf(" to %.7g", (double)sum->most_scale);
    }
    printf(", %s\nsize        %s, %llu numbers\n", image_type_name(h->type),
           format_bytes(size, h->file_bytes), (unsigned long long)sum->numbers);
    printf("use         ingot chat MODEL --adapter %s\n", name_shown(path));
}

static bool print_json(const char *path, const struct adapter_header *h, const struct summary *sum)
{
    cJSON *o = cJSON_CreateObject();
    char *printed;

    info_json_add_text(o, "adapter", path);
    info_json_add_text(o, "name", h->name);
    info_json_add_text(o, "base", h->base);
    cJSON_AddStringToObject(o, "family", image_family_name(h->family));
    info_json_add_count(o, "layers", h->n_layers);
    info_json_add_count(o, "dim", h->dim);
    info_json_add_count(o, "vocabulary", h->vocab);
    info_json_add_count(o, "matrices", h->n_pairs);
    info_json_add_count(o, "least_rank", sum->least_rank);
    info_json_add_count(o, "most_rank", sum->most_rank);
    info_json_add_float(o, "least_scale", sum->least_scale);
    info_json_add_float(o, "most_scale", sum->most_scale);
    cJSON_AddStringToObject(o, "type", image_type_name(h->type));
    info_json_add_count(o, "numbers", sum->numbers);
    info_json_add_count(o, "file_bytes", h->file_bytes);
    printed = cJSON_Print(o);
    cJSON_Delete(o);
    if (printed == NULL) {
        fprintf(stderr, "ingot: out of memory\n");
        return false;
    }
    puts(printed);
    cJSON_free(printed);
    return true;
}

/* Print a mapped adapter. A mapped file starts on a page, so it is aligned enough. */
static bool print_mapped(const char *path, const struct mapping *m, bool json)
{
    const struct adapter_header *h = (const void *)m->data;
    const struct adapter_pair *pairs = (const void *)(h + 1);
    char error_message[ADAPTER_ERROR_MESSAGE_BYTES];
    enum err e = adapter_check_header(h, m->bytes, error_message);
    struct summary sum;

    if (e == ERR_OK) {
        e = adapter_check_pairs(h, pairs, error_message);
    }
    if (e != ERR_OK) {
        fprintf(stderr, "ingot: %s: %s\n", path, error_message);
        return false;
    }
    sum = sum_up(h, pairs);
    if (json) {
        return print_json(path, h, &sum);
    }
    print_text(path, h, &sum);
    return true;
}

bool info_print_adapter(const char *path, bool json)
{
    struct mapping m;
    char why[320];
    bool good;

    if (mapping_open(&m, path, why, sizeof why) != ERR_OK) {
        fprintf(stderr, "ingot: %s: %s\n", path, why);
        return false;
    }
    good = print_mapped(path, &m, json);
    unmap_file(&m);
    return good;
}
