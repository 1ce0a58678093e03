#include <stdio.h>
#include <string.h>

#include "host/host_args.h"
#include "flash_image/chat/chat_template.h"

/* llama.cpp's names for the options that Ingot's boot arguments have too. */
static const struct alias {
    const char *flag;
    const char *option;
} aliases[] = {
    { "-p", "prompt" },
    { "--prompt", "prompt" },
    { "-n", "n" },
    { "--predict", "n" },
    { "--n-predict", "n" },
    { "--temp", "temp" },
    { "--temperature", "temp" },
    { "--top-p", "top_p" },
    { "--top-k", "top_k" },
    { "--min-p", "min_p" },
    { "--repeat", "repeat" },
    { "--repeat-penalty", "repeat" },
    { "-s", "seed" },
    { "--seed", "seed" },
    { "-c", "ctx" },
    { "--ctx", "ctx" },
    { "--ctx-size", "ctx" },
    { "--mem", "mem" },
    { "-t", "cores" },
    { "--threads", "cores" },
    { "--isa", "isa" },
    { "--kv", "kv" },
    { "--system", "system" },
    { "--think", "think" },
    { "--spec", "spec" },
    { "--draft", "draft" },
    { "--stop", "stop" },
    { "--mode", "mode" },
};

void host_args_help(void)
{
    puts(
        "options:\n"
        "  -p, --prompt TEXT      text to continue, or the user's turn\n"
        "  --system TEXT          the system prompt (default: the model's own)\n"
        "  --template NAME        chat template; list: shows them; none: continue text\n"
        "  --think off            where the template knows it (Qwen3); or how thoughts are shown:\n"
        "                         show, dim, hide (default: dim on a terminal)\n"
        "  --stop TEXT            ends the reply before this text; up to four times\n"
        "  -n, --predict N        tokens to generate (default: until the model ends)\n"
        "  --temp T               0: greedy (default 0.8)\n"
        "  --top-p P  --top-k K  --min-p P  --repeat R\n"
        "                         0.95, 40, 0.05, 1.0 by default\n"
        "  -s, --seed S           of the sampler (default: the time)\n"
        "  -c, --ctx N            context in tokens (default: the model's, at most 4096)\n"
        "  --kv TYPE              f16, q8 or f32 (slow): keys and values of the context (default f16)\n"
        "                         card; card,q8: what does not fit RAM (and --mem) spills to a file\n"
        "  --kv-file FILE         that file; it is there beforehand and keeps its size\n"
        "  --draft FILE           a smaller model of the same vocabulary that guesses tokens ahead\n"
        "  --spec auto|off|ngram  ngram: guess tokens from what the text repeats\n"
        "  --mem SIZE             bytes that weights may take, K M G; less than they need: stream\n"
        "  --mmap                 use the file where it lies, as from flash\n"
        "  --card RATE            read the file at this pace, bytes a second; 20M: 20 million\n"
        "  --ram SIZE             size of the arena (default: this computer's RAM)\n"
        "  --chunk N              prompt tokens that pass the layers together (default 128)\n"
        "  -t, --threads N        threads (default: all cores)\n"
        "  --isa NAME             that and what is below it of ref, then neon, dotprod, i8mm, sve;\n"
        "                         rv64gc, rvv, zvfh; avx2, avx512, vnni (default: the best)\n"
        "  --selftest             check the kernels on this CPU first\n"
        "  --ids                  print token ids and the hash of the logits\n"
        "  --trace FILE           what card and cores did, as a Chrome trace (ingot run)\n"
        "  --ticks                print how long prompt and reply took, in nanoseconds\n"
        "  -f, --file FILE        text to read\n"
        "  -o, --output FILE      file to write\n"
        "  --tokenizer FILE       of a llama2.c model\n"
        "  --tokens \"ID ID ...\"   in place of a prompt (ingot logits)\n"
        "  --no-bos               do not begin with the BOS token\n"
        "  --json, --mode json    requests and events in JSON lines (docs/SERIAL.md)\n"
        "  -q, --quiet            no log lines\n"
        "  --no-figures           no line of figures behind a reply\n"
        "  -h, --help             this text");
}

void host_args_list_templates(void)
{
    size_t n;
    const struct chat_form *forms = chat_forms(&n);

    for (size_t i = 0; i < n; i++) {
        printf("%-18s %s\n", forms[i].name, forms[i].models);
    }
    printf("%-18s %s\n", CHAT_NONE, "no template: text is continued as it stands");
}

bool host_args_wants_templates(const char *name)
{
    return name != NULL && strcmp(name, "list") == 0;
}

static void say(void *context, bool fatal, const char *sentence)
{
    (void)context;
    fprintf(stderr, "ingot: %s%s\n", fatal ? "" : "warning: ", sentence);
}

