/* JSON Schema as grammars (flash_image/grammar/schema.h): the texts that a schema allows, for each keyword and for all
 * together; schemas that generators write; keywords that a grammar cannot hold (schema_check_test.c tests the check
 * that follows). */
#include "flash_image/grammar/schema.h"
#include "tests/unit/grammar/samples.h"

/* ---- keywords beside each other --------------------------------------------------------------- */

static void test_siblings(void)
{
    static const struct sample samples[] = {
        { "{\"oneOf\":[{\"required\":[\"sum\"]}],\"type\":\"object\",\"properties\":{\"sum\":{\"type\":\"integer\"}},"
          "\"additionalProperties\":false}",
          { "{\"sum\":4}" },
          { "4", "{}", "{\"sum\":\"a\"}", "{\"a\":1}" } },
        { "{\"$ref\":\"#/$defs/place\",\"required\":[\"city\"],\"properties\":{\"city\":{\"type\":\"string\"}},"
          "\"$defs\":{\"place\":{\"type\":\"object\"}}}",
          { "{\"city\":\"x\"}" },
          { "{}", "1", "\"city\"" } },
        { "{\"type\":\"integer\",\"enum\":[\"low\",1,2.5,2]}",
          { "1", "2" },
          { "\"low\"", "2.5", "3" } },
        { "{\"enum\":[1,5,9],\"minimum\":4,\"not\":{\"const\":9}}", { "5" }, { "1", "9" } },
        { "{\"const\":\"a\",\"type\":\"string\"}", { "\"a\"" }, { "\"b\"" } },
        { "{\"items\":{\"type\":\"integer\"},\"maxItems\":3}",
          { "[]", "[1,2,3]", "\"a\"", "{\"a\":1}", "null", "1.5" },
          { "[\"a\"]", "[1,2,3,4]" } },
        { "{\"anyOf\":[{\"type\":\"integer\"},{\"type\":\"string\"}],\"minimum\":3,\"maxLength\":2}",
          { "3", "\"ab\"" },
          { "2", "\"abc\"", "true" } },
        { "{\"anyOf\":[{\"minimum\":5},{\"maximum\":2}],\"oneOf\":[{\"type\":\"integer\"},{\"type\":\"null\"}]}",
          { "5", "2", "null" },
          { "3", "true" } },
        { "{\"allOf\":[{\"properties\":{\"a\":{\"type\":\"integer\"}},\"required\":[\"a\"]},"
          "{\"properties\":{\"b\":{\"type\":\"string\"}},\"required\":[\"b\"]}],\"type\":\"object\"}",
          { "{\"a\":1,\"b\":\"x\"}" },
          { "{\"a\":1}", "{\"b\":\"x\"}", "{\"a\":\"x\",\"b\":\"x\"}" } },
        { "{\"allOf\":[{\"minimum\":2},{\"maximum\":4}],\"type\":\"integer\",\"exclusiveMaximum\":4}",
          { "2", "3" },
          { "1", "4" } },
        { "{\"properties\":{\"a\":{\"type\":\"integer\"},\"b\":{}},\"required\":[\"a\"],\"additionalProperties\":false,"
          "\"allOf\":[{\"properties\":{\"a\":{\"maximum\":3},\"c\":{}}}]}",
          { "{\"a\":3}", "{\"a\":1,\"b\":[]}" },
          { "{\"a\":4}", "{\"a\":1,\"c\":1}" } },
        { "{\"type\":\"string\",\"not\":{\"type\":\"integer\"},\"title\":\"t\",\"x-y\":1}",
          { NULL },
          { NULL } },
    };

    check_samples(samples, sizeof samples / sizeof samples[0] - 1);
    OK(!compile_schema(samples[sizeof samples / sizeof samples[0] - 1].schema) &&
           strstr(compiled_error_message, "/not of the schema") != NULL,
       "a schema with not is refused: %s", compiled_error_message);
}

