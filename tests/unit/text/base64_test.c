#include "runtime/text/base64.h"

#include <string.h>

#include "tests/unit/tap.h"

static bool is(const char *bytes, const char *text)
{
    char out[64] = "";
    uint8_t back[64];
    size_t n;

    base64_put(out, (const uint8_t *)bytes, strlen(bytes));
    return strcmp(out, text) == 0 && strlen(text) == base64_length(strlen(bytes)) &&
           base64_get(back, strlen(bytes), text, strlen(text), &n) && n == strlen(bytes) &&
           memcmp(back, bytes, n) == 0;
}

static bool refused(const char *text)
{
    uint8_t out[4];
    size_t n;

    return !base64_get(out, sizeof out, text, strlen(text), &n);
}

int main(void)
{
    OK(is("", "") && is("f", "Zg==") && is("fo", "Zm8=") && is("foo", "Zm9v") &&
           is("foob", "Zm9vYg==") && is("fooba", "Zm9vYmE=") && is("foobar", "Zm9vYmFy") &&
           is("\xff\xfe\xfb", "//77"),
       "the vectors of RFC 4648 are right");
    OK(refused("Zg") && refused("Zg=") && refused("Z===") && refused("Zg==Zg==") &&
           refused("Z*==") && refused("Zg=a") && refused("====") && refused("Zm9v\n"),
       "text that is not base64 is refused");
    OK(refused("Zh==") && refused("Zm9="), "bits behind the last byte are refused");
    OK(refused("Zm9vYmE="), "more bytes than fit are refused");
    return tap_done();
}
