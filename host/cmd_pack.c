#include <stdio.h>
#include <string.h>

#include "host/calibrate.h"
#include "host/commands.h"
#include "host/host_args.h"
#include "flash_image/pack/pack.h"

enum { FINE = 0, FAILED = 1, USAGE = 2 };

static void help(void)
{
    puts(
        "usage: ingot pack IN -o OUT [--type TYPE] [--template NAME] [--tokenizer FILE]\n"
        "Make an .ingot file from a GGUF file, a Hugging Face folder, or a llama2.c checkpoint\n"
        "(versions 0, 1 and 2). Types that no kernel multiplies are stored as another, which is\n"
        "said.\n"
        "\n"
        "  -o, --output FILE  the .ingot file to write\n"
        "  --type TYPE        of the weights: f32, f16, q8_0, q4_0, q4_k, q6_k, or q4_k_m, which\n"
        "                     is q4_k with q6_k where it matters most (default: as in IN)\n"
        "  --tokenizer FILE   of a llama2.c checkpoint (default: tok<vocabulary>.bin or\n"
        "                     tokenizer.bin beside it)\n"
        "  --template NAME    chat template in place of the model's own; list: shows them; none:\n"
        "                     the model continues text\n"
        "  --head TYPE        of the output matrix, which is the embedding where they are tied\n"
        "  --calibrate FILE   run the model over a text first, so that weights multiplied by more\n"
        "                     are kept better, and tell its perplexity before and after\n"
        "  --report           a line for every matrix: from what, to what, and the error (NMSE)\n"
        "  -q, --quiet        no progress\n"
        "  -h, --help         this text");
}

static bool refuse(const char *word, const char *why)
{
    fprintf(stderr, "ingot: %s: %s; see `ingot pack --help`\n", word, why);
    return false;
}

/* The command line: what the packer takes, and what happens around it. */
struct words {
    struct pack_options pack;
    const char *text; /* --calibrate; NULL: none */
    bool help;
};

static bool set_type(struct pack_options *o, const char *value)
{
    return pack_parse_type(value, o) ||
           refuse(value, "no such type; f32, f16, q8_0, q4_0, q4_k, q6_k, q4_k_m can be packed");
}

static bool set_head(struct pack_options *o, const char *value)
{
    return pack_parse_head(value, o) ||
           refuse(value, "no such type; f32, f16, q8_0, q4_0, q4_k, q6_k can be packed");
}

/* A word with a value; false: said why. */
static bool set_value(struct words *w, const char *word, const char *value)
{
    const struct {
        const char *word, *other;
        const char **to; /* or: */
        bool (*set)(struct pack_options *o, const char *value);
    } options[] = {
        { "-o", "--output", &w->pack.output, NULL },
        { "--tokenizer", NULL, &w->pack.tokenizer, NULL },
        { "--template", NULL, &w->pack.template, NULL },
        { "--calibrate", NULL, &w->text, NULL },
        { "--type", NULL, NULL, set_type },
        { "--head", NULL, NULL, set_head },
    };

    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        if (strcmp(word, options[i].word) != 0 &&
            (options[i].other == NULL || strcmp(word, options[i].other) != 0)) {
            continue;
        }
        if (value == NULL) {
            return refuse(word, "its value is missing");
        }
        if (options[i].set != NULL) {
            return options[i].set(&w->pack, value);
        }
        *options[i].to = value;
        return true;
    }
    return refuse(word, "unknown option");
}

static bool is(const char *word, const char *name, const char *other)
{
    return strcmp(word, name) == 0 || strcmp(word, other) == 0;
}

static bool parse(struct words *w, int argc, char **argv)
{
    struct pack_options *o = &w->pack;

    for (int i = 1; i < argc; i++) {
        if (is(argv[i], "-h", "--help")) {
            w->help = true;
            return true;
        }
        if (is(argv[i], "-q", "--quiet")) {
            o->quiet = true;
        } else if (strcmp(argv[i], "--report") == 0) {
            o->report = true;
        } else if (argv[i][0] == '-' && argv[i][1] != '\0') {
            if (!set_value(w, argv[i], argv[i + 1])) {
                return false;
            }
            i++;
        } else if (o->input != NULL) {
            return refuse(argv[i], "one input is enough");
        } else {
            o->input = argv[i];
        }
    }
    if (host_args_wants_templates(o->template)) {
        return true;
    }
    if (o->input == NULL) {
        return refuse("pack", "which file? name a GGUF or llama2.c file, or a folder");
    }
    return o->output != NULL || refuse("pack", "where to? name the file with -o OUT.ingot");
}

static int pack(const struct pack_options *o)
{
    char problem[512];

    if (pack_file(o, problem, sizeof problem) != ERR_OK) {
        fprintf(stderr, "ingot: %s\n", problem);
        return FAILED;
    }
    return FINE;
}

static int pack_calibrated(struct words *w)
{
    struct calibration c;
    double after;
    int status = FAILED;

    if (calibrate_run(&c, &w->pack, w->text)) {
        w->pack.importance = calibrate_importance;
        w->pack.importance_context = &c;
        status = pack(&w->pack);
    }
    if (status == FINE) {
        status = exit_status(calibrate_perplexity(w->pack.output, w->text, &after));
    }
    if (status == FINE) {
        printf("perplexity on %s: %.4f before, %.4f after (%+.2f %%)\n", w->text, c.perplexity,
               after, 100 * (after / c.perplexity - 1));
    }
    calibrate_free(&c);
    return status;
}

int cmd_pack(int argc, char **argv)
{
    struct words w = { .text = NULL };

    if (!parse(&w, argc, argv)) {
        return USAGE;
    }
    if (w.help) {
        help();
        return FINE;
    }
    if (host_args_wants_templates(w.pack.template)) {
        host_args_list_templates();
        return FINE;
    }
    if (w.text != NULL) {
        return pack_calibrated(&w);
    }
    return pack(&w.pack);
}
