/* `ingot tokenize`, `perplexity` and `logits`: print tokens, scores and logits of a text, position
 * by position. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/cli/commands.h"
#include "board/host/host_board.h"
#include "host/app/host_app.h"
#include "host/app/host_prompt.h"
#include "host/app/host_text.h"
#include "host/app/perplexity.h"
#include "host/args/shown_streams.h"
#include "flash_image/output/output_file.h"
#include "flash_image/pack/pack.h"
#include "runtime/image/image.h"
#include "runtime/session/speculative_mtp.h"
#include "runtime/text/plural.h"

static struct host_app host;

/* Read the arguments; if it returns false, *status is the exit status. */
static bool begin(const struct command *c, struct host_args *args, int argc, char **argv,
                  int *status)
{
    if (!host_args_read(c, args, argc, argv, status)) {
        return false;
    }
    args->predict =
        true; /* prints no plan, and keeps the head in memory, which every position needs */
    *status = EXIT_FAILED;
    return true;
}

/* Returns the flags by which a text gets BOS and EOS; with --no-bos it gets neither. */
static unsigned edge_flags(const struct host_args *args, unsigned flags)
{
    if (args->no_bos) {
        return TOKENIZER_PLAIN;
    }
    return flags;
}

/* ---- tokenize ------------------------------------------------------------------------------ */

/* Open only the tokenizer of a model file, which need not have anything else; the caller frees
 * *section. */
static bool open_tokenizer(struct host_args *args, struct tokenizer *t, uint8_t **section)
{
    struct pack_options pack = { .input = args->model, .tokenizer = args->tokenizer };
    struct image image;
    char error_message[512];
    uint64_t bytes;
    uint32_t vocab;
    enum err e;

    *section = NULL;
    if (pack_is_ingot(args->model, &e)) {
        if (!host_app_plan(&host, args)) {
            return false;
        }
        *t = host.app.target.model.tokenizer;
        return true;
    }
    if (e != ERR_OK) {
        fprintf(stderr, "ingot: %s: %s\n", args->model,
                e == ERR_NOT_FOUND ? "no such file" : strerror(errno));
        return false;
    }
    if (pack_tokenizer(&pack, section, &bytes, &vocab, error_message, sizeof error_message) !=
        ERR_OK) {
        fprintf(stderr, "ingot: %s\n", error_message);
        return false;
    }
    if (image_check_tokenizer(&image, *section, bytes, vocab) != ERR_OK) {
        fprintf(stderr, "ingot: %s: %s\n", args->model, image.error_message);
        return false;
    }
    tokenizer_open(t, *section);
    return true;
}

static void print_ids(const struct text *t)
{
    const char *before = "";

    for (size_t i = 0; i < t->n_ids; i++) {
        printf("%s%u", before, (unsigned)t->ids[i]);
        before = " ";
    }
    printf("\n");
}

static void print_tokens(const struct tokenizer *tokenizer, const struct text *t)
{
    for (size_t i = 0; i < t->n_ids; i++) {
        size_t bytes;
        const char *piece = tokenizer_piece(tokenizer, t->ids[i], INGOT_NO_TOKEN, &bytes);

        printf("%6u '%.*s'\n", (unsigned)t->ids[i], (int)bytes, piece);
    }
}

static int run_tokenize(int argc, char **argv)
{
    static struct host_args args;
    struct text text = { 0 };
    struct tokenizer tokenizer;
    uint8_t *section = NULL;
    int status;

    if (!begin(&cmd_tokenize, &args, argc, argv, &status)) {
        return status;
    }
    if (host_prompt_read(&text, &cmd_tokenize, &args, &status) &&
        open_tokenizer(&args, &tokenizer, &section) &&
        text_tokenize(&text, &tokenizer, edge_flags(&args, TOKENIZER_BOS | TOKENIZER_EOS))) {
        if (args.options.show.ids) {
            print_ids(&text);
        } else {
            print_tokens(&tokenizer, &text);
        }
        status = EXIT_FINE;
    }
    text_free(&text);
    free(section);
    return status;
}

