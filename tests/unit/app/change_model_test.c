/* Loads another model, and returns to the one before if that fails. */
#include "tests/unit/app/app_rig.h"

static struct app_rig r;
static uint64_t one, two; /* hashes of the models' results */

static bool said_this(const char *text)
{
    if (strstr(said, text) != NULL)
        return true;
    printf("# said: %s\n", said);
    return false;
}

/* Acts as /model does. False: there is no model of that name. */
static bool change(const char *name, int looks_until_ctrl_c)
{
    app_rig_console(looks_until_ctrl_c);
    if (!app_check_model(&r.app, name))
        return false;
    app_change_model(&r.app, name);
    return true;
}

static void test_change(void)
{
    OK(one != 0 && change("two", -1) && strcmp(r.options.load.model, "two") == 0,
       "another model is loaded");
    two = app_rig_hash(&r);
    OK(two != 0 && two != one, "another model computes something else");
    OK(change("one", -1) && app_rig_hash(&r) == one, "the first model again computes the same");
}

static void test_no_such_model(void)
{
    OK(change("three", -1) && said_this("error: there is no model three") &&
           said_this("back to the previous model, in a new conversation") &&
           strcmp(r.options.load.model, "one") == 0,
       "an unknown name is refused");
    OK(app_rig_hash(&r) == one, "after an unknown name, the previous model computes the same");
}

static void test_long_name(void)
{
    char name[OPTIONS_MODEL_BYTES + 1];

    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    OK(!change(name, -1) && said_this("error: a name has up to") && r.app.chat.session != NULL,
       "a name that is too long leaves the model loaded");
}

static void test_damaged(void)
{
    app_rig_damage(&shelf[1]);
    OK(change("two", -1) && said_this("error: ") && said_this("back to the previous model"),
       "a damaged file leads back to the previous model");
    OK(app_rig_hash(&r) == one, "after a damaged file, the previous model computes the same");
    app_rig_damage(&shelf[1]); /* as it was */
}

/* Measures a swap from its own start, not from the machine's. */
static void test_ready(void)
{
    uint64_t before = console_millis(&console) + 1000;
    unsigned long begin = 0, load = 0;
    const char *ready;

    while (console_millis(&console) < before) {
    }
    before = console_millis(&console);
    OK(change("one", -1) && change("two", -1), "two models are exchanged twice");
    ready = strstr(said, "ready: /model to prompt ");
    OK(ready != NULL &&
           sscanf(ready, "ready: /model to prompt %lu ms, and %lu ms", &begin, &load) == 2 &&
           begin + load <= console_millis(&console) - before,
       "/model says that it is ready after %lu ms and %lu of loading", begin, load);
}

static void test_ctrl_c(void)
{
    unsigned stopped = 0, whole = 0;

    for (int looks = 0; looks < 40; looks++) {
        if (!change("two", looks))
            rig_die("the conversation ends");
        if (r.app.chat.session == NULL && strstr(said, "/model two loads it again") != NULL)
            stopped++;
        else
            whole += app_rig_hash(&r) == two;
    }
    OK(stopped > 1 && stopped + whole == 40,
       "Ctrl-C while a model loads: no model stays %u times, a whole one %u", stopped, whole);
    OK(change("two", -1) && app_rig_hash(&r) == two,
       "/model loads the model after a load that was stopped");
}

static void test_ctrl_c_in_json(void)
{
    r.options.line.mode = MODE_JSON;
    OK(change("one", 0) && app_rig_hash(&r) == one, "Ctrl-C from a program does not stop loading");
    r.options.line.mode = MODE_CHAT;
}

/* A program says this to an application. */
static void tell(struct app *app, const char *lines)
{
    app_rig_console(-1);
    console_speak_json(&console);
    typed = lines;
    app->setup.options->line.mode = MODE_JSON;
    app->chat.program.announced = false;
    app_talk(app);
    app->setup.options->line.mode = MODE_CHAT;
    console_speak_text(&console);
}

