#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flash_image/output/output_file.h"
#include "host/cli/commands.h"
#include "host/app/host_grammar.h"
#include "host/args/shown_streams.h"
#include "runtime/features/grammar/grammar.h"
#include "runtime/text/format_text.h"

struct arguments {
    const char *input, *output;
    bool gbnf;
};

static int fail(const char *error_message)
{
    fprintf(stderr, "ingot: %s\n", error_message);
    return EXIT_FAILED;
}

static int write_grammar(const struct arguments *a, const void *grammar, size_t bytes)
{
    const struct ingot_grammar *head = grammar;
    const struct output_wish wish = { .path = a->output, .input = a->input };
    char size[FORMAT_NUMBER_BYTES], error_message[512];

    if (output_write(&wish, grammar, bytes, error_message, sizeof error_message) != ERR_OK) {
        return fail(error_message);
    }
    printf("%s: %u states, %u ways between them, %u calls, %s\n", name_shown(a->output),
           head->n_states, head->n_edges, head->n_calls, format_bytes(size, bytes));
    return EXIT_FINE;
}

static int run(int argc, char **argv)
{
    struct arguments a = { 0 };
    char error_message[1024], *gbnf;
    size_t bytes;
    void *grammar;
    int status;

    if (!command_line_read(&cmd_grammar, &a, argc, argv, &status)) {
        return status;
    }
    if (a.output == NULL && !a.gbnf) {
        return command_refuse(&cmd_grammar, "-o", "give the file to write, as in -o OUT.grammar");
    }
    if (host_grammar_read(a.input, &grammar, &bytes, &gbnf, error_message, sizeof error_message) !=
        ERR_OK) {
        return fail(error_message);
    }
    status = EXIT_FINE;
    if (a.gbnf) {
        fputs(gbnf != NULL ? gbnf
                           : "# the grammar was compiled already: its GBNF is not in the file\n",
              stdout);
    }
    if (a.output != NULL) {
        status = write_grammar(&a, grammar, bytes);
    }
    free(gbnf);
    free(grammar);
    return status;
}

#define FIELD(member) offsetof(struct arguments, member)

static const struct command_option output = {
    .name = "--output",
    .letter = "-o",
    .value = "FILE",
    .help = "the file to write: grammars/NAME.grammar beside the model, or on a card",
    .field = FIELD(output),
};
static const struct command_option print_gbnf = {
    .name = "--gbnf",
    .help = "print the GBNF that a JSON Schema becomes",
    .field = FIELD(gbnf),
};
static const struct command_option *const options[] = { &output, &print_gbnf, NULL };

const struct command cmd_grammar = {
    .name = "grammar",
    .operands = "IN",
    .missing = "which grammar? name a file of GBNF, or a JSON Schema;",
    .summary = "compile a grammar for replies",
    .about =
        "Compiles GBNF or a JSON Schema for /grammar and grammar= of a board. docs/GRAMMARS.md lists\n"
        "what is supported.",
    .example = "ingot grammar light.json -o models/grammars/light.grammar",
    .options = options,
    .operand_field = FIELD(input),
    .run = run,
};