static const struct command_option numbers = {
    .name = "--ids",
    .help = "print the tokens' numbers on one line",
    .field = offsetof(struct host_args, options.show.ids),
};
static const struct command_option tokenize_prompt = {
    .name = "--prompt",
    .letter = "-p",
    .value = "TEXT",
    .help = "tokenize this text (default: standard input)",
    .field = offsetof(struct host_args, prompt),
};
static const struct command_option tokenize_file = {
    .name = "--file",
    .letter = "-f",
    .value = "FILE",
    .help = "tokenize the text of this file",
    .field = offsetof(struct host_args, file),
};
static const struct command_option no_bos = {
    .name = "--no-bos",
    .help = "add no BOS in front and no EOS at the end",
    .field = offsetof(struct host_args, no_bos),
};
static const struct command_option *const tokenize_options[] = {
    &tokenize_prompt, &tokenize_file, &numbers, &no_bos, HOST_ROW(MODEL), HOST_ROW(TOKENIZER), NULL,
};

const struct command cmd_tokenize = {
    .name = "tokenize",
    .operands = "MODEL",
    .missing = "which model?",
    .summary = "print the tokens of a text",
    .about =
        "Prints one token per line, or with --ids their numbers on one line. MODEL may be a GGUF\n"
        "that has only a vocabulary.",
    .example = "ingot tokenize model.ingot -p \"Once upon a time\"",
    .options = tokenize_options,
    .operand_field = offsetof(struct host_args, model),
    .run = run_tokenize,
};

/* ---- perplexity ---------------------------------------------------------------------------- */

static bool perplexity_of(struct host_args *args)
{
    struct perplexity p = { .or_else = " or a smaller --ctx" };
    double deviation, value;

    args->usual_context = 256;
    if (!host_app_plan(&host, args) || !host_app_load(&host)) {
        return false;
    }
    p.n = host.app.target.model.plan.context;
    if (!perplexity_measure(&p, &host.app.target.session, args->file, args->quiet)) {
        return false;
    }
    value = perplexity_value(&p, &deviation);
    printf("perplexity %.4f +- %.4f over %llu %s in windows of %u\n", value, deviation,
           (unsigned long long)p.count, plural((unsigned long long)p.count, "token", "tokens"),
           (unsigned)p.n);
    return true;
}

static int run_perplexity(int argc, char **argv)
{
    static struct host_args args;
    int status;

    if (!begin(&cmd_perplexity, &args, argc, argv, &status)) {
        return status;
    }
    if (args.file == NULL) {
        return command_refuse(&cmd_perplexity, "-f",
                              "give the text to measure with, as in -f FILE");
    }
    return exit_status(perplexity_of(&args));
}

static const struct command_option perplexity_file = {
    .name = "--file",
    .letter = "-f",
    .value = "FILE",
    .help = "the text",
    .field = offsetof(struct host_args, file),
};
static const struct command_option *const perplexity_options[] = {
    &perplexity_file, HOST_ROW(QUIET), HOST_ROWS_LOAD, HOST_ROWS_COMPUTER, NULL,
};

const struct command cmd_perplexity = {
    .name = "perplexity",
    .operands = "MODEL",
    .missing = "which model?",
    .summary = "measure the perplexity of a model on a text",
    .about = "Scores the second half of each window of CTX tokens (-c, default 256, or less if\n"
             "the model was trained for less). Each window begins with BOS.",
    .example = "ingot perplexity model.ingot -f text.txt -c 256",
    .options = perplexity_options,
    .flags = FOR_PERPLEXITY,
    .operand_field = offsetof(struct host_args, model),
    .run = run_perplexity,
};

/* ---- logits -------------------------------------------------------------------------------- */

struct dump {
    struct output_file out;
    uint32_t vocab, rows;
};

static void dump_position(void *context, uint32_t position, const float *logits)
{
    struct dump *d = context;

    (void)position;
    (void)output_put(&d->out, logits, sizeof *logits * d->vocab);
    d->rows++;
}

static void pass_over(void *context, uint32_t position, const float *logits)
{
    (void)context;
    (void)position;
    (void)logits;
}

