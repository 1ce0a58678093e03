/* Boot arguments: which are taken, which are ignored, and the error message for wrong ones. */
#include <stdlib.h>
#include <string.h>

#include "runtime/features/acting/actions.h"
#include "runtime/compute/kv_cache.h"
#include "runtime/console/console.h"
#include "runtime/options/options.h"
#include "tests/unit/tap.h"

static struct options o;
static char said[4096]; /* every error message, fatal ones with a '!' in front */

static void keep(void *context, bool fatal, const char *error_message)
{
    OK(context == &o && strlen(error_message) < OPTIONS_ERROR_MESSAGE_BYTES &&
           strchr(error_message, '\n') == NULL,
       "an error is one sentence: %s", error_message);
    strcat(said, fatal ? "!" : "");
    strcat(said, error_message);
    strcat(said, "\n");
}

static const struct options_report report = { keep, &o };

static enum err parse(const char *args)
{
    options_init(&o);
    said[0] = '\0';
    return options_parse(&o, args, &report);
}

static bool near(float a, float b)
{
    return a == b;
}

static bool all_given(void)
{
    bool all = true;

    for (unsigned i = 0; i < OPTION_COUNT; i++) {
        all = all && options_given(&o, (enum option)i);
    }
    return all;
}

static void test_all_words(void)
{
    enum err err = parse(
        "model=models/a.ingot prompt=\"Once upon\" n=32 temp=0 top_p=0.9 top_k=7\n"
        "\tmin_p=.1 repeat=1.1 repeat_last_n=7 presence_penalty=1 frequency_penalty=-1 seed=18446744073709551615 ctx=512 mem=64M cores=4 "
        "isa=neon kv=q8 experts=ahead pinned=3 pins=light:3,door:5:in:low sensors=room:i2c1:0x48:tmp105 actions=porch dry actions_minute=9 actions_said=name spec=ngram draft=small.ingot adapter=poet:0.5,tutor adapters=2M grammar=\"yes|no\" baud=115200 lock=0123456789abcdef:00112233445566778899aabbccddeeff flow=off mode=json "
        "term=vt net=dhcp,open name=kitchen time=ntp token=secret watchdog=9 verbose selftest diag ids ticks pio dmaend=1152M pcie=gen3 keyboard=fr screen=off trace=1 system=\"Be brief.\" think=off "
        "overflow=sinks preset=lila turns=10 branches=2 beams=3 together=5 policy=explore learn=on log=on kept=16M quiet stop=\"User:\" stop=\"a\\nb\"");

    OK(err == ERR_OK && said[0] == '\0', "every option is read at once");
    OK(all_given(), "all options count as given");
    OK(strcmp(o.load.model, "models/a.ingot") == 0 && strcmp(o.machine.isa, "neon") == 0 &&
           strcmp(o.load.draft, "small.ingot") == 0 &&
           strcmp(o.load.adapter, "poet:0.5,tutor") == 0 && strcmp(o.load.grammar, "yes|no") == 0,
       "texts are read");
    OK(strcmp(o.acting.pins, "light:3,door:5:in:low") == 0 &&
           strcmp(o.acting.actions, "porch") == 0 &&
           strcmp(o.acting.sensors, "room:i2c1:0x48:tmp105") == 0,
       "the options of actions and sensors are read");
    OK(strcmp(o.load.preset, "lila") == 0 && o.reply.turns == 10, "a preset and turns are read");
    OK(strcmp(o.reply.prompt, "Once upon") == 0 && o.reply.prompt_bytes == 9, "the prompt is read");
    OK(o.reply.n == 32 && o.sampler.top_k == 7 && o.load.ctx == 512 && o.machine.cores == 4 &&
           o.line.baud == 115200 && o.line.flow == FLOW_OFF && o.line.mode == MODE_JSON &&
           o.machine.watchdog == 9 && o.load.branches == 2 && o.load.learn == LEARN_ON &&
           o.feature.log == LOG_ON && o.load.policy == POLICY_EXPLORE && o.load.beams == 3 &&
           o.load.pinned == 3 && o.acting.a_minute == 9 && o.acting.said == ACTION_NEEDS_NAME &&
           o.load.together == 5,
       "counts are read");
    OK(near(o.sampler.temp, 0) && near(o.sampler.top_p, 0.9f) && near(o.sampler.min_p, 0.1f) &&
           near(o.sampler.repeat, 1.1f),
       "numbers are read");
    OK(o.sampler.seed == UINT64_MAX && o.load.mem == UINT64_C(64) << 20 &&
           o.load.adapters == UINT64_C(2) << 20 && o.machine.dmaend == 0x48000000,
       "64-bit numbers are read");
    OK(o.show.verbose && o.machine.selftest && o.show.ids && o.show.diag && o.show.ticks &&
           o.acting.dry && o.machine.pio && o.show.quiet && o.show.trace == 1,
       "flags are read");
    OK(o.machine.screen == SCREEN_OFF && o.machine.keyboard == 3 && o.load.kv.types.keys == KV_Q8 &&
           o.reply.think == THINK_OFF && o.reply.overflow == OVERFLOW_SINKS &&
           o.load.experts == EXPERTS_AHEAD && o.load.spec == SPECULATIVE_NGRAM &&
           o.line.term == CONSOLE_VT,
       "choices are read");
    OK(o.reply.n_stops == 2 && strcmp(o.reply.stop[0], "User:") == 0 &&
           strcmp(o.reply.stop[1], "a\nb") == 0,
       "stop strings add up");
    OK(strcmp(o.reply.system, "Be brief.") == 0 && o.reply.system_bytes == 9, "system= is read");
    OK(parse("system=\"\"") == ERR_OK && options_given(&o, OPTION_SYSTEM) &&
           o.reply.system_bytes == 0,
       "an empty system= counts as given");
    OK(parse("think=maybe") == ERR_BAD_ARGUMENT && o.reply.think == THINK_ON &&
           strstr(said, "think takes on, off, show, dim or hide") != NULL,
       "a wrong think= names the choices: %s", said);
    OK(parse("spec=maybe") == ERR_BAD_ARGUMENT && o.load.spec == SPECULATIVE_AUTO &&
           strstr(said, "spec takes auto, off or ngram") != NULL,
       "a wrong spec= names the choices: %s", said);
    OK(parse("dmaend=0x48000000") == ERR_OK && o.machine.dmaend == 0x48000000 &&
           parse("dmaend=low") == ERR_BAD_ARGUMENT && o.machine.dmaend == 0 &&
           strstr(said, "dmaend takes an address of at least 1") != NULL &&
           parse("dmaend=0") == ERR_BAD_ARGUMENT && parse("dmaend") == ERR_BAD_ARGUMENT,
       "a wrong dmaend= names what it takes: %s", said);
    OK(parse("pcie=gen3") == ERR_OK && o.machine.pcie == PCIE_GEN3 &&
           parse("pcie=gen4") == ERR_BAD_ARGUMENT && o.machine.pcie == PCIE_GEN2 &&
           strstr(said, "pcie takes gen2 or gen3") != NULL,
       "a wrong pcie= names the choices: %s", said);
    OK(parse("kv=q4") == ERR_BAD_ARGUMENT && o.load.kv.types.keys == KV_F16 &&
           strstr(said, "kv takes f16, q8, rot_q8, rot_q4 or f32, or KEYS,VALUES") != NULL,
       "a wrong kv= names the choices: %s", said);
    OK(parse("kv=card") == ERR_OK && o.load.kv.card && o.load.kv.types.keys == KV_F16 &&
           parse("kv=card,q8") == ERR_OK && o.load.kv.card && o.load.kv.types.values == KV_Q8 &&
           parse("kv=") != ERR_OK && parse("kv=card,") != ERR_OK && parse("kv=cards") != ERR_OK,
       "kv=card is read with a type and without");
    OK(parse("kv=rot_q8,f16") == ERR_OK && !o.load.kv.card && o.load.kv.types.keys == KV_ROT_Q8 &&
           o.load.kv.types.values == KV_F16 && parse("kv=card,f32,q8") == ERR_OK &&
           o.load.kv.card && o.load.kv.types.keys == KV_F32 && o.load.kv.types.values == KV_Q8 &&
           parse("kv=f16,") != ERR_OK && parse("kv=f16,q8,q8") != ERR_OK,
       "keys and values have formats of their own");
}

