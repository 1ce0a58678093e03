/* Makes a grammar from its text, and tries texts on it. */
#ifndef INGOT_TESTS_UNIT_COMPILED_H
#define INGOT_TESTS_UNIT_COMPILED_H

#include <stdlib.h>
#include <string.h>

#include "flash_image/grammar/grammar_compile.h"
#include "runtime/features/grammar/grammar_machine.h"
#include "tests/unit/tap.h"

static struct grammar_machine machine;
static struct grammar compiled;
static void *compiled_memory;
static size_t compiled_bytes;
static char compiled_error_message[GRAMMAR_ERROR_MESSAGE_BYTES];

static inline bool compile_gbnf(const char *text)
{
    const char *error_message = "";

    free(compiled_memory);
    compiled_memory = NULL;
    if (grammar_compile_gbnf(text, &compiled_memory, &compiled_bytes, compiled_error_message) !=
        ERR_OK) {
        return false;
    }
    if (grammar_open(&compiled, compiled_memory, compiled_bytes, &error_message) != ERR_OK) {
        printf("Bail out! what was compiled is refused: %s\n", error_message);
        exit(1);
    }
    return true;
}

static inline bool compile_schema(const char *schema)
{
    char *gbnf;
    bool good = grammar_gbnf_of_schema(schema, &gbnf, compiled_error_message) == ERR_OK;

    good = good && compile_gbnf(gbnf);
    if (!good) {
        printf("# %s\n", compiled_error_message);
    }
    free(gbnf);
    return good;
}

/* Returns how many bytes of a text are allowed; *complete: the text may end there. Every 7 bytes
 * are settled, as tokens are. */
static inline size_t walk(const char *s, size_t n, bool *complete)
{
    unsigned level = 0;
    size_t i;

    grammar_begin(&machine, &compiled);
    for (i = 0; i < n; i++) {
        if (!grammar_push(&machine, level, (uint8_t)s[i])) {
            break;
        }
        if (++level == 7) {
            grammar_settle(&machine, level);
            level = 0;
        }
    }
    *complete = grammar_accepts(&machine, level);
    return i;
}

static inline bool matches(const char *s)
{
    bool complete;

    return walk(s, strlen(s), &complete) == strlen(s) && complete;
}

#endif
