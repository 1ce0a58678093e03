/* Hostile schemas whose cost would grow faster than their length end in a bounded time; numbers at
 * the limits of their notation; the place that a note names. */
#include <time.h>

#include "flash_image/grammar/grammar_private.h"
#include "flash_image/grammar/json_schema_private.h"
#include "flash_image/grammar/schema.h"
#include "runtime/text/utf8.h"
#include "tests/unit/grammar/samples.h"

enum { PADDING = 20000 };
#define SECONDS_MOST \
    5.0 /* under a sanitizer, on a busy computer; each of these took a minute or more */

static double now(void)
{
    return (double)clock() / CLOCKS_PER_SEC; /* of this process */
}

static void test_bounded_check(const char *name, struct text *schema, const char *value)
{
    char error_message[GRAMMAR_ERROR_MESSAGE_BYTES];
    double start = now();
    bool good = grammar_check_value(schema->s, value, strlen(value), error_message);

    OK(!schema->failed && good && now() - start < SECONDS_MOST, "a check ends: %s takes %.1f s %s",
       name, now() - start, error_message);
    free(schema->s);
}

/* Compiles it as the schema of a tool as well. */
static void test_bounded_grammar(const char *name, struct text *schema)
{
    const struct grammar_schema one = { .text = schema->s };
    struct grammar_notes *notes = calloc(1, sizeof *notes);
    char error_message[GRAMMAR_ERROR_MESSAGE_BYTES], *gbnf = NULL;
    double start = now();
    unsigned rule;
    enum err e = grammar_gbnf_of_schemas("", &one, 1, &rule, notes, &gbnf, error_message);

    OK(!schema->failed && e == ERR_OK && notes->n != 0 && now() - start < SECONDS_MOST,
       "a grammar ends: %s takes %.1f s %s", name, now() - start, error_message);
    free(gbnf);
    free(notes);
    free(schema->s);
}

static void put_times(struct text *t, const char *what, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        text_put(t, i != 0 ? "," : "");
        text_put(t, what);
    }
}

/* Each of n schemas names the next one twice, in a document that takes long to search. */
static struct text doubled(unsigned n)
{
    struct text t = { 0 };

    text_put(&t, "{\"$ref\":\"#/$defs/a0\",\"x-padding\":[");
    put_times(&t, "0", PADDING);
    text_put(&t, "],\"$defs\":{");
    for (unsigned i = 0; i < n; i++) {
        text_format(&t,
                    "\"a%u\":{\"allOf\":[{\"$ref\":\"#/$defs/a%u\"},{\"$ref\":\"#/$defs/a%u\"}]},",
                    i, i + 1, i + 1);
    }
    text_format(&t, "\"a%u\":{\"minimum\":0}}}", n);
    return t;
}

/* An array whose items have a schema of many keywords. */
static struct text wide(void)
{
    struct text t = { 0 };

    text_put(&t, "{\"items\":{");
    for (unsigned i = 0; i < PADDING; i++) {
        text_format(&t, "\"x-%u\":0,", i);
    }
    text_put(&t, "\"minimum\":0}}");
    return t;
}

/* A class of n characters that are not side by side. */
static void put_class(struct text *t, unsigned n)
{
    text_put(t, "[");
    for (unsigned i = 0; i < n; i++) {
        text_format(t, "\\\\u%04x", 0x4e00 + 2 * i);
    }
    text_put(t, "]");
}

static struct text patterned(void)
{
    struct text t = { 0 };

    text_put(&t, "{\"allOf\":[");
    for (unsigned i = 0; i < 60; i++) {
        text_put(&t, i != 0 ? ",{\"pattern\":\"" : "{\"pattern\":\"");
        put_class(&t, 1800);
        text_put(&t, "{0,1400}x?$\"}");
    }
    text_put(&t, "]}");
    return t;
}

/* Patterns whose machine has many more states than they have letters. */
static struct text with_strings(void)
{
    struct text t = { 0 };

    text_put(&t, "{\"type\":\"object\",\"properties\":{");
    for (unsigned i = 0; i < 40; i++) {
        text_format(&t, "%s\"p%u\":{\"type\":\"string\",\"pattern\":\"^[\\u4e00-\\u9fff]*",
                    i != 0 ? "," : "", i);
        put_class(&t, 550); /* which of the last ten letters were in the class: 1,024 states */
        text_put(&t, "[\\u4e00-\\u9fff]{9}$\"}");
    }
    text_put(&t, "}}");
    return t;
}

static struct text with_member_patterns(void)
{
    struct text t = { 0 };

    text_put(&t, "{\"x-padding\":[");
    put_times(&t, "0", PADDING);
    text_put(&t, "],\"properties\":{\"a\":{\"type\":\"object\",\"patternProperties\":{");
    for (unsigned i = 0; i < PADDING; i++) {
        text_format(&t, "%s\"^p%u\":{}", i != 0 ? "," : "", i);
    }
    text_put(&t, "}}}}");
    return t;
}

