#include "host/args/host_args.h"

#include <stdio.h>
#include <string.h>

#include "flash_image/chat/chat_template.h"

void host_args_list_templates(void)
{
    size_t n;
    const struct chat_form *forms = chat_forms(&n);

    for (size_t i = 0; i < n; i++) {
        printf("%-18s %s\n", forms[i].name, forms[i].models);
    }
    printf("%-18s %s\n", CHAT_NONE, "no template: text is continued as it stands");
}

/* ---- reading values of options --------------------------------------------------------------- */

static enum option_result taken(bool good)
{
    return good ? OPTION_TAKEN : OPTION_REFUSED;
}

enum option_result host_args_set_word(void *args, const struct command_option *o, const char *value)
{
    struct host_args *a = args;

    return taken(options_set(&a->options, o->word, value, NULL) == ERR_OK);
}

/* Returns the factor of a number's last letter; *n becomes the length without the letter. */
static double rate_factor(const char *value, size_t *n)
{
    static const struct {
        char letter;
        double factor;
    } units[] = { { 'K', 1e3 }, { 'M', 1e6 }, { 'G', 1e9 } };

    for (size_t i = 0; i < sizeof units / sizeof units[0] && *n > 1; i++) {
        if ((value[*n - 1] & ~32) == units[i].letter) {
            (*n)--;
            return units[i].factor;
        }
    }
    return 1;
}

bool host_args_read_rate(const char *value, uint64_t *out)
{
    size_t n = strlen(value);
    double factor = rate_factor(value, &n);
    char digits[32];
    float number;

    snprintf(digits, sizeof digits, "%.*s", (int)n, value);
    if (!options_read_float(digits, &number) || number * factor < 1 || number * factor > 1e15) {
        return false;
    }
    *out = (uint64_t)(number * factor);
    return true;
}

static enum option_result set_card_rate(void *args, const struct command_option *o,
                                        const char *value)
{
    struct host_args *a = args;

    (void)o;
    return taken(host_args_read_rate(value, &a->card_rate));
}

static enum option_result set_ram(void *args, const struct command_option *o, const char *value)
{
    struct host_args *a = args;

    (void)o;
    return taken(options_read_u64(value, true, &a->ram) && a->ram != 0);
}

static enum option_result set_chunk(void *args, const struct command_option *o, const char *value)
{
    struct host_args *a = args;
    uint64_t number;

    (void)o;
    if (!options_read_u64(value, false, &number) || number < 1 || number > 4096) {
        return OPTION_REFUSED;
    }
    a->chunk = (uint32_t)number;
    return OPTION_TAKEN;
}

static enum option_result set_model(void *args, const struct command_option *o, const char *value)
{
    struct host_args *a = args;
    bool first = a->model == NULL;

    (void)o;
    a->model = value;
    return taken(first);
}

static enum option_result set_template(void *args, const struct command_option *o,
                                       const char *value)
{
    struct host_args *a = args;

    (void)o;
    if (strcmp(value, "list") == 0) {
        host_args_list_templates();
        return OPTION_ANSWERED;
    }
    a->template = value;
    return OPTION_TAKEN;
}

static enum option_result set_json(void *args, const struct command_option *o, const char *value)
{
    struct host_args *a = args;

    (void)o;
    (void)value;
    a->options.line.mode = MODE_JSON;
    return OPTION_TAKEN;
}

static enum option_result set_quiet(void *args, const struct command_option *o, const char *value)
{
    struct host_args *a = args;

    (void)o;
    (void)value;
    a->quiet = true;
    a->options.show.quiet = true;
    return OPTION_TAKEN;
}

/* ---- the rows -------------------------------------------------------------------------------- */

#define FIELD(member) offsetof(struct host_args, member)

const struct command_option host_options[HOST_OPTIONS] = {
    [HOST_PROMPT] = { .name = "--prompt",
                      .letter = "-p",
                      .value = "TEXT",
                      .help = "text to continue, or the user's turn; -: standard input",
                      .field = FIELD(prompt) },
    [HOST_TEMPLATE] = { .name = "--template",
                        .value = "NAME",
                        .help = "chat template; list: shows them; none: continue text",
                        .set = set_template },
    [HOST_MODEL] = { .name = "--model",
                     .letter = "-m",
                     .value = "FILE",
                     .takes = "the model, but another argument has named it already",
                     .help = "the model, in place of the argument",
                     .set = set_model },
    [HOST_TOKENIZER] = { .name = "--tokenizer",
                         .value = "FILE",
                         .help = "the tokenizer of a llama2.c model",
                         .field = FIELD(tokenizer) },
    [HOST_KV_FILE] = { .name = "--kv-file",
                       .value = "FILE",
                       .help = "the file of --kv card; it must exist, and keeps its size",
                       .field = FIELD(kv_file) },
    [HOST_PUBLIC_KEY] = { .name = "--public-key",
                          .value = "FILE",
                          .help = "accept only models and adapters that this key has signed",
                          .field = FIELD(public_key) },
    [HOST_PREFIX] = { .name = "--prefix",
                      .value = "FILE",
                      .help = "the file with the system prompt's computed state, which /save\n"
                              "prefix writes",
                      .field = FIELD(prefix) },
    [HOST_RAM] = { .name = "--ram",
                   .value = "SIZE",
                   .takes = "a size such as 1G (K, M and G are known)",
                   .help = "memory that is free for the model (default: this computer's RAM)",
                   .set = set_ram },
    [HOST_MMAP] = { .name = "--mmap",
                    .help = "map the file instead of reading it, as from flash",
                    .field = FIELD(in_place) },
    [HOST_CARD] = { .name = "--card",
                    .value = "RATE",
                    .takes = "bytes a second such as 23M (millions)",
                    .help = "read the file at this rate, in bytes a second; 20M: 20 million",
                    .set = set_card_rate },
    [HOST_CHUNK] = { .name = "--chunk",
                     .value = "N",
                     .takes = "a count of tokens from 1 to 4096",
                     .help = "prompt tokens in one pass over the layers (default 128)",
                     .set = set_chunk },
    [HOST_TRACE] = { .name = "--trace",
                     .value = "FILE",
                     .help = "write what card and cores did, as a Chrome trace",
                     .field = FIELD(trace) },
    [HOST_JSON] = { .name = "--json",
                    .help = "requests and events in JSON lines (docs/SERIAL.md)",
                    .set = set_json },
    [HOST_QUIET] = { .name = "--quiet",
                     .letter = "-q",
                     .help = "no log lines and no figures",
                     .set = set_quiet },
    [HOST_TITLE_REPLY] = { .help = "prompt and reply" },
    [HOST_TITLE_SAMPLING] = { .help = "choice of tokens" },
    [HOST_TITLE_MODEL] = { .help = "model and memory" },
    [HOST_TITLE_LEARNING] = { .help = "learning" },
    [HOST_TITLE_ACTING] = { .help = "acting" },
    [HOST_TITLE_COMPUTER] = { .help = "this computer" },
    [HOST_TITLE_OUTPUT] = { .help = "output" },
};

void host_args_init(struct host_args *args, const char *command)
{
    memset(args, 0, sizeof *args);
    args->command = command;
    options_init(&args->options);
}

bool host_args_read(const struct command *c, struct host_args *args, int argc, char **argv,
                    int *status)
{
    host_args_init(args, c->name);
    return command_line_read(c, args, argc, argv, status);
}