static uint32_t likeliest(const float *logits, uint32_t n)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < n; i++) {
        if (logits[i] > logits[best]) {
            best = i;
        }
    }
    return best;
}

static bool dump_all(const struct host_args *args, const struct text *t, struct dump *d)
{
    struct session *s = &host.app.target.session;
    enum err error;

    if (t->n_ids == 0) {
        fputs("ingot: the prompt has no token, so there are no logits: give -p TEXT or --tokens\n",
              stderr);
        return false;
    }
    error = session_append_visit(s, t->ids, t->n_ids, dump_position, d);

    for (uint32_t i = 0; i < args->options.reply.n && error == ERR_OK && d->out.error == 0; i++) {
        uint32_t next = likeliest(s->logits, d->vocab);

        error = session_append_visit(s, &next, 1, dump_position, d);
    }
    if (error != ERR_OK) {
        fprintf(stderr, "ingot: %s\n", s->error_message);
    }
    return error == ERR_OK && d->out.error == 0;
}

/* Make guesses as in a reply, after the model has computed all tokens except the last. */
static enum err dump_guesses(const struct host_args *args, const struct text *t, struct dump *d)
{
    static struct speculative guessing;
    struct speculative_params how = options_speculative(&args->options);
    struct session *s = &host.app.target.session, *draft = &host.app.draft.session;
    enum err error = session_append_visit(s, t->ids, t->n_ids - 1, pass_over, d);

    speculative_open(&guessing, s, draft, &how);
    if (error == ERR_OK) {
        (void)session_put_next(s, t->ids[t->n_ids - 1]);
        error = speculative_mtp_follow(&guessing, s->n_ids, NULL);
    }
    while (error == ERR_OK && d->out.error == 0) {
        uint32_t next = likeliest(draft->logits, d->vocab);

        dump_position(d, 0, draft->logits);
        if (d->rows >= args->options.reply.n) {
            break;
        }
        speculative_mtp_continue(&guessing);
        error = session_append(draft, &next, 1, NULL);
    }
    return error;
}

/* Write the logits of the draft's guesses after the last token. */
static bool dump_draft(const struct host_args *args, const struct text *t, struct dump *d)
{
    enum err error;

    if (host.app.draft.model.image.header->params.mtp == 0 || t->n_ids < 2) {
        fputs("ingot: --draft: logits of guesses need an MTP head or an assistant, and a prompt of "
              "two tokens\n",
              stderr);
        return false;
    }
    error = dump_guesses(args, t, d);
    if (error != ERR_OK) {
        fprintf(stderr, "ingot: --draft: %s\n", err_text(error));
    }
    return error == ERR_OK && d->out.error == 0;
}

/* Read the ids of --tokens, separated by spaces or commas. */
static bool text_read_ids(struct text *t, const char *ids, uint32_t vocab)
{
    t->ids = malloc((strlen(ids) + 1) * sizeof *t->ids);
    while (t->ids != NULL && ids[strspn(ids, " ,")] != '\0') {
        char *end;
        unsigned long id = strtoul(ids, &end, 10);

        if (end == ids || strchr(" ,", *end) == NULL || id >= vocab) {
            fprintf(stderr, "ingot: --tokens: \"%.20s\" does not begin with an id below %u\n", ids,
                    (unsigned)vocab);
            return false;
        }
        t->ids[t->n_ids++] = (uint32_t)id;
        ids = end + strspn(end, " ,");
    }
    return t->ids != NULL;
}

static bool read_ids(const struct host_args *args, struct text *t, uint32_t vocab)
{
    if (args->tokens != NULL) {
        return text_read_ids(t, args->tokens, vocab);
    }
    return text_tokenize(t, &host.app.target.model.tokenizer, edge_flags(args, TOKENIZER_BOS));
}

