#include <stdio.h>
#include <string.h>

#include "board/host/commands.h"
#include "board/host/host_model.h"
#include "flash_image/pack.h"

enum { FINE = 0, FAILED = 1, USAGE = 2 };

static void help(void)
{
    puts("usage: ingot pack IN -o OUT [--type TYPE] [--template NAME] [--tokenizer FILE]\n"
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
         "  --report           a line for every matrix: from what, to what, and the error (NMSE)\n"
         "  -q, --quiet        no progress\n"
         "  -h, --help         this text");
}

static bool refuse(const char *word, const char *why)
{
    fprintf(stderr, "ingot: %s: %s; see `ingot pack --help`\n", word, why);
    return false;
}

/* A word with a value; false: said why. */
static bool set_value(struct pack_options *o, const char *word, const char *value)
{
    bool output = strcmp(word, "-o") == 0 || strcmp(word, "--output") == 0;
    bool type = strcmp(word, "--type") == 0;
    bool tokenizer = strcmp(word, "--tokenizer") == 0;
    bool template = strcmp(word, "--template") == 0;
    bool head = strcmp(word, "--head") == 0;

    if (!output && !type && !tokenizer && !template && !head) {
        return refuse(word, "unknown option");
    }
    if (value == NULL) {
        return refuse(word, "its value is missing");
    }
    if (output) {
        o->output = value;
    } else if (tokenizer) {
        o->tokenizer = value;
    } else if (template) {
        o->template = value;
    } else if (head) {
        return pack_parse_head(value, o) ||
               refuse(value, "no such type; f32, f16, q8_0, q4_0, q4_k, q6_k can be packed");
    } else if (!pack_parse_type(value, o)) {
        return refuse(value, "no such type; f32, f16, q8_0, q4_0, q4_k, q6_k, q4_k_m can be packed");
    }
    return true;
}

static bool parse(struct pack_options *o, int argc, char **argv, bool *wants_help)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0) {
            *wants_help = true;
            return true;
        }
        if (strcmp(argv[i], "-q") == 0 || strcmp(argv[i], "--quiet") == 0) {
            o->quiet = true;
        } else if (strcmp(argv[i], "--report") == 0) {
            o->report = true;
        } else if (argv[i][0] == '-' && argv[i][1] != '\0') {
            if (!set_value(o, argv[i], i + 1 < argc ? argv[i + 1] : NULL)) {
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
        return refuse("pack", "which file? name a GGUF or llama2.c file");
    }
    return o->output != NULL ? true : refuse("pack", "where to? name the file with -o OUT.ingot");
}

int cmd_pack(int argc, char **argv)
{
    struct pack_options o = { .input = NULL };
    char problem[512];
    bool wants_help = false;

    if (!parse(&o, argc, argv, &wants_help)) {
        return USAGE;
    }
    if (wants_help) {
        help();
        return FINE;
    }
    if (host_args_wants_templates(o.template)) {
        host_args_list_templates();
        return FINE;
    }
    if (pack_file(&o, problem, sizeof problem) != ERR_OK) {
        fprintf(stderr, "ingot: %s\n", problem);
        return FAILED;
    }
    return FINE;
}
