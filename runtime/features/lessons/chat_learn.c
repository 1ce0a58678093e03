#include "runtime/features/lessons/chat_learn_private.h"

#include <string.h>

#include "board/min_max.h"
#include "runtime/chat/chat_private.h"
#include "runtime/chat/chat_turn.h"
#include "runtime/console/console.h"
#include "runtime/features/lessons/vector.h"

static void adapt(void *lessons, float *hidden)
{
    lessons_adapt(lessons, hidden);
}

bool chat_learn_open(struct chat *c)
{
    struct lessons_state *own = lessons_of(c);
    struct model *m = c->session->model;
    const struct ingot_params *p = &m->image.header->params;
    struct micro_lora_head head = { p->logits_scale, p->final_softcap };
    uint32_t cols = image_tensor(&m->image, INGOT_OUTPUT, INGOT_NO_LAYER)->cols_padded;

    if (!transformer_has_head(&m->transformer)) {
        return false;
    }
    if (own->room == 0) { /* the plan has reserved no memory for lessons */
        own->room = LESSONS_LEAST_ROOM;
    }
    lessons_open(&own->lessons,
                 arena_take(&m->arena, ARENA_LEARN, lessons_bytes(p->dim, cols, own->room)), p->dim,
                 cols, own->room, &head);
    own->lessons.learner.rule.ewc_penalty = c->options->load.learn == LEARN_ON;
    own->lessons.gated = c->options->load.learn == LEARN_ON;
    own->kept_ids = arena_take(&m->arena, ARENA_LEARN, c->session->context * sizeof(uint32_t));
    own->watch = (struct hidden_watch){ .adapt = adapt, .context = &own->lessons };
    transformer_watch(&m->transformer, &own->watch);
    own->learns = true;
    features_switch(c->features, FEATURE_lessons, true);
    return true;
}

void chat_learn_tell(struct chat *c, const char *label, uint32_t done, uint32_t total)
{
    if (c->wait.is_shown) {
        console_progress_share(c->console, label, done, total);
    }
}

/* ---- a step --------------------------------------------------------------------------------- */

void chat_learn_make_error(struct chat *c, const struct micro_lora_choice *choice)
{
    struct lessons *l = &lessons_of(c)->lessons;

    memset(l->error, 0, l->row_floats * sizeof *l->error);
    for (uint32_t k = 0; k < choice->n; k++) {
        transformer_head_row(&c->session->model->transformer, choice->ids[k], l->row);
        vector_add(l->error, l->row, choice->errors[k], l->dim);
    }
}

void chat_learn_make_margin(struct chat *c, uint32_t rival, float rival_logit, uint32_t target,
                            float target_logit)
{
    const struct transformer *t = &c->session->model->transformer;
    struct lessons *l = &lessons_of(c)->lessons;

    transformer_head_row(t, rival, l->error);
    vector_scale(l->error, micro_lora_slope(&l->head, rival_logit), l->dim);
    transformer_head_row(t, target, l->row);
    vector_add(l->error, l->row, -micro_lora_slope(&l->head, target_logit), l->dim);
}

bool chat_learn_step(struct chat *c, const float *h, const float *logits, uint32_t target,
                     float sign, bool feels)
{
    struct model *m = c->session->model;
    struct lessons *l = &lessons_of(c)->lessons;
    struct micro_lora_choice choice;

    micro_lora_choose(&choice, &l->head, logits, m->image.header->params.vocab, target);
    if (sign > 0.0f && logits[target] > choice.best + CHAT_LEARN_MARGIN) {
        return true;
    }
    chat_learn_make_error(c, &choice);
    if (feels) {
        learner_feel(&l->learner, h, l->error);
    }
    (void)learner_step(&l->learner, h, l->error, 1.0f, sign);
    return false;
}

enum err chat_learn_practise(struct chat *c, bool *all_win)
{
    struct lessons *l = &lessons_of(c)->lessons;

    *all_win = true;
    for (uint32_t i = 0; i < l->n; i++) {
        const float *h = l->hidden + (size_t)i * l->dim;
        float *logits;
        enum err e;

        if (!lessons_is_taught(l->targets[i])) {
            continue;
        }
        e = transformer_logits_of(&c->session->model->transformer, h, 1, &logits);

        if (e != ERR_OK) {
            return e;
        }
        if (!chat_learn_step(c, h, logits, l->targets[i], 1.0f, false)) {
            *all_win = false;
        }
        if (console_aborted(c->console)) {
            return ERR_ABORTED;
        }
    }
    return ERR_OK;
}

/* ---- what the model knew before lessons ----------------------------------------------------- */

uint32_t chat_learn_draw(const struct chat *c, const float *logits, unsigned *seed)
{
    struct micro_lora_choice choice;
    float at;

    micro_lora_choose(&choice, &lessons_of(c)->lessons.head, logits,
                      c->session->model->image.header->params.vocab, 0);
    vector_random(&at, 1, 0.5f, seed);
    return choice.ids[micro_lora_draw(&choice, at + 0.5f)];
}

