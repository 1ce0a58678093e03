#include <stdio.h>
#include <string.h>

#include "host/host_model.h"
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
    if (strcmp(word, "--ids") == 0) {
        a->options.ids = true;
    } else if (strcmp(word, "--no-figures") == 0) {
        a->options.quiet = true;
    } else if (strcmp(word, "--selftest") == 0) {
        a->options.selftest = true;
    } else if (strcmp(word, "--no-bos") == 0) {
        a->no_bos = true;
    } else if (strcmp(word, "--ticks") == 0) {
        a->options.ticks = true;
    } else if (strcmp(word, "--fit") == 0) {
        a->fit = true;
    } else if (strcmp(word, "--json") == 0) {
        a->options.mode = MODE_JSON;
    } else if (strcmp(word, "--mmap") == 0) {
        a->in_place = true;
    } else if (strcmp(word, "-q") == 0 || strcmp(word, "--quiet") == 0) {
        a->quiet = true;
    } else if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0) {
        a->help = true;
    } else {
        return false;
    }
    return true;
}

static bool refuse(const char *word, const char *why)
{
    fprintf(stderr, "ingot: %s: %s; see `ingot --help`\n", word, why);
    return false;
}

static bool set_size(const char *word, const char *value, uint64_t *out)
{
    return options_read_u64(value, true, out) ? true : refuse(word, "wants a size such as 64M");
}

static bool read_rate(const char *word, const char *value, uint64_t *out)
{
    static const struct {
        char letter;
        double factor;
    } units[] = { { 'K', 1e3 }, { 'M', 1e6 }, { 'G', 1e9 } };
    size_t n = strlen(value);
    double factor = 1;
    char digits[32];
    float number;

    for (size_t i = 0; i < 3 && n > 1; i++) {
        if ((value[n - 1] & ~32) == units[i].letter) {
            factor = units[i].factor;
            n--;
            break;
        }
    }
    snprintf(digits, sizeof digits, "%.*s", (int)n, value);
    if (!options_read_float(digits, &number) || number * factor < 1 || number * factor > 1e15) {
        return refuse(word, "wants a rate per second such as 2.4G");
    }
    *out = (uint64_t)(number * factor);
    return true;
}

/* Bytes of weights, or multiplications, a second; the planner counts the time of a byte. */
static bool set_rate(struct host_args *a, const char *word, const char *value)
{
    bool decode = strcmp(word, "--mem-bw") == 0;
    uint32_t *ps = decode ? a->rates.decode : a->rates.prefill;
    uint64_t rate;

    if (!read_rate(word, value, &rate)) {
        return false;
    }
    a->predict = true;
    for (unsigned type = 0; type < INGOT_N_TYPES; type++) {
        /* weights of a byte: 32 of every row_bytes(32) */
        double weights = decode ? 1 : 256.0 / (double)image_type_row_bytes(type, 256);

        ps[type] = (uint32_t)(weights * 1e12 / (double)rate) + 1;
    }
    return true;
}

/* An option with a value that the boot arguments do not have. *known: it is one. */
static bool set_own(struct host_args *a, const char *word, const char *value, bool *known)
{
    uint64_t number;

    *known = true;
    if (strcmp(word, "-f") == 0 || strcmp(word, "--file") == 0) {
        a->file = value;
    } else if (strcmp(word, "-o") == 0 || strcmp(word, "--output") == 0) {
        a->output = value;
    } else if (strcmp(word, "--tokenizer") == 0) {
        a->tokenizer = value;
    } else if (strcmp(word, "--template") == 0) {
        a->template = value;
    } else if (strcmp(word, "--tokens") == 0) {
        a->tokens = value;
    } else if (strcmp(word, "--kv-file") == 0) {
        a->kv_file = value;
    } else if (strcmp(word, "--trace") == 0) {
        a->trace = value;
    } else if (strcmp(word, "-m") == 0 || strcmp(word, "--model") == 0) {
        a->model = value;
    } else if (strcmp(word, "--card") == 0) {
        return read_rate(word, value, &a->card_rate);
    } else if (strcmp(word, "--ram") == 0) {
        return set_size(word, value, &a->ram);
    } else if (strcmp(word, "--mem-bw") == 0 || strcmp(word, "--macs") == 0) {
        return set_rate(a, word, value);
    } else if (strcmp(word, "--chunk") == 0) {
        if (!options_read_u64(value, false, &number) || number < 1 || number > 4096) {
            return refuse(word, "wants a number from 1 to 4096");
        }
        a->chunk = (uint32_t)number;
    } else {
        *known = false;
    }
    return true;
}

static bool set_option(struct host_args *a, const char *word, const char *value)
{
    struct options_report report = { say, NULL };
    bool known;

    if (value == NULL) {
        return refuse(word, "unknown, or its value is missing");
    }
    if (!set_own(a, word, value, &known)) {
        return false;
    }
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0] && !known; i++) {
        if (strcmp(word, aliases[i].flag) == 0) {
            return options_set(&a->options, aliases[i].option, value, &report) == ERR_OK;
        }
    }
    return known ? true : refuse(word, "unknown option");
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
            if (!set_option(a, argv[i], i + 1 < argc ? argv[i + 1] : NULL)) {
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