/* Keep the file, or remove it after an error. Returns false after printing the error. */
static bool end_dump(struct dump *d, bool good)
{
    char error_message[512];
    enum err e = ERR_IO;

    if (d->out.error != 0) {
        (void)output_fail(&d->out, error_message, sizeof error_message);
    } else if (good) {
        e = output_keep(&d->out, error_message, sizeof error_message);
    } else {
        output_drop(&d->out);
        return false;
    }
    if (e != ERR_OK) {
        fprintf(stderr, "ingot: %s\n", error_message);
    }
    return e == ERR_OK;
}

static bool logits_of(const struct host_args *args, const struct text *prompt)
{
    static struct dump d;
    const struct output_wish wish = { .path = args->output, .input = args->model };
    struct text t = *prompt;
    char error_message[512];
    bool good = output_open(&d.out, &wish, error_message, sizeof error_message) == ERR_OK;

    if (!good) {
        fprintf(stderr, "ingot: %s\n", error_message);
    } else {
        d.vocab = host.app.target.model.image.header->params.vocab;
        good = end_dump(&d, read_ids(args, &t, d.vocab) &&
                                (host.app.has_draft ? dump_draft(args, &t, &d)
                                                    : dump_all(args, &t, &d)));
    }
    if (good) {
        printf("%u %s of %u f32 in %s\n", (unsigned)d.rows, plural(d.rows, "row", "rows"),
               (unsigned)d.vocab, name_shown(args->output));
    }
    text_free(&t);
    return good;
}

/* Read the prompt, which is empty without -p; -p and --tokens together are refused. */
static bool logits_prompt(const struct host_args *args, struct text *t, int *status)
{
    if (args->prompt != NULL && args->tokens != NULL) {
        *status = command_refuse(&cmd_logits, "-p and --tokens", "give only one of them");
        return false;
    }
    return text_copy(t, args->prompt != NULL ? args->prompt : "");
}

static int run_logits(int argc, char **argv)
{
    static struct host_args args;
    struct text prompt = { 0 };
    int status;

    if (!begin(&cmd_logits, &args, argc, argv, &status)) {
        return status;
    }
    if (args.output == NULL) {
        return command_refuse(&cmd_logits, "-o", "give the file to write, as in -o FILE");
    }
    if (!logits_prompt(&args, &prompt, &status) || !host_app_plan(&host, &args) ||
        !host_app_load(&host)) {
        text_free(&prompt);
        return status;
    }
    return exit_status(logits_of(&args, &prompt));
}

static const struct command_option logits_prompt_option = {
    .name = "--prompt",
    .letter = "-p",
    .value = "TEXT",
    .help = "the prompt",
    .field = offsetof(struct host_args, prompt),
};
static const struct command_option tokens = {
    .name = "--tokens",
    .value = "IDS",
    .help = "\"ID ID ...\" in place of a prompt",
    .field = offsetof(struct host_args, tokens),
};
static const struct command_option logits_output = {
    .name = "--output",
    .letter = "-o",
    .value = "FILE",
    .help = "the file to write",
    .field = offsetof(struct host_args, output),
};
static const struct command_option logits_no_bos = {
    .name = "--no-bos",
    .help = "do not begin with the BOS token",
    .field = offsetof(struct host_args, no_bos),
};
static const struct command_option *const logits_options[] = {
    &logits_prompt_option,
    &tokens,
    &logits_output,
    HOST_FLAGS(CONVERSATION),
    &logits_no_bos,
    HOST_ROW(QUIET),
    HOST_ROWS_LOAD,
    HOST_ROWS_COMPUTER,
    NULL,
};

const struct command cmd_logits = {
    .name = "logits",
    .operands = "MODEL",
    .missing = "which model?",
    .summary = "write the logits of every position of a prompt to a file",
    .about =
        "Writes a row of little-endian f32, one number for each token of the vocabulary, for every\n"
        "position of the prompt and of N more tokens chosen greedily. With --draft it writes N rows:\n"
        "those by which the draft, an MTP head or an assistant, guesses the tokens after the prompt.",
    .example = "ingot logits model.ingot -p \"Once upon a time\" -n 16 -o logits.f32",
    .options = logits_options,
    .flags = FOR_LOGITS,
    .operand_field = offsetof(struct host_args, model),
    .run = run_logits,
};
