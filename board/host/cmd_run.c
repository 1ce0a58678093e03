/* `ingot run` and `ingot chat`. */
#include <errno.h>
#include <fcntl.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "board/host/commands.h"
#include "board/host/host_board.h"
#include "board/host/host_model.h"
#include "flash_image/chat_template.h"
#include "runtime/chat.h"
#include "runtime/console.h"
#include "runtime/console_json.h"
#include "runtime/trace.h"

static struct host_model model;
static struct chat chat;

/* --template over that of the file. The vocabulary is copied, for the template makes control
 * tokens of its markers, and the file's stays as it is. */
static bool choose_template(const struct host_args *args, const struct ingot_chat **template)
{
    static alignas(struct ingot_chat) uint8_t section[CHAT_MOST_BYTES];
    const struct ingot_chat *own = model.engine.image.chat;
    struct chat_request request = { .name = args->template, .stops = own->stops,
                                    .n_stops = own->n_stops,
                                    .tokenizer = model.engine.image.tokenizer };
    size_t vocabulary_bytes = (size_t)model.engine.image.header->tokenizer.bytes;
    char sentence[CHAT_SENTENCE_BYTES];
    uint8_t *vocabulary;
    size_t bytes;

    *template = NULL;
    if (args->template == NULL) {
        return true;
    }
    if (chat_template_build(&request, section, &bytes, sentence) != ERR_OK) {
        fprintf(stderr, "ingot: %s\n", sentence);
        return false;
    }
    vocabulary = malloc(vocabulary_bytes); /* to the end of the program */
    if (vocabulary == NULL) {
        fprintf(stderr, "ingot: out of memory\n");
        return false;
    }
    memcpy(vocabulary, model.engine.image.tokenizer, vocabulary_bytes);
    chat_template_claim(section, vocabulary);
    tokenizer_open(&model.engine.tokenizer, vocabulary);
    *template = (const void *)section;
    return true;
}

/* Opened, loaded and ready, or an exit status other than 0 in *status. */
static bool prepare(struct host_args *args, int argc, char **argv, bool interactive, int *status)
{
    const struct ingot_chat *template;

    *status = EXIT_USAGE;
    if (!host_args_parse(args, argc, argv)) {
        return false;
    }
    if (args->help) {
        printf("usage: ingot %s MODEL [options]\n", argv[0]);
        host_args_help();
        *status = EXIT_FINE;
        return false;
    }
    if (host_args_wants_templates(args->template)) {
        host_args_list_templates();
        *status = EXIT_FINE;
        return false;
    }
    if (args->model == NULL) {
        fprintf(stderr, "ingot: which model? usage: ingot %s MODEL [options]\n", argv[0]);
        return false;
    }
    if (!options_given(&args->options, OPTION_SEED)) {
        args->options.sampler.seed = board.ticks();
    }
    host_console_open(interactive);
    if (args->options.mode == MODE_JSON) {
        console_speak_json();
    }
    *status = EXIT_FAILED;
    if (!host_model_open(&model, args) || !choose_template(args, &template) ||
        !host_model_load(&model, args)) {
        return false;
    }
    host_console_to(2);
    chat_open(&chat, &model.engine, model.draft, &args->options, template);
    host_console_to(1);
    return true;
}

/* The trace of the reply to args->trace, as the console would have it. */
static bool write_trace(const struct host_args *args)
{
    int to = open(args->trace, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

    if (to < 0) {
        fprintf(stderr, "ingot: %s: cannot be written: %s\n", args->trace, strerror(errno));
        return false;
    }
    host_console_to(to);
    console_json_stop(); /* a trace is JSON of its own */
    trace_print();
    host_console_to(1);
    return close(to) == 0;
}

int cmd_run(int argc, char **argv)
{
    static struct host_args args;
    int status;
    enum err e;

    if (!prepare(&args, argc, argv, false, &status)) {
        return status;
    }
    if (args.trace != NULL) {
        trace_start();
    }
    e = chat_reply(&chat, args.options.prompt, args.options.prompt_bytes, true);
    host_console_flush();
    if (args.trace != NULL && !write_trace(&args)) {
        return EXIT_FAILED;
    }
    return e == ERR_OK || e == ERR_ABORTED ? EXIT_FINE : EXIT_FAILED;
}

int cmd_chat(int argc, char **argv)
{
    static struct host_args args;
    int status;

    if (!prepare(&args, argc, argv, true, &status)) {
        return status;
    }
    if (isatty(0) && args.options.mode != MODE_JSON) {
        console_printf("Type a line and press Enter; Ctrl-C stops a reply, Ctrl-D ends, /help lists commands.\n");
    }
    chat_loop(&chat, NULL);
    host_console_flush();
    return EXIT_FINE;
}
