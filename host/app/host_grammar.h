/* Reads grammars from files: compiled ones, GBNF and JSON Schema. The contents of a file show
 * which of these it is. */
#ifndef INGOT_HOST_HOST_GRAMMAR_H
#define INGOT_HOST_HOST_GRAMMAR_H

#include <stddef.h>

#include "board/err.h"

/* Makes the compiled grammar of a file; the caller frees *grammar. If gbnf is not NULL, *gbnf is a
 * GBNF file's text, which the caller frees, or NULL for another file. Errors: those of
 * grammar_compile.h, ERR_IO; an error message in error_message (bytes). */
enum err host_grammar_read(const char *path, void **grammar, size_t *grammar_bytes, char **gbnf,
                           char *error_message, size_t bytes);

#endif