static void test_required(void)
{
    static const char *const wrong[] = {
        "{\"type\":\"object\",\"required\":\"a\"}", "{\"type\":\"object\",\"required\":[\"a\",1]}",
        "{\"properties\":{\"a\":{\"type\":\"string\",\"required\":true}}}"
    };

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        OK(!compile_schema(wrong[i]) &&
               strstr(compiled_error_message, "required of the schema: it "),
           "a required that is not a list of names is refused: %s", compiled_error_message);
    }
    OK(compile_schema("{\"type\":\"object\",\"required\":null}") &&
           compile_schema("{\"type\":\"object\",\"required\":false}"),
       "required may be null or false");
}

static void test_booleans(void)
{
    static const struct sample samples[] = {
        { "true", { "1", "\"a\"", "[{\"a\":null}]" }, { "", "a" } },
        { "{}", { "1", "{\"a\":[1]}" }, { "" } },
        { "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"}},\"required\":[\"name\"],"
          "\"additionalProperties\":{}}",
          { "{\"name\":\"a\"}", "{\"name\":\"a\",\"b\":[1]}",
            "{\"name\":\"a\", \"nam\":1, \"names\":2}" },
          { "{}", "{\"b\":1}", "{\"name\":1}", "{\"name\":\"a\",\"name\":1}" } },
        { "{\"type\":\"object\",\"properties\":{\"a\":true,\"b\":false}}",
          { "{\"a\":1}", "{}" },
          { "{\"b\":1}", "{\"a\":1,\"b\":1}" } },
        { "{\"type\":\"array\",\"items\":true}", { "[1,\"a\"]", "[]" }, { "1" } },
        { "{\"type\":\"array\",\"items\":false}", { "[]" }, { "[1]" } },
        { "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"integer\"}}",
          { "{}", "{\"a\":1}", "{\"a\":1, \"b\":2}" },
          { "{\"a\":\"x\"}" } },
        { "{\"anyOf\":[false,{\"type\":\"null\"}]}", { "null" }, { "1" } },
        { "{\"allOf\":[true,{\"type\":\"null\"}]}", { "null" }, { "1" } },
    };

    CHECK(samples);
    OK(!compile_schema("false") &&
           strcmp(compiled_error_message, "no value satisfies the schema") == 0,
       "a schema that no value satisfies is refused: %s", compiled_error_message);
    OK(!compile_schema("{\"type\":\"object\",\"properties\":{\"a\":false},\"required\":[\"a\"]}"),
       "a required property that is impossible is refused");
}

/* ---- references ---------------------------------------------------------------------------------- */

static void test_references(void)
{
    static const struct sample samples[] = {
        { "{\"$ref\":\"#/$defs/date~1time\",\"$defs\":{\"date/time\":{\"type\":\"null\"}}}",
          { "null" },
          { "1" } },
        { "{\"$ref\":\"#/$defs/a~0b%25%20c\",\"$defs\":{\"a~b% c\":{\"type\":\"null\"}}}",
          { "null" },
          { "1" } },
        { "{\"$ref\":\"#/items/1\",\"items\":[{\"type\":\"integer\"},{\"type\":\"null\"}]}",
          { "null" },
          { "1" } },
        { "{\"$ref\":\"#/properties/a/anyOf/0\",\"properties\":{\"a\":{\"anyOf\":[{\"const\":\"x\"}]}}}",
          { "\"x\"" },
          { "1" } },
        { "{\"$ref\":\"#here\",\"$defs\":{\"a\":{\"$anchor\":\"here\",\"type\":\"null\"}}}",
          { "null" },
          { "1" } },
        { "{\"$ref\":\"#old\",\"definitions\":{\"a\":{\"$id\":\"#old\",\"type\":\"null\"}}}",
          { "null" },
          { "1" } },
        { "{\"$id\":\"http://x.org/root.json\",\"$ref\":\"item.json#/$defs/n\",\"$defs\":{\"i\":{\"$id\":\"item.json\","
          "\"$defs\":{\"n\":{\"type\":\"null\"}}}}}",
          { "null" },
          { "1" } },
        { "{\"type\":\"object\",\"properties\":{\"next\":{\"$ref\":\"#\"},\"n\":{\"type\":\"integer\"}},\"required\":[\"n\"]}",
          { "{\"n\":1}", "{\"next\":{\"next\":{\"n\":1},\"n\":2},\"n\":3}" },
          { "{\"next\":{}}", "{\"next\":{},\"n\":1}" } },
        { "{\"$ref\":\"#/$defs/tree\",\"$defs\":{\"tree\":{\"type\":\"object\",\"properties\":{\"v\":{\"type\":\"integer\"},"
          "\"kids\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/tree\"}}},\"required\":[\"v\"]}}}",
          { "{\"v\":1}", "{\"v\":1,\"kids\":[{\"v\":2},{\"v\":3,\"kids\":[]}]}" },
          { "{\"v\":1,\"kids\":[{}]}" } },
    };

    CHECK(samples);
    OK(!compile_schema("{\"$ref\":\"other.json#/a\"}") &&
           strcmp(compiled_error_message,
                  "a $ref of the schema leads to another document: other.json#/a") == 0,
       "a $ref to another document is refused: %s", compiled_error_message);
    OK(!compile_schema("{\"$ref\":\"#/items/01\",\"items\":[{},{}]}") &&
           !compile_schema("{\"$ref\":\"#/items/2\",\"items\":[{},{}]}"),
       "a $ref to an element that does not exist is refused");
    OK(!compile_schema("{\"allOf\":[{\"$ref\":\"#\"}]}") &&
           strcmp(compiled_error_message, "a $ref of the schema leads back to itself") == 0,
       "a $ref that leads back to itself is refused: %s", compiled_error_message);
}

