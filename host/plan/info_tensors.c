/* For `ingot info`: the numbers of weights, their types, and their positions in the file. */
#include <stdio.h>

#include "host/plan/info.h"
#include "runtime/text/format_text.h"

/* Return how many tensors an entry describes: one, or those of all experts of the layer. */
static uint64_t copies_of(const struct image *img, const struct ingot_tensor *t)
{
    if (!image_role_is_expert((enum ingot_role)t->role)) {
        return 1;
    }
    return image_layer(img, t->layer)->n_experts;
}

struct info_sum info_sum_tensors(const struct image *img, unsigned role, unsigned type)
{
    uint32_t n = img->header->tensors.count - (img->header->params.tied != 0);
    struct info_sum sum = { 0, 0 };

    for (uint32_t i = 0; i < n; i++) {
        const struct ingot_tensor *t = &img->tensors[i];

        if ((role == INGOT_N_ROLES || role == t->role) &&
            (type == INGOT_N_TYPES || type == t->type)) {
            sum.weights += copies_of(img, t) * t->rows * t->cols;
            sum.bytes += copies_of(img, t) * t->bytes;
        }
    }
    return sum;
}

uint64_t info_tensor_offset(const struct image *img, const struct ingot_tensor *t)
{
    uint64_t offset = img->segments[t->segment].offset + t->offset;

    if (image_role_is_expert((enum ingot_role)t->role)) {
        offset += image_layer(img, t->layer)->expert_offset;
    }
    return offset;
}

void info_print_weights(const struct image *img)
{
    struct info_sum all = info_sum_tensors(img, INGOT_N_ROLES, INGOT_N_TYPES);

    printf("parameters  %llu:", (unsigned long long)all.weights);
    for (unsigned type = 0; type < INGOT_N_TYPES; type++) {
        struct info_sum sum = info_sum_tensors(img, INGOT_N_ROLES, type);

        if (sum.weights != 0) {
            printf(" %llu %s", (unsigned long long)sum.weights, image_type_name(type));
        }
    }
    printf("; %.2f bits each\n", (double)all.bytes * 8 / (double)all.weights);
}

/* Print a line for each kind of tensor; if layers differ in its type, a line for each type. */
void info_print_classes(const struct image *img)
{
    char size[FORMAT_NUMBER_BYTES];

    printf("\n%-18s %-5s %14s %12s %6s\n", "tensors", "type", "weights", "size", "bits");
    for (unsigned role = 0; role < INGOT_N_ROLES; role++) {
        for (unsigned type = 0; type < INGOT_N_TYPES; type++) {
            struct info_sum sum = info_sum_tensors(img, role, type);

            if (sum.weights != 0) {
                printf("%-18s %-5s %14llu %12s %6.2f\n", image_role_name(role),
                       image_type_name(type), (unsigned long long)sum.weights,
                       format_bytes(size, sum.bytes), (double)sum.bytes * 8 / (double)sum.weights);
            }
        }
    }
}

static void print_segments(const struct image *img)
{
    char size[FORMAT_NUMBER_BYTES];
    char name[32];

    printf("\n%-12s %14s %12s\n", "part", "offset", "size");
    printf("%-12s %14u %12s\n", "sections", 0,
           format_bytes(size, INGOT_PAGE + image_meta_bytes(img->header)));
    for (uint32_t i = 0; i < img->header->segments.count; i++) {
        image_segment_name(img, i, name, sizeof name);
        printf("%-12s %14llu %12s\n", name, (unsigned long long)img->segments[i].offset,
               format_bytes(size, img->segments[i].bytes));
    }
    printf("%-12s %14s %12s\n", "file", "", format_bytes(size, img->header->file_bytes));
}

static void print_tensors(const struct image *img)
{
    printf("\n%-18s %5s %-5s %8s %8s %8s %14s %12s\n", "tensor", "layer", "type", "rows", "cols",
           "padded", "offset", "bytes");
    for (uint32_t i = 0; i < img->header->tensors.count; i++) {
        const struct ingot_tensor *t = &img->tensors[i];
        char layer[8] = "-";

        if (t->layer != INGOT_NO_LAYER) {
            snprintf(layer, sizeof layer, "%u", t->layer);
        }
        printf("%-18s %5s %-5s %8u %8u %8u %14llu %12llu\n", image_role_name(t->role), layer,
               image_type_name(t->type), t->rows, t->cols, t->cols_padded,
               (unsigned long long)info_tensor_offset(img, t), (unsigned long long)t->bytes);
    }
}

void info_print_tensors(const struct image *img)
{
    print_segments(img);
    print_tensors(img);
}
