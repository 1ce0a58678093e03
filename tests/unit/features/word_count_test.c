/* A feature that no file of the tree knows: a folder and a row bring a command, an option, a word
 * of /save, and a look at the shown text. */
#include "tests/unit/features/word_count.h"

#include "tests/unit/chat/chat_rig.h"
#include "tests/unit/chat/saved_chat_rig.h"

static const struct feature *rows[FEATURES_BUILT_IN + 2];

static struct app app;

static enum err find_save(void *context, const char *name, uint64_t bytes,
                          const struct file **found)
{
    (void)context;
    (void)bytes;
    *found = &file;
    return strcmp(name, "words") == 0 ? ERR_OK : ERR_NO_DEVICE;
}

static const char *error_message(void *context)
{
    (void)context;
    return "no such file";
}

static void open_app(bool counts)
{
    static const struct app_files files = { .error_message = error_message,
                                            .find_save = find_save };

    memcpy(rows, features_built_in, sizeof features_built_in);
    rows[FEATURES_BUILT_IN] = &feature_word_count;
    start_over(12);
    memset(&app, 0, sizeof app);
    app.setup.platform = rig_platform();
    app.setup.console = &console;
    app.setup.files = &files;
    app.setup.options = &options;
    app.setup.front = APP_CONSOLE;
    app.workers.n_cores = 1;
    features_open(&app.features, rows, FEATURES_BUILT_IN + counts, &app);
    app.chat.features = &app.features;
    chat_open(&app.chat, &console, &rig.session, NULL, &options, NULL);
}

/* Whether a turn calls this feature while a reply without any active feature is computed and
 * shown. */
static bool takes_part(const struct feature *f)
{
    return f->told != NULL || f->prompt_built != NULL || f->pass_begins != NULL ||
           f->chooses != NULL || f->shows != NULL || f->reply_begins != NULL || f->tagged != NULL ||
           f->reply_ends != NULL || f->says_end != NULL || f->turn_ended != NULL ||
           f->is_led != NULL || f->is_quiet != NULL || f->room != NULL || f->system != NULL;
}

static void test_plain(void)
{
    unsigned on = 0;

    open_app(false);
    for (unsigned i = 0; i < FEATURES_BUILT_IN; i++)
        on += (app.features.on >> i & 1) != 0 && takes_part(rows[i]);
    OK(on == 0, "no feature's code takes part in a plain reply: %u do", on);
}

/* Returns the answer to the line. */
static const char *answer(const char *line)
{
    char copy[80];

    text_bytes = 0;
    text[0] = '\0';
    snprintf(copy, sizeof copy, "%s", line);
    if (chat_is_command(line, strlen(line)))
        (void)commands_run(&app, copy);
    else
        (void)chat_reply(&app.chat, line, strlen(line), true);
    return text;
}

static unsigned count_words(const char *reply)
{
    unsigned n = 0;

    for (const char *at = reply; *at != '\0' && *at != '\n'; at++)
        n += *at != ' ' && (at == reply || at[-1] == ' ');
    return n;
}

static void test_feature(void)
{
    char plain[200], said[40];
    uint64_t hash;
    unsigned n;

    open_app(false);
    snprintf(plain, sizeof plain, "%.*s", (int)strcspn(answer("bade gogo"), "\n"), text);
    hash = rig.session.hash.value;
    OK(strstr(answer("/words"), "no /words") != NULL, "there is no command without its row");

    open_app(true);
    OK(strncmp(answer("bade gogo"), plain, strlen(plain)) == 0 && rig.session.hash.value == hash,
       "the reply and its logits are the same with the feature");
    n = word_count_of(&app)->n;
    OK(n != 0 && n == count_words(plain), "the feature has counted %u words", n);
    snprintf(said, sizeof said, "(%u words)", n);
    OK(strstr(answer("/words"), said) != NULL, "the command tells the number of words");
    OK(strstr(answer("/help"), "/words") != NULL &&
           strstr(answer("/help words"), "how many") != NULL,
       "/help lists the command");
    OK(strstr(answer("/wods"), "did you mean /words") != NULL,
       "/help suggests the command for a mistyped name");

    insert_blank_card();
    OK(strstr(answer("/save words"), "is saved in") != NULL, "/save words saves the counts");
    word_count_of(&app)->n = 0;
    (void)answer("/load words");
    OK(word_count_of(&app)->n == n, "/load words brings the counts back");

    OK(strstr(answer("/set word_limit two"), "takes a count of words") != NULL &&
           word_count_of(&app)->limit == 0,
       "the option refuses a value that is not a count");
    (void)answer("/set word_limit 1");
    word_count_of(&app)->n = 0;
    (void)answer("bade gogo");
    OK(word_count_of(&app)->n == 1, "the option has its effect");
}

/* Another feature with the same word for /undo. */
static void test_shared_word(void)
{
    static const struct feature_saved same_word = {
        .word = "words", .is_there = words_are_there, .has_any = words_are_any, .undo = undo_words
    };
    static const struct feature also = { .name = "also",
                                         .state_bytes = sizeof(struct word_count),
                                         .saved = &same_word };
    struct word_count *other;

    open_app(true);
    rows[FEATURES_BUILT_IN + 1] = &also;
    features_open(&app.features, rows, FEATURES_BUILT_IN + 2, &app);
    other = app.features.state[FEATURES_BUILT_IN + 1];
    word_count_of(&app)->n = other->n = 3;
    (void)answer("/undo words");
    OK(word_count_of(&app)->n == 0 && other->n == 0,
       "/undo WORD reaches both features that have the word");
    OK(strstr(answer("/undo phrases"), "one of these: learn words\n") != NULL,
       "/undo names its words, each once, if no feature has the word");
}

int main(void)
{
    rig_alone();
    rig_compute(false);
    rig_make_model("tiny", INGOT_Q8_0);
    put_template(test_template);
    test_plain();
    test_feature();
    test_shared_word();
    return tap_done();
}