/* ---- numbers ------------------------------------------------------------------------------------- */

static bool in_range(const char *text, double low, double high)
{
    return strtod(text, NULL) >= low && strtod(text, NULL) <= high;
}

/* Tries every number of up to two digits on each side of the point against bounds. */
static void test_ranges(void)
{
    static const double bounds[][2] = { { 0, 1 },        { -1.5, 2.25 }, { 0.1, 0.3 },
                                        { -0.75, -0.5 }, { 3, 3 },       { -2, 0 },
                                        { 1.05, 10.5 },  { 0.25, 99 },   { -12.5, 12.5 } };

    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        char schema[100], text[20];
        unsigned wrong = 0;

        snprintf(schema, sizeof schema, "{\"type\":\"number\",\"minimum\":%g,\"maximum\":%g}",
                 bounds[i][0], bounds[i][1]);
        if (!compile_schema(schema)) {
            wrong = 1;
        }
        for (int n = -2000; n <= 2000 && wrong == 0; n++) {
            snprintf(text, sizeof text, "%s%d.%02d", n < 0 ? "-" : "", abs(n) / 100, abs(n) % 100);
            wrong += matches(text) != in_range(text, bounds[i][0], bounds[i][1]);
            if (n % 100 == 0) {
                snprintf(text, sizeof text, "%d", n / 100);
                wrong += matches(text) != in_range(text, bounds[i][0], bounds[i][1]);
            }
        }
        OK(wrong == 0 && !matches("1e0") && !matches("01") && !matches("1."),
           "the bounds of numbers are enforced: %s", schema);
    }
}

