/* The check of a finished reply against its schema (flash_image/grammar/schema_check.c), keyword by keyword. */
#include <string.h>

#include "flash_image/grammar/schema.h"
#include "tests/unit/tap.h"

static void test_check(void)
{
    static const struct {
        const char *schema, *value, *error_message; /* NULL: it satisfies */
    } samples[] = {
        { "{\"not\":{\"const\":1}}", "2", NULL },
        { "{\"properties\":{\"a\":{\"not\":{\"const\":1}}}}", "{\"a\":1}",
          "/properties/a/not of the schema is not satisfied" },
        { "{\"uniqueItems\":true}", "[1,{\"a\":1,\"b\":2},1.0]",
          "/uniqueItems of the schema is not satisfied" },
        { "{\"uniqueItems\":true}", "[1,\"1\",true,[1],{}]", NULL },
        { "{\"contains\":{\"type\":\"string\"},\"minContains\":2}", "[1,\"a\"]",
          "/contains of the schema is not satisfied" },
        { "{\"oneOf\":[{\"minimum\":1},{\"maximum\":5}]}", "3",
          "/oneOf of the schema is not satisfied" },
        { "{\"oneOf\":[{\"minimum\":1},{\"maximum\":5}]}", "7", NULL },
        { "{\"if\":{\"minimum\":5},\"then\":{\"multipleOf\":2},\"else\":{\"const\":1}}", "7",
          "/then/multipleOf of the schema is not satisfied" },
        { "{\"if\":{\"minimum\":5},\"then\":{\"multipleOf\":2},\"else\":{\"const\":1}}", "8",
          NULL },
        { "{\"dependentRequired\":{\"a\":[\"b\"]}}", "{\"a\":1}",
          "/dependentRequired of the schema is not satisfied" },
        { "{\"dependencies\":{\"a\":{\"required\":[\"b\"]}}}", "{\"a\":1}",
          "/dependencies/a/required of the schema is not satisfied" },
        { "{\"propertyNames\":{\"maxLength\":1}}", "{\"ab\":1}",
          "/propertyNames/maxLength of the schema is not satisfied" },
        { "{\"pattern\":\"^a\"}", "\"ba\"", "/pattern of the schema is not satisfied" },
        { "{\"multipleOf\":0.01}", "4.35", NULL },
        { "{\"multipleOf\":1.5}", "142222222222222", "/multipleOf of the schema is not satisfied" },
        { "{\"multipleOf\":1.5}", "142222222222222.5", NULL },
        { "{\"multipleOf\":0.5}", "1.0000000001", "/multipleOf of the schema is not satisfied" },
        { "{\"multipleOf\":1e-8}", "12391239123", NULL },
        { "{\"multipleOf\":0.05}", "19.95", NULL },
        { "{\"multipleOf\":0.05}", "19.94", "/multipleOf of the schema is not satisfied" },
        { "{\"enum\":[[1],{\"a\":null}]}", "{\"a\":null}", NULL },
        { "{\"type\":\"integer\"}", "1.0", NULL },
        { "{\"minimum\":5,\"exclusiveMinimum\":true}", "5",
          "/minimum of the schema is not satisfied" },
        { "{\"minimum\":5,\"exclusiveMinimum\":true}", "5.5", NULL },
        { "{\"maxLength\":2}", "\"\u00e9\u00e9\"", NULL },
        { "{\"contains\":{\"const\":1},\"maxContains\":1}", "[1,2,1]",
          "/maxContains of the schema is not satisfied" },
        { "{\"contains\":{\"const\":1},\"maxContains\":1}", "[2,1]", NULL },
        { "{\"prefixItems\":[{\"const\":1},{\"const\":2}],\"items\":{\"const\":3}}", "[1,2,3,3]",
          NULL },
        { "{\"prefixItems\":[{\"const\":1},{\"const\":2}],\"items\":{\"const\":3}}", "[1,2,2]",
          "/items/const of the schema is not satisfied" },
        { "{\"items\":[{\"const\":1}],\"additionalItems\":false}", "[1,1]",
          "/additionalItems/ of the schema is not satisfied" },
        { "{\"properties\":{\"a\":{}},\"patternProperties\":{\"^b\":{\"const\":1}},"
          "\"additionalProperties\":false}",
          "{\"a\":0,\"b\":1}", NULL },
        { "{\"properties\":{\"a\":{}},\"patternProperties\":{\"^b\":{\"const\":1}},"
          "\"additionalProperties\":false}",
          "{\"a\":0,\"c\":1}", "/additionalProperties of the schema is not satisfied" },
        { "{}", "{\"a\":", "it is not JSON" },
    };

    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        char error_message[GRAMMAR_ERROR_MESSAGE_BYTES];
        bool good = grammar_check_value(samples[i].schema, samples[i].value,
                                        strlen(samples[i].value), error_message);

        OK(good == (samples[i].error_message == NULL) &&
               (good || strcmp(error_message, samples[i].error_message) == 0),
           "the check is right, %s: %s %s", samples[i].schema, samples[i].value, error_message);
    }
}

int main(void)
{
    test_check();
    return tap_done();
}
