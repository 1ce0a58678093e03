/* The commands of a conversation, and what they answer. */
#include "runtime/app/commands.h"

#include "tests/unit/chat/chat_rig.h"

static struct app app;

static bool answers(const char *command, const char *expected)
{
    char line[200];
    bool found;

    snprintf(line, sizeof line, "%s", command);
    text_bytes = 0;
    text[0] = '\0';
    commands_run(&app, line);
    found = strstr(text, expected) != NULL;
    if (!found)
        printf("# %s said: %s\n", command, text);
    return found;
}

static const char *error_message(void *context)
{
    (void)context;
    return "there is no card";
}

static enum err no_save(void *context, const char *name, uint64_t bytes, const struct file **file)
{
    (void)context;
    (void)name;
    (void)bytes;
    (void)file;
    return ERR_NO_DEVICE;
}

static enum err no_model(void *context, const char *name)
{
    (void)context;
    (void)name;
    return ERR_NO_DEVICE;
}

/* An application without files talks to the rig's session. */
static void open_app(void)
{
    static const struct app_files files = { .error_message = error_message,
                                            .check_model = no_model,
                                            .find_save = no_save };

    start_over(5);
    memset(&app, 0, sizeof app);
    app.setup.platform = rig_platform();
    app.setup.console = &console;
    app.setup.files = &files;
    app.setup.options = &options;
    app.setup.front = APP_CONSOLE;
    app.workers.n_cores = 1;
    features_open(&app.features, features_built_in, FEATURES_BUILT_IN, &app);
    app.chat.features = &app.features;
    chat_open(&app.chat, &console, &rig.session, NULL, &options, NULL);
}

static void reply(const char *line)
{
    (void)chat_reply(&app.chat, line, strlen(line), true);
}

static void test_commands(void)
{
    static const struct {
        const char *line, *expected;
    } cases[] = {
        { "/help", "/undo" },
        { "/help", "  the conversation     /preset /reflect /system" },
        { "/help save", "  /save [NAME] " },
        { "/help /save", "  /save [NAME] " },
        { "/help learn=on", "  /teach QUESTION = ANSWER " },
        { "/help kernel", "  /selftest " },
        { "/help mode", "/mode chat goes back" },
        { "/help xyzzy", "error: no command matches xyzzy" },
        { "/help all", "  /off " },
        { "/hlep", "did you mean /help?" },
        { "/sve", "did you mean /save?" },
        { "/xyzzy", "/help lists" },
        { "/teach a = b", "error: learning is off: start with learn=on" },
        { "/good", "error: learning is off" },
        { "/undo learn", "error: learning is off" },
        { "/learned", "error: learning is off" },
        { "/set temp 0.5", "temp 0.500" },
        { "/set temp warm", "error: temp=" },
        { "/set colour red", "there is no setting colour; /set knows" },
        { "/set", "top_k 40" },
        { "/set n 3", "n 3" },
        { "/set seed 7", "seed 7" },
        { "/set top_p 0.25", "top_p 0.250" },
        { "/set quiet on", "quiet on" },
        { "/set quiet off", "quiet off" },
        { "/set quiet maybe", "error: quiet=" },
        { "/set think hide", "think hide" },
        { "/set stop User:", "stop \"User:\"" },
        { "/set stop", "stop \"User:\"\n" },
        { "/set stop \"a \\n\\\"b\"", "stop \"User:\", stop \"a \\n\\\"b\"" },
        { "/set stop two words", "stop \"two words\"" },
        { "/set stop off", "quiet off\n" },
        { "/set stop", "stop \"\"\n" },
        { "/set stop \"a", "error: the closing quote of stop" },
        { "/set stop \"a\" b", "error: stop has something after its closing quote" },
        { "/set stop=\"a b\"", "quiet off, stop \"a b\"\n" },
        { "/set stop \"\"", "quiet off\n" },
        { "/set temp=0.3", "temp 0.300, top_p" },
        { "/set temp = 0.35", "temp 0.350, top_p" },
        { "/set temp", "temp 0.350\n" },
        { "/set temp=0.5", "temp 0.500, top_p" },
        { "/set think", "think hide\n" },
        { "/reset temp", "error: /reset takes nothing after it" },
        { "/stats all", "error: /stats takes nothing after it" },
        { "/undo lessons", "error: /undo takes no word, or one of these: learn\n" },
        { "/reset ", "a new conversation" },
        { "/reset\t", "a new conversation" },
        { "/set\ttemp 0.5", "temp 0.500" },
        { "/set tmep 1", "error: there is no setting tmep; did you mean temp?" },
        { "/set mem 1M", "error: mem can only be set at start" },
        { "/sytem", "did you mean /system?" },
        { "/modle x", "did you mean /model?" },
        { "/exit", "/off switches it off" },
        { "/quit", "/off switches it off" },
        { "/undo", "no turn" },
        { "/retry", "no turn" },
        { "/reset", "a new conversation" },
        { "/system", "(the model's own system prompt, which /system \"\" takes away: fine)" },
        { "/system Be brief.", "a new conversation, with" },
        { "/system", "(the system prompt, which /system \"\" takes away: Be brief.)" },
        { "/system \"Be \\\"so\\\".\"", "a new conversation, with" },
        { "/system", "takes away: Be \"so\".)" },
        { "/system \"\"", "a new conversation, without" },
        { "/system", "(there is no system prompt: /system TEXT gives one)" },
        { "/stats", "turns:" },
        { "/plan", "weights" },
        { "/save", "error: there is no card" },
        { "/load x", "error: there is no card" },
        { "/models", "error: " },
        { "/model x", "error: " },
        { "/bench", "tok/s" },
        { "/selftest", "free RAM are needed" },
        { "/reboot", "error: " },
        { "/log", "" },
    };

    open_app();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        OK(answers(cases[i].line, cases[i].expected), "the command is answered: %s", cases[i].line);
    OK(options.sampler.temp == 0.5f && app.chat.sampler.params.temp == 0.5f && options.reply.n == 3,
       "/set reaches the sampler");
    {
        char off[] = "/off";

        char exit[] = "/exit", quit[] = "/quit";

        OK(commands_run(&app, off) == COMMAND_ENDS, "/off ends the session");
        app.setup.front = APP_PROGRAM;
        OK(commands_run(&app, exit) == COMMAND_ENDS && commands_run(&app, quit) == COMMAND_ENDS,
           "/exit and /quit end a session that a program leads");
    }
    OK(chat_is_command("/help", 5) && !chat_is_command("//help", 6) && !chat_is_command("/", 1) &&
           !chat_is_command("/ 3", 3) && !chat_is_command("a/help", 6),
       "a command is told from text");
    open_app();
    reply("bade");
    answers("/bench", "tok/s");
    reply("gogo");
    OK(cache_is_true(), "/bench leaves the conversation alone");
}