static void test_numbers(void)
{
    static const struct sample samples[] = {
        { "{\"type\":\"integer\",\"minimum\":-9007199254740991,\"maximum\":9007199254740991}",
          { "0", "-1", "999999999999999" },
          { "1.5", "01" } },
        { "{\"type\":\"integer\",\"minimum\":-9223372036854775808,\"maximum\":9223372036854775807}",
          { "-5" },
          { "" } },
        { "{\"type\":\"integer\",\"minimum\":0,\"maximum\":18446744073709551615}",
          { "0", "7" },
          { "-1" } },
        { "{\"type\":\"integer\",\"minimum\":1000000000000000000}",
          { "1000000000000000000", "9000000000000000000" },
          { "5", "999999999999999999" } },
        { "{\"type\":\"number\",\"maximum\":1.7976931348623157e308}", { "1", "0.5" }, { "a" } },
        { "{\"type\":\"integer\",\"exclusiveMinimum\":0}", { "1", "10" }, { "0", "-1" } },
        { "{\"type\":\"integer\",\"exclusiveMinimum\":0.5,\"exclusiveMaximum\":3}",
          { "1", "2" },
          { "0", "3" } },
        { "{\"type\":\"integer\",\"minimum\":0.0,\"maximum\":3.7}", { "0", "3" }, { "4" } },
        { "{\"type\":\"integer\",\"minimum\":5,\"exclusiveMinimum\":true}", { "6" }, { "5" } },
        { "{\"type\":\"number\",\"exclusiveMinimum\":0,\"exclusiveMaximum\":1}",
          { "0.5", "0.001", "0.999" },
          { "0", "1", "0.0", "1.0", "0.000", "-0.5" } },
        { "{\"type\":[\"number\",\"null\"],\"minimum\":-1,\"maximum\":1}",
          { "null", "0.5", "-1", "1.0" },
          { "1.01", "\"a\"" } },
        { "{\"anyOf\":[{\"type\":\"number\",\"minimum\":0.5},{\"type\":\"null\"}]}",
          { "0.5", "7.25", "null" },
          { "0.4", "-1" } },
        { "{\"minimum\":2,\"maximum\":3}", { "2.5", "\"a\"", "[]" }, { "1", "3.5" } },
        { "{\"type\":\"integer\",\"multipleOf\":5,\"minimum\":0,\"maximum\":20}",
          { "0", "15", "20" },
          { "3", "25" } },
        { "{\"type\":\"integer\",\"multipleOf\":7}",
          { "0", "14", "-21", "7000000" },
          { "1", "15", "-20" } },
        { "{\"type\":\"number\",\"multipleOf\":10,\"allOf\":[{\"multipleOf\":4}]}",
          { "20", "40" },
          { "10", "30", "20.5" } },
        { "{\"type\":\"number\",\"multipleOf\":0.01}", { "1.25", "-3.5", "7" }, { "1.255" } },
        { "{\"type\":\"number\",\"multipleOf\":0.1,\"minimum\":0,\"maximum\":1}",
          { "0.1", "1" },
          { "0.15", "1.1" } },
        { "{\"type\":\"integer\",\"multipleOf\":0.5}", { "3" }, { "3.5" } },
    };

    CHECK(samples);
    OK(!compile_schema("{\"type\":\"number\",\"minimum\":2,\"maximum\":1}") &&
           !compile_schema("{\"type\":\"integer\",\"minimum\":1.2,\"maximum\":1.8}"),
       "ranges without a number are refused");
    test_ranges();
}

/* ---- strings ------------------------------------------------------------------------------------- */

