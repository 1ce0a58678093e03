/* Memories in a conversation: a memory answers in its own namespace alone, fades, is forgotten; the
 * model's own requests are carried out and not shown; the current conversation stays. */
#include "runtime/features/fabric/chat_fabric.h"

#include <math.h>

#include "runtime/features/lessons/chat_learn.h"
#include "runtime/features/lessons/chat_learn_private.h"
#include "runtime/features/memory_tags/tags_feature.h"
#include "tests/unit/chat/chat_rig.h"

static void open_learning(bool learns)
{
    rig.learns = learns;
    start_over(12);
    options.load.learn = learns ? LEARN_ON : LEARN_OFF;
    if (learns && !chat_learn_open(&chat))
        rig_die("the head is in memory, and learning does not begin");
    if (learns)
        chat_fabric_open(&chat);
}

static enum err remember(enum fabric_name space, const char *line, struct chat_lesson *lesson)
{
    return chat_fabric_remember(&chat, space, line, strlen(line), lesson);
}

static uint64_t hash_of(const char *line)
{
    chat_clear(&chat);
    if (say(line, true) != ERR_OK)
        rig_die(rig.session.error_message);
    return rig.session.hash.value;
}

static bool answers(const char *question, const char *answer)
{
    (void)hash_of(question);
    return strncmp(text, answer, strlen(answer)) == 0;
}

static const struct {
    enum fabric_name space;
    const char *question, *answer;
} facts[] = { { FABRIC_PERSONAL, "who are you, stranger?", "it is me" },
              { FABRIC_EPISODIC, "where were we yesterday", "at the lake" },
              { FABRIC_WIKI, "capital city of 1234567", "Paris" },
              { FABRIC_SCHEDULE, "WHEN IS IT?", "noon" },
              { FABRIC_CONTESTED, "+-*/()[]{}", "no, red" } };
enum { FACTS = sizeof facts / sizeof facts[0] };

static enum err remember_fact(int i, struct chat_lesson *lesson)
{
    char line[200];

    snprintf(line, sizeof line, "%s = %s", facts[i].question, facts[i].answer);
    return remember(facts[i].space, line, lesson);
}

static void test_facts(void)
{
    struct chat_lesson lesson;
    uint64_t plain, now[FACTS];
    uint32_t turns, n_ids;

    open_learning(false);
    plain = hash_of("something else");
    open_learning(true);
    OK(hash_of("something else") == plain,
       "before there is a memory, every logit is the same as without learning");
    turns = chat.turns.n;
    n_ids = rig.session.n_ids;
    for (int i = 0; i < FACTS; i++)
        OK(remember_fact(i, &lesson) == ERR_OK && lesson.wins && lesson.apart,
           "%s: the memory wins after %u rounds, %u steps", fabric_kinds[facts[i].space].name,
           lesson.rounds, lesson.steps);
    OK(chat.turns.n == turns && rig.session.n_ids == n_ids && rig.session.hash.value == plain,
       "the conversation is still there");
    OK(say("and then?", true) == ERR_OK && chat.turns.n == turns + 1 && cache_is_true(),
       "the conversation continues after a lesson");
    for (int i = 0; i < FACTS; i++) {
        bool right = answers(facts[i].question, facts[i].answer);

        now[i] = rig.session.hash.value;
        for (int k = 0; k < FABRIC_SPACES; k++)
            right = right &&
                    (k == (int)facts[i].space) ==
                        (fabric_of(&chat)->fabric.spaces[k].replied > 0.9f) &&
                    fabric_of(&chat)->fabric.spaces[k].open == 0.0f;
        OK(right, "\"%s\" has its answer, because of its own gate only", facts[i].question);
    }
    open_learning(true);
    (void)hash_of("another before");
    for (int i = 0; i < FACTS; i++)
        (void)remember_fact(i, &lesson);
    for (int i = 0; i < FACTS; i++)
        OK(hash_of(facts[i].question) == now[i], "another start has the same bits");
    /* gone again: the head sees what it saw before */
    chat_fabric_clear(&chat);
    open_learning(false);
    plain = hash_of(facts[0].question);
    open_learning(true);
    (void)remember_fact(0, &lesson);
    (void)remember_fact(2, &lesson);
    OK(chat_fabric_forget(&chat, 0, &lesson) == ERR_OK && fabric_of(&chat)->fabric.n_notes == 1 &&
           hash_of(facts[0].question) == plain && answers(facts[2].question, facts[2].answer),
       "one memory is forgotten, to the bit, and the other is there");
    chat_fabric_clear(&chat);
    OK(fabric_of(&chat)->fabric.n_notes == 0 && !answers(facts[2].question, facts[2].answer),
       "all memories are forgotten");
}

