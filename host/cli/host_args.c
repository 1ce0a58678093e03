/* Why this file is long: it has the one table of all options of the commands. */
#include "host/cli/host_args.h"

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

/* ---- what rows do with a value --------------------------------------------------------------- */

static enum option_result taken(bool good)
{
    return good ? OPTION_TAKEN : OPTION_REFUSED;
}

enum option_result host_args_set_word(void *args, const struct command_option *o, const char *value)
{
    struct host_args *a = args;

    return taken(options_set(&a->options, o->word, value, NULL) == ERR_OK);
}

/* What a letter after a number of *n characters multiplies it by; *n loses the letter. */
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
    [HOST_SYSTEM] = { .name = "--system",
                      .value = "TEXT",
                      .takes = "a text of up to 2047 bytes",
                      .help = "the system prompt (default: the model's own)",
                      .set = host_args_set_word,
                      .word = "system" },
    [HOST_TEMPLATE] = { .name = "--template",
                        .value = "NAME",
                        .help = "chat template; list: shows them; none: continue text",
                        .set = set_template },
    [HOST_THINK] = { .name = "--think",
                     .value = "HOW",
                     .choices = "on off show dim hide",
                     .takes = "on, off, show, dim or hide",
                     .help = "off: where the template knows it (Qwen3); or how thoughts are\n"
                             "shown: show, dim, hide (default: dim on a terminal)",
                     .set = host_args_set_word,
                     .word = "think" },
    [HOST_OVERFLOW] = { .name = "--overflow",
                        .value = "HOW",
                        .choices = "turns sinks",
                        .takes = "turns or sinks",
                        .help = "what goes when the context is full: the oldest turns, or tokens\n"
                                "after the first ones (default: turns)",
                        .set = host_args_set_word,
                        .word = "overflow" },
    [HOST_STOP] = { .name = "--stop",
                    .value = "TEXT",
                    .takes = "a text of up to 63 bytes, four times at most",
                    .help = "ends the reply before this text; up to four times",
                    .set = host_args_set_word,
                    .word = "stop",
                    .is_list = true },
    [HOST_N] = { .name = "--predict",
                 .letter = "-n",
                 .also = "--n-predict",
                 .value = "N",
                 .takes = "a count of tokens up to 1048576; 0: until the end",
                 .help = "tokens to generate (default: until the model ends)",
                 .set = host_args_set_word,
                 .word = "n" },
    [HOST_TEMP] = { .name = "--temp",
                    .also = "--temperature",
                    .value = "T",
                    .takes = "a number from 0 to 100, such as 0.8; 0 picks the likeliest",
                    .help = "0: greedy (default 0.8)",
                    .set = host_args_set_word,
                    .word = "temp" },
    [HOST_TOP_P] = { .name = "--top-p",
                     .value = "P",
                     .takes = "a number from 0 to 1, such as 0.95; 1 turns it off",
                     .help = "the likeliest tokens that have this share together (default 0.95)",
                     .set = host_args_set_word,
                     .word = "top_p" },
    [HOST_TOP_K] = { .name = "--top-k",
                     .value = "K",
                     .takes = "a count up to 1048576, such as 40; 0 turns it off",
                     .help = "so many of the likeliest tokens (default 40)",
                     .set = host_args_set_word,
                     .word = "top_k" },
    [HOST_MIN_P] = { .name = "--min-p",
                     .value = "P",
                     .takes = "a number from 0 to 1, such as 0.05; 0 turns it off",
                     .help = "tokens this likely against the likeliest (default 0.05)",
                     .set = host_args_set_word,
                     .word = "min_p" },
    [HOST_REPEAT] = { .name = "--repeat",
                      .also = "--repeat-penalty",
                      .value = "R",
                      .takes = "a number from 0.01 to 100, such as 1.1; 1 turns it off",
                      .help = "above 1: what was said lately is less likely (default 1.0)",
                      .set = host_args_set_word,
                      .word = "repeat" },
    [HOST_REPEAT_LAST] = { .name = "--repeat-last-n",
                           .value = "N",
                           .takes = "a count of tokens up to 1048576; -1: all",
                           .help = "so far --repeat looks back (default 64)",
                           .set = host_args_set_word,
                           .word = "repeat_last_n" },
    [HOST_PRESENCE] = { .name = "--presence-penalty",
                        .value = "P",
                        .takes = "a number from -2 to 2, such as 0.5; 0 turns it off",
                        .help = "above 0: what the reply has is less likely (default 0)",
                        .set = host_args_set_word,
                        .word = "presence_penalty" },
    [HOST_FREQUENCY] = { .name = "--frequency-penalty",
                         .value = "P",
                         .takes = "a number from -2 to 2, such as 0.5; 0 turns it off",
                         .help = "the same, as often as the reply has it (default 0)",
                         .set = host_args_set_word,
                         .word = "frequency_penalty" },
    [HOST_SEED] = { .name = "--seed",
                    .letter = "-s",
                    .value = "S",
                    .takes = "a whole number of up to 64 bits",
                    .help = "of the sampler (default: the time)",
                    .set = host_args_set_word,
                    .word = "seed" },
    [HOST_MODEL] = { .name = "--model",
                     .letter = "-m",
                     .value = "FILE",
                     .takes = "the model, which is named already",
                     .help = "the model, in place of the word without a dash",
                     .set = set_model },
    [HOST_TOKENIZER] = { .name = "--tokenizer",
                         .value = "FILE",
                         .help = "of a llama2.c model",
                         .field = FIELD(tokenizer) },
    [HOST_CTX] = { .name = "--ctx",
                   .letter = "-c",
                   .also = "--ctx-size",
                   .value = "N",
                   .takes = "a count of tokens from 1 to 1048576",
                   .help = "context in tokens (default: the model's, at most 4096)",
                   .set = host_args_set_word,
                   .word = "ctx" },
    [HOST_BEAMS] = { .name = "--beams",
                     .value = "N",
                     .takes = "a count from 1 to 4",
                     .help =
                         "search: the likeliest of so many replies, instead of sampling (default: 1)",
                     .set = host_args_set_word,
                     .word = "beams" },
    [HOST_TOGETHER] = { .name = "--together",
                        .value = "N",
                        .takes = "a count from 1 to 8",
                        .help = "so many sequences side by side",
                        .set = host_args_set_word,
                        .word = "together" },
    [HOST_PRESET] = { .name = "--preset",
                      .value = "NAME",
                      .takes = "a file, or a name of presets/",
                      .help =
                          "options of a file: presets/NAME.txt beside the model, or a path; those of\n"
                          "the command line count more",
                      .set = host_args_set_word,
                      .word = "preset" },
    [HOST_TURNS] = { .name = "--turns",
                     .value = "N",
                     .takes = "a count up to 64",
                     .help = "turns that a conversation keeps (default: as many as fit)",
                     .set = host_args_set_word,
                     .word = "turns" },
    [HOST_BRANCHES] = { .name = "--branches",
                        .value = "N",
                        .takes = "a count from 0 to 8",
                        .help = "room for so many that /branch and /retry keep (default: 4)",
                        .set = host_args_set_word,
                        .word = "branches" },
    [HOST_LEARN] = { .name = "--learn",
                     .value = "on",
                     .takes = "on, off or loose",
                     .help = "on: /good, /bad and /teach change what the model says (default: off)",
                     .set = host_args_set_word,
                     .word = "learn" },
    [HOST_POLICY] = { .name = "--policy",
                      .value = "on",
                      .takes = "off, watch, on or explore",
                      .help =
                          "on: how a turn is answered is learnt from those before (default: off)",
                      .set = host_args_set_word,
                      .word = "policy" },
    [HOST_LOG] = { .name = "--log",
                   .value = "on",
                   .takes = "on or off",
                   .help = "on: turns are kept in ingot.log beside the model (default: off)",
                   .set = host_args_set_word,
                   .word = "log" },
    [HOST_KV] = { .name = "--kv",
                  .value = "TYPE",
                  .choices = "f16 q8 rot_q8 rot_q4 f32 ruv card card,q8",
                  .takes =
                      "a type of docs/KV.md such as f16, q8, rot_q8 or rot_q4, or KEYS,VALUES; "
                      "ruv or tiers:HOT,WARM,TYPE; card or card,TYPES",
                  .help =
                      "keys and values of the context: f16, q8, rot_q8, rot_q4, f32 (slow)\n"
                      "or one of docs/KV.md for measurements, or KEYS,VALUES apart\n"
                      "(default f16); ruv: by age f16, q8, 4 bits, or\n"
                      "tiers:HOT,WARM,TYPE; card; card,TYPES: what does not fit RAM (and --mem)\n"
                      "spills to a file",
                  .set = host_args_set_word,
                  .word = "kv" },
    [HOST_KV_FILE] = { .name = "--kv-file",
                       .value = "FILE",
                       .help = "that file; it is there beforehand and keeps its size",
                       .field = FIELD(kv_file) },
    [HOST_PUBLIC_KEY] = { .name = "--public-key",
                          .value = "FILE",
                          .help = "take only models and adapters that this key has signed",
                          .field = FIELD(public_key) },
    [HOST_PREFIX] = { .name = "--prefix",
                      .value = "FILE",
                      .help =
                          "the system prompt's state, which /save prefix writes there: computed\n"
                          "once",
                      .field = FIELD(prefix) },
    [HOST_DRAFT] = { .name = "--draft",
                     .value = "FILE",
                     .takes = "a path of up to 255 bytes",
                     .help = "a smaller model of the same vocabulary that guesses tokens ahead",
                     .set = host_args_set_word,
                     .word = "draft" },
    [HOST_EXPERTS] = { .name = "--experts",
                       .value = "ahead",
                       .choices = "demand ahead",
                       .takes = "demand or ahead",
                       .help =
                           "ahead: what the next layer's router is likely to name is read while\n"
                           "the file would wait (default: demand)",
                       .set = host_args_set_word,
                       .word = "experts" },
    [HOST_PINNED] = { .name = "--pinned",
                      .value = "N",
                      .takes = "a count up to 16",
                      .help = "experts of a layer that stay in the cache, by what /save use kept\n"
                              "(default: 2)",
                      .set = host_args_set_word,
                      .word = "pinned" },
    [HOST_SPEC] = { .name = "--spec",
                    .value = "HOW",
                    .choices = "auto off ngram",
                    .takes = "auto, off or ngram",
                    .help = "auto, off, or ngram: guess tokens from what the text repeats",
                    .set = host_args_set_word,
                    .word = "spec" },
    [HOST_ADAPTER] = { .name = "--adapter",
                       .also = "--lora",
                       .value = "NAME",
                       .takes =
                           "names with or without a scale, such as poet:0.5,tutor, up to four; "
                           "or off",
                       .help =
                           "adapters/NAME.ingot beside the model, or a path: an adapter (LoRA) at\n"
                           "work; NAME:SCALE, several with commas",
                       .twice = "name several with commas, as in poet:0.5,tutor",
                       .set = host_args_set_word,
                       .word = "adapter" },
    [HOST_ADAPTERS] = { .name = "--adapters",
                        .value = "SIZE",
                        .takes = "a size such as 64M (K, M and G are known)",
                        .help = "bytes that adapters may take (default: what those there are need)",
                        .set = host_args_set_word,
                        .word = "adapters" },
    [HOST_GRAMMAR] = { .name = "--grammar",
                       .value = "NAME",
                       .takes =
                           "a file of GBNF or JSON Schema, a name of grammars/, choices such as "
                           "yes|no, or on",
                       .help =
                           "hold replies to a grammar: a file of GBNF or JSON Schema, a name of\n"
                           "grammars/ beside the model, or choices (yes|no); on: room for /grammar",
                       .set = host_args_set_word,
                       .word = "grammar" },
    [HOST_PINS] = { .name = "--pins",
                    .value = "LIST",
                    .takes = "names and lines, such as light:3,door:5:in",
                    .help = "lines that the model may act on, NAME:LINE[:in][:low],...; this\n"
                            "computer has none, so they are simulated (docs/ACTING.md)",
                    .set = host_args_set_word,
                    .word = "pins" },
    [HOST_SENSORS] = { .name = "--sensors",
                       .value = "LIST",
                       .takes = "names and places, such as room:i2c1:0x48:tmp105",
                       .help =
                           "I2C sensors that the model may read, NAME:BUS:ADDRESS:KIND,...; this\n"
                           "computer has no bus that Ingot reads, so that each is refused by name",
                       .set = host_args_set_word,
                       .word = "sensors" },
    [HOST_ACTIONS] = { .name = "--actions",
                       .value = "NAME",
                       .takes =
                           "a file, a name of actions/, or lines such as pulse light ms 1..5000",
                       .help =
                           "more that it may do: a file, actions/NAME.txt beside the model, or\n"
                           "lines such as 'pulse light ms 1..5000'",
                       .set = host_args_set_word,
                       .word = "actions" },
    [HOST_DRY] = { .name = "--dry",
                   .help = "what the model does is said, and nothing is touched",
                   .field = FIELD(options.acting.dry) },
    [HOST_ACTIONS_MINUTE] = { .name = "--actions-minute",
                              .value = "N",
                              .takes = "a count up to 120",
                              .help = "actions a minute at the most (default: 30; 0: no limit)",
                              .set = host_args_set_word,
                              .word = "actions_minute" },
    [HOST_ACTIONS_SAID] = { .name = "--actions-said",
                            .value = "WHAT",
                            .takes = "value, name or off",
                            .help =
                                "what a person must have said of a line before the model drives it:\n"
                                "its name and which way (default), its name, or nothing",
                            .set = host_args_set_word,
                            .word = "actions_said" },
    [HOST_MEM] = { .name = "--mem",
                   .value = "SIZE",
                   .takes = "a size such as 64M (K, M and G are known)",
                   .help = "bytes that weights may take, K M G; less than they need: stream",
                   .set = host_args_set_word,
                   .word = "mem" },
    [HOST_RAM] = { .name = "--ram",
                   .value = "SIZE",
                   .takes = "a size such as 1G (K, M and G are known)",
                   .help = "memory that is free for the model (default: this computer's RAM)",
                   .set = set_ram },
    [HOST_MMAP] = { .name = "--mmap",
                    .help = "use the file where it lies, as from flash",
                    .field = FIELD(in_place) },
    [HOST_CARD] = { .name = "--card",
                    .value = "RATE",
                    .takes = "bytes a second such as 23M (millions)",
                    .help = "read the file at this pace, bytes a second; 20M: 20 million",
                    .set = set_card_rate },
    [HOST_CHUNK] = { .name = "--chunk",
                     .value = "N",
                     .takes = "a count of tokens from 1 to 4096",
                     .help = "prompt tokens that pass the layers together (default 128)",
                     .set = set_chunk },
    [HOST_THREADS] = { .name = "--threads",
                       .letter = "-t",
                       .value = "N",
                       .takes = "a count of threads from 1 to 8",
                       .help = "threads (default: all cores)",
                       .set = host_args_set_word,
                       .word = "cores" },
    [HOST_ISA] = { .name = "--isa",
                   .value = "NAME",
                   .choices =
                       "ref neon dotprod i8mm sve rv64gc rvv zvfh zvknha avx2 avxvnni avx512 vnni",
                   .takes = "one of the names in `ingot help run`",
                   .help =
                       "that and what is below it of ref, then neon, dotprod, i8mm, sve;\n"
                       "rv64gc, rvv, zvfh, zvknha; avx2, avxvnni, avx512, vnni (default: the best)",
                   .set = host_args_set_word,
                   .word = "isa" },
    [HOST_SELFTEST] = { .name = "--selftest",
                        .help = "check the kernels on this CPU first",
                        .field = FIELD(options.machine.selftest) },
    [HOST_IDS] = { .name = "--ids",
                   .help = "print token ids and the hash of the logits, too",
                   .field = FIELD(options.show.ids) },
    [HOST_TICKS] = { .name = "--ticks",
                     .help = "print how long prompt and reply took, in nanoseconds",
                     .field = FIELD(options.show.ticks) },
    [HOST_TRACE] = { .name = "--trace",
                     .value = "FILE",
                     .help = "what card and cores did, as a Chrome trace",
                     .field = FIELD(trace) },
    [HOST_JSON] = { .name = "--json",
                    .help = "requests and events in JSON lines (docs/SERIAL.md)",
                    .set = set_json },
    [HOST_MODE] = { .name = "--mode",
                    .value = "MODE",
                    .choices = "chat json",
                    .takes = "chat or json",
                    .help = "json: the same as --json",
                    .set = host_args_set_word,
                    .word = "mode" },
    [HOST_QUIET] = { .name = "--quiet",
                     .letter = "-q",
                     .help = "no log lines and no figures",
                     .set = set_quiet },
    [HOST_NO_FIGURES] = { .name = "--no-figures",
                          .help = "no line of figures after a reply",
                          .field = FIELD(options.show.quiet) },
    [HOST_TITLE_REPLY] = { .help = "prompt and reply" },
    [HOST_TITLE_SAMPLING] = { .help = "choice of tokens" },
    [HOST_TITLE_MODEL] = { .help = "model and memory" },
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