static void test_strings(void)
{
    static const struct sample samples[] = {
        { "{\"type\":\"string\",\"pattern\":\"^[a-z]{2,5}-\\\\d+$\",\"minLength\":5,\"maxLength\":9}",
          { "\"ab-12\"", "\"abcde-123\"" },
          { "\"ab-1\"", "\"abcde-1234\"", "\"a-123\"", "\"ab-12x\"" } },
        { "{\"type\":\"string\",\"pattern\":\"b+\"}",
          { "\"b\"", "\"abc\"", "\"\xc3\xa9 bb\"" },
          { "\"\"", "\"ac\"" } },
        { "{\"type\":\"string\",\"pattern\":\"^a|b$\"}",
          { "\"ax\"", "\"xb\"", "\"a\"" },
          { "\"xa\"", "\"bx\"" } },
        { "{\"type\":\"string\",\"pattern\":\"^(?=.*[A-Z])(?!.*x)[A-Za-z]{3,}$\"}",
          { "\"aBc\"" },
          { "\"abc\"", "\"aBx\"", "\"aB\"" } },
        { "{\"type\":\"string\",\"pattern\":\"^[^\\\"\\\\\\\\]\\\"$\"}",
          { "\"a\\\"\"" },
          { "\"\\\"\\\"\"", "\"a\"" } },
        { "{\"type\":\"string\",\"pattern\":\"^\\\\u00e9\\\\x41\\\\.\\\\s\\\\n?$\"}",
          { "\"\xc3\xa9"
            "A. \"",
            "\"\xc3\xa9"
            "A.\\t\\n\"" },
          { "\"eA. \"" } },
        { "{\"type\":\"string\",\"pattern\":\"^\\\\ud83d\\\\ude00$\"}",
          { "\"\xf0\x9f\x98\x80\"" },
          { "\"a\"" } },
        { "{\"type\":\"string\",\"pattern\":\"^x{2}$\",\"allOf\":[{\"pattern\":\"x\"},{\"maxLength\":3}]}",
          { "\"xx\"" },
          { "\"x\"", "\"xxx\"" } },
        { "{\"type\":\"string\",\"format\":\"date\"}",
          { "\"2026-11-28\"" },
          { "\"2026-13-01\"", "\"2026-02-30\"", "\"x\"" } },
        { "{\"type\":\"string\",\"format\":\"date-time\"}",
          { "\"2026-11-28T07:30:00Z\"", "\"2026-11-28T07:30:00.25+01:00\"" },
          { "\"2026-11-28\"", "\"2026-11-28T25:00:00Z\"" } },
        { "{\"type\":\"string\",\"format\":\"uuid\"}",
          { "\"123e4567-e89b-12d3-a456-426614174000\"" },
          { "\"123e4567\"" } },
        { "{\"type\":\"string\",\"format\":\"ipv4\"}",
          { "\"10.0.0.255\"" },
          { "\"10.0.0.256\"", "\"10.0.0\"" } },
        { "{\"type\":\"string\",\"format\":\"email\"}",
          { "\"a.b@c.org\"" },
          { "\"a\"", "\"a@b\"" } },
        { "{\"type\":\"string\",\"format\":\"made-up\"}", { "\"x\"" }, { "1" } },
        { "{\"type\":\"string\",\"format\":\"date\",\"pattern\":\"^x$\"}",
          { "\"x\"" },
          { "\"2026-11-28\"" } },
        { "{\"type\":\"string\",\"minLength\":2,\"maxLength\":3}",
          { "\"ab\"", "\"\xc3\xa9\xc3\xa9\xc3\xa9\"" },
          { "\"a\"", "\"abcd\"" } },
    };

    CHECK(samples);
    OK(!compile_schema("{\"type\":\"string\",\"pattern\":\"(a)\\\\1\"}") &&
           strstr(compiled_error_message, "/pattern of the schema") != NULL,
       "a pattern with a reference back is refused: %s", compiled_error_message);
    OK(!compile_schema("{\"type\":\"string\",\"pattern\":\"^a$\",\"minLength\":2}"),
       "a pattern that its length rules out is refused");
}

/* ---- arrays and objects -------------------------------------------------------------------------- */

static void test_arrays(void)
{
    static const struct sample samples[] = {
        { "{\"type\":\"array\",\"prefixItems\":[{\"type\":\"integer\"},{\"type\":\"string\"}],\"minItems\":2,\"maxItems\":2}",
          { "[1,\"a\"]", "[1, \"a\"]" },
          { "[]", "[1]", "[1,2]", "[1,\"a\",1]" } },
        { "{\"type\":\"array\",\"prefixItems\":[{\"type\":\"integer\"}],\"items\":false}",
          { "[]", "[1]" },
          { "[1,1]", "[\"a\"]" } },
        { "{\"type\":\"array\",\"prefixItems\":[{\"type\":\"integer\"}],\"items\":{\"type\":\"string\"},\"minItems\":2}",
          { "[1,\"a\"]", "[1,\"a\",\"b\"]" },
          { "[1]", "[1,1]" } },
        { "{\"type\":\"array\",\"items\":[{\"type\":\"integer\"},{\"type\":\"null\"}],\"additionalItems\":{\"type\":\"string\"}}",
          { "[]", "[1]", "[1,null,\"a\"]" },
          { "[null]", "[1,null,1]" } },
        { "{\"type\":\"array\",\"items\":[{\"type\":\"integer\"}],\"additionalItems\":false}",
          { "[1]", "[]" },
          { "[1,1]" } },
        { "{\"type\":\"array\",\"items\":{\"type\":\"integer\"},\"minItems\":1,\"maxItems\":2}",
          { "[1]", "[1, 2]" },
          { "[]", "[1,2,3]" } },
        { "{\"type\":\"array\",\"items\":{\"type\":\"integer\"},\"maxItems\":0}",
          { "[]" },
          { "[1]" } },
        { "{\"type\":\"array\",\"maxItems\":1,\"uniqueItems\":true}",
          { "[1]", "[]" },
          { "[1,2]" } },
    };

    CHECK(samples);
}