static const char no_model[] = "\"model\":null,\"weights\":null,\"residency\":null,"
                               "\"context_limit_tokens\":null,\"turns\":null,";

/* The start of an event, the first from a place on. */
static const char *event_after(const char *from, const char *event)
{
    char text[40];

    snprintf(text, sizeof text, "{\"event\":\"%s\"", event);
    return from == NULL ? NULL : strstr(from, text);
}

/* A program talks to an application without a model. */
static void test_json_without_model(struct app *app)
{
    tell(app, "{\"prompt\":\"a\",\"temp\":0.5}\n{\"reset\":true,\"top_k\":3}\n{\"system\":\"a\"}\n"
              "{\"command\":\"/stats\"}\n{\"command\":\"/log\"}\n{\"command\":\"/off\"}\n");
    OK(said_this(no_model) && event_after(said, "error") != NULL && *typed == '\0',
       "a program gets an event that there is no model");
    OK(said_this("\"reason\":\"error\",\"context_tokens\":0") &&
           app->setup.options->sampler.temp != 0.5f && app->setup.options->sampler.top_k == 3,
       "a prompt is refused with its settings, and settings alone are not");
    options_init(app->setup.options);
    app->setup.options->show.ids = true;
    tell(app, "{\"command\":\"/model one\"}\n{\"prompt\":\"bade\",\"n\":2,\"temp\":0}\n"
              "{\"command\":\"/off\"}\n");
    OK(said_this("\"model\":\"one\"") && said_this("\"reply_tokens\":2"),
       "a person talks to the next model");
}

/* Types a person's input, and lets the application go on. */
static void person(const char *lines)
{
    app_rig_console(-1);
    typed = lines;
    app_talk(&r.app);
}

/* A conversation is never lost without a warning. */
static void test_leaving(void)
{
    const char *more;
    uint32_t n;

    r.options.reply.n = 2;
    person("bade\n/model typo\n/off\n");
    n = r.app.chat.session->n_ids;
    OK(n > 2 && said_this("error: there is no model typo"), "a typo leaves the conversation");
    person("/model two\n/off\n");
    OK(said_this("tokens would end: /save keeps it; /model two again continues)") &&
           r.app.chat.session->n_ids == n && strcmp(r.options.load.model, "one") == 0,
       "another model is not loaded before a message says that the conversation ends");
    person("/model one\n/model two\ngogo\n/model two\n/off\n");
    more = strstr(said, "new tokens");
    OK(r.app.chat.session->n_ids != 0 && strcmp(r.options.load.model, "one") == 0 &&
           strstr(said, "/model two again") < more && more != NULL &&
           strstr(more, "/model two again") != NULL,
       "the question is repeated for another name, and after another turn");
    person("/model two\n/off\n");
    OK(r.app.chat.session->n_ids == 0 && app_rig_hash(&r) == two,
       "the model is loaded when it is asked for again");
    person("/reset\n/model one\n/off\n");
    OK(app_rig_hash(&r) == one, "without a conversation the model is loaded at once");
    r.options.reply.n = 0;
}

/* `ready` comes between /model and its `done`, also when there was no model before; a typo needs
 * none. */
static void test_json_order(void)
{
    const char *at;

    tell(&r.app, "{\"command\":\"/model two\"}\n{\"command\":\"/off\"}\n");
    at = event_after(event_after(said, "ready") + 1, "ready");
    OK(at != NULL && strstr(at, "\"model\":\"two\"") != NULL &&
           event_after(said, "done") == event_after(at, "done"),
       "ready comes before done");
    tell(&r.app, "{\"command\":\"/model typo\"}\n{\"command\":\"/off\"}\n");
    OK(event_after(event_after(said, "ready") + 1, "ready") == NULL &&
           said_this("there is no model typo") && app_rig_hash(&r) == two,
       "a typo has no ready, and leaves the model");
    app_rig_damage(&shelf[0]);
    app_rig_damage(&shelf[1]);
    tell(&r.app, "{\"command\":\"/model one\"}\n{\"command\":\"/off\"}\n");
    at = event_after(event_after(said, "ready") + 1, "ready");
    OK(at != NULL && strstr(at, no_model) != NULL &&
           event_after(said, "done") == event_after(at, "done"),
       "the program hears before done that there is no such model");
    app_rig_damage(&shelf[0]);
    app_rig_damage(&shelf[1]);
    OK(change("one", -1) && app_rig_hash(&r) == one, "an intact model can be loaded afterwards");
}