static struct text with_values(void)
{
    struct text t = { 0 };

    text_put(&t, "{\"$ref\":\"#/$defs/a0\",\"enum\":[");
    put_times(&t, "1", 40);
    text_put(&t, "],\"x-padding\":[");
    put_times(&t, "0", PADDING);
    text_put(&t, "],\"$defs\":{");
    for (unsigned i = 0; i < 16; i++) { /* anyOf: so that only the check of a value looks inside */
        text_format(
            &t,
            "\"a%u\":{\"anyOf\":[{\"allOf\":[{\"$ref\":\"#/$defs/a%u\"},{\"$ref\":\"#/$defs/"
            "a%u\"}]}]},",
            i, i + 1, i + 1);
    }
    text_put(&t, "\"a16\":{\"minimum\":0}}}");
    return t;
}

static void test_bounds(void)
{
    struct text list = { 0 }, string = { 0 }, schema;

    schema = doubled(17);
    test_bounded_check("references in a long document", &schema, "1");
    schema = doubled(17);
    test_bounded_grammar("references in a long document", &schema);
    text_put(&list, "[");
    put_times(&list, "1", 4000);
    text_put(&list, "]");
    schema = wide();
    test_bounded_check("a schema of many keywords", &schema, list.s);
    text_put(&string, "\"");
    for (unsigned i = 0; i < 1500; i++) {
        text_put(&string, "\xe4\xb8\x80");
    }
    text_put(&string, "\"");
    schema = patterned();
    test_bounded_check("large patterns", &schema, string.s);
    schema = with_strings();
    test_bounded_grammar("many large patterns", &schema);
    schema = with_member_patterns();
    test_bounded_grammar("many patterns of members", &schema);
    schema = with_values();
    test_bounded_grammar("values that take long to check", &schema);
    free(list.s);
    free(string.s);
}

/* Wherever a compile ends because its steps ran out, it leaves nothing behind. */
static void test_no_leak(void)
{
    bool failed = false, made = false, clean = true;

    for (uint32_t left = 0; left < 3000; left++) {
        struct grammar_budget budget = { .steps = GRAMMAR_STEPS_MOST - 100 - left };
        struct automaton a = { .budget = &budget }, out;
        uint32_t from = automaton_state(&a), to = automaton_state(&a);

        automaton_characters(&a, from, to, 0, 0x10ffff);
        a.states[to].accepts = true;
        if (automaton_determinize(&a, &out)) {
            made = true;
            automaton_free(&out);
        } else {
            failed = true;
            clean = clean && out.states == NULL && out.edges == NULL;
            free(out.states); /* so that the test itself leaves nothing behind, either */
            free(out.edges);
        }
        automaton_free(&a);
    }
    OK(failed && made && clean, "an automaton that is not finished leaves no memory behind");
}

static void test_numbers(void)
{
    static const struct sample samples[] = {
        { "{\"type\":\"number\",\"minimum\":1e18}",
          { "1000000000000000000" },
          { "999999999999999" } },
        { "{\"type\":\"number\",\"maximum\":-1e16}",
          { "-10000000000000000" },
          { "-999999999999999", "-9" } },
        { "{\"type\":\"integer\",\"minimum\":1e19}", { "1e+19" }, { "9223372036854774784", "1" } },
        { "{\"type\":\"integer\",\"minimum\":1e300,\"maximum\":1e300}",
          { "1.0000000000000001e+300" },
          { "1" } },
        { "{\"type\":\"integer\",\"minimum\":1e300,\"maximum\":1e300,\"multipleOf\":2}",
          { "1.0000000000000001e+300" },
          { "1" } },
    };
    struct grammar_notes *notes = calloc(1, sizeof *notes);
    const struct grammar_schema one = { "{\"type\":\"integer\",\"minimum\":1e18,\"multipleOf\":7}",
                                        false };
    char error_message[GRAMMAR_ERROR_MESSAGE_BYTES], *gbnf = NULL;
    unsigned rule;

    CHECK(samples);
    OK(grammar_gbnf_of_schemas("root ::= r0\n", &one, 1, &rule, notes, &gbnf, error_message) ==
               ERR_OK &&
           compile_gbnf(gbnf) && !matches("") && matches("1000000000000000006") && notes->n == 1 &&
           notes->list[0].checked,
       "multiples that are too large to write become any number: %s", error_message);
    free(gbnf);
    free(notes);
}