static void test_objects(void)
{
    static const struct sample samples[] = {
        { "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"},\"b\":{\"type\":\"integer\"},\"c\":{\"type\":\"integer\"}},"
          "\"required\":[\"b\"]}",
          { "{\"b\":1}", "{\"a\":1,\"b\":2}", "{\"b\":1,\"c\":2}", "{\"a\":1, \"b\":2, \"c\":3}" },
          { "{}", "{\"a\":1}", "{\"c\":1}", "{\"b\":1,\"a\":2}", "{\"b\":1,}", "{,\"b\":1}" } },
        { "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"},\"b\":{\"type\":\"integer\"},\"c\":{\"type\":\"integer\"}}}",
          { "{}", "{\"a\":1}", "{\"b\":1}", "{\"c\":1}", "{\"a\":1,\"c\":1}",
            "{\"a\":1,\"b\":1,\"c\":1}" },
          { "{\"c\":1,\"a\":1}", "{\"d\":1}" } },
        { "{\"type\":\"object\",\"properties\":{\"a\":{}},\"required\":[\"a\",\"b\"]}",
          { "{\"a\":1,\"b\":[]}" },
          { "{\"a\":1}" } },
        { "{\"type\":\"object\",\"patternProperties\":{\"^n_\":{\"type\":\"integer\"}},\"additionalProperties\":false}",
          { "{}", "{\"n_a\":1,\"n_\":2}" },
          { "{\"n_a\":\"x\"}", "{\"m\":1}" } },
        { "{\"type\":\"object\",\"patternProperties\":{\"^n\":{\"type\":\"integer\"}},\"additionalProperties\":{\"type\":\"string\"}}",
          { "{\"n\":1,\"m\":\"a\"}" },
          { "{\"n\":\"a\"}", "{\"m\":1}" } },
        { "{\"type\":\"object\",\"propertyNames\":{\"pattern\":\"^[a-z]+$\"},\"additionalProperties\":{\"type\":\"integer\"}}",
          { "{\"ab\":1}" },
          { "{\"A\":1}", "{\"\":1}" } },
        { "{\"type\":\"object\",\"propertyNames\":{\"type\":\"string\"},\"additionalProperties\":{\"type\":\"string\"}}",
          { "{\"ab\":\"x\"}", "{}" },
          { "{\"A\":1}" } },
        { "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"integer\"},\"minProperties\":1,\"maxProperties\":2}",
          { "{\"a\":1}", "{\"a\":1,\"b\":2}" },
          { "{}", "{\"a\":1,\"b\":2,\"c\":3}" } },
        { "{\"type\":\"object\",\"additionalProperties\":false}", { "{}" }, { "{\"a\":1}" } },
        { "{\"type\":\"object\",\"properties\":{\"a.b\":{\"type\":\"null\"}},"
          "\"additionalProperties\":{\"type\":\"integer\"}}",
          { "{\"a.b\":null}", "{\"axb\":1}" },
          { "{\"a.b\":1}", "{\"axb\":null}" } },
        { "{\"type\":\"object\"}", { "{}", "{\"a\":[1]}" }, { "[]" } },
        { "{\"properties\":{\"a b\\\"c\":{\"type\":\"null\"}}}",
          { "{\"a b\\\"c\":null}" },
          { "{\"a\":null}" } },
    };

    CHECK(samples);
}