static void test_no_way_back(void)
{
    app_rig_damage(&shelf[0]);
    OK(change("three", -1) && r.app.chat.session == NULL &&
           said_this("loading is stopped: /model one loads it again"),
       "if neither model can be read, the conversation continues without a model");
    app_rig_damage(&shelf[0]);
    test_json_without_model(&r.app);
    chat_close(&r.app.chat);
    OK(change("three", -1) && r.app.chat.session == NULL &&
           said_this("error: there is no model three") && said_this("  one, ") &&
           said_this("  two, ") && said_this("no model is loaded: /model NAME loads one\n"),
       "a wrong name is answered with the names there are");
    OK(change("one", -1) && app_rig_hash(&r) == one, "a right name loads the model");
    r.empty = true;
    OK(change("two", -1) && r.app.chat.session == NULL &&
           said_this("no model is loaded: /model NAME loads one once there is one"),
       "if no file is left, the conversation continues without a model");
}

/* No conversation is there, for one reason or another: the prompt comes all the same. */
static void test_none_at_start(const char *model, int looks, bool damage, const char *why)
{
    static struct app_rig fresh[4];
    static int n;
    struct app_rig *f = &fresh[n++];

    if (damage)
        app_rig_damage(&shelf[0]);
    app_rig_console(looks);
    OK(app_rig_open(f, model, 1, 0) == ERR_OK && f->app.chat.session == NULL && said_this(why),
       "the program starts without a model: %s", why);
    if (damage)
        app_rig_damage(&shelf[0]);
    app_rig_console(-1);
    typed = "Hello\n/plan\n/models\n\4/off\n";
    app_talk(&f->app);
    OK(said_this("error: no model is loaded") && said_this("Ctrl-D has no effect") &&
           *typed == '\0',
       "a person gets a message, and Ctrl-D does not end the program");
    test_json_without_model(&f->app);
}

/* Runs for a program too, which gets at a prompt that is not JSON what a person gets. */
static void test_ctrl_d_in_json(void)
{
    tell(&r.app, "\4{\"command\":\"/off\"}\n");
    OK(said_this("Ctrl-D has no effect") && said_this("\"reason\":\"command\"") && *typed == '\0',
       "Ctrl-D ends nothing for a program on a board");
    r.app.setup.front = APP_PROGRAM;
    tell(&r.app, "\4{\"command\":\"/off\"}\n");
    OK(event_after(said, "done") == NULL,
       "for a program on a computer, Ctrl-D is the end of the input");
    r.app.setup.front = APP_CONSOLE;
}

int main(void)
{
    rig_alone();
    app_rig_shelf();
    app_rig_console(-1);
    OK(app_rig_open(&r, "one", 1, 0) == ERR_OK, "the first model is open");
    one = app_rig_hash(&r);
    test_change();
    test_no_such_model();
    test_long_name();
    test_damaged();
    test_ready();
    test_ctrl_c();
    test_ctrl_c_in_json();
    test_leaving();
    test_json_order();
    test_ctrl_d_in_json();
    test_no_way_back();
    test_none_at_start("one", 1, false, "loading is stopped: /model one loads it again");
    test_none_at_start("one", -1, true, "error: ");
    test_none_at_start("nosuch", -1, false, "error: there is no model nosuch");
    test_none_at_start("nosuch", -1, false, "  two, ");
    return tap_done();
}