/* Five stop strings, and one that is too long. */
static void test_stops(void)
{
    char args[OPTIONS_STOP_BYTES + 8] = "stop=", text[OPTIONS_VALUE_BYTES];

    OK(parse("stop=a stop=b stop=c stop=d stop=e") == ERR_TOO_LONG && o.reply.n_stops == 4 &&
           strcmp(o.reply.stop[3], "d") == 0 && strstr(said, "four times at most") != NULL,
       "a fifth stop string is refused: %s", said);
    memset(args + 5, 'x', OPTIONS_STOP_BYTES - 1);
    OK(parse(args) == ERR_OK && strlen(o.reply.stop[0]) == 63, "63 bytes of a stop string fit");
    strcat(args, "x");
    OK(parse(args) == ERR_TOO_LONG && o.reply.n_stops == 0, "64 bytes of a stop string do not fit");
    OK(parse("quiet=on ids=off") == ERR_OK && o.show.quiet && !o.show.ids, "flags take on or off");
    OK(parse("quiet quiet=off think=hide") == ERR_OK && !o.show.quiet &&
           o.reply.think == THINK_HIDE &&
           strcmp(options_value_text(&o, OPTION_THINK, text), "hide") == 0,
       "the later option counts");
}

static void test_defaults(void)
{
    OK(parse("") == ERR_OK && option_set_is_empty(&o.given) && !options_given(&o, OPTION_N),
       "no option counts as given");
    OK(near(o.sampler.temp, 0.8f) && near(o.sampler.top_p, 0.95f) && o.sampler.top_k == 40 &&
           near(o.sampler.min_p, 0.05f) && near(o.sampler.repeat, 1),
       "the defaults are set");
    OK(o.sampler.repeat_last == 64 && near(o.sampler.presence, 0) && near(o.sampler.frequency, 0) &&
           o.sampler.n_biases == 0,
       "no penalty is set");
    OK(parse("repeat_penalty=1.2 repeat_last_n=-1 presence_penalty=-2 frequency_penalty=0.5") ==
               ERR_OK &&
           near(o.sampler.repeat, 1.2f) && o.sampler.repeat_last == INGOT_MAX_CONTEXT &&
           near(o.sampler.presence, -2) && near(o.sampler.frequency, 0.5f),
       "penalties have the names of other programs as well, and -1 means all");
    OK(parse("presence_penalty=2.1") == ERR_BAD_ARGUMENT &&
           parse("repeat_last_n=-2") == ERR_BAD_ARGUMENT,
       "penalties stay within their bounds");
    OK(parse("n=5 n=-1 seed=5 seed=-1") == ERR_OK && o.reply.n == 0 &&
           !options_given(&o, OPTION_SEED),
       "the later option counts; -1 means no limit, and as if no seed were given");
    OK(parse(" \t\r\n ") == ERR_OK && option_set_is_empty(&o.given), "white space has no option");
}

