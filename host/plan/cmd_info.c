#include <stdbool.h>
#include <stdio.h>

#include "host/cli/commands.h"
#include "board/host/host_cpu.h"
#include "host/plan/info.h"
#include "host/args/shown_streams.h"
#include "flash_image/adapter/adapter.h"
#include "flash_image/pack/ingot_file.h"
#include "flash_image/output/temporary.h"
#include "flash_image/pack/pack.h"
#include "flash_image/signing/sign_file.h"
#include "kernels/kernels.h"

/* Print the kernels that `run` would use on this computer. */
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

struct arguments {
    struct pack_options pack;
    bool tensors, json;
};

static void print_signature(const struct sign_checked *c)
{
    if (c->state == SIGN_NONE) {
        puts("signature   none");
    } else {
        printf("signature   of key %s; ingot verify --public-key FILE checks it\n",
               name_shown(c->name));
    }
}

static bool print_text(const struct image *img, const struct sign_checked *c,
                       const struct arguments *a)
{
    bool good;

    printf("model       %s\nname        %s\n", name_shown(a->pack.input),
           name_shown(img->header->name));
    info_print_params(img);
    puts(img->header->rope.count != 0 ? ", with factors" : "");
    info_print_weights(img);
    info_print_tokenizer(img);
    info_print_chat(img);
    print_signature(c);
    info_print_classes(img);
    good = info_print_sizes(img);
    if (a->tensors) {
        info_print_tensors(img);
    }
    print_kernels();
    return good;
}

static bool print_file(const char *path, const struct arguments *a)
{
    struct ingot_file f;
    struct sign_checked c;
    char error_message[512];
    bool good;

    if (ingot_file_open(&f, path, error_message, sizeof error_message) != ERR_OK) {
        fprintf(stderr, "ingot: %s\n", error_message);
        return false;
    }
    sign_look(&c, f.data, f.bytes, f.image.header->file_bytes);
    if (a->json) {
        good = info_print_json(&f.image, a->pack.input, c.state != SIGN_NONE ? c.name : NULL,
                               a->tensors);
    } else {
        good = print_text(&f.image, &c, a);
    }
    ingot_file_close(&f);
    return good;
}

static bool print_any(const struct arguments *a)
{
    char path[512];
    char error_message[512];
    enum err e;
    bool good;

    if (adapter_is(a->pack.input)) {
        return info_print_adapter(a->pack.input, a->json);
    }
    if (pack_is_ingot(a->pack.input, &e)) {
        return print_file(a->pack.input, a);
    }
    if (pack_temporary(&a->pack, path, sizeof path, error_message, sizeof error_message) !=
        ERR_OK) {
        fprintf(stderr, "ingot: %s\n", error_message);
        return false;
    }
    good = print_file(path, a);
    temporary_remove(path);
    return good;
}

static int run(int argc, char **argv)
{
    struct arguments a = { .tensors = false };
    int status;

    if (!command_line_read(&cmd_info, &a, argc, argv, &status)) {
        return status;
    }
    return exit_status(print_any(&a));
}

#define FIELD(member) offsetof(struct arguments, member)

static const struct command_option tensors = {
    .name = "--tensors",
    .help = "list every part of the file and every tensor",
    .field = FIELD(tensors),
};
static const struct command_option json = {
    .name = "--json",
    .help = "print everything as one JSON object",
    .field = FIELD(json),
};
static const struct command_option template = {
    .name = "--template",
    .value = "NAME",
    .help = "chat template, as for `ingot pack`; not for an .ingot",
    .field = FIELD(pack.template),
};
static const struct command_option tokenizer = {
    .name = "--tokenizer",
    .value = "FILE",
    .help = "tokenizer of a llama2.c checkpoint",
    .field = FIELD(pack.tokenizer),
};
static const struct command_option *const options[] = { &tensors, &json, &template, &tokenizer,
                                                        NULL };

const struct command cmd_info = {
    .name = "info",
    .operands = "FILE",
    .missing = "which file?",
    .summary = "show what a model is and how large its parts are",
    .about =
        "Shows what a model is, how large its parts are and which boards it fits. FILE is an .ingot,\n"
        "or anything that `ingot pack` takes, which is packed into a temporary file first. For an\n"
        "adapter it shows the model that it is for, its matrices, ranks and type.",
    .example = "ingot info model.ingot --tensors\ningot info model.ingot --json",
    .options = options,
    .operand_field = FIELD(pack.input),
    .run = run,
};
