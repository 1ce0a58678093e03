/* Grammars: what GBNF and JSON Schema allow, what they refuse by name, and compiled ones that are
 * damaged. */
#include <cjson/cJSON.h>

#include "runtime/base/crc32c.h"
#include "tests/unit/grammar/compiled.h"

/* texts: those that match, NULL, those that do not, NULL. */
static void test_texts(const char *name, bool good, const char *const *texts)
{
    OK(good, "%s compiles, %zu bytes", name, good ? compiled_bytes : 0);
    for (; good && *texts != NULL; texts++) {
        OK(matches(*texts), "%s: %.60s", name, *texts);
    }
    for (texts++; good && *texts != NULL; texts++) {
        OK(!matches(*texts), "%s: not %.60s", name, *texts);
    }
}

#define TEXTS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void test_gbnf(void)
{
    test_texts("a text", compile_gbnf("root ::= \"yes\" | \"no\" # either\n"),
               TEXTS("yes", "no", NULL, "", "ye", "yesno", "n", "maybe"));
    test_texts("repeats", compile_gbnf("root ::= \"a\"{2,3} \"b\"? [c-e]+ [^f-z]*"),
               TEXTS("aac", "aaabde", "aaccA", NULL, "ac", "aaaac", "aab", "aacz", "aacq"));
    test_texts("counted", compile_gbnf("root ::= \"(\" [0-9a-f]{500,600} \")\""),
               TEXTS(NULL, "()", "(1)", "(12"));
    test_texts("counted without an end", compile_gbnf("root ::= (\"abc\" | \"d\"){40,}"),
               TEXTS("dddddddddddddddddddddddddddddddddddddddd",
                     "abcddddddddddddddddddddddddddddddddddddddabcabc", NULL,
                     "ddddddddddddddddddddddddddddddddddddddd", "dddddddab"));
    test_texts("characters", compile_gbnf("root ::= [a-z\\u00e4-\\u20ac\\U0001F600]+ ."),
               TEXTS("z\xc3\xa4\xe2\x82\xac!", "\xf0\x9f\x98\x80\xf0\x9f\x98\x81", NULL, "A!",
                     "\xc3", "z\xe2\x82", "\xf0\x9f\x98\x81!"));
    test_texts("a rule in itself",
               compile_gbnf("root ::= list\nlist ::= \"[\" (item (\",\" item)*)? \"]\"\n"
                            "item ::= [0-9]+ |\n  list\n"),
               TEXTS("[]", "[1,[2,[3,[]]],44]", NULL, "[", "[1,]", "[[]", "]"));
    test_texts("two ways", compile_gbnf("root ::= a | b\na ::= \"x\"+ \"1\"\nb ::= \"x\"+ \"2\"\n"),
               TEXTS("xxx1", "xx2", NULL, "xx", "1"));
    test_texts("two ways by calls",
               compile_gbnf("root ::= a \"1\" | b \"2\"\na ::= \"x\" (a | \"y\")\nb ::= \"x\" (b | "
                            "\"y\")\n"),
               TEXTS("xxxxy1", "xy2", NULL, "xxxx1", "xyy"));
    test_texts("nothing repeated", compile_gbnf("root ::= (\"a\"?){3,60} \"b\""),
               TEXTS("b", "aab", NULL, "a", "bb"));
}

static void test_long(void)
{
    static char text[700];
    bool complete;

    OK(compile_gbnf("root ::= \"(\" [0-9a-f]{500,600} \")\"") && compiled_bytes < 200,
       "500 to 600 characters take %zu bytes", compiled_bytes);
    memset(text, 'a', sizeof text);
    text[0] = '(';
    OK(walk(text, sizeof text, &complete) == 601 && !complete, "at most 600 of them");
    text[500] = ')';
    OK(walk(text, 501, &complete) == 500, "not 499");
    text[500] = 'a';
    text[501] = ')';
    OK(walk(text, 502, &complete) == 502 && complete, "but 500");
}