static void test_time(void)
{
    struct chat_lesson lesson;

    fabric_of(&chat)->epoch = 0;
    open_learning(true);
    (void)remember_fact(FABRIC_SCHEDULE, &lesson);
    chat_fabric_set_time(&chat, 1795527000);
    OK(answers(facts[FABRIC_SCHEDULE].question, "noon") &&
           fabric_of(&chat)->fabric.notes[0].strength == 1.0f &&
           chat_fabric_now(&chat) >= 1795527000,
       "setting the time for the first time fades nothing");
    chat_fabric_set_time(&chat, 1795527000 + 3 * 24 * 3600);
    OK(!answers(facts[FABRIC_SCHEDULE].question, "noon") &&
           fabric_of(&chat)->fabric.notes[0].strength < 0.01f,
       "three days later the appointment is forgotten: strength %.4f",
       (double)fabric_of(&chat)->fabric.notes[0].strength);
    OK(chat_fabric_promote(&chat, FABRIC_WIKI, FABRIC_SCHEDULE, &lesson) == ERR_OK && lesson.wins &&
           answers(facts[FABRIC_SCHEDULE].question, "noon") &&
           fabric_of(&chat)->fabric.spaces[FABRIC_WIKI].notes == 1,
       "a memory that was promoted is practised, and lasts");
    chat_fabric_set_time(&chat, 1795527000 + 10 * 24 * 3600);
    OK(answers(facts[FABRIC_SCHEDULE].question, "noon"),
       "the promoted memory is still known a week later");
    open_learning(true);
    OK(chat_fabric_now(&chat) > 1795527000 && remember_fact(0, &lesson) == ERR_OK && lesson.wins,
       "the clock goes on when another model is loaded, and no time counts for the new one");
}

/* Namespaces that have faded, with notes and without any, learn like new ones. */
static void test_faded(void)
{
    const uint64_t day = 24 * 3600;
    struct chat_lesson lesson;
    uint64_t fresh;

    open_learning(true);
    chat_fabric_set_time(&chat, 1795527000);
    (void)remember_fact(FABRIC_SCHEDULE, &lesson);
    fresh = hash_of(facts[FABRIC_SCHEDULE].question);
    open_learning(true);
    chat_fabric_set_time(&chat, 1795527000 + 60 * day);
    OK(remember_fact(FABRIC_SCHEDULE, &lesson) == ERR_OK && lesson.wins &&
           hash_of(facts[FABRIC_SCHEDULE].question) == fresh,
       "two months pass, and the first memory of a namespace is learnt, with the same bits");
    for (int days = 5; days <= 320; days *= 4) {
        char question[32], line[64];

        chat_fabric_set_time(&chat, chat_fabric_now(&chat) + (uint64_t)days * day);
        snprintf(question, sizeof question, "and in %d days?", days);
        snprintf(line, sizeof line, "%s = at 1 or 2", question);
        OK(remember(FABRIC_SCHEDULE, line, &lesson) == ERR_OK && lesson.wins &&
               answers(question, "at 1 or 2"),
           "after %d days another one is learnt", days);
    }
    (void)remember_fact(FABRIC_WIKI, &lesson);
    OK(chat_fabric_promote(&chat, FABRIC_CONTESTED, FABRIC_WIKI, &lesson) == ERR_OK &&
           lesson.wins && answers(facts[FABRIC_WIKI].question, facts[FABRIC_WIKI].answer),
       "and one is moved to a namespace that has faded without notes");
}

