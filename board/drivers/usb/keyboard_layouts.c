#include "board/drivers/usb/keyboard_layouts.h"

#include <stddef.h>

const struct keyboard_layout keyboard_layouts[KEYBOARD_LAYOUTS] = {
    [KEYBOARD_US] = { .plain = u"abcdefghijklmnopqrstuvwxyz1234567890-=[]\\;'`,./\\",
                      .shift = u"ABCDEFGHIJKLMNOPQRSTUVWXYZ!@#$%^&*()_+{}|:\"~<>?|" },
    [KEYBOARD_UK] = { .plain = u"abcdefghijklmnopqrstuvwxyz1234567890-=[]#;'`,./\\",
                      .shift = u"ABCDEFGHIJKLMNOPQRSTUVWXYZ!\"£$%^&*()_+{}~:@¬<>?|",
                      .third = u"`¦4€aáeéiíoóuú",
                      .fourth = u"aÁeÉiÍoÓuÚ" },
    [KEYBOARD_DE] = { .plain = u"abcdefghijklmnopqrstuvwxzy1234567890ß\u0301ü+#öä\u0302,.-<",
                      .shift = u"ABCDEFGHIJKLMNOPQRSTUVWXZY!\"§$%&/()=?\u0300Ü*'ÖÄ°;:_>",
                      .third = u"q@e€mµ2²3³7{8[9]0}-\\]~<|",
                      .fourth = u"" },
    [KEYBOARD_FR] = { .plain = u"qbcdefghijkl,noparstuvzxyw&é\"'(-è_çà)=\u0302$*mù²;:!<",
                      .shift = u"QBCDEFGHIJKL?NOPARSTUVZXYW1234567890°+\u0308£µM%²./§>",
                      .third = u"2~3#4{5[6|7`8\\9^0@-]=}e€]¤",
                      .fourth = u"" },
    [KEYBOARD_IT] = { .plain = u"abcdefghijklmnopqrstuvwxyz1234567890'ìè+ùòà\\,.-<",
                      .shift = u"ABCDEFGHIJKLMNOPQRSTUVWXYZ!\"£$%&/()=?^é*§ç°|;:_>",
                      .third = u"e€5€[[]];@'#7{0}-`=~",
                      .fourth = u"[{]}" },
    [KEYBOARD_ES] = { .plain = u"abcdefghijklmnopqrstuvwxyz1234567890'¡\u0300+çñ\u0301º,.-<",
                      .shift = u"ABCDEFGHIJKLMNOPQRSTUVWXYZ!\"·$%&/()=?¿\u0302*ÇÑ\u0308ª;:_>",
                      .third = u"1|2@3#4~5€6¬e€[[]]'{\\}`\\",
                      .fourth = u"" },
};

/* An accent by itself, and its pairs of letters. */
static const struct accent {
    uint16_t dead, alone;
    const uint16_t *pairs;
} accents[] = {
    { DEAD_GRAVE, '`', u"aàeèiìoòuùAÀEÈIÌOÒUÙ" },
    { DEAD_ACUTE, 0xb4, u"aáeéiíoóuúyýAÁEÉIÍOÓUÚYÝ" },
    { DEAD_HAT, '^', u"aâeêiîoôuûAÂEÊIÎOÔUÛ" },
    { DEAD_DOTS, 0xa8, u"aäeëiïoöuüyÿAÄEËIÏOÖUÜYŸ" },
};

unsigned keyboard_position(uint8_t usage)
{
    if (usage >= 0x04 && usage <= 0x27)
        return usage - 0x04u;
    if (usage >= 0x2d && usage <= 0x31)
        return usage - 0x2du + 36;
    if (usage == 0x32) /* the same key on keyboards of other shapes */
        return 40;
    if (usage >= 0x33 && usage <= 0x38)
        return usage - 0x33u + 41;
    return usage == 0x64 ? KEYBOARD_KEYS - 1u : (unsigned)KEYBOARD_KEYS;
}

static uint16_t partner(const uint16_t *pairs, uint16_t first)
{
    for (; pairs != NULL && pairs[0] != 0; pairs += 2)
        if (pairs[0] == first)
            return pairs[1];
    return 0;
}

uint16_t keyboard_character(const struct keyboard_layout *layout, unsigned position, unsigned with)
{
    uint16_t us = keyboard_layouts[KEYBOARD_US].plain[position];

    if (with < 2)
        return with == 0 ? layout->plain[position] : layout->shift[position];
    return partner(with == 2 ? layout->third : layout->fourth,
                   position == KEYBOARD_KEYS - 1 ? '<' : us);
}

uint16_t keyboard_compose(uint16_t dead, uint16_t letter)
{
    for (size_t i = 0; i < sizeof accents / sizeof accents[0]; i++)
        if (accents[i].dead == dead)
            return partner(accents[i].pairs, letter);
    return 0;
}

uint16_t keyboard_accent(uint16_t dead)
{
    for (size_t i = 0; i < sizeof accents / sizeof accents[0]; i++)
        if (accents[i].dead == dead)
            return accents[i].alone;
    return 0;
}
