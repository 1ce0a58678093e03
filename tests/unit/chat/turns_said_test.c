/* Which words of a conversation are a person's: marks go with their turns, and a saved conversation
 * has none. */
#include "tests/unit/chat/saved_chat_rig.h"

static const char *said_of(unsigned i)
{
    static char text[64];

    snprintf(text, sizeof text, "%.*s", (int)turns.said[i],
             turns.text + turns.list[i].text + turns.list[i].bytes - turns.said[i]);
    return text;
}

/* Turn n is "n" twice; if n is odd, the second one is a person's. */
static void push(unsigned n)
{
    char both[32];
    int one = snprintf(both, sizeof both, "%u", n);

    (void)snprintf(both, sizeof both, "%u%u", n, n);
    turns_push(&turns, 10 * n, 10 * n + 5, both, 2 * (size_t)one);
    if (n % 2 == 1) {
        turns_mark_said(&turns, (size_t)one);
    }
}

static bool are_marked(unsigned first)
{
    char want[16];

    for (unsigned i = 0; i < turns.n; i++) {
        (void)snprintf(want, sizeof want, "%u", first + i);
        if (strcmp(said_of(i), (first + i) % 2 == 1 ? want : "") != 0) {
            return false;
        }
    }
    return turns.n != 0;
}

static void test_turns(void)
{
    memset(&turns, 0, sizeof turns);
    for (unsigned n = 0; n < TURNS_MOST + 7; n++) {
        push(n);
    }
    OK(turns.n == TURNS_MOST && are_marked(7), "the oldest turns are forgotten with their marks");
    turns_drop(&turns, 4, 3);
    OK(turns.n == TURNS_MOST - 4 && are_marked(11), "dropped turns lose their marks");
    turns_cut_out(&turns, turns.list[2].start, 15, 1);
    OK(are_marked(TURNS_MOST + 7 - turns.n), "turns that are cut out lose their marks");
    turns_pop(&turns);
    turns_push(&turns, 0, 5, "new", 3);
    OK(strcmp(said_of(turns.n - 1), "") == 0,
       "a turn begins without a mark, whatever was there before");
    turns_forget_said(&turns);
    OK(strcmp(said_of(1), "") == 0 && strcmp(said_of(2), "") == 0, "the marks are gone");
}

static void test_load(void)
{
    struct saved_chat_state state;

    put_one_saved();
    memset(turns.said, 1, sizeof turns.said);
    state = state_of(0);
    OK(saved_chat_read(&saved, &file, &state, NULL, NULL) == ERR_OK && turns.n == 10,
       "a conversation is loaded");
    OK(turns.said[0] == 0 && turns.said[9] == 0, "a loaded conversation holds nobody's words here");
}

int main(void)
{
    test_turns();
    rig_alone();
    rig_compute(false);
    rig_make_model("tiny", INGOT_Q8_0);
    if (rig_start(0, 0, false) != ERR_OK)
        rig_die(rig.model.error_message);
    test_load();
    return tap_done();
}
