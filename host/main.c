/* The Linux program: `ingot COMMAND ...`. */
#include <stdio.h>
#include <string.h>

#include "runtime/base/crc32c.h"

#include "host/commands.h"
#include "board/host/host_cpu.h"
#include "host/host_args.h"

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *does;
} commands[] = {
    { "run", cmd_run, "generate from a prompt" },
    { "chat", cmd_chat, "talk on this terminal" },
    { "serial", cmd_serial, "talk to a board over its serial line" },
    { "pack", cmd_pack, "make an .ingot from a GGUF or llama2.c file" },
    { "info", cmd_info, "what a model is and how large its parts are" },
    { "verify", cmd_verify, "check every checksum of an .ingot" },
    { "synth", cmd_synth, "make up a model of a real shape with random weights" },
    { "plan", cmd_plan, "which memory a model would take, without loading it" },
    { "tokenize", cmd_tokenize, "standard input to tokens" },
    { "perplexity", cmd_perplexity, "of a model on a text" },
    { "logits", cmd_logits, "of every position of a prompt, to a file" },
};

static int usage(FILE *to)
{
    fprintf(to, "Ingot " INGOT_VERSION_TEXT ": a language model that boots; this is its Linux "
                "program.\nusage: ingot COMMAND MODEL [options]; `ingot COMMAND --help` tells "
                "more\n");
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        fprintf(to, "  %-12s%s\n", commands[i].name, commands[i].does);
    }
    return to == stdout ? EXIT_FINE : EXIT_USAGE;
}

int main(int argc, char **argv)
{
    static struct kernels kernels;

    kernels_select(&kernels, host_cpu_features());
    crc32c_use(&kernels); /* of every file that a command reads or writes */
    if (argc < 2) {
        return usage(stderr);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        return usage(stdout);
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("ingot " INGOT_VERSION_TEXT);
        return EXIT_FINE;
    }
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(argv[1], commands[i].name) == 0) {
            return commands[i].run(argc - 1, argv + 1);
        }
    }
    fprintf(stderr, "ingot: '%s' is no command\n", argv[1]);
    return usage(stderr);
}