/* Let the EWC penalty count a token that the model drew itself. Take no step. */
static void feel(struct chat *c, const float *logits, uint32_t target)
{
    struct lessons *l = &lessons_of(c)->lessons;
    struct micro_lora_choice choice;

    micro_lora_choose(&choice, &l->head, logits, c->session->model->image.header->params.vocab,
                      target);
    chat_learn_make_error(c, &choice);
    learner_feel(&l->learner, l->last, l->error);
}

enum err chat_learn_begin_text(struct chat *c, size_t *n)
{
    uint32_t bos = c->session->model->tokenizer.head->bos;

    *n = chat_has_template(c->template) ? chat_encode_opening(c) : 0;
    if (*n == 0 && bos != INGOT_NO_TOKEN) {
        c->opening.ids[0] = bos;
        *n = 1;
    }
    return *n != 0 ? session_append(c->session, c->opening.ids, *n, NULL) : ERR_OK;
}

/* Let the model write texts. The texts show on which weights the model's abilities depend. These
 * abilities are the first task that the EWC penalty protects. Each text begins like a conversation,
 * and ends after CHAT_LEARN_TEXT steps, or when the context is full. */
static enum err feel_itself(struct chat *c)
{
    struct session *s = c->session;
    unsigned seed = 1;
    enum err e = ERR_OK;

    for (uint32_t i = 0; i < CHAT_LEARN_FELT && e == ERR_OK; i++) {
        uint32_t id;

        chat_learn_tell(c, "preparing for lessons", i, CHAT_LEARN_FELT);
        if (s->n_ids == 0) {
            size_t n;

            e = chat_learn_begin_text(c, &n);
            if (n == 0) {
                return ERR_OK;
            }
        } else {
            id = chat_learn_draw(c, s->logits, &seed);
            feel(c, s->logits, id);
            e = session_append(s, &id, 1, NULL);
        }
        if (console_aborted(c->console)) {
            return ERR_ABORTED;
        }
        if (s->n_ids == s->context || i % CHAT_LEARN_TEXT == CHAT_LEARN_TEXT - 1) {
            session_clear(s);
        }
    }
    session_clear(s);
    if (e == ERR_OK) {
        (void)ewc_end_task(&lessons_of(c)->lessons.learner.ewc,
                           lessons_of(c)->lessons.learner.lora.weights);
    }
    return e;
}

/* ---- an answer ------------------------------------------------------------------------------ */

/* The tokens whose hidden states become examples. */
struct collect {
    struct chat *chat;
    uint32_t end; /* the token that follows the last one */
};

static void visit_learn(void *context, uint32_t position, const float *logits)
{
    struct collect *k = context;
    const struct session *s = k->chat->session;
    uint32_t target = position + 1 < s->n_ids ? s->ids[position + 1] : k->end;

    (void)logits;
    if (target < s->model->image.header->params.vocab) {
        lessons_add(&lessons_of(k->chat)->lessons, target);
    }
}

enum err chat_learn_encode_answer(struct chat *c, const char *answer, size_t bytes, uint32_t *ids,
                                  size_t *n)
{
    struct session *s = c->session;
    const struct tokenizer_part part = { answer, bytes, false };
    enum err e = tokenizer_encode_parts(&s->model->tokenizer, &part, 1, TOKENIZER_CONTINUE, ids,
                                        CHAT_LEARN_ANSWER_TOKENS - 1, n, s->scratch.memory,
                                        s->scratch.bytes);

    return e == ERR_OK && *n == 0 ? ERR_BAD_ARGUMENT : e;
}

enum err chat_learn_put_answer(struct chat *c, const char *question, size_t question_bytes,
                               const char *answer, size_t answer_bytes, uint32_t *ids, size_t *n)
{
    struct session *s = c->session;
    uint32_t room, *at = session_room(s, &room);
    enum err e = chat_encode(c, question, question_bytes, chat_has_template(c->template), true, at,
                             room, n);

    if (e != ERR_OK) {
        return e;
    }
    if (*n == 0) {
        return ERR_BAD_ARGUMENT;
    }
    ids[0] = at[*n - 1];
    if (*n > 1) {
        e = session_append(s, at, *n - 1, NULL);
    }
    if (e != ERR_OK) {
        return e;
    }
    e = chat_learn_encode_answer(c, answer, answer_bytes, ids + 1, n);
    *n += 1;
    return e;
}

uint32_t chat_learn_end(const struct chat *c)
{
    return c->template->n_stops != 0 ? c->template->stops[0]
                                     : c->session->model->tokenizer.head->bos;
}

void chat_learn_begin(struct chat *c)
{
    lessons_of(c)->began = platform_ticks(&c->console->platform->clock);
}

void chat_learn_settle(struct chat *c, const struct learner_totals *before,
                       struct chat_lesson *lesson)
{
    const struct learner_totals *now = &lessons_of(c)->lessons.learner.totals;

    lesson->ticks = platform_ticks(&c->console->platform->clock) - lessons_of(c)->began;
    lesson->steps = now->steps - before->steps;
    lesson->thrown = now->thrown - before->thrown;
}

