/* A model's text with hostile tokens, and foreign names and messages, at the console of a person
 * and of a program: no byte comes out that a terminal obeys, except the console's own. */
#include "runtime/console/console_json.h"
#include "runtime/tokenizer/tokenizer.h"
#include "tests/unit/console/played_terminal.h"
#include "tests/unit/tokenizer/listed_vocabulary.h"

#define FFFD UTF8_REPLACEMENT

/* A clipboard, a question whose answer is typed input, XOFF, a title, an override; as they are in vocabularies,
 * in byte-level BPE's spelling (ESC is U+011B, BEL U+0107, 0x13 U+0113, 0x90 U+0132, 0x9b U+013D, 0x80 U+0122,
 * 0xae and 0xe2 themselves) ... */
static const char *const attacks[] = {
    "\304\233]52;c;cm0gLXJmIH4=\304\207", "\304\233[6n", "\304\223", "\304\233]2;title\304\233\\",
    "\303\242\304\242\302\256abc",        "\304\215ok",  "\304\275", "\304\262q",
};

/* ... and as parts, of which more than one token makes a character: U+009B and U+202E. */
static const uint8_t parts[] = { 0xc2, 0x9b, '6', 'n', 0xe2, 0x80, 0xae,
                                 0x9d, 0x1b, '[', '6', 'n',  0x7f };

/* No byte below a space but newline, tab and CR LF's; ECMA-48's C1 and the marks of direction neither. */
static bool is_harmless(const char *text, size_t n)
{
    for (size_t i = 0; i < n;) {
        int bytes = utf8_check((const uint8_t *)text + i, n - i);

        if (bytes <= 0 || char_is_control(utf8_decode((const uint8_t *)text + i, bytes))) {
            return bytes == 1 && text[i] == '\r' && i + 1 < n && text[i + 1] == '\n' &&
                   is_harmless(text + i + 1, n - i - 1);
        }
        i += (size_t)bytes;
    }
    return true;
}

static bool is_shown_harmless(void)
{
    bool good = terminal.out_bytes != 0 && is_harmless(terminal.out, terminal.out_bytes);

    terminal.out_bytes = good ? 0 : terminal.out_bytes;
    return good || wrote("harmless text");
}

static void say_token(const struct tokenizer *t, uint32_t id)
{
    size_t bytes;
    const char *piece = tokenizer_piece(t, id, INGOT_NO_TOKEN, &bytes);

    console_token_begin(&console, id);
    console_write(&console, piece, bytes);
    console_token_end(&console);
}

static void open_line(bool json)
{
    plug_in("", 0, 0, true);
    if (json) {
        console_speak_json(&console);
    }
}

static void test_tokens(void)
{
    struct tokenizer tokenizer;
    uint64_t bytes;
    uint8_t *section;

    listed_begin(INGOT_TOKENIZER_BPE, INGOT_PRE_GPT2, 0);
    for (unsigned i = 0; i < sizeof attacks / sizeof attacks[0]; i++) {
        listed_add(attacks[i], INGOT_TOKEN_NORMAL);
    }
    section = listed_section(&bytes);
    if (!OK(section != NULL, "a vocabulary of attacks is made: %s", listed.source.error_message)) {
        return;
    }
    tokenizer_open(&tokenizer, section);
    for (int json = 0; json < 2; json++) {
        open_line(json);
        say_token(&tokenizer, 256);
        OK(json
               ? wrote(
                     "{\"event\":\"token\",\"id\":256,\"text\":\"\\u001b]52;c;cm0gLXJmIH4=\\u0007\"}\r\n")
               : wrote(FFFD "]52;c;cm0gLXJmIH4=" FFFD),
           json ? "JSON has escapes for a token that writes the clipboard"
                : "a token that writes the clipboard does not reach the terminal");
        for (unsigned i = 0; i < sizeof attacks / sizeof attacks[0]; i++) {
            say_token(&tokenizer, 256 + i);
        }
        OK(is_shown_harmless(), "the other characters cannot change the terminal either");
        for (unsigned i = 0; i < sizeof parts; i++) {
            say_token(&tokenizer, parts[i]);
        }
        if (!json) {
            OK(wrote(FFFD "6n" FFFD FFFD FFFD "[6n" FFFD),
               "characters of several tokens do not reach the terminal");
        }
        for (uint32_t id = 0; id < 256; id++) {
            say_token(&tokenizer, id);
        }
        OK(is_shown_harmless(), "no single byte reaches the terminal");
    }
    free(section);
}

static void test_error_messages(void)
{
    static const char name[] = "a\33[6n\302\233b\342\200\256c\023.ingot";

    open_line(false);
    console_printf(&console, "error: %s: no such file\n", name);
    OK(wrote("error: a" FFFD "[6n" FFFD "b" FFFD "c" FFFD ".ingot: no such file\r\n"),
       "a name in an error is shown harmless");
    console_log(&console, "model %.3s: fine", name);
    OK(wrote("[    0.000] model a" FFFD "[: fine\r\n"), "a name in the log is shown harmless");
    console_repeat_log(&console);
    OK(wrote("[    0.000] model a" FFFD "[: fine\r\n"),
       "a hostile name is shown with replacement characters in the log");
    console_progress(&console, name, 1, 9);
    terminal.ticks += 1000000;
    console_progress(&console, name, 2, 9);
    console_progress_end(&console);
    OK(is_shown_harmless(), "the label of a wait is shown harmless");
    console_write(&console, "\302", 1);
    console_log(&console, "late");
    OK(wrote(FFFD "\r\n[    1.000] late\r\n"), "text that is held back comes before a log line");
    open_line(true);
    console_log(&console, "error: %s", name);
    OK(wrote(
           "{\"event\":\"error\",\"name\":\"failed\",\"text\":\"a\\u001b[6n\\u009bb\\u202ec\\u0013.ingot"
           "\"}\r\n"),
       "JSON has escapes for the other characters");
}

/* Colours, the prompt and the line that is edited are ours. */
static void test_own_sequences(void)
{
    plug_in("a\33[Db\n", 6, 64, true);
    console_find_terminal(&console, CONSOLE_VT);
    console_style(&console, CONSOLE_REPLY);
    console_write(&console, "\33[0m", 4);
    console_style(&console, CONSOLE_NORMAL);
    OK(wrote("\33[36m" FFFD "[0m\33[0m"), "a reply has our color, and none of its own");
    console_write(&console, "\n", 1);
    terminal.out_bytes = 0;
    OK(is(next_line(64), "ba") && memchr(terminal.out, 27, terminal.out_bytes) != NULL,
       "the line editor draws as usual");
}

int main(void)
{
    test_tokens();
    test_error_messages();
    test_own_sequences();
    return tap_done();
}