static bool prompt_is(const char *args, const char *expected)
{
    return parse(args) == ERR_OK && strcmp(o.reply.prompt, expected) == 0 &&
           o.reply.prompt_bytes == strlen(expected) && options_given(&o, OPTION_PROMPT);
}

static void test_quotes(void)
{
    OK(prompt_is("prompt=word n=1", "word") && o.reply.n == 1, "a space ends a bare text");
    OK(prompt_is("prompt=\"\"", ""), "an empty text is given");
    OK(prompt_is("prompt=", ""), "an empty text is given by prompt=");
    OK(prompt_is("prompt=\"a\\nb\\t\\\"c\\\" \\\\n\"", "a\nb\t\"c\" \\n"), "escapes are read");
    OK(prompt_is("prompt=\"\\x \\\" \"", "\\x \" "), "an unknown escape stays as it is");
    OK(prompt_is("prompt=a\"b c\"d\\n", "ab cd\\n"), "escapes count only in quotes");
    OK(prompt_is("prompt=\"n=5 root=x\" temp=1", "n=5 root=x") && o.reply.n == 0 &&
           near(o.sampler.temp, 1),
       "words inside are text");
    OK(prompt_is("prompt=\"\xc3\xbc\xff\"", "\xc3\xbc\xff"), "any bytes are accepted");
    OK(parse("n=3 prompt=\"open n=4") == ERR_BAD_ARGUMENT && o.reply.n == 3 &&
           !options_given(&o, OPTION_PROMPT) && options_refused(&o, OPTION_PROMPT) &&
           strstr(said, "!the closing quote of prompt=\"") == said,
       "a missing quote is refused");
}

