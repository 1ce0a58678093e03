#include <stdio.h>
#include <string.h>

#include "host/cli/commands.h"
#include "host/args/shown_streams.h"
#include "flash_image/adapter/adapter.h"
#include "flash_image/hf/hf.h"
#include "flash_image/pack/ingot_file.h"
#include "flash_image/output/temporary.h"
#include "flash_image/pack/pack.h"
#include "runtime/text/format_text.h"
#include "runtime/text/plural.h"

struct arguments {
    struct adapter_options make;
    const char *base;
};

static int fail(const char *error_message)
{
    fprintf(stderr, "ingot: %s\n", error_message);
    return EXIT_FAILED;
}

static void print_made(const struct adapter_options *o, const struct adapter_result *r)
{
    char size[FORMAT_NUMBER_BYTES], ranks[32];

    snprintf(ranks, sizeof ranks, "rank %u", r->most_rank);
    if (r->least_rank != r->most_rank) {
        snprintf(ranks, sizeof ranks, "ranks %u to %u", r->least_rank, r->most_rank);
    }
    printf("%s: for %s, %u %s of %s, %s, %s\n", name_shown(o->output),
           name_shown(o->base->header->name), r->n_pairs, plural(r->n_pairs, "matrix", "matrices"),
           ranks, image_type_name(o->type), format_bytes(size, r->bytes));
}

/* Make the adapter with the base's tables; path: the base's .ingot. */
static int make(struct adapter_options *o, const char *path)
{
    struct adapter_result result;
    struct ingot_file f;
    char error_message[1024];
    enum err e;

    if (ingot_file_open(&f, path, error_message, sizeof error_message) != ERR_OK) {
        return fail(error_message);
    }
    o->base = &f.image;
    e = adapter_make(o, &result, error_message, sizeof error_message);
    if (e == ERR_OK) {
        print_made(o, &result);
    }
    ingot_file_close(&f);
    return e == ERR_OK ? EXIT_FINE : fail(error_message);
}

/* Make the adapter for any base; a base that is not packed yet is packed into a temporary file. */
static int make_for_any(struct arguments *a)
{
    struct pack_options pack = { .input = a->base, .quiet = true };
    char path[512], error_message[512];
    bool hf = hf_is(a->base);
    enum err e = ERR_OK;
    int status;

    if (!hf && pack_is_ingot(a->base, &e)) {
        return make(&a->make, a->base);
    }
    if (pack_temporary(&pack, path, sizeof path, error_message, sizeof error_message) != ERR_OK) {
        return fail(error_message);
    }
    a->make.order = hf ? ADAPTER_ORDER_HF : ADAPTER_ORDER_GGUF;
    status = make(&a->make, path);
    temporary_remove(path);
    return status;
}

static enum option_result set_type(void *arguments, const struct command_option *o,
                                   const char *value)
{
    static const uint32_t types[] = { INGOT_F16, INGOT_Q8_0, INGOT_F32 };
    struct arguments *a = arguments;

    (void)o;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(value, image_type_name(types[i])) == 0) {
            a->make.type = types[i];
            return OPTION_TAKEN;
        }
    }
    return OPTION_REFUSED;
}

static int run(int argc, char **argv)
{
    struct arguments a = { .make.type = INGOT_F16 };
    int status;

    if (!command_line_read(&cmd_adapter, &a, argc, argv, &status)) {
        return status;
    }
    if (a.base == NULL) {
        return command_refuse(&cmd_adapter, "--base",
                              "give the adapter's model, as in --base MODEL.ingot");
    }
    if (a.make.output == NULL) {
        return command_refuse(&cmd_adapter, "-o", "give the file to write, as in -o OUT.ingot");
    }
    return make_for_any(&a);
}

#define FIELD(member) offsetof(struct arguments, member)

static const struct command_option output = {
    .name = "--output",
    .letter = "-o",
    .value = "FILE",
    .help = "the file to write: adapters/NAME.ingot beside the model, or on a card",
    .field = FIELD(make.output),
};
static const struct command_option base = {
    .name = "--base",
    .value = "MODEL",
    .help = "the model that the adapter is for: .ingot, GGUF or folder",
    .field = FIELD(base),
};
static const struct command_option type = {
    .name = "--type",
    .value = "TYPE",
    .choices = "f16 q8_0 f32",
    .takes = "f16, q8_0 or f32",
    .help = "type of its weights in the file (default: f16)",
    .set = set_type,
};
static const struct command_option name = {
    .name = "--name",
    .value = "TEXT",
    .help = "its name (default: as in IN)",
    .field = FIELD(make.name),
};
static const struct command_option *const options[] = { &output, &base, &type, &name, NULL };

const struct command cmd_adapter = {
    .name = "adapter",
    .operands = "IN",
    .missing = "which adapter? name a GGUF, or a PEFT folder;",
    .summary = "make an adapter (LoRA) for a packed model",
    .about =
        "Makes an adapter for /adapter and adapter= from a GGUF (convert_lora_to_gguf.py) or from a\n"
        "folder that PEFT saved (adapter_config.json, adapter_model.safetensors).",
    .example = "ingot adapter poet/ --base models/qwen.ingot -o models/adapters/poet.ingot",
    .options = options,
    .operand_field = FIELD(make.input),
    .run = run,
};
