#include <stdio.h>
#include <string.h>

#include "host/app/calibrate.h"
#include "host/cli/commands.h"
#include "host/args/host_args.h"
#include "host/cli/pack_type.h"
#include "host/args/shown_streams.h"
#include "flash_image/output/output_file.h"
#include "flash_image/pack/ingot_file.h"
#include "flash_image/pack/pack.h"
#include "runtime/options/options.h"
#include "runtime/text/format_text.h"
#include "runtime/text/plural.h"

/* The packer's inputs, and the steps around it. */
struct arguments {
    struct pack_options pack;
    const char *text; /* --calibrate; NULL: none */
    struct options defaults;
};

static enum option_result set_size(void *arguments, const struct command_option *o,
                                   const char *value)
{
    struct arguments *a = arguments;

    (void)o;
    if (!options_read_u64(value, true, &a->pack.size) || a->pack.size == 0) {
        return OPTION_REFUSED;
    }
    return OPTION_TAKEN;
}

static enum option_result set_head(void *arguments, const struct command_option *o,
                                   const char *value)
{
    struct arguments *a = arguments;

    (void)o;
    return pack_parse_head(value, &a->pack) ? OPTION_TAKEN : OPTION_REFUSED;
}

static enum option_result set_experts(void *arguments, const struct command_option *o,
                                      const char *value)
{
    struct arguments *a = arguments;

    (void)o;
    return pack_parse_experts(value, &a->pack) ? OPTION_TAKEN : OPTION_REFUSED;
}

static enum option_result set_template(void *arguments, const struct command_option *o,
                                       const char *value)
{
    struct arguments *a = arguments;

    (void)o;
    if (strcmp(value, "list") == 0) {
        host_args_list_templates();
        return OPTION_ANSWERED;
    }
    a->pack.template = value;
    return OPTION_TAKEN;
}

/* Note an unknown option: an error here, though a board would only print a message. */
static void note_unknown(void *context, bool refused, const char *error_message)
{
    (void)refused;
    (void)error_message;
    *(bool *)context = true;
}

static enum option_result set_defaults(void *arguments, const struct command_option *o,
                                       const char *value)
{
    struct arguments *a = arguments;
    bool wrong = false;
    const struct options_report report = { note_unknown, &wrong };
    struct option_set others;

    (void)o;
    options_init(&a->defaults);
    if (options_parse(&a->defaults, value, &report) != ERR_OK || wrong) {
        return OPTION_REFUSED;
    }
    a->pack.sampling = options_given_sampling(&a->defaults);
    a->pack.system = options_given(&a->defaults, OPTION_SYSTEM) ? a->defaults.reply.system : NULL;
    others = a->defaults.given;
    option_set_put(&others, OPTION_SYSTEM, false);
    options_drop_sampling(&others);
    return option_set_is_empty(&others) ? OPTION_TAKEN : OPTION_REFUSED;
}

/* Print the result on one line. */
static void print_packed(const struct pack_options *o)
{
    char error_message[512], size[FORMAT_NUMBER_BYTES];
    struct ingot_file f;

    if (ingot_file_open(&f, o->output, error_message, sizeof error_message) != ERR_OK) {
        return; /* the output is a device, which cannot be read back */
    }
    printf("%s: %s, %u %s, %s, %s\n", name_shown(o->output),
           image_family_name(f.image.header->params.family), f.image.header->params.n_layers,
           plural(f.image.header->params.n_layers, "layer", "layers"),
           image_type_name(image_main_type(&f.image)),
           format_bytes(size, f.image.header->file_bytes));
    ingot_file_close(&f);
}

static int pack(const struct pack_options *o)
{
    char error_message[512];

    if (pack_file(o, error_message, sizeof error_message) != ERR_OK) {
        fprintf(stderr, "ingot: %s\n", error_message);
        return EXIT_FAILED;
    }
    if (!o->quiet) {
        print_packed(o);
    }
    return EXIT_FINE;
}

/* Check before minutes of work that the output can be opened. */
static bool check_output(const struct pack_options *o)
{
    const struct output_wish wish = { .path = o->output,
                                      .input = o->input,
                                      .instead = "name a new file, such as model.ingot" };
    char error_message[512];
    bool good = output_check(&wish, error_message, sizeof error_message) == ERR_OK;

    if (!good) {
        fprintf(stderr, "ingot: %s\n", error_message);
    }
    return good;
}

