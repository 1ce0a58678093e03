/* Grammars as people and programs write them, GBNF and JSON Schema, into the automaton that a board runs
 * (flash_image/grammar_format.h). Host only.
 *
 * GBNF is llama.cpp's: rules `name ::= ...` of "texts", [classes], ., groups, names, |, and ? * + {m,n}
 * after an item; `root` is what a reply is. A rule may call itself, but not as its first item.
 *
 * JSON Schema becomes GBNF first. Known are: type (also a list of them), enum, const, anyOf and oneOf,
 * properties with required (in the order of properties; nothing else may be in the object), items with
 * minItems and maxItems, minLength and maxLength, minimum and maximum of integers, $ref into the same
 * schema, and the keywords that describe and restrict nothing. Every other keyword is an error, as it would
 * not be obeyed. Strings, arrays, numbers and depth have an end, so that a reply has one. */
#ifndef INGOT_FLASH_IMAGE_GRAMMAR_COMPILE_H
#define INGOT_FLASH_IMAGE_GRAMMAR_COMPILE_H

#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "flash_image/grammar_format.h"

enum {
    GRAMMAR_PROBLEM_BYTES = 256,
    GRAMMAR_STEPS_MOST = 20000000, /* of a compile: a tenth of a second, half of one under ASan */
};

/* What a schema leaves open. */
enum {
    GRAMMAR_STRING_MOST = 512, /* characters */
    GRAMMAR_ITEMS_MOST = 64,   /* of an array */
    GRAMMAR_DIGITS_MOST = 15,
    GRAMMAR_ANY_DEPTH = 4 /* of a value of any type */
};

/* text: GBNF, NUL-terminated. *grammar (*bytes): the caller frees it. ERR_BAD_ARGUMENT: problem says
 * what is wrong and in which line; ERR_TOO_LONG: it is beyond INGOT_GRAMMAR_BYTES, or beyond GRAMMAR_STEPS_MOST, which bounds
 * the time whatever the text is. About 100 MB of memory at most. */
enum err grammar_compile_gbnf(const char *text, void **grammar, size_t *bytes,
                              char problem[GRAMMAR_PROBLEM_BYTES]);

/* The GBNF of a JSON Schema, NUL-terminated, which the caller frees. ERR_BAD_ARGUMENT: problem. */
enum err grammar_gbnf_of_schema(const char *schema, char **gbnf,
                                char problem[GRAMMAR_PROBLEM_BYTES]);

/* The rules of several (n) after `first`, which is any GBNF or "": r and rules[i] is the name of that of schemas[i]; root is the
 * caller's to write. Otherwise the same. */
enum err grammar_gbnf_of_schemas(const char *first, const char *const *schemas, unsigned n,
                                 unsigned *rules, char **gbnf, char problem[GRAMMAR_PROBLEM_BYTES]);

#endif