/* A list that would take thousands of nodes if it were written for each beginning. */
static void test_many_members(void)
{
    struct text schema = { 0 };
    char text[40];

    text_put(&schema, "{\"type\":\"object\",\"properties\":{");
    for (unsigned i = 0; i < 120; i++) {
        text_format(&schema, "%s\"member_%u\":{\"type\":\"integer\"}", i != 0 ? "," : "", i);
    }
    text_put(&schema, "}}");
    OK(compile_schema(schema.s) && compiled_bytes < 55000,
       "120 members of which none is required compile to %zu bytes", compiled_bytes);
    snprintf(text, sizeof text, "{\"member_3\":1,\"member_119\":2}");
    OK(matches(text) && !matches("{\"member_119\":1,\"member_3\":2}") &&
           !matches("{\"member_120\":1}"),
       "members match in their order");
    free(schema.s);
}

/* ---- what is not held ----------------------------------------------------------------------------- */

static struct grammar_notes notes;

static bool notes_of(const char *schema, const char *where, bool checked)
{
    const struct grammar_schema one = { .text = schema };
    char *gbnf = NULL, error_message[GRAMMAR_ERROR_MESSAGE_BYTES];
    unsigned rule;
    bool good;

    memset(&notes, 0, sizeof notes);
    good = grammar_gbnf_of_schemas("root ::= r0\n", &one, 1, &rule, &notes, &gbnf, error_message) ==
               ERR_OK &&
           compile_gbnf(gbnf);
    free(gbnf);
    for (unsigned i = 0; good && i < notes.n; i++) {
        if (strcmp(notes.list[i].where, where) == 0) {
            return notes.list[i].checked == checked;
        }
        printf("# %s\n", notes.list[i].where);
    }
    return false;
}

static void test_notes(void)
{
    static const struct {
        const char *schema, *where;
        bool checked;
    } samples[] = {
        { "{\"properties\":{\"a\":{\"type\":\"string\",\"not\":{\"const\":\"x\"}}}}",
          "/properties/a/not", true },
        { "{\"type\":\"array\",\"uniqueItems\":true}", "/uniqueItems", true },
        { "{\"type\":\"array\",\"contains\":{\"const\":1}}", "/contains", true },
        { "{\"oneOf\":[{\"type\":\"integer\"},{\"type\":\"number\"}]}", "/oneOf", true },
        { "{\"type\":\"object\",\"dependentRequired\":{\"a\":[\"b\"]}}", "/dependentRequired",
          true },
        { "{\"type\":\"object\",\"properties\":{\"a/b\":{\"if\":{\"const\":1},\"then\":{\"const\":2}}}}",
          "/properties/a~1b/if", true },
        { "{\"type\":\"string\",\"pattern\":\"(?<=a)b\"}", "/pattern", false },
        { "{\"$ref\":\"http://x.org/y\"}", "/$ref", false },
        { "{\"type\":\"text\"}", "/type", false },
        { "{\"type\":\"object\",\"properties\":{\"a\":{\"minLength\":\"3\"}}}",
          "/properties/a/minLength", false },
        { "{\"type\":\"number\",\"multipleOf\":2.5}", "/multipleOf", true },
        { "{\"type\":\"string\",\"minLength\":60001}", "/minLength", true },
        { "{\"type\":\"string\",\"minLength\":60001,\"maxLength\":70000}", "/maxLength", true },
        { "{\"items\":{\"minLength\":2000000000}}", "/items/minLength", true },
        { "{\"pattern\":\"^a\",\"minLength\":60001}", "/minLength", true },
        { "{\"propertyNames\":{\"minLength\":60001}}", "/propertyNames/minLength", true },
        { "{\"type\":\"string\",\"pattern\":\"^(a|b|ab)*c(a|b){300}$\",\"maxLength\":900}",
          "/maxLength", true },
    };

    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        OK(notes_of(samples[i].schema, samples[i].where, samples[i].checked),
           "the note on %s names %s", samples[i].schema, samples[i].where);
    }
}

int main(void)
{
    test_siblings();
    test_required();
    test_booleans();
    test_references();
    test_numbers();
    test_strings();
    test_arrays();
    test_objects();
    test_many_members();
    test_notes();
    free(compiled_memory);
    return tap_done();
}