static void test_gbnf_problems(void)
{
    static const char *const wrong[][2] = {
        { "", "there is no rule root, with which it begins" },
        { "root ::= \"a", "line 1: a text has no closing quote" },
        { "root ::= \"\\q\"",
          "line 1: no escape is called so: \\n \\r \\t \\\\ \\\" \\[ \\] \\xHH \\uHHHH" },
        { "root ::= \"a\"\nroot ::= \"b\"", "line 2: a rule of this name is there already" },
        { "\nroot ::= b", "line 2: there is no rule b" },
        { "a ::= root\nroot ::= a \"x\" | \"y\"", "line 1: rule a begins with itself, which never "
                                                  "ends: put what comes first before it" },
        { "root ::= [z-a]", "line 1: a range of a class ends before it begins" },
        { "root ::= []", "line 1: a class allows no character" },
        { "root ::= (\"a\"", "line 1: a group has no closing parenthesis" },
        { "root ::= \"a\")", "line 1: a parenthesis closes nothing" },
        { "root ::= \"a\"{3,2}", "line 1: {} takes {m}, {m,} or {m,n}" },
        { "root ::= \"a\"{3", "line 1: {} takes {m}, {m,} or {m,n}" },
        { "root ::= \"a\"{99999}", "line 1: more than 60,000 times" },
        { "root = \"a\"", "line 1: here should be a rule: name ::= ..." },
        { "root ::= *", "line 1: here should be a \"text\", a [class], a name or a group" },
        { "root ::= \"\xff\"", "line 1: it is not UTF-8" },
        { "root ::= \"\\ud800\"", "line 1: no character has that number" },
    };

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        OK(!compile_gbnf(wrong[i][0]) && strcmp(compiled_problem, wrong[i][1]) == 0, "%s",
           compiled_problem);
    }
}

static void test_schema(void)
{
    test_texts("an object",
               compile_schema(
                   "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\","
                   "\"maxLength\":4},\"n\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":"
                   "250},\"on\":{\"type\":\"boolean\"}},\"required\":[\"n\"]}"),
               TEXTS("{\"name\":\"Rex\",\"n\":7}", "{\"n\": 250, \"on\": true}", "{\"n\":1}",
                     "{\"name\": \"\\u00e4\\n\", \"n\": 99, \"on\": false}", NULL, "{}",
                     "{\"n\":0}", "{\"n\":251}", "{\"n\":07}", "{\"on\":true}",
                     "{\"on\":true,\"n\":1}", "{\"name\":\"Rexxx\",\"n\":7}", "{\"n\":1,}",
                     "{\"n\":1} ", " {\"n\":1}", "{\"name\":\"a\"b\",\"n\":1}"));
    test_texts("optional ones",
               compile_schema("{\"properties\":{\"a\":{\"const\":1},\"b\":{\"const\":2},\"c\":{"
                              "\"const\":3}}}"),
               TEXTS("{}", "{\"a\":1}", "{\"b\":2}", "{\"a\":1,\"c\":3}",
                     "{\"a\":1,\"b\":2,\"c\":3}", NULL, "{\"b\":2,\"a\":1}", "{,\"c\":3}",
                     "{\"a\":2}"));
    test_texts("an array",
               compile_schema(
                   "{\"type\":\"array\",\"items\":{\"enum\":[\"a\",2,null]},\"minItems\":2,"
                   "\"maxItems\":3}"),
               TEXTS("[\"a\",2]", "[null, null, \"a\"]", NULL, "[2]", "[]", "[2,2,2,2]", "[2 ,2]"));
    test_texts("a tree",
               compile_schema(
                   "{\"$ref\":\"#/$defs/t\",\"$defs\":{\"t\":{\"type\":\"object\","
                   "\"properties\":{\"v\":{\"type\":\"integer\"},\"l\":{\"anyOf\":[{\"$ref\":"
                   "\"#/$defs/t\"},{\"type\":\"null\"}]}},\"required\":[\"v\",\"l\"]}}}"),
               TEXTS("{\"v\":-12,\"l\":null}",
                     "{\"v\":0,\"l\":{\"v\":5,\"l\":{\"v\":5,\"l\":null}}}", NULL, "{\"v\":1}",
                     "{\"v\":01,\"l\":null}"));
    test_texts("anything", compile_schema("{}"),
               TEXTS("1", "-0.5e+3", "\"\"", "[1, [true, [false]]]", "{\"a\": {\"b\": [null]}}",
                     "{}", "[]", NULL, "", "{a:1}", "[1,]", "[[[[[1]]]]]", "1.", "'a'", "nul"));
    test_texts("types", compile_schema("{\"type\":[\"number\",\"null\"]}"),
               TEXTS("null", "2.50", NULL, "true", "\"a\""));
}

