/* A keyboard's reports as text: every key of every layout, accents, AltGr, Caps Lock, repeat, and
 * malformed reports. */
#include <stdio.h>
#include <string.h>

#include "board/drivers/usb/keyboard_keys.h"
#include "board/keyboard.h"
#include "tests/unit/tap.h"

enum { NONE = 0, LEFT_CTRL = 1, SHIFT = 2, LEFT_ALT = 4, ALT_GR = 64 };

/* The places of keys on a desk: the digits' row from the key below Escape, then the rows of Q, A
 * and Z with the keys to their right; the key beside Shift begins the last row. */
static const uint8_t rows[] = {
    0x35, 0x1e, 0x1f, 0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x2d, 0x2e, /* digits */
    0x14, 0x1a, 0x08, 0x15, 0x17, 0x1c, 0x18, 0x0c, 0x12, 0x13, 0x2f, 0x30,       /* q */
    0x04, 0x16, 0x07, 0x09, 0x0a, 0x0b, 0x0d, 0x0e, 0x0f, 0x33, 0x34, 0x31,       /* a */
    0x64, 0x1d, 0x1b, 0x06, 0x19, 0x05, 0x11, 0x10, 0x36, 0x37, 0x38,             /* z */
};

/* Accents come alone, because Space follows each. */
static const struct {
    const char *name, *plain, *shift, *alt_gr;
} layouts[] = {
    [KEYBOARD_US] = { "us", "`1234567890-=qwertyuiop[]asdfghjkl;'\\\\zxcvbnm,./",
                      "~!@#$%^&*()_+QWERTYUIOP{}ASDFGHJKL:\"||ZXCVBNM<>?", NULL },
    [KEYBOARD_UK] = { "uk", "`1234567890-=qwertyuiop[]asdfghjkl;'#\\zxcvbnm,./",
                      "¬!\"£$%^&*()_+QWERTYUIOP{}ASDFGHJKL:@~|ZXCVBNM<>?", "¦€éúíóá" },
    [KEYBOARD_DE] = { "de", "^1234567890ß´qwertzuiopü+asdfghjklöä#<yxcvbnm,.-",
                      "°!\"§$%&/()=?`QWERTZUIOPÜ*ASDFGHJKLÖÄ'>YXCVBNM;:_", "²³{[]}\\@€~|µ" },
    [KEYBOARD_FR] = { "fr", "²&é\"'(-è_çà)=azertyuiop^$qsdfghjklmù*<wxcvbn,;:!",
                      "²1234567890°+AZERTYUIOP¨£QSDFGHJKLM%µ>WXCVBN?./§", "~#{[|`\\^@]}€¤" },
    [KEYBOARD_IT] = { "it", "\\1234567890'ìqwertyuiopè+asdfghjklòàù<zxcvbnm,.-",
                      "|!\"£$%&/()=?^QWERTYUIOPé*ASDFGHJKLç°§>ZXCVBNM;:_", "€{}`~€[]@#" },
    [KEYBOARD_ES] = { "es", "º1234567890'¡qwertyuiop`+asdfghjklñ´ç<zxcvbnm,.-",
                      "ª!\"·$%&/()=?¿QWERTYUIOP^*ASDFGHJKLÑ¨Ç>ZXCVBNM;:_", "\\|@#~€¬€[]{}" },
};
_Static_assert(sizeof layouts / sizeof layouts[0] == KEYBOARD_LAYOUTS, "each");

static struct keyboard_keys keys;
static uint32_t now;

static void begin(unsigned layout)
{
    keys = (struct keyboard_keys){ .layout = layout };
    now = UINT32_MAX - 100; /* it wraps */
}

static void hold(uint8_t modifiers, uint8_t key)
{
    uint8_t report[8] = { modifiers, 0, key };

    keyboard_keys_report(&keys, report, sizeof report, now);
}

static void type(uint8_t modifiers, uint8_t key)
{
    hold(modifiers, key);
    hold(modifiers, 0);
}