static void lock_with_pin(void)
{
    option_set_put(&options.given, OPTION_LOCK, true);
    (void)answers("/lock", "locked");
}

/* After /lock the earlier text is nowhere: not in the conversation, not for /retry, not in a system
 * message of a request. */
static void test_lock(void)
{
    struct session *s = &rig.session;

    open_app();
    (void)chat_branches_open(&app.chat, rig.kept_sequences, 0);
    OK(answers("/lock", "no PIN is set"), "/lock is refused without a PIN");
    reply("my word is tulip");
    OK(app.chat.turns.n == 1, "/lock without a PIN locks nothing, and the conversation stays");
    app.chat.program.messages.system = "tulip";
    chat_messages_set_system(&app.chat, &app.chat.program.messages);
    lock_with_pin();
    OK(options.line.locked && app.chat.turns.n == 0 && app.chat.turns.text_bytes == 0 &&
           s->n_ids == 0 && !app.chat.started,
       "/lock starts a new conversation");
    OK(!options_given(&options, OPTION_SYSTEM) && options.reply.system_bytes == 0,
       "the system message of an earlier request is gone");
    OK(answers("/retry", "no turn to answer again"), "/retry has nothing to answer again");
    reply("bade");
    OK(answers("/retry", "prompt + ") && strstr(text, "/switch") == NULL && app.chat.turns.n == 1,
       "on a locked line /retry keeps no branch, and names none");
    for (uint32_t i = 0; i < branches_of(&app.chat)->n; i++)
        OK(branches_of(&app.chat)->list[i]->name[0] == '\0', "branch %u is free", (unsigned)i);
    OK(answers("/lock", "locked") && app.chat.turns.n == 0, "/lock again is for the next visitor");
    OK(answers("/branches", "is refused") && answers("/switch main", "is refused") &&
           answers("/undo", "is refused") && answers("/log", "is refused") &&
           answers("/what", "is refused") && answers("/system", "is refused"),
       "commands that show earlier text are refused");
    options.line.locked = false;
}

int main(void)
{
    rig_alone();
    rig_compute(false);
    rig_make_model("tiny", INGOT_Q8_0);
    put_template(test_template);
    test_commands();
    test_lock();
    return tap_done();
}
