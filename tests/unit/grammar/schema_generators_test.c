/* Schemas as generators write them, drafts 7 and 2020-12: Pydantic, zod, TypeBox, Jackson, invopop, C#, OpenAPI. */
#include "tests/unit/grammar/samples.h"

/* Schemas as Pydantic, zod, TypeBox, Jackson's module and others write them for their types. */
static void test_generators(void)
{
    static const struct sample samples[] = {
        /* Pydantic: Optional[int] = None; Field(ge=0, le=1); Literal; Union with a discriminator; Tuple; Dict; Decimal; date. */
        { "{\"anyOf\":[{\"type\":\"integer\"},{\"type\":\"null\"}],\"default\":null,\"title\":\"A\"}",
          { "1", "null" },
          { "\"a\"" } },
        { "{\"maximum\":1.0,\"minimum\":0.0,\"title\":\"Score\",\"type\":\"number\"}",
          { "0.75", "1", "0" },
          { "1.5" } },
        { "{\"enum\":[\"a\",\"b\"],\"title\":\"Kind\",\"type\":\"string\"}",
          { "\"a\"" },
          { "\"c\"" } },
        { "{\"discriminator\":{\"mapping\":{\"cat\":\"#/$defs/Cat\",\"dog\":\"#/$defs/Dog\"},\"propertyName\":\"kind\"},"
          "\"oneOf\":[{\"$ref\":\"#/$defs/Cat\"},{\"$ref\":\"#/$defs/Dog\"}],\"$defs\":{\"Cat\":{\"properties\":{\"kind\":{\"const\":"
          "\"cat\",\"type\":\"string\"},\"age\":{\"type\":\"integer\"}},\"required\":[\"kind\",\"age\"],\"type\":\"object\"},\"Dog\":"
          "{\"properties\":{\"kind\":{\"const\":\"dog\",\"type\":\"string\"},\"name\":{\"type\":\"string\"}},\"required\":[\"kind\","
          "\"name\"],\"type\":\"object\"}}}",
          { "{\"kind\":\"cat\",\"age\":3}", "{\"kind\":\"dog\",\"name\":\"x\"}" },
          { "{\"kind\":\"cat\",\"name\":\"x\"}", "{\"kind\":\"cow\",\"age\":1}" } },
        { "{\"maxItems\":2,\"minItems\":2,\"prefixItems\":[{\"type\":\"number\"},{\"type\":\"number\"}],\"type\":\"array\"}",
          { "[1.5,2]" },
          { "[1]" } },
        { "{\"additionalProperties\":{\"anyOf\":[{\"type\":\"number\"},{\"type\":\"string\"}]},\"title\":\"M\",\"type\":\"object\"}",
          { "{\"a\":1,\"b\":\"x\"}" },
          { "{\"a\":null}" } },
        { "{\"anyOf\":[{\"type\":\"number\"},{\"pattern\":\"^(?!^[-+.]*$)[+-]?0*\\\\d*\\\\.?\\\\d*$\",\"type\":\"string\"}]}",
          { "1.5", "\"12.50\"", "\"-3\"" },
          { "\"abc\"", "\"+\"" } },
        { "{\"format\":\"binary\",\"type\":\"string\",\"contentMediaType\":\"image/png\",\"contentEncoding\":\"base64\"}",
          { "\"aGk=\"" },
          { "1" } },
        /* zod: int(), uuid(), record(), tuple(), email() with its own pattern, nullable(), strictObject(), iso.time(). */
        { "{\"type\":\"integer\",\"minimum\":-9007199254740991,\"maximum\":9007199254740991}",
          { "15" },
          { "1.5" } },
        { "{\"type\":\"object\",\"propertyNames\":{\"type\":\"string\"},\"additionalProperties\":{}}",
          { "{\"a\":[1]}" },
          { "1" } },
        { "{\"type\":\"string\",\"format\":\"uuid\",\"pattern\":\"^([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[1-8][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]"
          "{3}-[0-9a-fA-F]{12}|00000000-0000-0000-0000-000000000000)$\"}",
          { "\"123e4567-e89b-12d3-a456-426614174000\"" },
          { "\"123e4567-e89b-92d3-a456-426614174000\"" } },
        { "{\"type\":\"string\",\"format\":\"email\",\"pattern\":\"^(?!\\\\.)(?!.*\\\\.\\\\.)([A-Za-z0-9_'+\\\\-\\\\.]*)[A-Za-z0-9_+-]@"
          "([A-Za-z0-9][A-Za-z0-9\\\\-]*\\\\.)+[A-Za-z]{2,}$\"}",
          { "\"a.b@c.org\"" },
          { "\"a..b@c.org\"", "\".a@c.org\"" } },
        { "{\"type\":\"string\",\"format\":\"time\",\"pattern\":\"^(?:[01]\\\\d|2[0-3]):[0-5]\\\\d(?::[0-5]\\\\d(?:\\\\.\\\\d+)?)?$\"}",
          { "\"07:30\"", "\"07:30:15.5\"" },
          { "\"24:00\"" } },
        { "{\"type\":\"array\",\"items\":[{\"type\":\"string\"},{\"type\":\"number\"}],\"minItems\":2,\"maxItems\":2}",
          { "[\"a\",1]" },
          { "[\"a\"]", "[1,\"a\"]" } },
        { "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\","
          "\"description\":\"d\"}},\"required\":[\"a\"],\"additionalProperties\":false}",
          { "{\"a\":\"x\"}" },
          { "{}" } },
        { "{\"not\":{}}", { NULL }, { NULL } },
        /* TypeBox: Literal unions, Recursive; Jackson's generator: allOf; invopop: $ref at the top; C#: type lists. */
        { "{\"anyOf\":[{\"const\":\"a\",\"type\":\"string\"},{\"const\":\"b\",\"type\":\"string\"}]}",
          { "\"b\"" },
          { "\"c\"" } },
        { "{\"$id\":\"T0\",\"type\":\"object\",\"properties\":{\"nodes\":{\"type\":\"array\",\"items\":{\"$ref\":\"T0\"}}},"
          "\"required\":[\"nodes\"]}",
          { "{\"nodes\":[{\"nodes\":[]}]}" },
          { "{\"nodes\":[{}]}" } },
        { "{\"allOf\":[{\"$ref\":\"#/definitions/A\"},{\"description\":\"d\"}],\"definitions\":{\"A\":{\"type\":\"object\",\"properties\":"
          "{\"x\":{\"type\":\"integer\",\"format\":\"int32\"}}}}}",
          { "{\"x\":1}" },
          { "{\"x\":\"a\"}" } },
        { "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"$id\":\"https://x.org/a\",\"$ref\":\"#/$defs/A\",\"$defs\":"
          "{\"A\":{\"properties\":{\"n\":{\"type\":\"integer\"}},\"additionalProperties\":false,\"type\":\"object\",\"required\":[\"n\"]}}}",
          { "{\"n\":1}" },
          { "{}" } },
        { "{\"type\":[\"object\",\"null\"],\"properties\":{\"n\":{\"type\":[\"integer\",\"null\"]}}}",
          { "null", "{\"n\":null}" },
          { "1" } },
        { "{\"type\":[\"string\",\"integer\"],\"pattern\":\"^-?(?:0|[1-9]\\\\d*)$\"}",
          { "12", "\"12\"" },
          { "\"x\"" } },
        /* A format beside a pattern that allows some of its texts; a name as Python writes it; more
         * repetitions than a string can have. */
        { "{\"type\":\"string\",\"format\":\"date\",\"pattern\":\"^2024\"}",
          { "\"2024-02-28\"" },
          { "\"2024\"", "\"2024-13-01\"", "\"2023-01-01\"" } },
        { "{\"type\":\"string\",\"pattern\":\"^(?P<year>[0-9]{4})$\"}",
          { "\"1999\"" },
          { "\"199\"" } },
        { "{\"type\":\"string\",\"pattern\":\"^[a-z]{1,5000}$\"}",
          { "\"abc\"" },
          { "\"\"", "\"A\"" } },
        /* Multiples of at most 15 digits; the bounds of zod's int() limit nothing more. */
        { "{\"type\":\"integer\",\"multipleOf\":7,\"minimum\":-9007199254740991,\"maximum\":9007199254740991}",
          { "0", "7", "-21", "999999999999994" },
          { "8", "07", "7000000000000000", "9999999999999999" } },
        { "{\"type\":\"integer\",\"multipleOf\":25}",
          { "0", "-75", "125", "999999999999975" },
          { "5", "130", "1000000000000000" } },
        { "{\"type\":\"integer\",\"multipleOf\":1000}", { "0", "3000" }, { "100", "1500" } },
        /* smolagents and OpenAPI. */
        { "{\"type\":\"string\",\"nullable\":true,\"example\":\"x\"}", { "\"a\"" }, { "1" } },
    };
    size_t n = sizeof samples / sizeof samples[0];

    for (size_t i = 0; i < n; i++) {
        if (samples[i].allowed[0] == NULL) {
            OK(!compile_schema(samples[i].schema), "the schema is refused: %s", samples[i].schema);
        } else {
            OK(holds(&samples[i]), "the samples of a schema hold: %.150s", samples[i].schema);
        }
    }
}

int main(void)
{
    test_generators();
    free(compiled_memory);
    return tap_done();
}