static bool set_flag(struct host_args *a, const char *word)
{
    const struct {
        const char *word;
        bool *to;
    } flags[] = {
        { "--ids", &a->options.show.ids },
        { "--no-figures", &a->options.show.quiet },
        { "--selftest", &a->options.machine.selftest },
        { "--ticks", &a->options.show.ticks },
        { "--no-bos", &a->no_bos },
        { "--fit", &a->fit },
        { "--mmap", &a->in_place },
        { "-q", &a->quiet },
        { "--quiet", &a->quiet },
        { "-h", &a->help },
        { "--help", &a->help },
    };

    if (strcmp(word, "--json") == 0) {
        a->options.line.mode = MODE_JSON;
        return true;
    }
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        if (strcmp(word, flags[i].word) == 0) {
            *flags[i].to = true;
            return true;
        }
    }
    return false;
}

static bool refuse(const char *word, const char *why)
{
    fprintf(stderr, "ingot: %s: %s; see `ingot --help`\n", word, why);
    return false;
}

static bool set_size(const char *word, const char *value, uint64_t *out)
{
    return options_read_u64(value, true, out) || refuse(word, "wants a size such as 64M");
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

static bool read_rate(const char *word, const char *value, uint64_t *out)
{
    size_t n = strlen(value);
    double factor = rate_factor(value, &n);
    char digits[32];
    float number;

    snprintf(digits, sizeof digits, "%.*s", (int)n, value);
    if (!options_read_float(digits, &number) || number * factor < 1 || number * factor > 1e15) {
        return refuse(word, "wants a rate per second such as 2.4G");
    }
    *out = (uint64_t)(number * factor);
    return true;
}

/* --mem-bw, bytes of weights a second; the planner counts picoseconds for each byte. */
static bool set_decode_rate(struct host_args *a, const char *word, const char *value)
{
    uint64_t rate;

    if (!read_rate(word, value, &rate)) {
        return false;
    }
    a->predict = true;
    for (unsigned type = 0; type < INGOT_N_TYPES; type++) {
        a->rates.decode[type] = (uint32_t)(1e12 / (double)rate) + 1;
    }
    return true;
}

/* --macs, multiplications a second, one for each weight: a byte takes as many as it has weights. */
static bool set_prefill_rate(struct host_args *a, const char *word, const char *value)
{
    uint64_t rate;

    if (!read_rate(word, value, &rate)) {
        return false;
    }
    a->predict = true;
    for (unsigned type = 0; type < INGOT_N_TYPES; type++) {
        double weights = 256.0 / (double)image_type_row_bytes(type, 256);

        a->rates.prefill[type] = (uint32_t)(weights * 1e12 / (double)rate) + 1;
    }
    return true;
}

static bool set_card_rate(struct host_args *a, const char *word, const char *value)
{
    return read_rate(word, value, &a->card_rate);
}

static bool set_ram(struct host_args *a, const char *word, const char *value)
{
    return set_size(word, value, &a->ram);
}

static bool set_chunk(struct host_args *a, const char *word, const char *value)
{
    uint64_t number;

    if (!options_read_u64(value, false, &number) || number < 1 || number > 4096) {
        return refuse(word, "wants a number from 1 to 4096");
    }
    a->chunk = (uint32_t)number;
    return true;
}

/* Options with a text that is kept as it stands. */
static bool set_text(struct host_args *a, const char *word, const char *value)
{
    const struct {
        const char *word;
        const char **to;
    } texts[] = {
        { "-f", &a->file },
        { "--file", &a->file },
        { "-o", &a->output },
        { "--output", &a->output },
        { "--tokenizer", &a->tokenizer },
        { "--template", &a->template },
        { "--tokens", &a->tokens },
        { "--kv-file", &a->kv_file },
        { "--trace", &a->trace },
        { "-m", &a->model },
        { "--model", &a->model },
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (strcmp(word, texts[i].word) == 0) {
            *texts[i].to = value;
            return true;
        }
    }
    return false;
}

/* Options with a number that the boot arguments do not have. */
static const struct number {
    const char *word;
    bool (*set)(struct host_args *a, const char *word, const char *value);
} numbers[] = {
    { "--card", set_card_rate },    { "--ram", set_ram },     { "--mem-bw", set_decode_rate },
    { "--macs", set_prefill_rate }, { "--chunk", set_chunk },
};

static bool set_option(struct host_args *a, const char *word, const char *value)
{
    struct options_report report = { say, NULL };

    if (value == NULL) {
        return refuse(word, "unknown, or its value is missing");
    }
    if (set_text(a, word, value)) {
        return true;
    }
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (strcmp(word, numbers[i].word) == 0) {
            return numbers[i].set(a, word, value);
        }
    }
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++) {
        if (strcmp(word, aliases[i].flag) == 0) {
            return options_set(&a->options, aliases[i].option, value, &report) == ERR_OK;
        }
    }
    return refuse(word, "unknown option");
}

bool host_args_parse(struct host_args *a, int argc, char **argv)
{
    memset(a, 0, sizeof *a);
    a->command = argv[0];
    options_init(&a->options);
    for (int i = 1; i < argc; i++) {
        if (set_flag(a, argv[i])) {
            continue;
        }
        if (argv[i][0] == '-' && argv[i][1] != '\0') {
            if (!set_option(a, argv[i], argv[i + 1])) {
                return false;
            }
            i++;
        } else if (a->model == NULL) {
            a->model = argv[i];
        } else {
            return refuse(argv[i], "one model at a time");
        }
    }
    return true;
}