static const char *typed(void)
{
    static char text[1024];
    size_t n = 0;
    int byte;

    while ((byte = keyboard_keys_take(&keys)) >= 0)
        text[n++] = (char)byte;
    text[n] = '\0';
    return text;
}

/* Takes the text after each key, and ends accents with Space. */
static const char *type_rows(uint8_t modifiers)
{
    static char all[1024];

    all[0] = '\0';
    for (size_t i = 0; i < sizeof rows; i++) {
        type(modifiers, rows[i]);
        if (keys.dead != 0)
            type(NONE, 0x2c);
        strcat(all, typed());
    }
    return all;
}

static void check_text(const char *got, const char *want, const char *layout, const char *what)
{
    printf("# %s, %s: %s\n", layout, what, got);
    OK(strcmp(got, want) == 0, "the row of keys is right");
}

static void test_layouts(void)
{
    for (unsigned i = 0; i < KEYBOARD_LAYOUTS; i++) {
        begin(i);
        check_text(type_rows(NONE), layouts[i].plain, layouts[i].name, "plain");
        check_text(type_rows(SHIFT), layouts[i].shift, layouts[i].name, "shift");
        if (layouts[i].alt_gr != NULL)
            check_text(type_rows(ALT_GR), layouts[i].alt_gr, layouts[i].name, "AltGr");
    }
    begin(KEYBOARD_IT);
    OK(strcmp(type_rows(ALT_GR | SHIFT), "{}") == 0, "the fourth level of the layout is right");
    begin(KEYBOARD_UK);
    OK(strcmp(type_rows(ALT_GR | SHIFT), "ÉÚÍÓÁ") == 0, "the fourth level of uk is right");
    begin(KEYBOARD_US);
    OK(strncmp(type_rows(ALT_GR),
               "\x1b`\x1b"
               "1",
               4) == 0,
       "AltGr is Alt in the layout us");
}

static void test_accents(void)
{
    begin(KEYBOARD_FR);
    type(NONE, 0x2f), type(NONE, 0x08);   /* ^ e */
    type(SHIFT, 0x2f), type(SHIFT, 0x0c); /* dots I */
    OK(strcmp(typed(), "êÏ") == 0, "accents and letters are joined");
    type(NONE, 0x2f), type(NONE, 0x1b); /* ^ x */
    OK(strcmp(typed(), "^x") == 0, "an accent and a letter that do not join are both typed");
    type(NONE, 0x2f), type(NONE, 0x2f), type(NONE, 0x08); /* ^ ^ e */
    OK(strcmp(typed(), "^e") == 0, "an accent pressed twice is typed by itself");
    type(NONE, 0x2f), type(SHIFT, 0x2f);
    OK(strcmp(typed(), "^¨") == 0, "two accents are typed");
    type(NONE, 0x2f), type(NONE, 0x2a), type(NONE, 0x08); /* taken back */
    OK(strcmp(typed(), "e") == 0, "Backspace takes an accent back");
    type(NONE, 0x2f), type(NONE, 0x28);
    OK(strcmp(typed(), "\r") == 0, "Enter drops a pending accent");
    begin(KEYBOARD_DE);
    type(NONE, 0x2e), type(NONE, 0x04), type(SHIFT, 0x2e), type(SHIFT, 0x18);
    OK(strcmp(typed(), "áÙ") == 0, "accents of de are joined");
}

