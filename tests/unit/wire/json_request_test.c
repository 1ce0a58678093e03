/* Which field the error of a request names. */
#include "runtime/wire/json_request.h"

#include <string.h>

#include "tests/unit/tap.h"

static struct json_request request;

static void read_line(const char *text)
{
    static char line[256];

    snprintf(line, sizeof line, "%s", text);
    json_request_read(&request, line, strlen(line));
}

/* True if the request is refused with this field; NULL: without a field. */
static bool names(const char *text, const char *field)
{
    read_line(text);
    if (request.error == NULL || request.field == NULL || field == NULL) {
        return request.error != NULL && request.field == field;
    }
    return strcmp(request.field, field) == 0;
}

int main(void)
{
    OK(names("{\"id\":1,\"n\":\"5\",\"temp\":0}", "n"), "a field of a wrong kind is named: %s",
       request.text);
    OK(names("{\"tokenize\":\"x\",\"bogus\":1}", NULL),
       "the field before an unknown one is not named: %s", request.text);
    OK(names("{\"bogus\":1,\"n\":5}", NULL), "nor is the field after it: %s", request.text);
    OK(names("{\"n\":5,\"temp\":}", NULL), "a line that is not JSON names no field: %s",
       request.text);
    OK(names("{\"prompt\":\"a\",\"raw\":\"b\"}", NULL),
       "two that exclude each other are not named: %s", request.text);
    return tap_done();
}
