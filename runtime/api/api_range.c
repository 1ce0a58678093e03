#include "runtime/api/api_upload.h"

/* Read a number that consists only of digits. */
static bool read_number(const char **at, const char *end, uint64_t *number)
{
    const char *start = *at;

    for (*number = 0; *at < end && **at >= '0' && **at <= '9'; (*at)++) {
        uint64_t digit = (uint64_t)(**at - '0');

        if (*number > (UINT64_MAX - digit) / 10) {
            return false;
        }
        *number = 10 * *number + digit;
    }
    return *at != start;
}

static bool read_char(const char **at, const char *end, char c)
{
    bool there = *at < end && **at == c;

    *at += there;
    return there;
}

bool api_range_read(const char *field, size_t bytes, struct api_range *range)
{
    static const char unit[] = "bytes ";
    const char *at = field, *end = field + bytes;

    *range = (struct api_range){ 0 };
    for (size_t i = 0; i + 1 < sizeof unit; i++) {
        if (!read_char(&at, end, unit[i])) {
            return false;
        }
    }
    range->asks = read_char(&at, end, '*');
    if (!range->asks && !(read_number(&at, end, &range->first) && read_char(&at, end, '-') &&
                          read_number(&at, end, &range->last))) {
        return false;
    }
    return read_char(&at, end, '/') && read_number(&at, end, &range->total) && at == end &&
           range->total != 0 &&
           (range->asks || (range->first <= range->last && range->last < range->total));
}
