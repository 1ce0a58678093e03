/* Grammars: the texts that GBNF and JSON Schema allow, constructs that are refused by name, and
 * damaged compiled grammars. */
#include <time.h>

#include <cjson/cJSON.h>

#include "runtime/base/crc32c.h"
#include "tests/unit/grammar/compiled.h"

/* texts: those that match, NULL, those that do not, NULL. */
static void test_texts(const char *name, bool good, const char *const *texts)
{
    OK(good, "%s compiles, %zu bytes", name, good ? compiled_bytes : 0);
    for (; good && *texts != NULL; texts++) {
        OK(matches(*texts), "%s matches: %.60s", name, *texts);
    }
    for (texts++; good && *texts != NULL; texts++) {
        OK(!matches(*texts), "%s does not match: %.60s", name, *texts);
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
    OK(walk(text, sizeof text, &complete) == 601 && !complete, "at most 600 characters are taken");
    text[500] = ')';
    OK(walk(text, 501, &complete) == 500, "499 characters are too few");
    text[500] = 'a';
    text[501] = ')';
    OK(walk(text, 502, &complete) == 502 && complete, "500 repetitions are allowed");
}

/* A count of something that may be empty is a case of its own. */
static void test_flat(void)
{
    static char text[4002];
    bool complete;

    OK(compile_gbnf("root ::= (\"a\"?){4000}") && compiled_bytes < 200,
       "4000 times an item that may be empty takes %zu bytes", compiled_bytes);
    memset(text, 'a', sizeof text - 1);
    OK(walk(text, 4001, &complete) == 4000 && complete, "the grammar allows 4000 repetitions");
    OK(matches("") && matches("a"), "the grammar allows fewer repetitions");
    test_texts("of several", compile_gbnf("root ::= (((\"ab\"{0,7}){3})*){9} \"c\""),
               TEXTS("c", "ababababababababababababababababc", NULL, "a", "abac"));
    OK(compile_gbnf("root ::= (\"b\"{0,50}){0,20}") &&
           walk(memset(text, 'b', 1001), 1001, &complete) == 1000,
       "1000 repetitions are allowed by two counts");
}

/* ---- grammars that take long --------------------------------------------------------------- */

static char hostile[1 << 20];

/* Makes a text: before, n times each with %u, after. */
static const char *repeated(const char *before, unsigned n, const char *each, const char *after)
{
    size_t at = (size_t)snprintf(hostile, sizeof hostile, "%s", before);

    for (unsigned i = 0; i < n; i++) {
        const char *hole = strstr(each, "%u");
        int head = hole != NULL ? (int)(hole - each) : (int)strlen(each);

        at += (size_t)snprintf(hostile + at, sizeof hostile - at, "%.*s", head, each);
        if (hole != NULL) {
            at += (size_t)snprintf(hostile + at, sizeof hostile - at, "%u%s", i, hole + 2);
        }
    }
    (void)snprintf(hostile + at, sizeof hostile - at, "%s", after);
    return hostile;
}

/* Whether it is compiled or refused in a bounded CPU time, also under ASan. */
static bool is_quick(const char *text, bool is_schema)
{
    char *gbnf = NULL;
    clock_t begin = clock();
    bool good = true;

    compiled_error_message[0] = '\0';
    if (is_schema) {
        good = grammar_gbnf_of_schema(text, &gbnf, compiled_error_message) == ERR_OK;
    }
    good = good && compile_gbnf(gbnf != NULL ? gbnf : text);
    free(gbnf);
    printf("# %.2f s, %s\n", (double)(clock() - begin) / CLOCKS_PER_SEC,
           good ? "compiled" : compiled_error_message);
    return clock() - begin < 2 * CLOCKS_PER_SEC && (good || compiled_error_message[0] != '\0');
}

static void test_hostile_gbnf(void)
{
    static const char *const texts[] = {
        "root ::= (\"a\"? \"b\"?){4000}",
        "root ::= (\"a\"? \"b\"?){60000}",
        "root ::= (\"a\"{0,1000}){1000}",
        "root ::= (\"a\" | \"b\")* \"a\" (\"a\" | \"b\"){20}",
        "root ::= ((([a-z]* [0-9]?){0,60}){0,60}){0,60}",
        "root ::= (((((((\"a\"+)+)+)+)+)+)+ | (((\"b\"{2}){2}){2}){2}){40}",
        "root ::= ([a-f]? [b-g]? [c-h]? [d-i]? .?){900}",
        "root ::= (\"a\" | \"a\" \"a\"?){0,40} (\"a\" | \"aa\" | \"aaa\"?){0,40} (.? .? .?){300}",
        "root ::= [\\u0000-\\uffff]? ([^a] [^b] [^c])? ([\\u0100-\\u0fff]? [\\U00010000-\\U000fffff]?){2000}",
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        OK(is_quick(texts[i], false), "a hostile grammar compiles in bounded time: %s", texts[i]);
    }
    OK(is_quick(repeated("root ::= r0\n", 2046, "r%u ::= \"x\" r1 r2 r3 | ", "\"y\""), false),
       "rules that do not exist are fast");
    OK(is_quick(repeated("root ::= \"(\" ", 600, "(\"a%u\" root)? ", "\")\""), false),
       "calls of one rule are fast");
    OK(is_quick(repeated("root ::= \"", 8000, "ab", "\""), false), "a long text is fast");
    OK(is_quick(repeated("root ::= \"x\"", 12000, "+", ""), false), "12,000 times + are fast");
    OK(is_quick(repeated("root ::= \"x\"", 12000, "?", ""), false), "12,000 times ? are fast");
    OK(is_quick(repeated("root ::= \"\" ", 4000, "| \"%u\" ", ""), false), "4,000 bars are fast");
    OK(is_quick(repeated("root ::= ", 2500, "\"a\"? [b-z]? ", "\"!\""), false),
       "5,000 items that may be left out are fast");
    OK(is_quick(repeated("root ::= \"a\" # ", 200000, "#", ""), false), "a long remark is fast");
}

/* Every rule names the next ones, in both orders. */
static void test_hostile_rules(void)
{
    size_t at = (size_t)snprintf(hostile, sizeof hostile, "root ::= r0 | s0\n");

    for (unsigned i = 0; i < 1000; i++) {
        at += (size_t)snprintf(hostile + at, sizeof hostile - at,
                               "r%u ::= r%u r%u?\ns%u ::= \"a\"? s%u \"b\"\n", i, i + 1, i + 1,
                               999 - i, 1000 - i);
    }
    (void)snprintf(hostile + at, sizeof hostile - at, "r1000 ::= \"x\"?\ns1000 ::= \"y\" root?\n");
    OK(is_quick(hostile, false), "2,000 rules that name each other are fast");
}

static void test_hostile_schemas(void)
{
    {
        size_t at = (size_t)snprintf(hostile, sizeof hostile,
                                     "{\"$ref\":\"#/$defs/a0\",\"$defs\":{");

        for (unsigned i = 0; i < 30; i++) {
            at += (size_t)snprintf(
                hostile + at, sizeof hostile - at,
                "\"a%u\":{\"allOf\":[{\"$ref\":\"#/$defs/a%u\"},{\"$ref\":\"#/$defs/a%u\"}]},", i,
                i + 1, i + 1);
        }
        (void)snprintf(hostile + at, sizeof hostile - at, "\"a30\":{\"type\":\"null\"}}}");
        OK(is_quick(hostile, true), "30 schemas of which each names the next one twice are fast");
    }
    OK(is_quick(repeated("{\"$defs\":{\"x\":{}},\"allOf\":[", 8000,
                         "{\"$ref\":\"#/allOf/%u/title\",\"title\":{}},", "true]}"),
                true),
       "8,000 references into a long schema are fast");
    OK(is_quick(repeated("{\"enum\":[", 4000, "\"%u-a-choice\",", "\"x\"]}"), true),
       "an enum of 4,000 is fast");
    OK(is_quick(repeated("{\"type\":\"object\",\"properties\":{", 600,
                         "\"p%u\":{\"type\":\"string\"},", "\"x\":{\"type\":\"null\"}}}"),
                true),
       "an object of 600 members that may be left out is fast");
    (void)repeated("", 60, "{\"type\":\"array\",\"maxItems\":60,\"items\":", "{\"type\":\"null\"}");
    for (unsigned i = 0; i < 60; i++) {
        (void)strcat(hostile, "}");
    }
    OK(is_quick(hostile, true), "arrays of arrays are fast");
    OK(is_quick(repeated("{\"anyOf\":[", 500,
                         "{\"type\":\"array\",\"items\":{\"type\":\"integer\",\"minimum\":%u}},",
                         "{\"type\":\"null\"}]}"),
                true),
       "500 arrays that begin alike are fast");
    OK(is_quick(
           "{\"type\":\"array\",\"minItems\":50000,\"maxItems\":60000,\"items\":{\"type\":[\"string\",\"integer\"],\"maxLength\":60000}}",
           true),
       "counts within counts are fast");
}

/* A token, or a look at all of them, takes at most so many steps. */
static void test_steps(void)
{
    unsigned pushed = 0;

    (void)compile_gbnf(
        "root ::= (a | b | c)*\na ::= \"x\" a? \"y\"?\nb ::= \"x\" b? \"z\"?\nc ::= [x] (a | c)?\n");
    grammar_begin(&machine, &compiled);
    for (unsigned level = 0; level < 12; level++) {
        (void)grammar_push(&machine, level, 'x');
    }
    OK(machine.steps > 1000 && !grammar_is_spent(&machine), "12 bytes took %u steps",
       (unsigned)machine.steps);
    machine.steps = GRAMMAR_STEPS - 2000;
    while (pushed < 1000 && grammar_push(&machine, 11, 'x')) {
        pushed++;
    }
    OK(pushed > 0 && pushed < 100 && grammar_is_spent(&machine),
       "no byte is allowed after too many steps: %u more were", pushed);
    grammar_count_steps(&machine);
    OK(grammar_push(&machine, 11, 'x'), "the next token begins anew");
}

static void test_gbnf_error_messages(void)
{
    static const char *const wrong[][2] = {
        { "", "the rule root is missing, with which a grammar begins" },
        { "root ::= \"a", "line 1: a text has no closing quote" },
        { "root ::= \"\\q\"",
          "line 1: there is no such escape, only \\n \\r \\t \\\\ \\\" \\[ \\] \\xHH \\uHHHH" },
        { "root ::= \"a\"\nroot ::= \"b\"", "line 2: a rule of this name is already defined" },
        { "\nroot ::= b", "line 2: there is no rule b" },
        { "a ::= root\nroot ::= a \"x\" | \"y\"",
          "line 1: rule a begins with itself, which never ends: put another item before it" },
        { "root ::= \"x\"? root \"y\"",
          "line 1: rule root begins with itself, which never ends: put another item before it" },
        { "root ::= [z-a]", "line 1: a range of a class ends before it begins" },
        { "root ::= []", "line 1: a class allows no character" },
        { "root ::= (\"a\"", "line 1: a group has no closing parenthesis" },
        { "root ::= \"a\")", "line 1: a closing parenthesis has no opening one" },
        { "root ::= \"a\"{3,2}", "line 1: {} takes {m}, {m,} or {m,n}" },
        { "root ::= \"a\"{3", "line 1: {} takes {m}, {m,} or {m,n}" },
        { "root ::= \"a\"{99999}", "line 1: more than 60,000 times" },
        { "root = \"a\"", "line 1: expected a rule: name ::= ..." },
        { "root ::= *", "line 1: expected a \"text\", a [class], a name or a group" },
        { "root ::= \"\xff\"", "line 1: it is not UTF-8" },
        { "root ::= \"\\ud800\"", "line 1: no character has that number" },
    };

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        OK(!compile_gbnf(wrong[i][0]) && strcmp(compiled_error_message, wrong[i][1]) == 0,
           "a wrong grammar has its error message: %s", compiled_error_message);
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
               TEXTS("[\"a\",2]", "[null, null, \"a\"]", NULL, "[2]", "[]", "[2,2,2,2]", "[2 2]"));
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

/* Tries the numbers of ranges, one by one. */
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
        OK(wrong == 0 && !matches("-0") && !matches("00") && !matches(""),
           "integers from %d to %d match, and no others", ranges[i][0], ranges[i][1]);
    }
}