/* The numbers of ranges, one by one. */
static void test_integers(void)
{
    static const int ranges[][2] = { { 0, 9 },   { 0, 0 },      { 7, 123 },   { 95, 1203 },
                                     { -5, 5 },  { -130, -7 },  { -1, 1000 }, { 100, 199 },
                                     { 19, 21 }, { 1999, 2000 } };

    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        char text[128];
        unsigned wrong = 0;

        snprintf(text, sizeof text, "{\"type\":\"integer\",\"minimum\":%d,\"maximum\":%d}",
                 ranges[i][0], ranges[i][1]);
        if (!compile_schema(text)) {
            wrong++;
        }
        for (int n = -2500; n <= 2500 && wrong == 0; n++) {
            snprintf(text, sizeof text, "%d", n);
            wrong += matches(text) != (n >= ranges[i][0] && n <= ranges[i][1]);
        }
        OK(wrong == 0 && !matches("-0") && !matches("00") && !matches(""), "%d to %d", ranges[i][0],
           ranges[i][1]);
    }
}

static void test_schema_problems(void)
{
    static const char *const wrong[][2] = {
        { "{\"type\":", "the schema is no JSON" },
        { "[]", "a schema is an object of JSON" },
        { "{\"type\":\"text\"}", "no type of JSON is called text" },
        { "{\"type\":\"string\",\"pattern\":\"a+\"}",
          "the schema's pattern is not known here, and would not be obeyed" },
        { "{\"type\":\"number\",\"minimum\":1}",
          "minimum and maximum are known of integers only: type integer" },
        { "{\"$ref\":\"#/$defs/x\"}",
          "a $ref of the schema leads nowhere: it is \"#/$defs/NAME\" here" },
        { "{\"type\":\"object\",\"properties\":{\"a\":true},\"required\":[\"b\"]}",
          "the schema requires a property that it does not describe" },
        { "{\"type\":\"integer\",\"minimum\":2,\"maximum\":1}",
          "the schema's maximum is below its minimum" },
        { "{\"type\":\"integer\",\"minimum\":0.5}",
          "the schema's minimum is not a whole number of at most 15 digits" },
        { "{\"enum\":[]}", "enum, anyOf and oneOf are lists that are not empty" },
        { "{\"type\":\"array\",\"minItems\":3,\"maxItems\":2}",
          "the schema's maxItems is below its minItems" },
        { "{\"$ref\":\"#\"}",
          "line 1: rule r0 begins with itself, which never ends: put what comes "
          "first before it" },
    };

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        OK(!compile_schema(wrong[i][0]) && strcmp(compiled_problem, wrong[i][1]) == 0, "%s",
           compiled_problem);
    }
}

static uint32_t random_bits(void)
{
    static uint64_t state = 88172645463325252u;

    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 16);
}

/* Any path through the automaton ends, and what it wrote is JSON. Bytes that end something are tried more
 * often, so that texts stay short. */
