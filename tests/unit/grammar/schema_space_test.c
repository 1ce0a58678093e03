/* JSON as models write it (flash_image/grammar/json_values.c): white space between the tokens of a
 * value under a schema, and commas between members. */
#include "tests/unit/grammar/samples.h"

static void test_white_space(void)
{
    static const struct sample samples[] = {
        { "{\"type\":\"object\",\"required\":[\"name\",\"age\"],\"additionalProperties\":false,"
          "\"properties\":{\"name\":{\"type\":\"string\"},\"age\":{\"type\":\"integer\"},\"tags\":{\"items\":{\"enum\":[1,2]},"
          "\"type\":\"array\"}}}",
          { "{\"name\":\"A\",\"age\":3}", "{ \"name\": \"A\", \"age\": 3 }",
            "{\n  \"name\": \"A\",\n  \"age\": 3,\n  \"tags\": [\n    1,\n    2\n  ]\n}",
            "{\r\n\t\"name\" : \"A\" ,\r\n\t\"age\" : 3\r\n}", "{\n\"name\": \"A\" ,\n\"age\":3\n}",
            "{\"name\":\"A\",\"age\":3,\"tags\":[ ]}" },
          { "{\"name\":\"A\",\"age\":3 1}", " {\"name\":\"A\",\"age\":3}",
            "{\"name\":\"A\",\"age\":3}\n", "{\"name\":\"A\",\n\n\"age\":3}",
            "{\"name\":\n\"A\",\"age\":3}", "{\"name\":\"A\",\"age\":3,}",
            "{\"na me\":\"A\",\"age\":3}" } },
        { "{\"const\":{\"a\":[1,\"b, c: {}\",\"\\\"\"]}}",
          { "{\"a\":[1,\"b, c: {}\",\"\\\"\"]}",
            "{\n  \"a\": [\n    1,\n    \"b, c: {}\",\n    \"\\\"\"\n  ]\n}" },
          { "{\"a\":[1,\"b,  c: {}\",\"\\\"\"]}" } },
        { "{}",
          { "{\n  \"a\": {\n    \"b\": [ 1 ]\n  }\n}", "[ ]", "{\n}", "[\n\t[ 1, { } ]\n]" },
          { "{\n\n}", "1 2" } },
        { "{\"type\":\"object\",\"maxProperties\":0}", { "{}", "{ }", "{\n}" }, { "{1}" } },
        { "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"integer\"}}",
          { "{ \"a\" : 1 ,\n\"b\" : 2 }" },
          { "{ \"a\" : 1 \n\"b\" : 2 }" } },
    };

    CHECK(samples);
}

/* Members of several patterns: each may be followed by each, after a comma. */
static void test_others(void)
{
    static const struct sample samples[] = {
        { "{\"patternProperties\":{\"^a\":{\"type\":\"integer\"},\"^b\":{\"type\":\"null\"}},\"type\":\"object\"}",
          { "{\"a\":1,\"b\":null,\"a\":2}", "{\"b\":null, \"a\":1}", "{ \"a\": 1 }", "{}" },
          { "{\"a\":1\"b\":null}", "{\"b\":null\"a\":1}", "{\"a\":null}", "{\"a\":1,}" } },
        { "{\"patternProperties\":{\"^a\":{\"type\":\"integer\"},\"^b\":{\"type\":\"null\"}},\"properties\":{\"c\":{\"type\":"
          "\"boolean\"}},\"required\":[\"c\"]}",
          { "{\"c\":true,\"a\":1,\"b\":null}" },
          { "{\"c\":true\"b\":null}", "{\"c\":true,\"a\":1\"b\":null}" } },
    };

    CHECK(samples);
}

int main(void)
{
    test_white_space();
    test_others();
    free(compiled_memory);
    return tap_done();
}