/* A place that is cut is cut between characters. */
static void test_places(void)
{
    bool good = true;

    for (unsigned before = 0; before < 4; before++) {
        struct grammar_notes *notes = calloc(1, sizeof *notes);
        char error_message[GRAMMAR_ERROR_MESSAGE_BYTES], *gbnf = NULL;
        struct text t = { 0 };
        struct grammar_schema one = { 0 };
        unsigned rule;

        text_format(&t, "{\"properties\":{\"%.*s", (int)before, "aaaa");
        for (unsigned i = 0; i < 60; i++) {
            text_put(&t, "\xe4\xb8\x80");
        }
        text_put(&t, "\":{\"type\":\"array\",\"uniqueItems\":true}}}");
        one.text = t.s;
        good = good &&
               grammar_gbnf_of_schemas("", &one, 1, &rule, notes, &gbnf, error_message) == ERR_OK &&
               notes->n == 1;
        for (const char *s = notes->list[0].where; good && *s != '\0';) {
            int n = utf8_check((const uint8_t *)s, strnlen(s, 4));

            good = n > 0;
            s += n > 0 ? n : 0;
        }
        good = good && strstr(notes->list[0].where, "/uniqueItems") != NULL;
        free(gbnf);
        free(notes);
        free(t.s);
    }
    OK(good, "a long list of other letters is cut between two of them");
}

/* An empty text a thousand million times has no states to count. */
static void test_nothing_often(void)
{
    clock_t begin = clock();
    struct pattern *often = pattern_new("(((){1000}){1000}){1000}"),
                   *seldom = pattern_new("^(((){10}){10}){10}a{3}$");

    OK(clock() - begin < CLOCKS_PER_SEC, "repetitions of repetitions of nothing end in time");
    OK(often == NULL && seldom != NULL && pattern_matches(seldom, "aaa") &&
           !pattern_matches(seldom, "aa"),
       "too many repetitions are not accepted, and few change nothing");
    pattern_free(often);
    pattern_free(seldom);
}

/* Values that are written one by one find no room; those with the same beginnings share it. */
static void test_many_values(void)
{
    struct text t = { 0 };
    bool complete = false, other = true;

    text_put(&t, "{\"enum\":[3,\"éa\",\"èa\",\"a\\\"b\",\"a\\\\b\"");
    for (unsigned i = 0; i < 800; i++) {
        text_format(&t, ",\"the value that has the number %u\"", i);
    }
    text_put(&t, "]}");
    OK(compile_schema(t.s), "800 texts of an enum have room: %s", compiled_error_message);
    (void)walk("\"the value that has the number 799\"", 35, &complete);
    (void)walk("\"the value that has the number 800\"", 35, &other);
    OK(complete && !other, "the texts of the enum are allowed, and no others");
    OK(matches("3") && matches("\"éa\"") && matches("\"èa\"") && matches("\"a\\\"b\"") &&
           matches("\"a\\\\b\""),
       "a number, letters of two bytes and escapes are allowed");
    free(t.s);
}

/* A keyword that is not a schema restricts nothing, and the rest of the document is still held. */
static void test_no_schema(void)
{
    static const char schema[] =
        "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"array\",\"items\":5},"
        "\"b\":{\"type\":\"integer\"}},\"required\":[\"a\",\"b\"]}";
    const struct grammar_schema one = { .text = schema };
    struct grammar_notes *notes = calloc(1, sizeof *notes);
    char error_message[GRAMMAR_ERROR_MESSAGE_BYTES], *gbnf = NULL;
    unsigned rule;
    enum err e = grammar_gbnf_of_schemas("root ::= r0\n", &one, 1, &rule, notes, &gbnf,
                                         error_message);

    OK(e == ERR_OK && notes->n == 1 && strcmp(notes->list[0].where, "/properties/a/items") == 0 &&
           !notes->list[0].checked,
       "a number in the place of a schema is named: %s", notes->list[0].where);
    OK(e == ERR_OK && compile_gbnf(gbnf) && matches("{\"a\":[1,\"x\"],\"b\":2}") &&
           !matches("{\"a\":[],\"b\":\"2\"}") && !matches("{\"b\":2}"),
       "the other keywords are enforced");
    OK(!compile_schema(schema) && strstr(compiled_error_message, "/properties/a/items") != NULL,
       "a keyword without notes is an error that names the place: %s", compiled_error_message);
    free(gbnf);
    free(notes);
}

/* cJSON ends a text at this character. */
static void test_nul(void)
{
    OK(!compile_schema("{\"const\":\"a\\\\\\u0000b\"}") &&
           strstr(compiled_error_message, "has the character \\u0000") != NULL,
       "a schema with the character \\u0000 is refused: %s", compiled_error_message);
    OK(compile_schema("{\"const\":\"a\\\\u0000b\"}") && matches("\"a\\\\u0000b\""),
       "a backslash before u0000 is a character of the text: %s", compiled_error_message);
}

int main(void)
{
    test_bounds();
    test_nul();
    test_nothing_often();
    test_many_values();
    test_no_schema();
    test_no_leak();
    test_numbers();
    test_places();
    free(compiled_memory);
    return tap_done();
}
