#include "runtime/features/acting/action_word.h"

#include <string.h>

char action_small(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool action_is_letter(char c)
{
    return (action_small(c) >= 'a' && action_small(c) <= 'z') || (unsigned char)c >= 0x80;
}

bool action_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

size_t action_match(const struct ear *e, const char *word)
{
    const char *at = e->at;

    for (; *word != '\0'; word++, at++) {
        if (at == e->end || (*word == '_' ? strchr(" _-", *at) == NULL
                                          : action_small(*at) != action_small(*word))) {
            return 0;
        }
    }
    if (at != e->end && action_small(*at) == 's') {
        at++;
    }
    return at == e->end || !(action_is_letter(*at) || action_is_digit(*at)) ? (size_t)(at - e->at)
                                                                            : 0;
}

size_t action_match_list(const struct ear *e, const char *const *words, size_t n)
{
    size_t bytes = 0;

    for (size_t i = 0; i < n && bytes == 0; i++) {
        bytes = action_match(e, words[i]);
    }
    return bytes;
}

bool action_pass_word(struct ear *e)
{
    static const char *const ends[] = { "n't", "n\xe2\x80\x99t" };
    const char *from = e->at;
    bool denies = false;

    while (e->at != e->end &&
           (action_is_letter(*e->at) || action_is_digit(*e->at) || *e->at == '\'')) {
        e->at++;
    }
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        size_t n = strlen(ends[i]), bytes = (size_t)(e->at - from);

        denies |= bytes > n && memcmp(e->at - n, ends[i], n) == 0;
    }
    return denies;
}
