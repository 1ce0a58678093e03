/* How many bytes a text needs until it is complete: computed by hand, and at each place of a
 * text. */
#include "runtime/features/grammar/grammar_rest.h"

#include <stdlib.h>
#include <string.h>

#include "flash_image/grammar/grammar_compile.h"
#include "tests/unit/tap.h"

static struct grammar_machine machine;
static uint16_t rest[GRAMMAR_STATES];

/* Returns the rest after a text; GRAMMAR_REST_MOST + 1: the text is not allowed. */
static uint32_t rest_after(const char *gbnf, const char *text)
{
    char error_message[GRAMMAR_ERROR_MESSAGE_BYTES];
    struct grammar g;
    const char *why;
    void *memory;
    size_t bytes;
    uint32_t found = GRAMMAR_REST_MOST + 1u;
    unsigned level = 0;

    if (grammar_compile_gbnf(gbnf, &memory, &bytes, error_message) != ERR_OK ||
        grammar_open(&g, memory, bytes, &why) != ERR_OK) {
        return found;
    }
    grammar_rest_of_states(&g, rest);
    grammar_begin(&machine, &g);
    while (text[level] != '\0' && grammar_push(&machine, level, (uint8_t)text[level])) {
        level++;
    }
    if (text[level] == '\0') {
        found = grammar_rest(&machine, level, rest);
    }
    free(memory);
    return found;
}

static void is(const char *gbnf, const char *text, uint32_t wanted)
{
    uint32_t found = rest_after(gbnf, text);

    OK(found == wanted, "%.20s... after \"%s\" lacks %u bytes, expected %u", gbnf, text,
       (unsigned)found, (unsigned)wanted);
}

int main(void)
{
    static const char *const LIST =
        "root ::= \"[\" item (\",\" item){2,5} \"]\"\nitem ::= [0-9]+ | \"none\"";
    static const char *const TREE = "root ::= \"(\" root* \")\"";

    is("root ::= \"yes\" | \"no\"", "", 2);
    is("root ::= \"yes\" | \"no\"", "y", 2);
    is("root ::= \"yes\" | \"no\"", "no", 0);
    is("root ::= [a-z]*", "", 0);
    is("root ::= \"\\\"\" [a-z]* \"\\\"\"", "\"abc", 1);
    is("root ::= [a-z]{7,9}", "abc", 4);
    is(LIST, "", 7); /* [1,1,1] */
    is(LIST, "[", 6);
    is(LIST, "[no", 7); /* ne, two more items with their commas, and the bracket */
    is(LIST, "[1,2", 3);
    is(LIST, "[1,2,3,4", 1);
    is(TREE, "", 2);
    is(TREE, "((((", 4);
    is(TREE, "(()(", 2);
    is(TREE, "()", 0);
    is("root ::= \"a\" root \"b\"", "aaa", GRAMMAR_REST_MOST);
    is("root ::= x{60000}\nx ::= \"abcdefgh\"", "", GRAMMAR_REST_MOST);
    return tap_done();
}
