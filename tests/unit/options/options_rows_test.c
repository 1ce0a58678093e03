/* Effects of the rows of options.def: choices, defaults, and which options are kept and put
 * back. */
#include <string.h>

#include "board/keyboard.h"
#include "runtime/console/console.h"
#include "runtime/features/acting/actions.h"
#include "runtime/options/options.h"
#include "tests/unit/tap.h"

static struct options o;
static const struct options_report report = { NULL, NULL };

static enum err parse(const char *args)
{
    options_init(&o);
    return options_parse(&o, args, &report);
}

static bool near(float a, float b)
{
    return a == b;
}

/* The words of a choice are in the order of the enum that its reader has. */
static void test_choices(void)
{
    static const struct {
        const char *args;
        enum option which;
        unsigned value;
    } rows[] = {
        { "think=on", OPTION_THINK, THINK_ON },
        { "think=off", OPTION_THINK, THINK_OFF },
        { "think=show", OPTION_THINK, THINK_SHOW },
        { "think=dim", OPTION_THINK, THINK_DIM },
        { "think=hide", OPTION_THINK, THINK_HIDE },
        { "overflow=turns", OPTION_OVERFLOW, OVERFLOW_TURNS },
        { "overflow=sinks", OPTION_OVERFLOW, OVERFLOW_SINKS },
        { "learn=off", OPTION_LEARN, LEARN_OFF },
        { "learn=on", OPTION_LEARN, LEARN_ON },
        { "learn=loose", OPTION_LEARN, LEARN_LOOSE },
        { "log=off", OPTION_LOG, LOG_OFF },
        { "log=on", OPTION_LOG, LOG_ON },
        { "policy=off", OPTION_POLICY, POLICY_OFF },
        { "policy=watch", OPTION_POLICY, POLICY_WATCH },
        { "policy=on", OPTION_POLICY, POLICY_ON },
        { "policy=explore", OPTION_POLICY, POLICY_EXPLORE },
        { "experts=demand", OPTION_EXPERTS, EXPERTS_DEMAND },
        { "experts=ahead", OPTION_EXPERTS, EXPERTS_AHEAD },
        { "flow=on", OPTION_FLOW, FLOW_ON },
        { "flow=off", OPTION_FLOW, FLOW_OFF },
        { "pcie=gen2", OPTION_PCIE, PCIE_GEN2 },
        { "pcie=gen3", OPTION_PCIE, PCIE_GEN3 },
        { "screen=on", OPTION_SCREEN, SCREEN_ON },
        { "screen=off", OPTION_SCREEN, SCREEN_OFF },
        { "mode=chat", OPTION_MODE, MODE_CHAT },
        { "mode=json", OPTION_MODE, MODE_JSON },
        { "keyboard=us", OPTION_KEYBOARD, KEYBOARD_US },
        { "keyboard=uk", OPTION_KEYBOARD, KEYBOARD_UK },
        { "keyboard=de", OPTION_KEYBOARD, KEYBOARD_DE },
        { "keyboard=fr", OPTION_KEYBOARD, KEYBOARD_FR },
        { "keyboard=it", OPTION_KEYBOARD, KEYBOARD_IT },
        { "keyboard=es", OPTION_KEYBOARD, KEYBOARD_ES },
        { "spec=auto", OPTION_SPEC, SPECULATIVE_AUTO },
        { "spec=off", OPTION_SPEC, SPECULATIVE_OFF },
        { "spec=ngram", OPTION_SPEC, SPECULATIVE_NGRAM },
        { "actions_said=value", OPTION_ACTIONS_SAID, ACTION_NEEDS_VALUE },
        { "actions_said=name", OPTION_ACTIONS_SAID, ACTION_NEEDS_NAME },
        { "actions_said=off", OPTION_ACTIONS_SAID, ACTION_NEEDS_NOTHING },
        { "term=auto", OPTION_TERM, CONSOLE_AUTO },
        { "term=plain", OPTION_TERM, CONSOLE_PLAIN },
        { "term=vt", OPTION_TERM, CONSOLE_VT },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[OPTIONS_VALUE_BYTES];
        bool good = parse(rows[i].args) == ERR_OK;
        unsigned value = rows[i].which == OPTION_THINK          ? o.reply.think
                         : rows[i].which == OPTION_OVERFLOW     ? o.reply.overflow
                         : rows[i].which == OPTION_LEARN        ? o.load.learn
                         : rows[i].which == OPTION_LOG          ? o.feature.log
                         : rows[i].which == OPTION_POLICY       ? o.load.policy
                         : rows[i].which == OPTION_EXPERTS      ? o.load.experts
                         : rows[i].which == OPTION_FLOW         ? o.line.flow
                         : rows[i].which == OPTION_PCIE         ? o.machine.pcie
                         : rows[i].which == OPTION_SCREEN       ? o.machine.screen
                         : rows[i].which == OPTION_MODE         ? o.line.mode
                         : rows[i].which == OPTION_KEYBOARD     ? o.machine.keyboard
                         : rows[i].which == OPTION_SPEC         ? o.load.spec
                         : rows[i].which == OPTION_ACTIONS_SAID ? o.acting.said
                                                                : o.line.term;

        OK(good && value == rows[i].value &&
               strcmp(options_value_text(&o, rows[i].which, text), strchr(rows[i].args, '=') + 1) ==
                   0,
           "%s is %u", rows[i].args, value);
    }
    OK(parse("think=o") == ERR_BAD_ARGUMENT && parse("think=") == ERR_BAD_ARGUMENT &&
           parse("think=\"on off\"") == ERR_BAD_ARGUMENT && parse("log=of") == ERR_BAD_ARGUMENT,
       "a part of a word, or two words, are not a choice");
}

