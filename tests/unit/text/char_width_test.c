/* The width of characters that people type and models write. */
#include "runtime/text/char_width.h"

#include <string.h>

#include "runtime/text/utf8.h"
#include "tests/unit/tap.h"

/* Return how many columns a text takes. */
static unsigned columns(const char *text)
{
    unsigned n = 0;
    int bytes;

    for (; *text != '\0'; text += bytes) {
        bytes = utf8_check((const uint8_t *)text, strlen(text));
        n += char_width(utf8_decode((const uint8_t *)text, bytes));
    }
    return n;
}

int main(void)
{
    OK(columns("abc \t~") == 6 && columns("äöüß€…–„“") == 9, "letters and signs are narrow");
    OK(columns("日本語") == 6 && columns("한국어") == 6 && columns("ｗｉｄｅ") == 8 &&
           columns("。「」") == 6 && columns("ｶﾅ") == 2,
       "East Asian letters and wide forms are wide");
    OK(columns("😀🎉🚀🤖") == 8 && columns("🟢🟥🪐🫶") == 8, "emoji are wide");
    OK(columns("✅❌❓❗✨⭐⚡⏰⌚⛔☔➕") == 24, "and so are those among the old signs");
    OK(columns("✓✗★☆☀❤→■○♥☎") == 11 && columns("🌡🌶🏔🐿👁🕷🖥🗑") == 8,
       "signs that are pictures only with a selector are narrow");
    OK(columns("e\xcc\x81") == 1 && columns("שָׁ") == 1 && columns("กี่") == 1 &&
           columns("か\u3099") == 2,
       "marks take no column");
    OK(columns("🇩🇪") == 2, "the two letters of a flag take two columns");
    return tap_done();
}
