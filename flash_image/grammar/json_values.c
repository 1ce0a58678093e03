/* The rules that every schema may use: white space, strings, numbers, and values of any type up to
 * a depth. */
#include <stdbool.h>
#include <string.h>

#include "flash_image/grammar/grammar_compile.h"
#include "flash_image/grammar/json_schema_private.h"

/* Write the bytes of a token as a text of GBNF. */
static void put_quoted(struct text *t, const char *s, size_t n)
{
    text_put(t, "\"");
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '"' || s[i] == '\\') {
            text_put(t, "\\");
        }
        text_add(t, &s[i], 1);
    }
    text_put(t, "\"");
}

/* The length of the token: a string, a punctuation mark, or everything up to the next mark. */
static size_t token_bytes(const char *s)
{
    size_t n = 1;

    if (*s != '"') {
        n = strcspn(s, "{}[],:");
        return n != 0 ? n : 1;
    }
    while (s[n] != '\0' && s[n] != '"') {
        n += s[n] == '\\' && s[n + 1] != '\0' ? 2 : 1;
    }
    return s[n] == '"' ? n + 1 : n;
}

/* A punctuation mark as an item of a rule; NULL: it is not a mark. */
static const char *item_of(char mark)
{
    switch (mark) {
    case '{': return "\"{\" gap";
    case '[': return "\"[\" gap";
    case '}': return "gap \"}\"";
    case ']': return "gap \"]\"";
    case ',': return "comma";
    case ':': return "colon";
    default: return NULL;
    }
}

void text_json(struct text *t, const char *json)
{
    const char *between = "";

    while (*json != '\0') {
        const char *item = item_of(*json);
        size_t n = token_bytes(json);

        text_put(t, between);
        if (item != NULL) {
            text_put(t, item);
        } else {
            put_quoted(t, json, n);
        }
        json += n;
        between = " ";
    }
}

/* A gap is nothing, a blank, or a line end with an indentation. Lines end where programs and models
 * end them: after an opening bracket or a comma, and before a closing bracket. Gaps are bounded,
 * because a small model that may write empty lines never stops writing them. The indentation is a
 * call of the automaton, so a gap takes few states. */
void text_shared(struct text *t, bool any)
{
    text_put(
        t,
        "gap ::= \" \"? (\"\\r\"? \"\\n\" [ \\t]{0,20})?\n"
        "comma ::= \" \"? \",\" gap\n"
        "colon ::= \" \"? \":\" \" \"?\n"
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
        text_format(t, " | object%d | \"[\" gap (any%d (comma any%d){0,%d} gap)? \"]\"\n", i, i + 1,
                    i + 1, GRAMMAR_ITEMS_MOST - 1);
        text_format(t, "member%d ::= string colon any%d\n", i, i + 1);
        text_format(t, "object%d ::= \"{\" gap (member%d (comma member%d){0,%d} gap)? \"}\"\n", i,
                    i, i, GRAMMAR_ITEMS_MOST - 1);
    }
}
