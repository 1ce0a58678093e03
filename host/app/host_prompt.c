#include "host/app/host_prompt.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool is_dash(const char *word)
{
    return word != NULL && strcmp(word, "-") == 0;
}

bool host_prompt_is_read(const struct host_args *args)
{
    return args->prompt == NULL || is_dash(args->prompt);
}

static bool read_stdin(struct text *t, const struct command *c, int *status)
{
    if (isatty(0)) {
        fprintf(stderr,
                "ingot %s: no text: give it with -p TEXT or -f FILE, or through a pipe; see "
                "`ingot %s --help`\n",
                c->name, c->name);
        *status = EXIT_USAGE;
        return false;
    }
    return text_read(t, stdin, "standard input");
}

static bool read_file(struct text *t, const char *path)
{
    FILE *in = fopen(path, "rbe");
    bool good;

    if (in == NULL) {
        fprintf(stderr, "ingot: %s: %s\n", path, strerror(errno));
        return false;
    }
    good = text_read(t, in, path);
    fclose(in);
    return good;
}

bool host_prompt_read(struct text *t, const struct command *c, const struct host_args *args,
                      int *status)
{
    *status = EXIT_FAILED;
    if (args->prompt != NULL && args->file != NULL) {
        *status = command_refuse(c, "-p and -f", "give only one of them");
        return false;
    }
    if (!host_prompt_is_read(args)) {
        return text_copy(t, args->prompt);
    }
    if (args->file != NULL && !is_dash(args->file)) {
        return read_file(t, args->file);
    }
    return read_stdin(t, c, status);
}

void host_prompt_cut_newline(struct text *t)
{
    if (t->n_bytes > 0 && t->bytes[t->n_bytes - 1] == '\n') {
        t->n_bytes--;
    }
    if (t->n_bytes > 0 && t->bytes[t->n_bytes - 1] == '\r') {
        t->n_bytes--;
    }
}
