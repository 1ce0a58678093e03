/* Files of options as Windows programs save them. */
#include <string.h>

#include "runtime/options/options.h"
#include "tests/unit/tap.h"

static struct options o;
static char said[OPTIONS_ERROR_MESSAGE_BYTES]; /* the last message */

static void keep(void *context, bool fatal, const char *error_message)
{
    (void)context, (void)fatal;
    strcpy(said, error_message);
}

static enum err parse(const char *args)
{
    static const struct options_report report = { keep, NULL };

    options_init(&o);
    said[0] = '\0';
    return options_parse(&o, args, &report);
}

/* Notepad puts a byte order mark in front of cmdline.txt, and a Raspberry Pi's firmware puts its own
 * words before the file's. */
static void test_byte_order_mark(void)
{
    OK(parse("\xef\xbb\xbftemp=0 n=4") == ERR_OK && said[0] == '\0' && o.sampler.temp == 0 &&
           o.reply.n == 4,
       "a byte order mark is not a part of the first option: %s", said);
    OK(parse("vc_mem.mem_size=0x40000000  \xef\xbb\xbfn=5") == ERR_OK && said[0] == '\0' &&
           o.reply.n == 5,
       "also after the firmware's own words: %s", said);
    OK(parse("\xef\xbb\xbf\r\n n=6") == ERR_OK && said[0] == '\0' && o.reply.n == 6,
       "also in front of an empty line: %s", said);
    OK(parse("prompt=\"\xef\xbb\xbf\"") == ERR_OK && o.reply.prompt_bytes == 3,
       "in a text it stays");
}

int main(void)
{
    test_byte_order_mark();
    return tap_done();
}
