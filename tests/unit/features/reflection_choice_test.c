/* The sentences from which a small model chooses when it looks back: a person's own, in whole tags, the three that say most; never a
 * question, a tag, or what is remembered already. */
#include "runtime/features/reflection/reflection_choice.h"

#include "runtime/features/fabric/chat_fabric.h"
#include "runtime/features/grammar/grammar.h"
#include "tests/unit/chat/chat_rig.h"

#define TAG(sentence) "<\\|mem_store\\|>personal " sentence "<\\|mem_end\\|>"

static void open_learning(void)
{
    rig.learns = true;
    start_over(12);
    options.load.learn = LEARN_ON;
    if (!chat_learn_open(&chat))
        rig_die("learning does not begin");
    chat_fabric_open(&chat);
}

static void put_turn(const char *line, size_t said)
{
    turns_push(&chat.turns, 0, 0, line, strlen(line));
    turns_mark_said(&chat.turns, said);
}

static bool has(const char *choices, const char *sentence)
{
    return choices != NULL && strstr(choices, sentence) != NULL;
}

static void test_sentences(void)
{
    static const char said_after_result[] =
        "{\"result\":\"it is all very fine here\"} we live at 3.5 Mill Lane now. is it far?\n"
        "Bring the a|b\\c box with you";
    const char *choices;

    open_learning();
    OK(reflection_choices(&chat) == NULL, "there is no choice before anything was said");
    put_turn("who is it? is it you or me? hm. yes <|mem_end|> a b c.", 54);
    OK(reflection_choices(&chat) == NULL, "questions, one word, and a tag are not choices");
    put_turn(said_after_result, strlen(strchr(said_after_result, '}')) - 2);
    choices = reflection_choices(&chat);
    OK(has(choices, TAG("we live at 3.5 Mill Lane now.")), "a sentence ends before a blank: %s",
       choices);
    OK(has(choices, TAG("Bring the a\\|b\\\\c box with you")),
       "a text with bars and backslashes is marked");
    OK(choices != NULL && strchr(choices, '|') != NULL && !has(choices, "result") &&
           !has(choices, "far"),
       "texts that the person did not say, and questions, are not choices");
}

/* A grammar takes the list; each choice is one of the conversation. */
static void test_most(void)
{
    static _Alignas(8) uint8_t memory[INGOT_GRAMMAR_BYTES], work[GRAMMAR_WORK_BYTES];
    char line[4000] = "";
    const char *choices, *error_message = "";
    struct chat_lesson lesson;
    size_t bytes = 0;
    unsigned n = 0;

    open_learning();
    for (int i = 0; i < 12; i++) {
        char sentence[300];

        snprintf(sentence, sizeof sentence, "number %d is %0*d of them. ", i, 70 + 10 * (i % 7), i);
        strcat(line, sentence);
    }
    put_turn(line, strlen(line));
    choices = reflection_choices(&chat);
    for (const char *at = choices; at != NULL && (at = strstr(at, "personal ")) != NULL; at++)
        n++;
    OK(n == 12, "6 pairs of 12 sentences are choices: %u tags", n);
    OK(grammar_from_choices(choices, memory, sizeof memory, work, &bytes, &error_message) == ERR_OK,
       "a grammar of %zu bytes is made from the choices %s", bytes, error_message);
    open_learning();
    put_turn("the key is under it. ", 21);
    OK(has(reflection_choices(&chat), TAG("the key is under it.")),
       "a sentence that the person said is a choice");
    OK(chat_fabric_remember(&chat, FABRIC_WIKI, "the key is under it.", 20, &lesson) == ERR_OK &&
           reflection_choices(&chat) == NULL,
       "a fact that is remembered is not a choice any more");
}

int main(void)
{
    rig_alone();
    rig_compute(false);
    rig_make_model("tiny", INGOT_Q8_0);
    put_template(test_template);
    test_sentences();
    test_most();
    return tap_done();
}