static void test_refused(void)
{
    struct chat_lesson lesson;
    char line[FABRIC_TEXT_BYTES + 2];
    uint64_t other;

    open_learning(true);
    other = hash_of("something else");
    OK(remember(FABRIC_WIKI, "", &lesson) == ERR_BAD_ARGUMENT &&
           remember(FABRIC_WIKI, "word", &lesson) == ERR_BAD_ARGUMENT &&
           remember(FABRIC_WIKI, "a question = ", &lesson) == ERR_BAD_ARGUMENT &&
           remember(FABRIC_WIKI, " = an answer", &lesson) == ERR_BAD_ARGUMENT,
       "a line without something to remember is refused");
    for (size_t i = 0; i < sizeof line; i++)
        line[i] = (char)('a' + i * 7 % 26);
    line[20] = line[22] = ' ';
    line[21] = '=';
    OK(chat_fabric_remember(&chat, FABRIC_WIKI, line, FABRIC_TEXT_BYTES + 1, &lesson) ==
               ERR_TOO_LONG &&
           chat_fabric_remember(&chat, FABRIC_WIKI, line, FABRIC_TEXT_BYTES, &lesson) ==
               ERR_TOO_LONG,
       "a text of too many bytes and an answer of too many tokens are refused");
    OK(fabric_of(&chat)->fabric.n_notes == 0 && rig.session.hash.value == other,
       "texts that were refused leave nothing behind");
    OK(fabric_of(&chat)->fabric.n_background == 0,
       "they are refused before the preparation, which takes long");
    OK(remember(FABRIC_EPISODIC, "THE LAKE IS RED.", &lesson) == ERR_OK && lesson.wins &&
           fabric_of(&chat)->fabric.notes[0].question == 11,
       "a sentence is the answer to itself without its last word");
    other = hash_of("THE LAKE IS");
    stop_after = 0;
    OK(remember_fact(2, &lesson) == ERR_ABORTED && fabric_of(&chat)->fabric.n_notes == 1,
       "Ctrl-C ends a lesson");
    console.input.aborted = false;
    OK(hash_of("THE LAKE IS") == other,
       "nothing of the stopped lesson stays, and what was there does, to the bit");
}

/* Ctrl-C while a memory is learnt, whatever it would have replaced: everything that was known stays
 * known. */
static void test_stopped(void)
{
    struct fabric *f = &fabric_of(&chat)->fabric;
    struct chat_lesson lesson;
    bool right = true;

    open_learning(true);
    (void)remember(FABRIC_WIKI, "capital city of 1234567 = Paris", &lesson);
    (void)remember(FABRIC_PERSONAL, "who are you, stranger? = it is me", &lesson);
    stop_after = 0;
    OK(remember(FABRIC_WIKI, "WHEN IS IT? = noon", &lesson) == ERR_ABORTED && f->n_notes == 2 &&
           f->notes[0].wins,
       "after Ctrl-C in a lesson, what the namespace knew by heart is practised again");
    console.input.aborted = false;
    OK(answers("capital city of 1234567", "Paris"), "the first fact is still answered: %.20s",
       text);
    f->notes[1].used = 7;
    stop_after = 0;
    OK(remember(FABRIC_WIKI, "who are you, stranger? = nobody", &lesson) == ERR_ABORTED &&
           lesson.replaces && f->n_notes == 2,
       "Ctrl-C ends a correction from another namespace");
    console.input.aborted = false;
    OK(f->notes[1].space == FABRIC_PERSONAL && f->notes[1].used == 7 && !f->notes[1].wins &&
           f->notes[1].n_examples == 0 && f->notes[1].before_bytes == 0 && f->that == 0 &&
           f->spaces[FABRIC_WIKI].notes == 1 && f->spaces[FABRIC_PERSONAL].notes == 1 &&
           strncmp(f->notes[1].text, "who are you, stranger? = it is me", f->notes[1].bytes) == 0,
       "a stopped correction leaves the old memory, with its namespace and use");
    (void)remember(FABRIC_WIKI, "WHEN IS IT? = noon", &lesson);
    stop_after = 0;
    OK(chat_fabric_forget(&chat, 2, &lesson) == ERR_ABORTED && f->n_notes == 2,
       "Ctrl-C ends /forget");
    console.input.aborted = false;
    for (uint32_t i = 0; i < f->n_notes; i++)
        right = right && !(f->notes[i].space == FABRIC_WIKI && f->notes[i].wins);
    OK(right, "memories that are not practised any more do not count as known by heart");
}

