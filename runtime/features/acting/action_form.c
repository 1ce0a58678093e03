#include "runtime/features/acting/action_form.h"

#include <string.h>

#include "runtime/features/acting/action_said.h"
#include "runtime/features/acting/action_word.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])
#define HAS(e, list) (action_match_list(e, list, COUNT(list)) != 0)

/* A sentence that begins with one of these words is a question. */
static const char *const asking_words[] = {
    "is",      "are",     "am",      "was",     "were",   "did",    "does",  "do",
    "has",     "have",    "had",     "how",     "what",   "why",    "who",   "whose",
    "when",    "where",   "which",   "should",  "may",    "might",  "isn't", "aren't",
    "wasn't",  "didn't",  "doesn't", "haven't", "hasn't", "what's", "who's", "how's",
    "where's", "whether", "must",    "shall",   "since"
};
/* These words begin a question, too, unless one of `asked` follows, as in "could you". */
static const char *const polite_words[] = { "can",   "could",    "would", "will",
                                            "can't", "couldn't", "won't" };
static const char *const asked[] = { "you",      "we",      "i",       "please",
                                     "somebody", "someone", "anybody", "anyone" };
/* A sentence that begins with one of these verbs asks for information. */
static const char *const telling_words[] = { "tell",   "check", "read", "show",
                                             "report", "say",   "give", "look" };
static const char *const courtesies[] = { "please", "hey", "ok",  "okay", "hi",  "hello",
                                          "so",     "and", "now", "well", "just" };

/* A sentence with one of these words is about another time, a condition, a wish or a word. */
static const char *const apart_words[] = {
    "if",         "whenever",    "when",      "while",   "unless",   "until",   "till",
    "after",      "before",      "tomorrow",  "tonight", "later",    "soon",    "yesterday",
    "usually",    "often",       "sometimes", "always",  "ago",      "used_to", "said",
    "say",        "saying",      "told",      "asked",   "ask",      "wrote",   "heard",
    "was",        "were",        "did",       "had",     "been",     "wish",    "wishes",
    "wonder",     "hope",        "dream",     "imagine", "suppose",  "pretend", "mean",
    "meaning",    "translate",   "spell",     "story",   "stories",  "poem",    "joke",
    "sentence",   "word",        "write",     "explain", "example",  "how",     "minute",
    "hour",       "second",      "o'clock",   "noon",    "midnight", "whether", "would_have",
    "could_have", "should_have", "shouldn't"
};
/* A clause that begins with one of these words is about other people. */
static const char *const others[] = { "he",      "she",       "they",     "somebody",
                                      "someone", "everybody", "everyone", "nobody",
                                      "people",  "my",        "his",      "her",
                                      "their",   "he's",      "she's",    "they're" };
static const char *const not_words[] = { "not",   "no",     "never",   "dont",
                                         "don't", "cannot", "without", "stop_turning" };
/* With "not", these verbs ask for the opposite: "don't leave it on". */
static const char *const stay_words[] = { "leave", "leaving", "keep", "keeping",
                                          "let",   "want",    "stay" };
static const char *const selves[] = { "i", "we", "you" };
static const char *const degrees[] = { "temperature", "warm", "hot", "cold", "cool", "degree" };
static const char *const running[] = {
    "uptime",          "how_long_have_you",  "how_long_are_you",   "how_long_were_you",
    "how_long_has_it", "since_when_are_you", "since_when_have_you"
};

/* ---- words ----------------------------------------------------------------------------------- */

static bool begins_word(const char *text, size_t i)
{
    return (action_is_letter(text[i]) || action_is_digit(text[i])) &&
           (i == 0 || !(action_is_letter(text[i - 1]) || action_is_digit(text[i - 1]) ||
                        text[i - 1] == '\''));
}

/* Move *i to the next word in text (bytes). Returns false if there is no word. */
static bool next_word(const char *text, size_t bytes, size_t *i)
{
    while (*i < bytes && !begins_word(text, *i)) {
        ++*i;
    }
    return *i < bytes;
}

