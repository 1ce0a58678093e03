/* Values of Content-Range, and requests without a range. */
#include "runtime/api/api_upload.h"

#include <string.h>

#include "tests/unit/tap.h"

static bool is(const char *field, bool asks, uint64_t first, uint64_t last, uint64_t total)
{
    struct api_range r;

    return api_range_read(field, strlen(field), &r) && r.asks == asks && r.first == first &&
           r.last == last && r.total == total;
}

int main(void)
{
    static const char *const wrong[] = { "",
                                         "bytes",
                                         "bytes ",
                                         "bytes 0-1",
                                         "bytes 0-1/",
                                         "bytes 1-0/2",
                                         "bytes 0-2/2",
                                         "bytes -1/2",
                                         "bytes 0-/2",
                                         "bytes 0-0/0",
                                         "bytes */0",
                                         "bytes */*",
                                         "bytes 0-0/*",
                                         "bytes 0-1/2 ",
                                         "bytes  0-1/2",
                                         "octets 0-1/2",
                                         "bytes 0-1/2/3",
                                         "bytes 0-18446744073709551615/18446744073709551616",
                                         "bytes *",
                                         "bytes +0-1/2" };
    unsigned n = 0;

    OK(is("bytes 0-9/10", false, 0, 9, 10) && is("bytes 4096-4096/5000", false, 4096, 4096, 5000),
       "ranges are read");
    OK(is("bytes 0-18446744073709551613/18446744073709551615", false, 0, UINT64_MAX - 2,
          UINT64_MAX),
       "the longest range is read");
    OK(is("bytes */77", true, 0, 0, 77), "a range outside the file gets its size");
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct api_range r;

        if (api_range_read(wrong[i], strlen(wrong[i]), &r))
            printf("# taken: %s\n", wrong[i]);
        else
            n++;
    }
    OK(n == sizeof wrong / sizeof wrong[0], "%u headers that are not a range are ignored", n);
    return tap_done();
}
