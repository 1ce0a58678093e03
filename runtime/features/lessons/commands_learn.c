/* Commands for learning, with learn=on. */
#include "runtime/app/commands_private.h"

#include <string.h>

#include "runtime/features/lessons/chat_learn.h"
#include "runtime/console/console.h"
#include "runtime/text/civil_time.h"
#include "runtime/text/format_text.h"
#include "runtime/text/plural.h"

static bool learns(struct app *a)
{
    if (!lessons_of(&a->chat)->learns) {
        console_printf(a->setup.console, "error: learning is off: start with learn=on\n");
    }
    return lessons_of(&a->chat)->learns;
}

/* ---- listing -------------------------------------------------------------------------------- */

static void print_lesson(const struct chat *c, const struct lessons_note *n)
{
    static const char *const kinds[LESSON_KINDS] = { "taught", "good", "bad" };
    uint64_t now = chat_learn_now(c);
    char age[CIVIL_AGE_BYTES];

    console_printf(c->console, "     %s: %.*s (%s old, used %u %s)\n", kinds[n->kind],
                   (int)n->text_bytes, n->text,
                   civil_age_format(age, now > n->made ? now - n->made : 0), (unsigned)n->used,
                   plural(n->used, "time", "times"));
}

void chat_learn_list(struct chat *c)
{
    const struct lessons *l = &lessons_of(c)->lessons;

    for (uint32_t i = 0; i < l->n_notes; i++) {
        print_lesson(c, &l->notes[i]);
    }
}

/* Print which lessons would be dropped. */
static void say_full(struct app *a, uint32_t to_go)
{
    const struct lessons *l = &lessons_of(&a->chat)->lessons;
    uint32_t i = UINT32_MAX;

    console_printf(a->setup.console,
                   "(nothing is learnt yet: the room for lessons is full, %u of %u tokens. To make "
                   "room, the least used would go:)\n",
                   (unsigned)l->n, (unsigned)l->room);
    while (to_go-- != 0) {
        i = lessons_next_to_go(l, i);
        print_lesson(&a->chat, &l->notes[i]);
    }
    console_printf(a->setup.console,
                   "(repeat the command to drop them; /save learn first keeps them in a file)\n");
}

static void say_error(struct app *a, enum err e, uint32_t to_go)
{
    const char *error_message = a->chat.session->error_message;

    if (e == ERR_ABORTED) {
        console_printf(a->setup.console, "(stopped: nothing was learnt)\n");
    } else if (e == ERR_NO_SPACE && to_go != 0) {
        say_full(a, to_go);
    } else if (e == ERR_NO_SPACE) {
        console_printf(
            a->setup.console,
            "error: taught examples fill the room of %u tokens, and none of them is dropped: /undo "
            "learn takes the last lesson back\n",
            (unsigned)lessons_of(&a->chat)->lessons.room);
    } else if (e == ERR_TOO_LONG) {
        console_printf(
            a->setup.console,
            "error: an answer may have %u tokens, and must fit the context: shorten it\n",
            (unsigned)CHAT_LEARN_ANSWER_TOKENS - 2);
    } else {
        console_printf(a->setup.console, "error: %s\n",
                       error_message[0] != '\0' ? error_message : err_text(e));
    }
}

static void say_ticks(struct app *a, const struct chat_lesson *lesson)
{
    if (a->setup.options->show.ticks) {
        console_printf(a->setup.console, "ticks: %llu for the steps\n",
                       (unsigned long long)lesson->ticks);
    }
}

/* Tell other features about a rating. List in `noted` where each of them noted it, and return the
 * length of this list. */
static unsigned note_rating(struct app *a, enum feature_rating rating,
                            const char *noted[FEATURES_MOST])
{
    struct features *f = &a->features;
    unsigned n = 0;

    for (unsigned i = 0; i < f->n; i++) {
        const char *where = FEATURE_HAS(f, i, rated)
                                ? f->rows[i]->rated(f->state[i], &a->chat, rating)
                                : NULL;

        if (where != NULL) {
            noted[n++] = where;
        }
    }
    return n;
}

static void say_noted(struct app *a, const char *const noted[], unsigned n)
{
    console_printf(a->setup.console, "(noted ");
    for (unsigned i = 0; i < n; i++) {
        console_printf(a->setup.console, "%s%s", i == 0 ? "" : ", and ", noted[i]);
    }
    console_printf(a->setup.console, ")\n");
}

/* Return true if this command repeats the one that was refused for lack of room. */
static bool is_again(const struct app *a, bool good)
{
    const struct lessons_state *l = lessons_of(&a->chat);

    return l->told_to_go != 0 && l->told_kind == (good ? LESSON_GOOD : LESSON_BAD);
}

static void say_rated(struct app *a, bool good, const struct chat_lesson *lesson)
{
    struct console *o = a->setup.console;

    if (lesson->only_watched) {
        console_printf(o, "(kept as it is, because any step would change other answers");
    } else {
        console_printf(o, "(%s: %u %s from %u %s", good ? "more of that" : "less of that",
                       (unsigned)lesson->steps, plural(lesson->steps, "step", "steps"),
                       (unsigned)lesson->tokens, plural(lesson->tokens, "token", "tokens"));
        if (lesson->halvings != 0) {
            console_printf(o, ", 1/%u of %s, so that other answers stay", 1u << lesson->halvings,
                           good ? "their length" : "the places");
        }
    }
    console_printf(o, "; /undo learn takes it back)\n");
    say_ticks(a, lesson);
}