/* Returns by how much an example's target is above all other tokens now. *above: among rows that
 * are not its rivals, the most by which one is above the limit of its ceiling and its reach. */
static float lead_of(uint32_t i, float *above)
{
    const struct fabric *f = &fabric_of(&chat)->fabric;
    const float *h = f->hidden + (size_t)i * f->dim;
    float *logits, adapted[256], square = 0.0f, best = -INFINITY;

    memcpy(adapted, h, f->dim * sizeof *h);
    transformer_adapt(&rig.model.transformer, adapted);
    for (uint32_t k = 0; k < f->dim; k++) {
        float d = adapted[k] - f->taken[(size_t)i * f->dim + k];

        square += d * d;
    }
    (void)transformer_logits_of(&rig.model.transformer, h, 1, &logits);
    for (uint32_t id = 0; id < rig.model.image.header->params.vocab; id++) {
        bool is_rival = id == f->targets[i];

        best = id != f->targets[i] && logits[id] > best ? logits[id] : best;
        for (uint32_t k = 0; k < FABRIC_RIVALS; k++)
            is_rival = is_rival || f->rivals[i * FABRIC_RIVALS + k] == id;
        if (!is_rival && logits[id] - f->ceiling[i] - f->longest_row * sqrtf(square) > *above)
            *above = logits[id] - f->ceiling[i] - f->longest_row * sqrtf(square);
    }
    return logits[f->targets[i]] - best;
}

/* Most examples are judged by their rivals alone: the whole head gives the same result for all. */
static void test_rivals(void)
{
    struct fabric *f = &fabric_of(&chat)->fabric;
    struct chat_lesson lesson;
    float above = -INFINITY, least = INFINITY;
    bool all = true;

    open_learning(true);
    for (int i = 0; i < FACTS; i++) {
        char line[200];

        snprintf(line, sizeof line, "%s = %s", facts[i].question, facts[i].answer);
        all = remember(FABRIC_WIKI, line, &lesson) == ERR_OK && lesson.wins && all;
    }
    f->practised = FABRIC_WIKI;
    for (uint32_t k = 0; k < f->n_notes; k++) {
        const struct fabric_note *n = &f->notes[k];

        fabric_ask_note(f, n);
        for (uint32_t i = n->first; i < (uint32_t)n->first + n->n_examples; i++) {
            float lead = lead_of(i, &above);

            least = lead < least ? lead : least;
        }
    }
    f->practised = FABRIC_SPACES;
    fabric_leave(f);
    OK(all && f->n_examples > 10 && least > 0.9f * CHAT_LEARN_MARGIN,
       "%u tokens of answers win, by %.2f at least", f->n_examples, (double)least);
    OK(above < 0.1f, "no other row is above its ceiling and reach: %.2f at most", (double)above);
}