static void test_schema_error_messages(void)
{
    static const char *const wrong[][2] = {
        { "{\"type\":", "the schema is not JSON" },
        { "[]", "a schema must be a JSON object" },
        { "{\"type\":\"text\"}", "/type of the schema: text is not a type of JSON" },
        { "{\"type\":\"string\",\"not\":{\"const\":\"a\"}}",
          "/not of the schema cannot be part of a grammar, so it would have no effect" },
        { "{\"$ref\":\"#/$defs/x\"}",
          "a $ref of the schema leads nowhere: write \"#/$defs/NAME\"" },
        { "{\"type\":\"object\",\"properties\":{\"a\":true},\"required\":[\"b\"],"
          "\"additionalProperties\":false}",
          "no value satisfies the schema" },
        { "{\"type\":\"integer\",\"minimum\":2,\"maximum\":1}", "no value satisfies the schema" },
        { "{\"type\":\"integer\",\"minimum\":\"0\"}",
          "/minimum of the schema cannot be part of a grammar, so it would have no effect" },
        { "{\"enum\":[]}",
          "/enum of the schema: enum, anyOf and oneOf must be lists that are not empty" },
        { "{\"type\":\"array\",\"minItems\":3,\"maxItems\":2}", "no value satisfies the schema" },
        { "{\"$ref\":\"#\"}", "a $ref of the schema leads back to itself" },
    };

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        OK(!compile_schema(wrong[i][0]) && strcmp(compiled_error_message, wrong[i][1]) == 0,
           "a wrong schema has its error message: %s", compiled_error_message);
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

/* Any path through the automaton ends, and its text is JSON. Bytes that end something are tried
 * more often, so that texts stay short. */
static void test_random_paths(void)
{
    static const char likely[] = "\"}],:01{[";
    unsigned complete = 0, json = 0;

    OK(compile_schema("{\"properties\":{\"a\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
                      "\"b\":{}},\"required\":[\"a\",\"b\"]}"),
       "the schema for random paths compiles");
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
    const char *error_message = "";
    size_t bytes;

    OK(grammar_is_choices("a|b") && !grammar_is_choices("light"), "a bar makes choices");
    OK(grammar_from_choices("yes|no|yes, please|a\\|b", memory, sizeof memory, work, &bytes,
                            &error_message) == ERR_OK &&
           grammar_open(&compiled, memory, bytes, &error_message) == ERR_OK,
       "a grammar of %zu bytes is made from choices", bytes);
    OK(matches("yes") && matches("no") && matches("yes, please") && matches("a|b"),
       "each choice matches");
    OK(!matches("y") && !matches("") && !matches("a") && !matches("yes,") && !matches("nono"),
       "no other text matches");
    OK(grammar_from_choices("yes||no", memory, sizeof memory, work, &bytes, &error_message) ==
               ERR_BAD_ARGUMENT &&
           strcmp(error_message, "a choice is empty") == 0,
       "an empty choice is refused: %s", error_message);
    memset(many, 'x', sizeof many - 1);
    many[1] = '|';
    OK(grammar_from_choices(many, memory, sizeof memory, work, &bytes, &error_message) ==
           ERR_TOO_LONG,
       "a choice that is too long is refused: %s", error_message);
}

/* Numbers that point outside, under a right checksum. */
static void test_damage(void)
{
    const char *error_message = "";
    unsigned refused = 0, opened = 0;
    uint8_t *copy;

    OK(compile_gbnf("root ::= \"(\" root? \")\" | [0-9]{100,200}"), "a grammar compiles");
    copy = malloc(compiled_bytes);
    for (size_t i = 0; copy != NULL && i < compiled_bytes; i++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            struct ingot_grammar *head = (void *)copy;
            struct grammar g;
            enum err e;

            memcpy(copy, compiled_memory, compiled_bytes);
            copy[i] ^= (uint8_t)(1 << bit);
            e = grammar_open(&g, copy, compiled_bytes, &error_message);
            if (e == ERR_OK) {
                OK(false, "the flip of byte %zu, bit %u is noticed", i, bit);
            }
            head->crc32c = crc32c(0, &head->version, compiled_bytes - 8);
            if (grammar_open(&g, copy, compiled_bytes, &error_message) == ERR_OK) {
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
    OK(opened > 100 && refused > 100,
       "a flipped bit makes a grammar refused (%u) or run within bounds (%u)", refused, opened);
    OK(grammar_open(&compiled, compiled_memory, compiled_bytes - 4, &error_message) ==
           ERR_BAD_MODEL,
       "a grammar that is cut off is refused: %s", error_message);
    OK(grammar_open(&compiled, "not a grammar at all", 20, &error_message) == ERR_BAD_MODEL,
       "bytes that are not a grammar are refused: %s", error_message);
    free(copy);
}

int main(void)
{
    test_gbnf();
    test_long();
    test_flat();
    test_steps();
    test_hostile_gbnf();
    test_hostile_rules();
    test_hostile_schemas();
    test_gbnf_error_messages();
    test_schema();
    test_integers();
    test_schema_error_messages();
    test_random_paths();
    test_choices();
    test_damage();
    free(compiled_memory);
    return tap_done();
}