static bool has_word(const char *text, size_t bytes, const char *const *words, size_t n)
{
    for (size_t i = 0; next_word(text, bytes, &i); i++) {
        struct ear e = { text + i, text + bytes };

        if (action_match_list(&e, words, n) != 0) {
            return true;
        }
    }
    return false;
}

/* Find the first word after any courtesies. Returns false if there is no word. */
static bool first_word(const char *text, size_t bytes, struct ear *e)
{
    size_t i = 0;

    for (; next_word(text, bytes, &i); i++) {
        *e = (struct ear){ text + i, text + bytes };
        if (!HAS(e, courtesies)) {
            return true;
        }
    }
    return false;
}

/* Move to the word after the current word. Returns false if there is no word. */
static bool word_after(const struct ear *at, struct ear *e)
{
    size_t i = 0;

    *e = *at;
    (void)action_pass_word(e);
    if (!next_word(e->at, (size_t)(e->end - e->at), &i)) {
        return false;
    }
    e->at += i;
    return true;
}

/* ---- quotations ------------------------------------------------------------------------------ */

/* Return the number of bytes of the quotation mark at text[i], or 0 if there is none. An apostrophe
 * within a word is not a quotation mark. */
static size_t mark_bytes(const char *text, size_t bytes, size_t i)
{
    static const char *const marks[] = {
        "\"", "\xe2\x80\x9c", "\xe2\x80\x9d", "\xe2\x80\x9e", "\xc2\xab", "\xc2\xbb", "`"
    };

    for (size_t m = 0; m < COUNT(marks); m++) {
        size_t n = strlen(marks[m]);

        if (n <= bytes - i && memcmp(text + i, marks[m], n) == 0) {
            return n;
        }
    }
    if (text[i] == '\'' && (i == 0 || !action_is_letter(text[i - 1]) || i + 1 == bytes ||
                            !action_is_letter(text[i + 1]))) {
        return 1;
    }
    return 0;
}

/* Replace quotations of two or more words by spaces; a single word may be the name of a thing. A
 * quotation without an end reaches to the end of the text. */
static void blank_quotations(char *text, size_t bytes)
{
    size_t i = 0;

    while (i < bytes) {
        size_t n = mark_bytes(text, bytes, i), from = i + n, words = 0, to;

        if (n == 0) {
            i++;
            continue;
        }
        for (to = from; to < bytes && mark_bytes(text, bytes, to) == 0; to++) {
            words += begins_word(text, to);
        }
        n = to < bytes ? mark_bytes(text, bytes, to) : 0;
        memset(text + i, ' ', from - i);
        memset(text + to, ' ', n);
        if (words > 1) {
            memset(text + from, ' ', to - from);
        }
        i = to + n;
    }
}

/* ---- sentences and clauses ------------------------------------------------------------------- */

static bool ends_sentence(char c)
{
    return c == '.' || c == '!' || c == '?' || c == '\n';
}

static bool ends_clause(char c)
{
    return ends_sentence(c) || c == ',' || c == ';' || c == ':';
}

/* Return true if the sentence's first words make it a question. */
static bool is_asking(const char *text, size_t bytes)
{
    struct ear first, second;

    if (!first_word(text, bytes, &first)) {
        return false;
    }
    if (HAS(&first, polite_words)) {
        return !word_after(&first, &second) || !HAS(&second, asked);
    }
    if (action_match(&first, "do") != 0 && word_after(&first, &second) && HAS(&second, not_words)) {
        return false;
    }
    return HAS(&first, asking_words);
}

static bool tells_me(const char *text, size_t bytes)
{
    struct ear first;

    return first_word(text, bytes, &first) && HAS(&first, telling_words);
}

/* Return true for sentences such as "I turned ..." or "we switched ...". */
static bool is_past(const struct ear *first)
{
    static const char *const wants[] = { "need", "want", "wanted" };
    struct ear verb, end;

    if (!HAS(first, selves) || !word_after(first, &verb) || HAS(&verb, wants)) {
        return false;
    }
    end = verb;
    (void)action_pass_word(&end);
    return end.at - verb.at > 3 && memcmp(end.at - 2, "ed", 2) == 0;
}