/* If its answer's tokens find no room, a memory is found by its words, and costs no practice. */
static void test_by_words(void)
{
    struct fabric *f = &fabric_of(&chat)->fabric;
    struct chat_lesson lesson;
    uint32_t room;

    open_learning(true);
    (void)remember_fact(2, &lesson);
    room = f->room.examples;
    f->room.examples = f->n_examples;
    OK(remember(FABRIC_WIKI, "WHEN IS IT? = noon", &lesson) == ERR_OK && lesson.by_words &&
           lesson.rounds == 0 && lesson.steps == 0 && f->n_notes == 2 && f->notes[0].wins &&
           !f->notes[1].wins && answers(facts[2].question, facts[2].answer),
       "a memory without room for its tokens is not practised, and others stay known");
    f->room.examples = room;
}

static void set_budget(uint64_t multiplications, uint64_t heads)
{
    fabric_of(&chat)->budget = multiplications;
    fabric_of(&chat)->budget_heads = heads;
}

/* Practice that takes too long ends: the latest memory is found by its words, and the others are
 * unchanged, to the bit. */
static void test_takes_long(void)
{
    struct fabric *f = &fabric_of(&chat)->fabric;
    struct chat_lesson lesson;
    uint32_t examples;
    float *weights = NULL;
    size_t bytes;

    open_learning(true);
    (void)remember_fact(2, &lesson);
    examples = f->n_examples;
    bytes = micro_lora_floats(f->dim, fabric_kinds[FABRIC_WIKI].rank) * sizeof(float);
    weights = malloc(bytes);
    if (weights == NULL)
        rig_die("no memory");
    memcpy(weights, f->spaces[FABRIC_WIKI].lora.weights, bytes);
    set_budget(1, 0);
    OK(remember(FABRIC_WIKI,
                "WHEN IS IT? = noon, and half an hour after it, not before the bell has rung",
                &lesson) == ERR_OK &&
           lesson.takes_long && lesson.by_words && f->n_notes == 2 && !f->notes[1].wins &&
           f->notes[0].wins && f->n_examples == examples,
       "a memory that takes too long is given up after %u rounds, and found by its words",
       lesson.rounds);
    OK(memcmp(weights, f->spaces[FABRIC_WIKI].lora.weights, bytes) == 0 &&
           answers(facts[2].question, facts[2].answer),
       "what was known before a lesson that took too long is known, to the bit");
    free(weights);
    set_budget(CHAT_FABRIC_BUDGET, CHAT_FABRIC_HEADS);
    OK(remember(FABRIC_WIKI, "who are you, stranger? = it is me", &lesson) == ERR_OK &&
           lesson.wins && !lesson.by_words && f->notes[2].wins,
       "the next memory is learnt by heart");
    set_budget(1, 0);
    OK(chat_fabric_forget(&chat, 1, &lesson) == ERR_OK && f->n_notes == 2,
       "one memory is forgotten");
    for (uint32_t i = 0; i < f->n_notes; i++) {
        char question[FABRIC_TEXT_BYTES + 1];

        snprintf(question, sizeof question, "%.*s", (int)f->notes[i].question, f->notes[i].text);
        OK(!f->notes[i].wins || answers(question, fabric_answer(&f->notes[i])),
           "a memory that counts as known by heart is answered: %s",
           f->notes[i].wins ? "yes" : "no");
    }
    set_budget(CHAT_FABRIC_BUDGET, CHAT_FABRIC_HEADS);
}

static void ignore(void *context, const char *part, size_t bytes)
{
    (void)context;
    (void)part;
    (void)bytes;
}

static void add_tag(void *tags, const struct hidden_tag *tag)
{
    memory_tags_add(tags, tag);
}

/* The requests of a reply's tags. tests/golden/fabric.t tests that they are found in a reply and
 * not shown. */