static enum command_result rate(struct app *a, bool good)
{
    struct chat_lesson lesson;
    enum err e;

    const char *noted[FEATURES_MOST];
    unsigned n = is_again(a, good) ? 0 : note_rating(a, good ? FEATURE_GOOD : FEATURE_BAD, noted);

    if (!lessons_of(&a->chat)->learns && n != 0) {
        say_noted(a, noted, n);
        return COMMAND_DONE;
    }
    if (!learns(a)) {
        return COMMAND_DONE;
    }
    e = chat_learn_rate(&a->chat, good, &lesson);
    if (e == ERR_NOT_FOUND) {
        console_printf(a->setup.console, "error: there is no reply to learn from\n");
    } else if (e != ERR_OK) {
        say_error(a, e, lesson.to_go);
    } else if (lesson.taken_back) {
        console_printf(
            a->setup.console,
            "(nothing was changed: taught answers or another reply would have got worse)\n");
    } else if (!good && lesson.tokens == 0) {
        console_printf(a->setup.console,
                       "(nothing was changed: no other word in this reply was nearly as likely)\n");
    } else {
        say_rated(a, good, &lesson);
    }
    return COMMAND_DONE;
}

static enum command_result command_good(struct app *a, char *argument)
{
    (void)argument;
    return rate(a, true);
}

static enum command_result command_bad(struct app *a, char *argument)
{
    (void)argument;
    return rate(a, false);
}

/* Cut "QUESTION = ANSWER" at the equals sign and the spaces around it. Returns the answer. */
static char *cut_answer(char *question)
{
    char *sign = question, *end;

    while (*sign != '\0' && (sign[0] != ' ' || sign[1] != '=' || sign[2] != ' ')) {
        sign++;
    }
    if (*sign == '\0') {
        return NULL;
    }
    end = sign;
    while (end > question && end[-1] == ' ') {
        end--;
    }
    *end = '\0';
    for (sign += 3; *sign == ' '; sign++) {
    }
    return sign;
}

static enum command_result command_teach(struct app *a, char *argument)
{
    struct console *console = a->setup.console;
    struct chat_lesson lesson;
    char *answer;
    enum err e;

    if (!learns(a)) {
        return COMMAND_DONE;
    }
    answer = cut_answer(argument);
    if (answer == NULL || argument[0] == '\0' || answer[0] == '\0') {
        console_printf(console, "error: /teach takes QUESTION = ANSWER, with a blank on both sides "
                                "of =\n");
        return COMMAND_DONE;
    }
    e = chat_learn_teach(&a->chat, argument, strlen(argument), answer, strlen(answer), &lesson);
    if (e != ERR_OK) {
        say_error(a, e, lesson.to_go);
        return COMMAND_DONE;
    }
    if (lesson.lost != 0) {
        console_printf(
            console,
            "(after %u rounds %u of %u tokens of what was taught are not the likeliest; /undo "
            "learn takes it back)\n",
            (unsigned)lesson.rounds, (unsigned)lesson.lost, (unsigned)lesson.examples);
        return COMMAND_DONE;
    }
    console_printf(console, "(%s after %u %s and %u %s; /undo learn takes it back)\n",
                   lesson.wins ? "the answer is learnt, and earlier ones still are,"
                               : "the answer and earlier ones are learnt, some only just,",
                   (unsigned)lesson.rounds, plural(lesson.rounds, "round", "rounds"),
                   (unsigned)lesson.steps, plural(lesson.steps, "step", "steps"));
    return COMMAND_DONE;
}

static enum command_result command_learned(struct app *a, char *argument)
{
    const struct lessons *l = &lessons_of(&a->chat)->lessons;
    const struct learner_totals *t = &l->learner.totals;

    (void)argument;
    if (lessons_of(&a->chat)->also_told != NULL) {
        lessons_of(&a->chat)->also_told(&a->chat);
        if (!lessons_of(&a->chat)->learns) {
            return COMMAND_DONE;
        }
    }
    if (learns(a)) {
        console_printf(
            a->setup.console,
            "(%u %s, %u %s, %u thrown away; %u of %u examples kept, %u of %u tasks held)\n",
            (unsigned)t->lessons, plural(t->lessons, "lesson", "lessons"), (unsigned)t->steps,
            plural(t->steps, "step", "steps"), (unsigned)t->thrown, (unsigned)l->n,
            (unsigned)l->room, (unsigned)l->learner.ewc.tasks, (unsigned)EWC_MOST_TASKS);
    }
    return COMMAND_DONE;
}

const struct chat_command lesson_commands[LESSON_COMMANDS] = {
    { "good", GROUP_LESSONS, "", "learn from the last reply (learn=on)", true, command_good },
    { "bad", GROUP_LESSONS, "", "learn to avoid the last reply", true, command_bad },
    { "teach", GROUP_LESSONS, "QUESTION = ANSWER", "learn an answer", true, command_teach },
    { "learned", GROUP_LESSONS, "", "show what was learnt", true, command_learned },
};
