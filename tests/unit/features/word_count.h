/* A feature that the test adds: it counts the words of replies, up to a limit; /words prints the
 * count, and /save words and /load words keep it. It is one folder and the row of
 * word_count_test.c. */
#include <stdlib.h>
#include <string.h>

#include "runtime/app/commands_private.h"
#include "runtime/console/console.h"
#include "runtime/features/feature.h"

struct word_count {
    unsigned n, limit; /* limit 0: none */
    bool inside;       /* a word */
    struct feature_text next;
    struct file_read io;
    _Alignas(64) uint8_t sector[512];
};

static void count_text(void *state, const char *text, size_t bytes)
{
    struct word_count *w = state;

    for (size_t i = 0; i < bytes; i++) {
        bool blank = text[i] == ' ' || text[i] == '\n';

        w->n += !blank && !w->inside && (w->limit == 0 || w->n < w->limit);
        w->inside = !blank;
    }
    w->next.write(w->next.context, text, bytes);
}

static void count_shown(void *state, struct feature_turn *t, struct feature_text *to)
{
    struct word_count *w = state;

    (void)t;
    w->inside = false;
    w->next = *to;
    *to = (struct feature_text){ count_text, w };
}

static const char *set_limit(void *state, const char *value)
{
    char *end;
    unsigned long limit = strtoul(value, &end, 10);

    if (end == value || *end != '\0')
        return "a count of words, such as word_limit=100";
    ((struct word_count *)state)->limit = (unsigned)limit;
    return NULL;
}

static struct word_count *word_count_of(struct app *a)
{
    return a->features.state[FEATURES_BUILT_IN];
}

static enum command_result command_words(struct app *a, char *argument)
{
    (void)argument;
    console_printf(a->setup.console, "(%u words)\n", word_count_of(a)->n);
    return COMMAND_DONE;
}

static bool words_are_there(void *state, struct app *a)
{
    (void)state;
    return a->chat.session != NULL;
}

static bool words_are_any(void *state, struct app *a)
{
    (void)a;
    return ((struct word_count *)state)->n != 0;
}

static void save_words(void *state, struct app *a)
{
    struct word_count *w = state;
    const struct file *file = commands_find_save(a, "words", sizeof w->sector);
    enum err e;

    if (file == NULL)
        return;
    memcpy(w->sector, &w->n, sizeof w->n);
    e = file_write_now(&w->io, file, 0, w->sector, sizeof w->sector);
    if (commands_was_saved(a, file, e))
        console_printf(a->setup.console, "(the count is saved in %s)\n", file->name);
}

static void load_words(void *state, struct app *a)
{
    struct word_count *w = state;
    const struct file *file = commands_find_save(a, "words", 0);

    if (file == NULL || file_read_now(&w->io, file, 0, w->sector, sizeof w->sector) != ERR_OK)
        return;
    memcpy(&w->n, w->sector, sizeof w->n);
}

static void undo_words(void *state, struct app *a)
{
    (void)a;
    ((struct word_count *)state)->n = 0;
}

static void reset_words(void *state, struct chat *c)
{
    (void)state;
    features_switch(c->features, (enum feature_number)FEATURES_BUILT_IN, true);
}

static const struct chat_command words_command = { "words", GROUP_CONVERSATION,
                                                   "",      "how many words replies had",
                                                   true,    command_words };
static const struct feature_option word_limit = { "word_limit", set_limit };
static const struct feature_saved saved_words = { .word = "words",
                                                  .off = "no words are counted",
                                                  .is_there = words_are_there,
                                                  .has_any = words_are_any,
                                                  .save = save_words,
                                                  .load = load_words,
                                                  .undo = undo_words };
static const struct feature feature_word_count = { .name = "word_count",
                                                   .state_bytes = sizeof(struct word_count),
                                                   .commands = &words_command,
                                                   .n_commands = 1,
                                                   .saved = &saved_words,
                                                   .option = &word_limit,
                                                   .reset = reset_words,
                                                   .shows = count_shown };
