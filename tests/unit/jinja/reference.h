/* Asks Python's Jinja, set up as in Transformers, for the texts of templates. */
#ifndef INGOT_TESTS_UNIT_JINJA_REFERENCE_H
#define INGOT_TESTS_UNIT_JINJA_REFERENCE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/tokenizer/vocabulary.h"

enum { REFERENCE_MOST = 4096 };

static struct reference {
    FILE *questions;
    size_t n;
    char *answer[REFERENCE_MOST]; /* "=" and the text, or "!" and the error */
    char *all;
    char in[64], out[64];
} reference;

static void reference_open(void)
{
    snprintf(reference.in, sizeof reference.in, "/tmp/ingot-jinja-%ld.in", (long)getpid());
    snprintf(reference.out, sizeof reference.out, "/tmp/ingot-jinja-%ld.out", (long)getpid());
    reference.questions = fopen(reference.in, "wb");
    if (reference.questions == NULL)
        abort();
}

/* context: JSON; its `now` is the day of strftime_now, in seconds. Returns the answer's index. */
static size_t reference_ask(const char *context, const char *template, size_t bytes)
{
    if (reference.n == REFERENCE_MOST)
        abort();
    fprintf(reference.questions, "%s\x1f", context);
    fwrite(template, 1, bytes, reference.questions);
    fputc('\x1e', reference.questions);
    return reference.n++;
}

/* False: there is no Python with jinja2. */
static bool reference_answer(void)
{
    const char *named = getenv("PYTHON");
    const char *const python[] = { named != NULL ? named : "python3", "python3" };
    char command[300], *at;
    size_t bytes;
    int status = 1;

    fclose(reference.questions);
    for (size_t i = 0; i < 2 && status != 0; i++) {
        snprintf(command, sizeof command, "%s tests/unit/jinja/reference.py %s %s", python[i],
                 reference.in, reference.out);
        status = system(command);
    }
    unlink(reference.in);
    if (status != 0)
        return false;
    reference.all = at = (char *)test_read_file(reference.out, &bytes);
    unlink(reference.out);
    for (size_t i = 0; i < reference.n; i++) {
        char *end = strchr(at, '\x1e');

        if (end == NULL)
            abort();
        *end = '\0';
        reference.answer[i] = at;
        at = end + 1;
    }
    return true;
}

static void reference_close(void)
{
    free(reference.all);
}

#endif