static void test_long_texts(void)
{
    char args[OPTIONS_PROMPT_BYTES + 64];

    memset(args, 'x', sizeof args);
    memcpy(args, "prompt=", 7);
    args[7 + OPTIONS_PROMPT_BYTES - 1] = '\0';
    OK(parse(args) == ERR_OK && o.reply.prompt_bytes == OPTIONS_PROMPT_BYTES - 1, "4095 bytes fit");
    args[7 + OPTIONS_PROMPT_BYTES - 1] = 'x';
    args[7 + OPTIONS_PROMPT_BYTES] = '\0';
    OK(parse(args) == ERR_TOO_LONG && o.reply.prompt_bytes == 0 && o.reply.prompt[0] == '\0' &&
           strstr(said, "up to 4095 bytes") != NULL,
       "4096 bytes do not fit");
    memcpy(args + 1, "model=", 6);
    args[7 + OPTIONS_MODEL_BYTES] = '\0';
    OK(parse(args + 1) == ERR_TOO_LONG && o.load.model[0] == '\0', "a long file name is refused");
    args[7 + OPTIONS_MODEL_BYTES - 1] = '\0';
    OK(parse(args + 1) == ERR_OK && strlen(o.load.model) == 255, "a file name that fits is read");
}

static bool refused(const char *args, const char *error_message)
{
    enum err err = parse(args);

    return err == ERR_BAD_ARGUMENT && option_set_is_empty(&o.given) && said[0] == '!' &&
           strstr(said, error_message) == said + 1;
}

static void test_malformed(void)
{
    OK(refused("temp=hot", "temp=hot cannot be used: temp takes a number from 0 to 100"),
       "a word for a number is refused");
    OK(near(o.sampler.temp, 0.8f), "a wrong value leaves the default");
    OK(refused("temp=", "temp= cannot"), "an empty value is refused");
    OK(refused("temp", "temp alone cannot be used: temp takes a number"), "a number needs a value");
    OK(refused("temp=nan", "temp=nan") && refused("temp=inf", "temp=inf"), "temp is a number");
    OK(refused("temp=1e999", "temp=1e999"), "a number beyond f32 is refused");
    OK(refused("temp=-1", "temp=-1") && refused("top_p=1.01", "top_p=1.01"),
       "a value out of range is refused");
    OK(refused("repeat=0", "repeat=0 "), "a penalty of 0 is refused");
    OK(refused("n=-2", "n=-2") && refused("n=1048577", "n=1048577"),
       "a count out of range is refused");
    OK(refused("n=1K", "n=1K") && refused("n=12x", "n=12x"), "a count with a tail is refused");
    OK(refused("ctx=0", "ctx=0") && refused("ctx=-1", "ctx=-1"), "ctx has no value for all");
    OK(refused("cores=0", "cores=0") && refused("cores=9", "cores=9 cannot be used: cores takes a "
                                                           "count from 1 to 8"),
       "a number of cores is checked");
    OK(refused("mem=16X", "mem=16X") && refused("mem=0", "mem=0") && refused("mem=K", "mem=K"),
       "wrong sizes are refused");
    OK(refused("mem=99999999999G", "mem=9999") && refused("seed=18446744073709551616", "seed=1844"),
       "numbers beyond 64 bits are refused");
    OK(refused("ids=1", "ids=1 cannot be used: ids takes on or off (without a value: on)"),
       "a value for a flag is refused");
    OK(refused("stop=", "stop= cannot be used") && refused("stop", "stop alone"),
       "stop= without a text is refused, with and without the equals sign");
    OK(refused("model=", "model= cannot") && refused("isa=\"\"", "isa= cannot"), "isa= needs text");
    OK(refused("temp=\x1b[2J", "temp=?[2J cannot"), "control bytes do not reach the terminal");
    OK(parse("temp=x n=5 top_k=y") == ERR_BAD_ARGUMENT && o.reply.n == 5 &&
           strstr(said, "top_k=y") != NULL,
       "options after an error are still read");
    OK(parse("temp=x n=5") == ERR_BAD_ARGUMENT && o.reply.n == 5 &&
           options_refused(&o, OPTION_TEMP) && !options_refused(&o, OPTION_N),
       "an earlier error is not forgotten");
    OK(parse("temp=x temp=1") == ERR_BAD_ARGUMENT && option_set_is_empty(&o.refused) &&
           near(o.sampler.temp, 1),
       "an option does not count as refused if a later one is right");
}