/* Set *wins to the number of taught examples whose token wins by any margin. Set *all to the number
 * of taught examples, unless `all` is NULL. */
static enum err count_wins(struct chat *c, uint32_t *wins, uint32_t *all)
{
    struct lessons *l = &lessons_of(c)->lessons;
    uint32_t n = 0;
    enum err e = ERR_OK;

    *wins = 0;
    for (uint32_t i = 0; i < l->n && e == ERR_OK; i++) {
        struct micro_lora_choice choice;
        float *logits;

        if (!lessons_is_taught(l->targets[i])) {
            continue;
        }
        n++;
        e = transformer_logits_of(&c->session->model->transformer, l->hidden + (size_t)i * l->dim,
                                  1, &logits);
        if (e == ERR_OK) {
            micro_lora_choose(&choice, &l->head, logits,
                              c->session->model->image.header->params.vocab, l->targets[i]);
            *wins += logits[l->targets[i]] > choice.best;
        }
    }
    if (all != NULL) {
        *all = n;
    }
    return e;
}

enum err chat_learn_find_room(struct chat *c, uint32_t n, enum lesson_kind kind,
                              struct chat_lesson *lesson)
{
    struct lessons_state *own = lessons_of(c);

    if (n == 0 || n > lessons_most(&own->lessons)) {
        return ERR_NO_SPACE;
    }
    lesson->to_go = lessons_to_go(&own->lessons, n);
    if (lesson->to_go > own->told_to_go || (lesson->to_go != 0 && kind != own->told_kind)) {
        own->told_to_go = lesson->to_go;
        own->told_kind = kind;
        return ERR_NO_SPACE;
    }
    own->told_to_go = 0;
    return ERR_OK;
}

/* Teach an answer, in an empty session. */
static enum err teach(struct chat *c, const char *question, size_t question_bytes,
                      const char *answer, size_t answer_bytes, struct chat_lesson *lesson)
{
    uint32_t ids[CHAT_LEARN_ANSWER_TOKENS];
    struct collect k = { .chat = c, .end = chat_learn_end(c) };
    struct learner_totals before = lessons_of(c)->lessons.learner.totals;
    size_t n;
    enum err e = chat_learn_put_answer(c, question, question_bytes, answer, answer_bytes, ids, &n);

    if (e != ERR_OK) {
        return e;
    }
    e = chat_learn_find_room(c, (uint32_t)n, LESSON_TAUGHT, lesson);
    if (e != ERR_OK) {
        return e;
    }
    lessons_begin(&lessons_of(c)->lessons, (uint32_t)n, LESSON_TAUGHT, question, question_bytes,
                  chat_learn_now(c));
    e = session_append_visit(c->session, ids, n, visit_learn, &k);
    lesson->tokens = (uint32_t)n - 1;
    chat_learn_begin(c);
    while (e == ERR_OK && !lesson->wins && lesson->rounds < CHAT_LEARN_ROUNDS) {
        chat_learn_tell(c, "rounds of practice", lesson->rounds, CHAT_LEARN_ROUNDS);
        e = chat_learn_practise(c, &lesson->wins);
        lesson->rounds++;
    }
    if (e == ERR_OK && !lesson->wins) { /* count the examples whose token wins by any margin */
        uint32_t wins;

        e = count_wins(c, &wins, &lesson->examples);
        lesson->lost = lesson->examples - wins;
    }
    chat_learn_settle(c, &before, lesson);
    if (e != ERR_OK) {
        (void)lessons_undo(&lessons_of(c)->lessons);
    }
    return e;
}

/* Prepare for the first taught lesson, in an empty session. If this fails, the weights that
 * /good and /bad have changed before stay; only the penalty's samples are dropped. */
static enum err prepare(struct chat *c)
{
    struct learner *l = &lessons_of(c)->lessons.learner;
    enum err e = ERR_OK;

    if (l->rule.ewc_penalty && l->ewc.tasks == 0) {
        e = feel_itself(c);
        if (e != ERR_OK) {
            ewc_open(&l->ewc, l->ewc.fisher, l->ewc.n);
        }
    }
    return e;
}

enum err chat_learn_teach(struct chat *c, const char *question, size_t question_bytes,
                          const char *answer, size_t answer_bytes, struct chat_lesson *lesson)
{
    struct session *s = c->session;
    struct session_hash hash = s->hash;
    uint32_t n_ids = s->n_ids, ids[CHAT_LEARN_ANSWER_TOKENS];
    size_t n;
    enum err e;

    memset(lesson, 0, sizeof *lesson);
    e = chat_learn_encode_answer(c, answer, answer_bytes, ids, &n);
    if (e != ERR_OK) { /* refuse before the preparation, which takes long */
        return e;
    }
    session_forget_guesses(s);
    memcpy(lessons_of(c)->kept_ids, s->ids, n_ids * sizeof *s->ids);
    session_clear(s);
    e = prepare(c);
    if (e == ERR_OK) {
        e = teach(c, question, question_bytes, answer, answer_bytes, lesson);
    }
    console_progress_end(c->console);
    session_take_back(s, lessons_of(c)->kept_ids, n_ids, &hash);
    return e;
}