/* A request that is refused in the middle leaves the earlier settings. */
static void test_kept(void)
{
    static const char before[] = "temp=0.5 seed=7 n=3 think=hide turns=2 stop=a",
                      after[] = "temp=2 top_k=1 presence_penalty=1 seed=8 n=4 think=off "
                                "overflow=sinks turns=9 stop=b";
    struct options_kept kept;
    char text[OPTIONS_VALUE_BYTES];

    OK(parse(before) == ERR_OK, "the options are read");
    options_keep(&kept, &o);
    OK(options_parse(&o, after, &report) == ERR_OK && o.reply.n_stops == 2 && o.reply.n == 4,
       "later options replace earlier ones");
    options_put_back(&o, &kept);
    OK(near(o.sampler.temp, 0.5f) && o.sampler.top_k == 40 && near(o.sampler.presence, 0) &&
           o.sampler.seed == 7 && o.reply.n == 3 && o.reply.think == THINK_HIDE &&
           o.reply.overflow == OVERFLOW_TURNS && o.reply.turns == 2 && o.reply.n_stops == 1 &&
           strcmp(o.reply.stop[0], "a") == 0,
       "all options are back");
    OK(strcmp(options_value_text(&o, OPTION_TEMP, text), "0.500") == 0 &&
           strcmp(options_value_text(&o, OPTION_SEED, text), "7") == 0 &&
           strcmp(options_value_text(&o, OPTION_QUIET, text), "off") == 0,
       "values have the texts that /set shows");
}

/* The rows of sampling have the sampler's own defaults. */
static void test_sampler(void)
{
    struct sampler_params p;

    sampler_params_default(&p);
    (void)parse("");
    OK(memcmp(&p, &o.sampler, sizeof p) == 0, "the defaults of the sampler are the same");
    OK(options_of_name("repeat_penalty") == OPTION_REPEAT && options_of_name("rep") == OPTION_COUNT,
       "an option has one more name");
}

int main(void)
{
    test_choices();
    test_kept();
    test_sampler();
    return tap_done();
}
