#include "runtime/features/acting/action_choice.h"

#include <string.h>

#include "runtime/chat/chat_turn.h"
#include "runtime/features/acting/action_said.h"
#include "runtime/session/token_scores.h"
#include "runtime/text/format_text.h"

/* PRIOR_SHARE times the prior is subtracted from a score. "on" or "off" needs a score above the
 * score of "nothing" plus MARGIN. Both constants were chosen with the half of
 * tests/golden/acting/sentences.txt that is for tuning. */
#define PRIOR_SHARE 1.0
#define MARGIN (-0.5)

static const char system_text[] =
    "You switch things. Answer with the name of the thing and on, off or nothing.";
static const char trained_system[] =
    "You can act. To act, reply with one line of JSON, such as {\"action\":\"light\",\"value\":\"on\"}.\n"
    "Actions:\nlight: value on|off\nfan: value on|off\ndoor\ntemperature\nuptime";
static const char *const values[CHOICES] = { "on", "off", "nothing" };

/* Examples for the first and the second output. */
static const struct example {
    const char *said; /* %s stands for the output's name */
    unsigned of;
    enum choice choice;
} examples[] = {
    { "Turn on the %s.", 0, CHOICE_ON },
    { "What is the %s for?", 1, CHOICE_NONE },
    { "Please switch the %s off.", 1, CHOICE_OFF },
    { "Don't turn on the %s.", 0, CHOICE_NONE },
    { "Could you turn the %s on?", 1, CHOICE_ON },
    { "She turned the %s off yesterday.", 1, CHOICE_NONE },
    { "%s off", 0, CHOICE_OFF },
    { "I like the %s.", 0, CHOICE_NONE },
};
/* Texts that ask for nothing. */
static const char *const neutral[] = { "N/A", "Hello." };

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

/* ---- tokens ---------------------------------------------------------------------------------- */

/* Write the tokens of a turn and of the beginning of its reply. */
static enum err encode(struct chat *c, const struct chat_turn *turn, const char *reply, bool bos,
                       uint32_t *ids, size_t room, size_t *n)
{
    struct session *s = c->session;
    struct tokenizer_part parts[CHAT_TURN_PARTS + 1];
    size_t n_parts = chat_turn_parts(c->template, turn, parts);

    parts[n_parts++] = (struct tokenizer_part){ reply, strlen(reply), false };
    return tokenizer_encode_parts(&s->model->tokenizer, parts, n_parts,
                                  bos ? TOKENIZER_BOS : TOKENIZER_CONTINUE, ids, room, n,
                                  s->scratch.memory, s->scratch.bytes);
}

static struct chat_turn turn_of(const char *text, size_t bytes, bool first, const char *system)
{
    return (struct chat_turn){ .text = text,
                               .bytes = bytes,
                               .first = first,
                               .no_thinking = true,
                               .system = system,
                               .system_bytes = system != NULL ? strlen(system) : 0 };
}

/* Return the name of output n, counted from 0, or of the last output if there are fewer. */
static const char *output_name(const struct actions *a, unsigned n)
{
    const char *name = "";

    for (unsigned i = 0, seen = 0; i < a->pins.list.n && seen <= n; i++) {
        if (!a->pins.list.pin[i].input) {
            name = a->pins.list.pin[i].name;
            seen++;
        }
    }
    return name;
}

static enum err put_example(struct action_choice *k, struct chat *c, const struct actions *a,
                            unsigned i)
{
    const char *name = output_name(a, examples[i].of);
    char said[96];
    size_t n = format_text(said, sizeof said, examples[i].said, name);
    struct chat_turn turn = turn_of(said, n, i == 0, i == 0 ? system_text : NULL);
    enum err e;

    format_text(k->reply, sizeof k->reply, "%s: %s", name, values[examples[i].choice]);
    e = encode(c, &turn, k->reply, c->session->n_ids == 0, k->ids[0], CHOICE_IDS, &n);
    return e == ERR_OK ? session_put(c->session, k->ids[0], n) : e;
}

/* ---- scores ---------------------------------------------------------------------------------- */

static double log_share(const struct session *s, uint32_t id)
{
    uint32_t vocab = s->model->image.header->params.vocab;
    struct token_scores scores;

    token_scores_read(&scores, 0, s->logits, vocab, s->model->kernels);
    token_scores_take(&scores, id, s->logits[id]);
    return scores.taken.log_share;
}

/* Return how many first tokens all choices share. Each choice keeps at least one more token. */
static size_t common(const struct action_choice *k)
{
    size_t n = 0;

    for (;; n++) {
        for (unsigned i = 0; i < CHOICES; i++) {
            if (n + 1 >= k->n_ids[i] || k->ids[i][n] != k->ids[0][n]) {
                return n;
            }
        }
    }
}

/* Compute score[i], the log likelihood of choice i after the sequence and the common tokens. */
static enum err score_ids(struct action_choice *k, struct session *s, const struct stop *stop)
{
    size_t shared = common(k);
    uint32_t from;
    enum err e = session_append(s, k->ids[0], shared, stop);

    from = s->n_ids;
    for (unsigned i = 0; i < CHOICES && e == ERR_OK; i++) {
        k->score[i] = log_share(s, k->ids[i][shared]);
    }
    for (unsigned i = 0; i < CHOICES; i++) { /* further tokens of longer choices */
        for (size_t t = shared; t + 1 < k->n_ids[i] && e == ERR_OK; t++) {
            e = session_append(s, &k->ids[i][t], 1, stop);
            k->score[i] += e == ERR_OK ? log_share(s, k->ids[i][t + 1]) : 0;
        }
        (void)session_cut(s, from);
    }
    return e;
}

