#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/commands.h"
#include "board/host/host_cpu.h"
#include "host/info.h"
#include "flash_image/pack/ingot_file.h"
#include "flash_image/pack/pack.h"
#include "flash_image/source/pre_tokenizer.h"
#include "kernels/kernels.h"
#include "runtime/text/format_text.h"

/* Weights without padding, and the bytes they take with it. */
struct sum {
    uint64_t weights, bytes;
};

/* Of the tensors of a role (INGOT_N_ROLES: of any) and type (INGOT_N_TYPES: of any), the tied
 * output once. */
static struct sum sum_tensors(const struct image *img, unsigned role, unsigned type)
{
    uint32_t n = img->header->tensors.count - (img->header->params.tied != 0);
    struct sum sum = { 0, 0 };

    for (uint32_t i = 0; i < n; i++) {
        const struct ingot_tensor *t = &img->tensors[i];

        if ((role == INGOT_N_ROLES || role == t->role) &&
            (type == INGOT_N_TYPES || type == t->type)) {
            sum.weights += (uint64_t)t->rows * t->cols;
            sum.bytes += t->bytes;
        }
    }
    return sum;
}

static void print_weights(const struct image *img)
{
    struct sum all = sum_tensors(img, INGOT_N_ROLES, INGOT_N_TYPES);

    printf("parameters  %llu:", (unsigned long long)all.weights);
    for (unsigned type = 0; type < INGOT_N_TYPES; type++) {
        struct sum sum = sum_tensors(img, INGOT_N_ROLES, type);

        if (sum.weights != 0) {
            printf(" %llu %s", (unsigned long long)sum.weights, image_type_name(type));
        }
    }
    printf("; %.2f bits each\n", (double)all.bytes * 8 / (double)all.weights);
}

/* A line for each kind of tensor, and for each of its types where layers differ. */
static void print_classes(const struct image *img)
{
    char size[FORMAT_NUMBER_BYTES];

    printf("\n%-18s %-5s %14s %12s %6s\n", "tensors", "type", "weights", "size", "bits");
    for (unsigned role = 0; role < INGOT_N_ROLES; role++) {
        for (unsigned type = 0; type < INGOT_N_TYPES; type++) {
            struct sum sum = sum_tensors(img, role, type);

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
               (unsigned long long)(img->segments[t->segment].offset + t->offset),
               (unsigned long long)t->bytes);
    }
}

/* Of this computer: what `run` would use. */
static void print_kernels(void)
{
    char names[KERNELS_TEXT_BYTES];
    size_t ahead = host_cpu_tuning()->ahead;

    printf("\nkernels here %s", kernels_features_text(names, host_cpu_features()));
    if (ahead != 0) {
        printf(", prefetch %zu B\n", ahead);
    } else {
        puts(", no prefetch");
    }
}

static bool print_file(const char *path, const char *shown, bool tensors)
{
    struct ingot_file f;
    char problem[512];

    if (ingot_file_open(&f, path, problem, sizeof problem) != ERR_OK) {
        fprintf(stderr, "ingot: %s\n", problem);
        return false;
    }
    printf("model       %s\nname        %s\n", shown, f.image.header->name);
    info_print_params(&f.image);
    puts(f.image.header->rope.count != 0 ? ", with factors" : "");
    print_weights(&f.image);
    info_print_tokenizer(&f.image);
    info_print_chat(&f.image);
    print_classes(&f.image);
    info_print_sizes(&f.image);
    if (tensors) {
        print_segments(&f.image);
        print_tensors(&f.image);
    }
    print_kernels();
    ingot_file_close(&f);
    return true;
}

static bool print_any(const struct pack_options *o, bool tensors)
{
    char path[512];
    char problem[512];
    enum err e;
    bool good;

    if (pack_is_ingot(o->input, &e)) {
        return print_file(o->input, o->input, tensors);
    }
    if (pack_temporary(o, path, sizeof path, problem, sizeof problem) != ERR_OK) {
        fprintf(stderr, "ingot: %s\n", problem);
        return false;
    }
    good = print_file(path, o->input, tensors);
    unlink(path);
    return good;
}

struct arguments {
    struct pack_options pack;
    bool tensors;
};

static int run(int argc, char **argv)
{
    struct arguments a = { .tensors = false };
    int status;

    if (!command_line_read(&cmd_info, &a, argc, argv, &status)) {
        return status;
    }
    return exit_status(print_any(&a.pack, a.tensors));
}

#define FIELD(member) offsetof(struct arguments, member)

static const struct command_option tensors = {
    .name = "--tensors",
    .help = "list every part of the file and every tensor",
    .field = FIELD(tensors),
};
static const struct command_option template = {
    .name = "--template",
    .value = "NAME",
    .help = "as `ingot pack` takes it; not of an .ingot",
    .field = FIELD(pack.template),
};
static const struct command_option tokenizer = {
    .name = "--tokenizer",
    .value = "FILE",
    .help = "of a llama2.c checkpoint",
    .field = FIELD(pack.tokenizer),
};
static const struct command_option *const options[] = { &tensors, &template, &tokenizer, NULL };

const struct command cmd_info = {
    .name = "info",
    .operands = "FILE",
    .missing = "which file?",
    .summary = "what a model is and how large its parts are",
    .about =
        "What a model is, how large its parts are and which boards it fits. FILE is an .ingot,\n"
        "or a GGUF or llama2.c file or Hugging Face folder, which is packed into a temporary\n"
        "file first.",
    .example = "ingot info model.ingot --tensors",
    .options = options,
    .operand_field = FIELD(pack.input),
    .run = run,
};
