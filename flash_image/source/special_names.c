#include "flash_image/source/special_names.h"

#include <string.h>

#define BAR "\xef\xbd\x9c"   /* U+FF5C, in DeepSeek's names */
#define SPACE "\xe2\x96\x81" /* U+2581 */

static const char *const ends[] = {
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<end_of_turn>",
    "<turn|>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|eot|>",
    "<|eom|>",
    "<|end_of_turn|>",
    "<|endofturn|>",
    "<|END_OF_TURN_TOKEN|>",
    "<|end_of_sentence|>",
    "<end_of_utterance>",
    "<" BAR "end" SPACE "of" SPACE "sentence" BAR ">",
    "<EOT>",
    "_<EOT>",
    "[EOT]",
    "[EOS]",
};

const char *special_end_name(size_t i)
{
    return i < sizeof ends / sizeof ends[0] ? ends[i] : NULL;
}

static bool is_text(const char *text, size_t bytes, const char *name)
{
    return bytes == strlen(name) && memcmp(text, name, bytes) == 0;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* True if the name has only letters, digits, _ - . : and U+2581, and at least one letter. */
static bool is_name(const char *text, size_t bytes)
{
    bool letter = false;

    for (size_t i = 0; i < bytes; i++) {
        bool space = bytes - i >= 3 && memcmp(text + i, SPACE, 3) == 0;

        if (!space && !is_letter(text[i]) && (text[i] < '0' || text[i] > '9') &&
            (text[i] == '\0' || strchr("_-.:", text[i]) == NULL)) {
            return false;
        }
        letter = letter || is_letter(text[i]);
        i += space ? 2 : 0;
    }
    return letter;
}

static bool is_between(const char *text, size_t bytes, const char *start, const char *end)
{
    size_t a = strlen(start), b = strlen(end);

    return bytes > a + b && memcmp(text, start, a) == 0 && memcmp(text + bytes - b, end, b) == 0 &&
           is_name(text + a, bytes - a - b);
}

bool special_name_is_marker(const char *text, size_t bytes)
{
    static const char *const starts[] = { "<start_of_turn>", "<|turn>", "[INST]", "[/INST]" };

    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        if (is_text(text, bytes, starts[i])) {
            return true;
        }
    }
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        if (is_text(text, bytes, ends[i])) {
            return true;
        }
    }
    return is_between(text, bytes, "<|", "|>") || is_between(text, bytes, "<" BAR, BAR ">");
}
