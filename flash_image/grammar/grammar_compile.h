/* Compiles grammars (GBNF and JSON Schema) to the automaton that a board runs (flash_image/format/grammar.h). Host
 * only.
 *
 * GBNF is llama.cpp's: rules `name ::= ...` of "texts", [classes], ., groups, names, |, and ? * + {m,n} after an item; a reply
 * has the form of `root`. A rule may call itself, but not as its first item.
 *
 * JSON Schema is converted to GBNF first (schema.h). All keywords of a schema apply together. Keywords that a grammar cannot
 * enforce are listed in notes (struct grammar_notes), and checked on the finished reply if possible. Strings, arrays, numbers
 * and depth are bounded, so a reply ends. */
#ifndef INGOT_FLASH_IMAGE_GRAMMAR_COMPILE_H
#define INGOT_FLASH_IMAGE_GRAMMAR_COMPILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "flash_image/format/grammar.h"

enum {
    GRAMMAR_ERROR_MESSAGE_BYTES = 256,
    GRAMMAR_STEPS_MOST =
        20000000, /* budget for compiling a grammar: a tenth of a second, half a second under
                     ASan */
};

/* Limits for the parts that a schema leaves open. */
enum {
    GRAMMAR_STRING_MOST = 512, /* characters */
    GRAMMAR_ITEMS_MOST = 64,   /* of an array */
    GRAMMAR_DIGITS_MOST = 15,
    GRAMMAR_TIMES_LIMIT = 60000, /* of a repetition */
    GRAMMAR_ANY_DEPTH = 4        /* nesting depth of a value of any type */
};

/* Compile `text` (GBNF, NUL-terminated) to *grammar (*bytes), which the caller frees.
 * ERR_BAD_ARGUMENT if the text is wrong: error_message gives the error and its line. ERR_TOO_LONG:
 * the grammar needs more than INGOT_GRAMMAR_BYTES, or more steps than GRAMMAR_STEPS_MOST, which
 * bounds the time. Uses at most about 100 MB. */
enum err grammar_compile_gbnf(const char *text, void **grammar, size_t *bytes,
                              char error_message[GRAMMAR_ERROR_MESSAGE_BYTES]);

/* A schema. arguments: the schema describes a function's arguments, which are always an
 * object. */
struct grammar_schema {
    const char *text;
    bool arguments;
};

enum { GRAMMAR_NOTES_MOST = 64, GRAMMAR_WHERE_BYTES = 160 };

/* A keyword that the grammar does not enforce: the number of its schema, and its place in that
 * schema (a JSON Pointer). checked: grammar_check_value() checks it; otherwise nothing does. */
struct grammar_note {
    unsigned schema;
    bool checked;
    char where[GRAMMAR_WHERE_BYTES];
};

struct grammar_notes {
    struct grammar_note list[GRAMMAR_NOTES_MOST];
    unsigned n, more; /* more: number of notes that did not fit */
};

/* Convert a JSON Schema to GBNF (NUL-terminated), which the caller frees. ERR_BAD_ARGUMENT:
 * error_message names the first keyword that a grammar cannot enforce. */
enum err grammar_gbnf_of_schema(const char *schema, char **gbnf,
                                char error_message[GRAMMAR_ERROR_MESSAGE_BYTES]);

/* Convert n schemas to rules, which follow `first` (any GBNF, or "") in *gbnf. rules[i] is the
 * name of the rule of schemas[i] (GRAMMAR_NO_RULE: no value satisfies that schema); the caller
 * writes root. A keyword that the grammar cannot enforce is allowed, and noted in *notes. Otherwise
 * like grammar_gbnf_of_schema. */
#define GRAMMAR_NO_RULE UINT32_MAX
enum err grammar_gbnf_of_schemas(const char *first, const struct grammar_schema *schemas,
                                 unsigned n, unsigned *rules, struct grammar_notes *notes,
                                 char **gbnf, char error_message[GRAMMAR_ERROR_MESSAGE_BYTES]);

/* True if a JSON text (bytes) satisfies a schema; otherwise error_message gives the reason and the
 * place in the schema. A check that takes too many steps counts as satisfied. */
bool grammar_check_value(const char *schema, const char *value, size_t bytes,
                         char error_message[GRAMMAR_ERROR_MESSAGE_BYTES]);

#endif
