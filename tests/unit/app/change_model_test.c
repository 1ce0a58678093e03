/* Another model, and back to the one before where it cannot be had. */
#include "tests/unit/app/app_rig.h"

static struct app_rig r;
static uint64_t one, two; /* hashes of what the models compute */

static bool said_this(const char *text)
{
    if (strstr(said, text) != NULL)
        return true;
    printf("# said: %s\n", said);
    return false;
}

static bool change(const char *name, int looks_until_ctrl_c)
{
    app_rig_console(looks_until_ctrl_c);
    return app_change_model(&r.app, name);
}

static void test_change(void)
{
    OK(one != 0 && change("two", -1) && strcmp(r.options.load.model, "two") == 0, "another model");
    two = app_rig_hash(&r);
    OK(two != 0 && two != one, "computes something else");
    OK(change("one", -1) && app_rig_hash(&r) == one, "and the first one again what it did");
}

static void test_no_such_model(void)
{
    OK(change("three", -1) && said_this("error: there is no model three") &&
           said_this("back to the model before") && strcmp(r.options.load.model, "one") == 0,
       "a name that is none");
    OK(app_rig_hash(&r) == one, "leaves the one before, loaded again");
}

static void test_long_name(void)
{
    char name[OPTIONS_MODEL_BYTES + 1];

    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    OK(change(name, -1) && said_this("error: a name has up to") && r.app.chat.session != NULL,
       "a name that is too long takes nothing away");
}

static void test_damaged(void)
{
    app_rig_damage(&shelf[1]);
    OK(change("two", -1) && said_this("error: ") && said_this("back to the model before"),
       "a damaged file");
    OK(app_rig_hash(&r) == one, "leaves the one before, too");
    app_rig_damage(&shelf[1]); /* as it was */
}

/* A swap takes the time that it takes, not the time since the machine's start. */
static void test_ready(void)
{
    uint64_t before = console_millis(&console) + 1000;
    unsigned long begin = 0, load = 0;
    const char *ready;

    while (console_millis(&console) < before) {
    }
    before = console_millis(&console);
    OK(change("one", -1) && change("two", -1), "two swaps");
    ready = strstr(said, "ready: /model to prompt ");
    OK(ready != NULL &&
           sscanf(ready, "ready: /model to prompt %lu ms, and %lu ms", &begin, &load) == 2 &&
           begin + load <= console_millis(&console) - before,
       "ready after %lu ms and %lu of loading", begin, load);
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
    OK(stopped > 1 && stopped + whole == 40, "Ctrl-C while it loads: no model %u times, whole %u",
       stopped, whole);
    OK(change("two", -1) && app_rig_hash(&r) == two, "/model loads it then");
}

static void test_ctrl_c_in_json(void)
{
    r.options.line.mode = MODE_JSON;
    OK(change("one", 0) && app_rig_hash(&r) == one, "of a program, Ctrl-C stops no loading");
    r.options.line.mode = MODE_CHAT;
}

/* A program at the line of an application without a model. */
static void test_json_without_model(void)
{
    app_rig_console(-1);
    console_speak_json(&console);
    typed =
        "{\"prompt\":\"a\"}\n{\"reset\":true}\n{\"command\":\"/stats\"}\n{\"command\":\"/model one\"}\n"
        "{\"prompt\":\"bade\",\"n\":2,\"temp\":0}\n{\"command\":\"/off\"}\n";
    r.options.line.mode = MODE_JSON;
    app_talk(&r.app);
    r.options.line.mode = MODE_CHAT;
    OK(said_this("\"reason\":\"error\",\"context_tokens\":0") && *typed == '\0',
       "a program is told that there is no model");
    OK(said_this("\"event\":\"ready\"") && said_this("\"reply_tokens\":2"),
       "and talks to the next one");
    app_rig_console(-1);
}

static void test_no_way_back(void)
{
    app_rig_damage(&shelf[0]);
    OK(change("three", -1) && r.app.chat.session == NULL &&
           said_this("loading is stopped: /model one loads it again"),
       "both cannot be read: a conversation without a model");
    app_rig_damage(&shelf[0]);
    test_json_without_model();
    r.app.chat.session = NULL;
    OK(change("three", -1) && r.app.chat.session == NULL, "which can ask for one that is none");
    OK(change("one", -1) && app_rig_hash(&r) == one, "and for one that is");
    r.empty = true;
    OK(!change("two", -1), "nothing is there any more: the conversation ends");
}

/* Loading stopped before there ever was a conversation: the prompt comes all the same. */
static void test_none_at_start(void)
{
    static struct app_rig fresh;

    app_rig_console(1);
    OK(app_rig_open(&fresh, "one", 1, 0) == ERR_OK && fresh.app.chat.session == NULL,
       "Ctrl-C while the first model loads");
    app_rig_console(-1);
    typed = "Hello\n/plan\n/model one\n/off\n";
    app_talk(&fresh.app);
    OK(said_this("error: no model is loaded") && said_this("ready: ") && *typed == '\0',
       "somebody talks to none, and loads it then");
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
    test_no_way_back();
    test_none_at_start();
    return tap_done();
}
