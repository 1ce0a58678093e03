/* The rules that every schema may use: strings, numbers, and values of any type up to a depth. */
#include "flash_image/grammar/grammar_compile.h"
#include "flash_image/grammar/json_schema_private.h"

void text_shared(struct text *t, bool any)
{
    text_put(
        t,
        "comma ::= \",\" \" \"?\n"
        "colon ::= \":\" \" \"?\n"
        "char ::= [^\"\\\\\\x00-\\x1f\\x7f] | \"\\\\\" ([\"\\\\/bfnrt] | \"u\" [0-9a-fA-F]{4})\n");
    text_format(t, "integer ::= \"-\"? (\"0\" | [1-9] [0-9]{0,%d})\n", GRAMMAR_DIGITS_MOST - 1);
    text_format(t, "number ::= integer (\".\" [0-9]{1,%d})? ([eE] [+-]? [0-9]{1,2})?\n",
                GRAMMAR_DIGITS_MOST);
    text_format(t, "string ::= \"\\\"\" char{0,%d} \"\\\"\"\n", GRAMMAR_STRING_MOST);
    for (int i = 0; any && i < GRAMMAR_ANY_DEPTH; i++) {
        text_format(t, "any%d ::= string | number | \"true\" | \"false\" | \"null\"", i);
        if (i + 1 == GRAMMAR_ANY_DEPTH) {
            text_put(t, "\n");
            break;
        }
        text_format(t, " | object%d | \"[\" (any%d (comma any%d){0,%d})? \"]\"\n", i, i + 1, i + 1,
                    GRAMMAR_ITEMS_MOST - 1);
        text_format(t, "member%d ::= string colon any%d\n", i, i + 1);
        text_format(t, "object%d ::= \"{\" (member%d (comma member%d){0,%d})? \"}\"\n", i, i, i,
                    GRAMMAR_ITEMS_MOST - 1);
    }
}