static void test_others(void)
{
    begin(KEYBOARD_US);
    type(NONE, 0x52), type(NONE, 0x51), type(NONE, 0x4f), type(NONE, 0x50);
    OK(strcmp(typed(), "\x1b[A\x1b[B\x1b[C\x1b[D") == 0, "arrows send their sequences");
    type(NONE, 0x4a), type(NONE, 0x4d), type(NONE, 0x4c), type(NONE, 0x2a), type(NONE, 0x28);
    OK(strcmp(typed(), "\x1b[H\x1b[F\x1b[3~\x7f\r") == 0, "editing keys send their sequences");
    type(LEFT_CTRL, 0x06), type(LEFT_CTRL, 0x50), type(LEFT_ALT, 0x05);
    OK(strcmp(typed(), "\x03\x1b[1;5D\x1b"
                       "b") == 0,
       "Ctrl and Alt change what a key sends");
    type(LEFT_CTRL, 0x1e), type(NONE, 0x3a), type(NONE, 0xff);
    OK(strcmp(typed(), "") == 0, "keys without a meaning send nothing");
    type(NONE, 0x5f), type(NONE, 0x57), type(NONE, 0x62), type(NONE, 0x58);
    OK(strcmp(typed(), "7+0\r") == 0, "the keys of the digits' block type what is printed on them");
    begin(KEYBOARD_FR); /* Ctrl goes by the printed letter */
    type(LEFT_CTRL, 0x14);
    OK(strcmp(typed(), "\x01") == 0, "Ctrl counts by what is printed on the key");
}

static void test_caps(void)
{
    begin(KEYBOARD_DE);
    type(NONE, 0x39);
    type(NONE, 0x04), type(SHIFT, 0x04), type(NONE, 0x1e), type(NONE, 0x33), type(NONE, 0x2d);
    OK(keys.caps && strcmp(typed(), "Aa1Öß") == 0, "Caps Lock changes only letters");
    type(NONE, 0x39), type(NONE, 0x04);
    OK(!keys.caps && strcmp(typed(), "a") == 0, "Caps Lock ends");
}

static void test_repeat(void)
{
    begin(KEYBOARD_US);
    hold(NONE, 0x04);
    now += KEYBOARD_DELAY_MS - 1, keyboard_keys_look(&keys, now);
    OK(strcmp(typed(), "a") == 0, "no key repeats before the delay");
    now += 1, keyboard_keys_look(&keys, now), keyboard_keys_look(&keys, now);
    OK(strcmp(typed(), "a") == 0, "the key repeats once after the delay");
    now += 10 * KEYBOARD_REPEAT_MS, keyboard_keys_look(&keys, now), keyboard_keys_look(&keys, now);
    OK(strcmp(typed(), "a") == 0, "a late look repeats the key once"); /* nobody looked: once */
    hold(NONE, 0);
    now += 1000, keyboard_keys_look(&keys, now);
    OK(strcmp(typed(), "") == 0, "a key that was let go does not repeat");
    hold(NONE, 0x39);
    now += 1000, keyboard_keys_look(&keys, now);
    OK(keys.caps, "Caps Lock does not repeat"); /* Caps Lock does not */
    hold(NONE, 0x05), keyboard_keys_let_go(&keys);
    now += 1000, keyboard_keys_look(&keys, now);
    OK(strcmp(typed(), "B") == 0, "a keyboard that is gone does not repeat its key");
}

static void test_reports(void)
{
    static const uint8_t two[8] = { 0, 0, 4, 5 }, one[8] = { 0, 0, 5 },
                         many[8] = { 2, 0, 1, 1, 1, 1, 1, 1 };

    begin(KEYBOARD_US);
    keyboard_keys_report(&keys, two, 8, now), keyboard_keys_report(&keys, one, 8, now);
    OK(strcmp(typed(), "ab") == 0, "two keys at once are typed");
    keyboard_keys_report(&keys, many, 8, now), keyboard_keys_report(&keys, one, 8, now);
    OK(strcmp(typed(), "") == 0 && keys.modifiers == 0, "too many keys at once type nothing");
    keyboard_keys_report(&keys, two, 2, now);
    OK(strcmp(typed(), "") == 0, "a report of two bytes is ignored");
    keyboard_keys_report(&keys, two, 3, now); /* short: 5 is let go of */
    OK(strcmp(typed(), "a") == 0 && keys.held[1] == 0, "a report of three bytes is read");
    for (unsigned i = 0; i < 100; i++)
        type(NONE, 0x52);
    OK(strlen(typed()) == KEYBOARD_OUT / 3 * 3,
       "a sequence is never cut"); /* no half of a sequence */
}

int main(void)
{
    test_layouts();
    test_accents();
    test_others();
    test_caps();
    test_repeat();
    test_reports();
    return tap_done();
}