static bool passed_over(const char *args, const char *error_message)
{
    return parse(args) == ERR_OK && option_set_is_empty(&o.given) &&
           strstr(said, error_message) == said;
}

/* The word is unknown, and the hint follows. */
static bool suggests(const char *word, const char *shown, const char *hint)
{
    char error_message[OPTIONS_ERROR_MESSAGE_BYTES];

    snprintf(error_message, sizeof error_message, "Boot argument '%s' is unknown and ignored; %s",
             shown, hint);
    return passed_over(word, error_message);
}

static void test_unknown(void)
{
    const char *none = "docs/OPTIONS.md lists all boot options.";

    OK(suggests("tmep=1", "tmep", "did you mean temp=?"), "swapped letters suggest the option");
    OK(suggests("modle=x", "modle", "did you mean model=?"), "modle suggests model, and not mode");
    OK(suggests("Temp=1", "Temp", "did you mean temp=?"), "an option in capitals is suggested");
    OK(strstr(said, "docs/OPTIONS.md") != NULL, "the error names the page that lists the options");
    OK(suggests("top-k=1", "top-k", "did you mean top_k=?"), "top-k suggests the option top_k");
    OK(suggests("temperature=1", "temperature", "did you mean temp=?"), "temperature finds temp=");
    OK(suggests("id", "id", "did you mean ids?"), "a flag is suggested");
    OK(suggests("zebra=1", "zebra", none), "no option is suggested if none is near");
    OK(suggests("x", "x", none), "no option is suggested for one letter");
    OK(suggests("=5", "", none), "no option is suggested for an empty name");
    OK(suggests("\x1b\xff=5",
                "?"
                "?",
                none),
       "odd bytes are shown harmless");
    OK(suggests("aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeee",
                "aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd...", none),
       "a long word is cut in the error");
}

static void test_foreign(void)
{
    OK(passed_over("coherent_pool=1M 8250.nr_uarts=1 snd_bcm2835.enable_headphones=0 "
                   "bcm2708_fb.fbwidth=0 smsc95xx.macaddr=B8:27:EB:00:00:00 vc_mem.mem_base=0x1 "
                   "vc_mem.mem_size=0x2 console=ttyS0,115200 console=tty1 root=PARTUUID=1-02 "
                   "rootfstype=ext4 fsck.repair=yes rootwait splash ro rw earlycon cma=64M "
                   "dwc_otg.lpm_enable=0 earlycon=pl011,0x9000000 panic=1 vc_mem=3 "
                   "bcm2709.boardrev=0x1",
                   "") &&
           said[0] == '\0',
       "words of the firmware are ignored without a message");
    OK(parse("row splash2") == ERR_OK && strstr(said, "'row'") != NULL && strstr(said, "'splash2'"),
       "a word that only begins like a firmware's is not ignored");
}

static void test_set(void)
{
    options_init(&o);
    said[0] = '\0';
    OK(options_set(&o, "temp", "0.5", &report) == ERR_OK && near(o.sampler.temp, 0.5f),
       "/set sets a value");
    OK(options_set(&o, "prompt", "a \"b\" \\n", &report) == ERR_OK &&
           strcmp(o.reply.prompt, "a \"b\" \\n") == 0,
       "quotes and escapes are kept");
    OK(options_set(&o, "ids", NULL, &report) == ERR_OK && o.show.ids, "/set sets a flag");
    OK(options_set(&o, "what", "1", &report) == ERR_NOT_FOUND && said[0] == '\0',
       "an unknown option is silent");
    OK(options_set(&o, "n", "x", NULL) == ERR_BAD_ARGUMENT && o.reply.n == 0, "errors stay silent");
}