static int pack_calibrated(struct arguments *w)
{
    struct calibration c = { .columns = NULL };
    double after;
    int status = EXIT_FAILED;

    if (!check_output(&w->pack)) {
        return status;
    }
    if (calibrate_run(&c, &w->pack, w->text)) {
        w->pack.importance = calibrate_importance;
        w->pack.importance_context = &c;
        status = pack(&w->pack);
    }
    if (status == EXIT_FINE) {
        status = exit_status(calibrate_perplexity(w->pack.output, w->text, &after));
    }
    if (status == EXIT_FINE) {
        printf("perplexity on %s: %.4f before, %.4f after (%+.2f %%)\n", name_shown(w->text),
               c.perplexity, after, 100 * (after / c.perplexity - 1));
    }
    calibrate_free(&c);
    return status;
}

static int run(int argc, char **argv)
{
    struct arguments a = { .text = NULL };
    int status;

    if (!command_line_read(&cmd_pack, &a, argc, argv, &status)) {
        return status;
    }
    if (a.pack.output == NULL) {
        return command_refuse(&cmd_pack, "-o", "give the file to write, as in -o OUT.ingot");
    }
    if (a.pack.automatic && a.pack.size == 0) {
        return command_refuse(&cmd_pack, "--type auto",
                              "give the largest size of the file, such as --size 90M");
    }
    if (!a.pack.automatic && a.pack.size != 0) {
        return command_refuse(&cmd_pack, "--size", "belongs to --type auto");
    }
    if (a.text != NULL) {
        return pack_calibrated(&a);
    }
    return pack(&a.pack);
}

#define FIELD(member) offsetof(struct arguments, member)

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
static const struct command_option size = {
    .name = "--size",
    .value = "BYTES",
    .takes = "the largest size of the file, such as 90M",
    .help = "with --type auto: the largest size of the file, such as 90M; the types\n"
            "are chosen so that the model loses least (on the text of --calibrate, if\n"
            "given)",
    .set = set_size,
};
static const struct command_option tokenizer = {
    .name = "--tokenizer",
    .value = "FILE",
    .help = "tokenizer of a llama2.c checkpoint (default: tok<vocabulary>.bin or\n"
            "tokenizer.bin beside it)",
    .field = FIELD(pack.tokenizer),
};
static const struct command_option template = {
    .name = "--template",
    .value = "NAME",
    .help = "chat template in place of the model's own; list: shows them; none:\n"
            "the model continues text",
    .set = set_template,
};
static const struct command_option head = {
    .name = "--head",
    .value = "TYPE",
    .choices = pack_plain_types,
    .takes = pack_plain_types_taken,
    .help = "type of the output matrix, which is also the embedding if they are tied",
    .set = set_head,
};
static const struct command_option experts = {
    .name = "--experts-type",
    .value = "TYPE",
    .choices = pack_plain_types,
    .takes = pack_plain_types_taken,
    .help = "type of the experts' matrices, the largest part of a mixture model\n"
            "(default: as the other matrices)",
    .set = set_experts,
};
static const struct command_option calibrate = {
    .name = "--calibrate",
    .value = "FILE",
    .help = "run the model over a text first, store weights with large inputs more\n"
            "exactly, and print the perplexity before and after",
    .field = FIELD(text),
};
static const struct command_option defaults = {
    .name = "--defaults",
    .value = "OPTIONS",
    .takes = "boot options for replies, temp, top_p, top_k, min_p, repeat, repeat_last_n and "
             "system, such as 'temp=0.2 top_p=0.9'",
    .help = "defaults for replies of this model, such as\n"
            "'temp=0.2 top_p=0.9 system=\"Be brief.\"' (default: as the input recommends)",
    .set = set_defaults,
};
static const struct command_option mtp = {
    .name = "--mtp",
    .help = "pack only the MTP head of a GGUF: a draft (--draft) for the model itself",
    .field = FIELD(pack.mtp),
};
static const struct command_option report = {
    .name = "--report",
    .help = "print for every matrix its old type, its new type and the error (NMSE)",
    .field = FIELD(pack.report),
};
static const struct command_option quiet = {
    .name = "--quiet",
    .letter = "-q",
    .help = "print no progress, notes or summary",
    .field = FIELD(pack.quiet),
};
static const struct command_option *const options[] = {
    &output,  &type,      &size, &tokenizer, &template, &defaults, &head,
    &experts, &calibrate, &mtp,  &report,    &quiet,    NULL,
};

const struct command cmd_pack = {
    .name = "pack",
    .operands = "IN",
    .missing = "which file? name a GGUF or llama2.c file, or a folder;",
    .summary = "make an .ingot from a GGUF or llama2.c file, or a folder",
    .about =
        "Makes an .ingot file from a GGUF file, a Hugging Face folder, or a llama2.c checkpoint\n"
        "(versions 0, 1 and 2). Weights of a type that no kernel multiplies are stored as another\n"
        "type, with a note.",
    .example = "ingot pack model.gguf -o model.ingot --type q4_k_m",
    .options = options,
    .operand_field = FIELD(pack.input),
    .run = run,
};