static void test_tags(void)
{
    static const char said[] =
        "<|mem_store|>wiki why = because<|mem_end|><|mem_store|>wiki x<|mem_end|>"
        "<|mem_forget|>personal<|mem_end|><|mem_forget|>nothing<|mem_end|>";
    struct chat_lesson lesson;
    struct memory_tags tags;
    struct hidden_tags hidden = { .write = ignore, .tag = add_tag, .context = &tags };
    uint32_t notes;

    open_learning(true);
    (void)remember_fact(0, &lesson);
    memset(&tags, 0, sizeof tags);
    hidden_tags_write(&hidden, said, strlen(said));
    hidden_tags_end(&hidden);
    text_bytes = 0;
    memory_tags_obey(&chat, &tags);
    OK(fabric_of(&chat)->fabric.n_notes == 1 &&
           fabric_of(&chat)->fabric.notes[0].space == FABRIC_WIKI && answers("why", "because"),
       "one memory is remembered, and a namespace forgotten");
    text_bytes = 0;
    memory_tags_obey(&chat, &tags);
    OK(strstr(text, "(remembered in wiki: why = because)") != NULL &&
           strstr(text, "(not remembered in wiki: ") != NULL &&
           strstr(text, "(forgotten: all of personal)") != NULL &&
           strstr(text, "(1 memory tag of the reply had no effect)") != NULL,
       "the result of each tag is told: %s", text);
    notes = fabric_of(&chat)->fabric.n_notes;
    options.line.locked = true;
    text_bytes = 0;
    memory_tags_obey(&chat, &tags);
    OK(notes != 0 && fabric_of(&chat)->fabric.n_notes == notes && text_bytes == 0,
       "a locked line changes no memory");
    options.line.locked = false;
    lessons_of(&chat)->learns = false;
    chat_fabric_clear(&chat);
    memory_tags_obey(&chat, &tags);
    OK(fabric_of(&chat)->fabric.n_notes == 0, "nothing is remembered without learning");
}

/* A list takes what is added, up to the length of a memory. */
static void test_lists(void)
{
    struct chat_lesson lesson;
    char list[FABRIC_TEXT_BYTES + 1], line[2 * FABRIC_TEXT_BYTES] = "what? += ";
    size_t bytes;

    open_learning(true);
    OK(chat_fabric_add_to_list(&chat, FABRIC_WIKI, "what? = a", list) == 0,
       "a fact without += is not an addition to a list");
    bytes = chat_fabric_add_to_list(&chat, FABRIC_WIKI, "what? += milk.", list);
    OK(bytes == 13 && strcmp(list, "what? = milk.") == 0, "an addition begins a new list: %s",
       list);
    OK(remember(FABRIC_WIKI, list, &lesson) == ERR_OK, "the list is remembered");
    bytes = chat_fabric_add_to_list(&chat, FABRIC_WIKI, "WHAT? += eggs", list);
    OK(bytes == strlen(list) && strcmp(list, "WHAT? = milk, eggs") == 0,
       "an addition makes the list longer: %s", list);
    memset(line + strlen(line), 'x', FABRIC_TEXT_BYTES - strlen(line) - 1);
    bytes = chat_fabric_add_to_list(&chat, FABRIC_WIKI, line, list);
    OK(bytes > FABRIC_TEXT_BYTES && memchr(list, '\0', sizeof list) != NULL,
       "an addition that makes %zu bytes is too long", bytes);
    memset(line + 9, 'x', sizeof line - 10);
    bytes = chat_fabric_add_to_list(&chat, FABRIC_WIKI, line, list);
    OK(bytes > FABRIC_TEXT_BYTES && memchr(list, '\0', sizeof list) != NULL,
       "an addition that has %zu bytes itself is too long", bytes);
}

int main(void)
{
    rig_alone();
    rig_compute(false);
    rig_make_model("tiny", INGOT_Q8_0);
    put_template(test_template);
    test_facts();
    test_time();
    test_faded();
    test_refused();
    test_stopped();
    test_rivals();
    test_by_words();
    test_takes_long();
    test_tags();
    test_lists();
    return tap_done();
}