static void test_random_paths(void)
{
    static const char likely[] = "\"}],:01{[";
    unsigned complete = 0, json = 0;

    OK(compile_schema("{\"properties\":{\"a\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
                      "\"b\":{}},\"required\":[\"a\",\"b\"]}"),
       "a schema for random paths");
    for (unsigned round = 0; round < 400; round++) {
        static char text[20000];
        size_t n = 0;

        grammar_begin(&machine, &compiled);
        for (unsigned i = 0; i < 200000 && n + 1 < sizeof text; i++) {
            uint32_t r = random_bits();
            uint8_t byte = r & 256 ? (uint8_t)likely[r % (sizeof likely - 1)] : (uint8_t)(r & 0xff);

            if (byte != 0 && grammar_push(&machine, 0, byte)) {
                grammar_settle(&machine, 1);
                text[n++] = (char)byte;
            }
            if (!grammar_goes_on(&machine, 0)) {
                break;
            }
        }
        text[n] = '\0';
        if (grammar_accepts(&machine, 0)) {
            cJSON *value = cJSON_ParseWithOpts(text, NULL, true);

            complete++;
            json += value != NULL && cJSON_GetObjectItem(value, "b") != NULL;
            cJSON_Delete(value);
        }
    }
    OK(complete == 400 && json == 400, "400 random paths: %u end, %u are JSON", complete, json);
}

static void test_choices(void)
{
    static uint32_t memory[8192 / 4], work[GRAMMAR_WORK_BYTES / 4];
    static char many[40000];
    const char *problem = "";
    size_t bytes;

    OK(grammar_is_choices("a|b") && !grammar_is_choices("light"), "a bar makes choices");
    OK(grammar_from_choices("yes|no|yes, please|a\\|b", memory, sizeof memory, work, &bytes,
                            &problem) == ERR_OK &&
           grammar_open(&compiled, memory, bytes, &problem) == ERR_OK,
       "choices are a grammar of %zu bytes", bytes);
    OK(matches("yes") && matches("no") && matches("yes, please") && matches("a|b"), "each of them");
    OK(!matches("y") && !matches("") && !matches("a") && !matches("yes,") && !matches("nono"),
       "nothing else");
    OK(grammar_from_choices("yes||no", memory, sizeof memory, work, &bytes, &problem) ==
               ERR_BAD_ARGUMENT &&
           strcmp(problem, "a choice is empty") == 0,
       "%s", problem);
    memset(many, 'x', sizeof many - 1);
    many[1] = '|';
    OK(grammar_from_choices(many, memory, sizeof memory, work, &bytes, &problem) == ERR_TOO_LONG,
       "%s", problem);
}

/* Numbers that point outside, with a right checksum. */
static void test_damage(void)
{
    const char *problem = "";
    unsigned refused = 0, opened = 0;
    uint8_t *copy;

    OK(compile_gbnf("root ::= \"(\" root? \")\" | [0-9]{100,200}"), "a grammar to damage");
    copy = malloc(compiled_bytes);
    for (size_t i = 0; copy != NULL && i < compiled_bytes; i++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            struct ingot_grammar *head = (void *)copy;
            struct grammar g;
            enum err e;

            memcpy(copy, compiled_memory, compiled_bytes);
            copy[i] ^= (uint8_t)(1 << bit);
            e = grammar_open(&g, copy, compiled_bytes, &problem);
            if (e == ERR_OK) {
                OK(false, "byte %zu, bit %u: nobody noticed", i, bit);
            }
            head->crc32c = crc32c(0, &head->version, compiled_bytes - 8);
            if (grammar_open(&g, copy, compiled_bytes, &problem) == ERR_OK) {
                unsigned level = 0;

                opened++;
                grammar_begin(&machine, &g);
                while (level < 40 && grammar_push(&machine, level, level < 20 ? '(' : '5')) {
                    level++;
                }
                (void)grammar_accepts(&machine, level);
                grammar_settle(&machine, level);
            } else {
                refused++;
            }
        }
    }
    OK(opened > 100 && refused > 100, "each bit: %u refused, %u run within bounds", refused,
       opened);
    OK(grammar_open(&compiled, compiled_memory, compiled_bytes - 4, &problem) == ERR_BAD_MODEL,
       "%s", problem);
    OK(grammar_open(&compiled, "not a grammar at all", 20, &problem) == ERR_BAD_MODEL, "%s",
       problem);
    free(copy);
}

int main(void)
{
    test_gbnf();
    test_long();
    test_gbnf_problems();
    test_schema();
    test_integers();
    test_schema_problems();
    test_random_paths();
    test_choices();
    test_damage();
    free(compiled_memory);
    return tap_done();
}