static enum err score(struct action_choice *k, struct chat *c, const struct actions *a,
                      unsigned pin, const char *text, size_t bytes, const struct stop *stop)
{
    struct chat_turn turn = turn_of(text, bytes, false, NULL);
    enum err e = ERR_OK;

    for (unsigned i = 0; i < CHOICES && e == ERR_OK; i++) {
        format_text(k->reply, sizeof k->reply, "%s: %s", a->pins.list.pin[pin].name, values[i]);
        e = encode(c, &turn, k->reply, false, k->ids[i], CHOICE_IDS, &k->n_ids[i]);
    }
    e = e == ERR_OK ? score_ids(k, c->session, stop) : e;
    (void)session_cut(c->session, k->examples);
    return e;
}

/* Measure once how likely each answer is for a pin if nothing is requested. */
static enum err measure_prior(struct action_choice *k, struct chat *c, const struct actions *a,
                              unsigned pin, const struct stop *stop)
{
    double sum[CHOICES] = { 0 };

    if (k->has_prior[pin]) {
        return ERR_OK;
    }
    for (size_t i = 0; i < COUNT(neutral); i++) {
        enum err e = score(k, c, a, pin, neutral[i], strlen(neutral[i]), stop);

        if (e != ERR_OK) {
            return e;
        }
        for (unsigned v = 0; v < CHOICES; v++) {
            sum[v] += k->score[v];
        }
    }
    for (unsigned v = 0; v < CHOICES; v++) {
        k->prior[pin][v] = sum[v] / (double)COUNT(neutral);
    }
    k->has_prior[pin] = true;
    return ERR_OK;
}

static enum choice best(struct action_choice *k, unsigned pin, unsigned may)
{
    enum choice choice = CHOICE_NONE;

    for (unsigned v = 0; v < CHOICES; v++) {
        k->score[v] -= PRIOR_SHARE * k->prior[pin][v];
    }
    for (unsigned v = 0; v < CHOICE_NONE; v++) {
        unsigned said = v == CHOICE_ON ? SAID_ON : SAID_OFF;
        double least = k->score[CHOICE_NONE] + MARGIN;

        if ((may & said) != 0 && k->score[v] > least &&
            (choice == CHOICE_NONE || k->score[v] > k->score[choice])) {
            choice = (enum choice)v;
        }
    }
    return choice;
}

static enum err decide(struct action_choice *k, struct chat *c, const struct actions *a,
                       unsigned pin, const char *text, size_t bytes, const struct stop *stop)
{
    enum err e = ERR_OK;

    for (unsigned i = 0; i < COUNT(examples) && e == ERR_OK; i++) {
        e = put_example(k, c, a, i);
    }
    k->examples = c->session->n_ids;
    e = e == ERR_OK ? measure_prior(k, c, a, pin, stop) : e;
    return e == ERR_OK ? score(k, c, a, pin, text, bytes, stop) : e;
}

/* ---- trying a reply and going back ----------------------------------------------------------- */

/* Restore the sequence and its hash. */
static void come_back(struct session *s, uint32_t n, const struct session_hash *hash)
{
    (void)session_cut(s, n);
    s->hash = *hash;
}

enum err action_choose(struct action_choice *k, struct chat *c, const struct actions *a,
                       unsigned pin, unsigned may, const char *text, size_t bytes,
                       const struct stop *stop, enum choice *choice)
{
    struct session *s = c->session;
    struct session_hash hash = s->hash;
    enum err e;

    *choice = CHOICE_NONE;
    k->begin = s->n_ids;
    s->hash.on = false;
    e = decide(k, c, a, pin, text, bytes, stop);
    if (e == ERR_OK) {
        *choice = best(k, pin, may);
    }
    come_back(s, k->begin, &hash);
    return e;
}

/* Return true if the most likely first token of a reply begins with a brace. */
static bool begins_call(const struct session *s)
{
    uint32_t vocab = s->model->image.header->params.vocab;
    struct token_scores scores;
    const char *text;
    size_t n, i = 0;

    token_scores_read(&scores, 1, s->logits, vocab, s->model->kernels);
    text = tokenizer_piece(&s->model->tokenizer, scores.likeliest[0].id, INGOT_NO_TOKEN, &n);
    while (i < n && text[i] == ' ') {
        i++;
    }
    return i < n && text[i] == '{';
}

enum err action_is_trained(struct action_choice *k, struct chat *c, const struct stop *stop,
                           bool *is_trained)
{
    static const char said[] = "Turn on the light.";
    struct session *s = c->session;
    struct session_hash hash = s->hash;
    struct chat_turn turn = turn_of(said, sizeof said - 1, true, trained_system);
    size_t n;
    enum err e = encode(c, &turn, "", s->n_ids == 0, k->ids[0], CHOICE_IDS, &n);

    *is_trained = false;
    k->begin = s->n_ids;
    s->hash.on = false;
    e = e == ERR_OK ? session_append(s, k->ids[0], n, stop) : e;
    if (e == ERR_OK) {
        *is_trained = begins_call(s);
    }
    come_back(s, k->begin, &hash);
    return e;
}