static void test_floats(void)
{
    static const char *const good[] = {
        "0",
        "1",
        "0.8",
        ".5",
        "5.",
        "+2",
        "-0.125",
        "1e-3",
        "1E+3",
        "3.4028234e38",
        "1e-45",
        "1e-60",
        "0.1",
        "0.3333333333333333333333333",
        "123456789012345678901234567890",
        "00012.5000",
        "16777217",
        "0e999999999",
        "1.17549435e-38",
        "0.000000000000000000000001e24",
    };
    static const char *const bad[] = { "",   ".",  "-",   "e5",   "1e",     "1e+", "1.2.3", "0x10",
                                       "1 ", " 1", "--1", "1e39", "3.5e38", "inf", "nan",   "1,5" };
    float value;
    unsigned wrong = 0;

    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        OK(options_read_float(good[i], &value) && value == strtof(good[i], NULL),
           "%s is read as strtof reads it", good[i]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        value = 7;
        OK(!options_read_float(bad[i], &value) && value == 7, "'%s' is refused", bad[i]);
    }
    for (unsigned i = 0; i < 200000; i++) {
        char text[16];

        snprintf(text, sizeof text, "%u.%05u", i / 20000, i * 7 % 100000);
        wrong += !options_read_float(text, &value) || value != strtof(text, NULL);
    }
    OK(wrong == 0, "200000 numbers of five decimals are read as strtof reads them");
}

static bool u64_is(const char *text, bool sizes, uint64_t expected)
{
    uint64_t value = ~expected;

    return options_read_u64(text, sizes, &value) && value == expected;
}

static void test_u64(void)
{
    uint64_t value;

    OK(u64_is("0", false, 0) && u64_is("18446744073709551615", false, UINT64_MAX), "a u64 is read");
    OK(u64_is("0xFfffFFFFffffffff", false, UINT64_MAX) && u64_is("0X1a", false, 26), "hex is read");
    OK(u64_is("1K", true, 1024) && u64_is("1k", true, 1024) && u64_is("3MB", true, 3 << 20) &&
           u64_is("2GiB", true, UINT64_C(2) << 30),
       "sizes are read");
    OK(!options_read_u64("", false, &value) && !options_read_u64("0x", false, &value) &&
           !options_read_u64("-1", false, &value) && !options_read_u64("1.5G", true, &value) &&
           !options_read_u64("1Ki", true, &value) && !options_read_u64("1KK", true, &value) &&
           !options_read_u64("1B", true, &value) &&
           !options_read_u64("0x10000000000000000", false, &value) &&
           !options_read_u64("18014398509481984K", true, &value),
       "a text that is not a size is refused");
}

/* pins=COUNT meant experts, before lines had names. */
static void test_pins(void)
{
    OK(parse("pins=5") == ERR_OK && o.load.pinned == 5 && o.acting.pins[0] == '\0' &&
           options_given(&o, OPTION_PINNED) && !options_given(&o, OPTION_PINS) &&
           strstr(said, "pinned=5") != NULL && said[0] != '!',
       "pins=COUNT still means experts, and the new name is told: %s", said);
    OK(parse("pins=99") == ERR_BAD_ARGUMENT && strstr(said, "pinned takes") != NULL,
       "the bounds of pins=COUNT are told");
    OK(parse("pins=light:3:up") == ERR_BAD_ARGUMENT && o.acting.pins[0] == '\0' && said[0] == '!' &&
           strstr(said, "in, out or low") != NULL && options_refused(&o, OPTION_PINS),
       "an error names what is wrong with a list of pins: %s", said);
    OK(parse("sensors=room:i2c1:0x48:bmp280") == ERR_BAD_ARGUMENT && o.acting.sensors[0] == '\0' &&
           strstr(said, "tmp102, tmp105, lm75") != NULL && options_refused(&o, OPTION_SENSORS),
       "an error names what is wrong with a list of sensors: %s", said);
    OK(parse("pins=light:3 pins=fan:4") == ERR_OK && strcmp(o.acting.pins, "fan:4") == 0,
       "the later list counts");
    OK(parse("dry=off") == ERR_OK && !o.acting.dry && o.acting.a_minute == 30, "30 is the default");
    OK(parse("actions_minute=121") == ERR_BAD_ARGUMENT, "120 actions a minute are the most");
    OK(parse("actions_said=off") == ERR_OK && o.acting.said == ACTION_NEEDS_NOTHING &&
           parse("") == ERR_OK && o.acting.said == ACTION_NEEDS_VALUE,
       "actions_said= is read, and value is its default");
    OK(parse("actions_said=no") == ERR_BAD_ARGUMENT && strstr(said, "value, name or off") != NULL,
       "a wrong actions_said= names the choices: %s", said);
}

