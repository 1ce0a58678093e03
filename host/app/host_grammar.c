#include "host/app/host_grammar.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flash_image/grammar/grammar_compile.h"
#include "runtime/features/grammar/grammar.h"
#include "runtime/text/utf8.h"

enum { TEXT_MOST = 4 << 20 };

/* Removes bytes at the front: a byte order mark, which is not text. */
static size_t skip_mark(char *text, size_t bytes)
{
    size_t mark = utf8_mark_bytes(text, bytes);

    memmove(text, text + mark, bytes - mark);
    return mark;
}

/* Reads the file, and adds a NUL; returns NULL with errno if that fails. */
static char *read_file(const char *path, size_t *bytes)
{
    FILE *f = fopen(path, "rb");
    char *text = f != NULL ? malloc(TEXT_MOST + 1) : NULL;

    if (text != NULL) {
        *bytes = fread(text, 1, TEXT_MOST, f);
        *bytes -= skip_mark(text, *bytes);
        text[*bytes] = '\0';
        if (ferror(f)) {
            free(text);
            text = NULL;
        }
    }
    if (f != NULL) {
        fclose(f);
    }
    return text;
}

static enum err compile(const char *text, void **grammar, size_t *grammar_bytes, char **gbnf,
                        char *why)
{
    char *made = NULL;
    enum err e = ERR_OK;

    if (text[strspn(text, " \t\r\n\xef\xbb\xbf")] == '{') {
        e = grammar_gbnf_of_schema(text, &made, why);
    } else {
        made = strdup(text);
    }
    if (e == ERR_OK) {
        e = grammar_compile_gbnf(made, grammar, grammar_bytes, why);
    }
    if (e == ERR_OK && gbnf != NULL) {
        *gbnf = made;
    } else {
        free(made);
    }
    return e;
}

/* Takes a compiled grammar, after the same checks as on a board. */
static enum err take_compiled(char *text, size_t bytes, void **grammar, size_t *grammar_bytes,
                              char *why)
{
    const char *error_message = "";
    struct grammar g;
    enum err e = grammar_open(&g, text, bytes, &error_message);

    snprintf(why, GRAMMAR_ERROR_MESSAGE_BYTES, "%s", error_message);
    *grammar = text;
    *grammar_bytes = bytes;
    return e;
}

enum err host_grammar_read(const char *path, void **grammar, size_t *grammar_bytes, char **gbnf,
                           char *error_message, size_t bytes)
{
    static const uint32_t magic = INGOT_GRAMMAR_MAGIC;
    char why[GRAMMAR_ERROR_MESSAGE_BYTES] = "";
    size_t n = 0;
    char *text = read_file(path, &n);
    enum err e;

    *grammar = NULL;
    if (gbnf != NULL) {
        *gbnf = NULL;
    }
    if (text == NULL) {
        snprintf(error_message, bytes, "%.400s: %s", path, strerror(errno));
        return ERR_IO;
    }
    if (n >= sizeof magic && memcmp(text, &magic, sizeof magic) == 0) {
        e = take_compiled(text, n, grammar, grammar_bytes, why);
    } else if (utf16_has_mark(text, n)) {
        snprintf(why, sizeof why, "%s", utf16_cure);
        e = ERR_BAD_ARGUMENT;
    } else {
        e = compile(text, grammar, grammar_bytes, gbnf, why);
    }
    if (*grammar != text) {
        free(text);
    }
    if (e != ERR_OK) {
        snprintf(error_message, bytes, "%.400s: %s", path, why);
        free(*grammar);
        *grammar = NULL;
    }
    return e;
}
