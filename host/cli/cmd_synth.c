/* `ingot synth`: a model with random weights in a named shape. */
#include <stdio.h>

#include "host/cli/commands.h"
#include "host/cli/pack_type.h"
#include "runtime/options/options.h"
#include "flash_image/pack/pack.h"

struct arguments {
    struct pack_options pack;
    uint32_t seed;
};

static enum option_result set_seed(void *arguments, const struct command_option *o,
                                   const char *value)
{
    struct arguments *a = arguments;
    uint64_t seed;

    (void)o;
    if (!options_read_u64(value, false, &seed) || seed > UINT32_MAX) {
        return OPTION_REFUSED;
    }
    a->seed = (uint32_t)seed;
    return OPTION_TAKEN;
}

static int run(int argc, char **argv)
{
    struct arguments a = { { .type = INGOT_Q8_0, .type_given = true }, .seed = 1 };
    char error_message[512];
    int status;

    if (!command_line_read(&cmd_synth, &a, argc, argv, &status)) {
        return status;
    }
    if (a.pack.input == NULL) {
        return command_refuse(&cmd_synth, "--shape", "give one, such as --shape tiny");
    }
    if (a.pack.automatic) {
        return command_refuse(
            &cmd_synth, "--type auto",
            "works only in ingot pack: for made-up weights a loss has no meaning");
    }
    if (a.pack.output == NULL) {
        return command_refuse(&cmd_synth, "-o", "give the file to write, such as -o tiny.ingot");
    }
    if (pack_synth(&a.pack, a.seed, error_message, sizeof error_message) != ERR_OK) {
        fprintf(stderr, "ingot: %s\n", error_message);
        return EXIT_FAILED;
    }
    return EXIT_FINE;
}

#define FIELD(member) offsetof(struct arguments, member)

static const struct command_option shape = {
    .name = "--shape",
    .value = "NAME",
    .choices = "tiny untied headed experts deep narrow wordy s15m smol135 tl2 tinyllama 4g "
               "smollm2-135m smollm2-360m smollm2-1.7b qwen2.5-0.5b qwen3-0.6b qwen3-1.7b "
               "llama-3.2-1b llama-3.2-3b gemma-3-270m gemma-3-1b qwen3.5-0.8b-layers "
               "qwen3.5-0.8b-dense lfm2-350m-layers lfm2-350m-dense olmoe-1b-7b-layers "
               "olmoe-1b-7b-dense experts-4g olmoe-1b-7b qwen3-30b-a3b",
    .help = "tiny, untied, headed, experts, deep, narrow, wordy, s15m, smol135, tl2, tinyllama\n"
            "or 4g; of published models also smollm2-135m, -360m, -1.7b, qwen2.5-0.5b,\n"
            "qwen3-0.6b, qwen3-1.7b, llama-3.2-1b, llama-3.2-3b, gemma-3-270m and gemma-3-1b;\n"
            "and two layers of each kind of qwen3.5-0.8b-layers, lfm2-350m-layers and\n"
            "olmoe-1b-7b-layers (16 of 64 experts); llama models with as many bytes a token:\n"
            "qwen3.5-0.8b-dense, lfm2-350m-dense, olmoe-1b-7b-dense; and, mostly zeros, which\n"
            "take no room on most disks, experts-4g, olmoe-1b-7b and qwen3-30b-a3b",
    .field = FIELD(pack.input),
};
static const struct command_option output = {
    .name = "--output",
    .letter = "-o",
    .value = "FILE",
    .help = "the .ingot file to write",
    .field = FIELD(pack.output),
};
static const struct command_option type = {
    .name = "--type",
    .value = "TYPE",
    .choices = pack_types,
    .takes = pack_types_taken,
    .help = pack_types_help,
    .set = pack_type_set,
    .field = FIELD(pack),
};
static const struct command_option seed_option = {
    .name = "--seed",
    .letter = "-s",
    .value = "S",
    .takes = "a whole number of up to 32 bits",
    .help = "other weights (default 1)",
    .set = set_seed,
};
static const struct command_option hollow = {
    .name = "--hollow",
    .help = "leave the weights out: the file is made at once, takes no room on most\n"
            "disks, and is good only for `ingot plan` and `ingot info`",
    .field = FIELD(pack.hollow),
};
static const struct command_option *const options[] = { &shape,       &output, &type,
                                                        &seed_option, &hollow, NULL };

const struct command cmd_synth = {
    .name = "synth",
    .operands = "",
    .summary = "write a model with random weights, for tests",
    .about =
        "Writes a model of a real shape with random weights, the same every time: for tests and\n"
        "figures.",
    .example = "ingot synth --shape tiny --type q4_0 -o tiny.ingot",
    .options = options,
    .run = run,
};