/* An earlier option counts more, but each stop= adds a text; others are for a start. */
static void test_preset(void)
{
    static const char text[] =
        "temp=0.7 n=512\nstop=\"a\"\n stop=\"b\" mem=64M system=\"two\nlines\"";
    (void)parse("n=7 seed=1");
    said[0] = '\0';
    OK(options_parse_preset(&o, text, false, &report) == ERR_OK && said[0] == '\0' &&
           o.reply.n == 7 && near(o.sampler.temp, 0.7f) && o.reply.n_stops == 2 &&
           o.load.mem == UINT64_C(64) << 20 && strcmp(o.reply.system, "two\nlines") == 0,
       "a preset is read at start");
    (void)parse("stop=\"c\"");
    OK(options_parse_preset(&o, text, false, &report) == ERR_OK && o.reply.n_stops == 1,
       "a stop string of the start has no other beside it");
    (void)parse("");
    said[0] = '\0';
    OK(options_parse_preset(&o, text, true, &report) == ERR_OK && o.reply.n == 512 &&
           o.load.mem == 0 && o.reply.n_stops == 2 &&
           strcmp(said, "mem= in a preset has an effect only at the start\n") == 0,
       "options that a later preset cannot set are reported: %s", said);
    (void)parse("");
    OK(options_parse_preset(&o, "repeat_last_n=5 presence_penalty=1 frequency_penalty=-1", true,
                            &report) == ERR_OK &&
           o.sampler.repeat_last == 5 && near(o.sampler.presence, 1) &&
           near(o.sampler.frequency, -1),
       "a preset may set all that /set may change");
    (void)parse("");
    said[0] = '\0';
    OK(options_parse_preset(&o, "temp=hot n=9", false, &report) == ERR_BAD_ARGUMENT,
       "a wrong option in a preset is an error");
}

/* Given options stay. The others come from the model, or later from the next or the program. */
static void test_sampling_of_models(void)
{
    const struct ingot_sampling some = { INGOT_SAMPLES_TEMP | INGOT_SAMPLES_TOP_K, .temp = 0.2f,
                                         .top_k = 7 };
    const struct ingot_sampling none = { 0 };
    struct ingot_sampling given;

    (void)parse("temp=0.5 min_p=0");
    options_take_sampling(&o, &some);
    OK(near(o.sampler.temp, 0.5f) && o.sampler.top_k == 7 && near(o.sampler.min_p, 0) &&
           near(o.sampler.top_p, 0.95f),
       "an option goes before the model's default");
    OK(!options_given(&o, OPTION_TOP_K), "the model's default does not count as given");
    options_take_sampling(&o, &none);
    OK(near(o.sampler.temp, 0.5f) && o.sampler.top_k == 40, "given options stay without defaults");
    (void)parse("temp=0.5 repeat_last_n=9 seed=3");
    given = options_given_sampling(&o);
    OK(given.given == (INGOT_SAMPLES_TEMP | INGOT_SAMPLES_REPEAT_LAST) && near(given.temp, 0.5f) &&
           given.repeat_last == 9 && near(given.repeat, 0) && given.top_k == 0,
       "a model's defaults may be only some of them");
}

int main(void)
{
    test_all_words();
    test_defaults();
    test_stops();
    test_quotes();
    test_long_texts();
    test_malformed();
    test_unknown();
    test_foreign();
    test_set();
    test_floats();
    test_u64();
    test_preset();
    test_pins();
    test_sampling_of_models();
    return tap_done();
}