/* Return true if a word negates: it ends with n't or is one of not_words. */
static bool is_denied(const char *text, size_t bytes)
{
    for (size_t i = 0; next_word(text, bytes, &i); i++) {
        struct ear e = { text + i, text + bytes };

        if (HAS(&e, not_words) || action_pass_word(&e)) {
            return true;
        }
    }
    return false;
}

static bool clause_asks(const char *text, size_t bytes)
{
    struct ear first;

    if (!first_word(text, bytes, &first) || HAS(&first, others) || is_past(&first)) {
        return false;
    }
    return !is_denied(text, bytes) || has_word(text, bytes, stay_words, COUNT(stay_words));
}

/* Return where the clause from i on ends: before its punctuation mark, or before "but". */
static size_t clause_end(const char *text, size_t i, size_t bytes)
{
    size_t from = i;

    for (; i < bytes && !ends_clause(text[i]); i++) {
        struct ear e = { text + i, text + bytes };

        if (i != from && begins_word(text, i) && action_match(&e, "but") != 0) {
            return i;
        }
    }
    return i;
}

static void read_clauses(char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes;) {
        size_t end = clause_end(text, i + 1, bytes);

        if (!clause_asks(text + i, end - i)) {
            memset(text + i, ' ', end - i);
        }
        i = end;
    }
}

/* Add one sentence to the request, or spaces if the sentence requests nothing. */
static void read_sentence(struct action_form *f, size_t from, size_t to, bool has_mark)
{
    char *text = f->request + from;
    size_t n = to - from;
    bool asks = is_asking(text, n);
    struct ear first;

    if (!first_word(text, n, &first)) {
        return;
    }
    f->is_question |= asks || has_mark || tells_me(text, n);
    if (asks || tells_me(text, n) || has_word(text, n, apart_words, COUNT(apart_words))) {
        memset(text, ' ', n);
        return;
    }
    read_clauses(text, n);
}

void action_form_read(struct action_form *f, const char *text, size_t bytes)
{
    size_t from = 0;

    f->is_question = false;
    f->bytes = bytes <= FORM_BYTES ? bytes : 0;
    memcpy(f->plain, text, f->bytes);
    blank_quotations(f->plain, f->bytes);
    memcpy(f->request, f->plain, f->bytes);
    for (size_t i = 0; i <= f->bytes; i++) {
        if (i == f->bytes || ends_sentence(f->plain[i])) {
            read_sentence(f, from, i, i < f->bytes && f->plain[i] == '?');
            from = i + 1;
        }
    }
}

/* ---- what a person requests ------------------------------------------------------------------ */

static bool names(const struct action_form *f, const char *name)
{
    return has_word(f->plain, f->bytes, &name, 1);
}

unsigned action_form_asks(const struct action_form *f, const struct actions *a, unsigned pin)
{
    struct action action = { .kind = ACTION_OUTPUT, .pin = pin };
    struct action_call call = { .action = &action };
    struct action_heard heard = { .named = false };

    if (pin >= a->pins.list.n || a->pins.list.pin[pin].input) {
        return 0;
    }
    action_hear(a, &call, f->request, f->bytes, true, &heard);
    return heard.named ? heard.values : 0;
}

bool action_form_asks_about(const struct action_form *f, const struct actions *a,
                            const struct action *action)
{
    bool has_sensor = a->sensors.list.n != 0;

    if (!f->is_question) {
        return false;
    }
    switch (action->kind) {
    case ACTION_TEMPERATURE:
        return names(f, "temperature") ||
               (!has_sensor && has_word(f->plain, f->bytes, degrees, COUNT(degrees)));
    case ACTION_SENSOR:
        return names(f, action->name) ||
               (a->sensors.list.n == 1 && has_word(f->plain, f->bytes, degrees, COUNT(degrees)));
    case ACTION_UPTIME: return has_word(f->plain, f->bytes, running, COUNT(running));
    case ACTION_PULSE: return false;
    default: return names(f, action->name);
    }
}
