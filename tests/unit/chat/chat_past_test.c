/* A reply that becomes a past one: the tokens that only open a new reply go, those that open past
 * replies come, and a system prompt of the last turn moves on. */
#include "tests/unit/chat/chat_rig.h"

enum { MOST = 512, REPLY = 5 };

static size_t tokens_of(const char *before, const char *said, const char *after, unsigned flags,
                        uint32_t *ids)
{
    struct tokenizer_part parts[3] = { { before, strlen(before), true },
                                       { said, strlen(said), false },
                                       { after, strlen(after), true } };
    size_t n = 0;

    if (tokenizer_encode_parts(&rig.model.tokenizer, parts, 3, flags, ids, 256, &n,
                               rig.session.scratch.memory, rig.session.scratch.bytes) != ERR_OK)
        rig_die("the text cannot be tokenized");
    return n;
}

static void use_template(const char *const strings[INGOT_CHAT_STRINGS], uint32_t flags)
{
    struct ingot_header *h = (void *)rig.packed;
    struct ingot_chat *c = (void *)(rig.packed + h->chat.offset);

    c->flags = flags;
    put_template(strings);
}

/* Two turns; the first must become `before`, its text, `after` and its reply. */
static void check_two(const char *before, const char *after, const char *second_before,
                      const char *second_after, const char *what)
{
    struct session *s = &rig.session;
    uint32_t wanted[MOST], reply[REPLY];
    size_t n;

    OK(say("bade", true) == ERR_OK && s->n_ids - chat.reply_start == REPLY, "a reply is generated");
    memcpy(reply, s->ids + chat.reply_start, sizeof reply);
    OK(say("gogo", true) == ERR_OK, "a second turn has a reply");
    n = tokens_of(before, "bade", after, TOKENIZER_BOS, wanted);
    memcpy(wanted + n, reply, sizeof reply);
    n += REPLY;
    n += tokens_of(second_before, "gogo", second_after, TOKENIZER_CONTINUE, wanted + n);
    OK(chat.reply_start == n && memcmp(s->ids, wanted, n * sizeof *wanted) == 0,
       "the second turn has the tokens of the template: %s", what);
    OK(chat.turns.n == 2 && chat.turns.list[1].reply == n, "the turns know where they are");
}

/* The cache is as if all tokens had come at once: the next token is the same. */
static void check_cache(void)
{
    struct session *s = &rig.session;
    uint32_t ids[MOST], n = chat.reply_start, first = s->ids[n], picked;

    memcpy(ids, s->ids, n * sizeof *ids);
    start_over(REPLY);
    OK(session_append(s, ids, n, NULL) == ERR_OK, "the same tokens are appended at once");
    picked = sampler_pick(&chat.sampler, s->logits, s->model->image.header->params.vocab, s->ids,
                          s->n_cached, s->model->kernels, s->scratch.memory);
    OK(picked == first, "the same tokens continue as the second reply did");
}

/* Messages with this earlier reply must have the tokens of the template with `kept`. */
static void check_messages(const char *reply, const char *kept, const char *what)
{
    struct chat_messages m = {
        .n = 3,
        .list = { { "bade", 4, 0, false },
                  { reply, (uint32_t)strlen(reply), 0, true },
                  { "gogo", 4, 0, false } },
    };
    struct session *s = &rig.session;
    uint32_t wanted[MOST];
    size_t n = tokens_of("[O][S]fine[/S][U]", "bade", "[/U][R]", TOKENIZER_BOS, wanted);

    start_over(REPLY);
    n += tokens_of("", kept, "", TOKENIZER_CONTINUE, wanted + n);
    OK(chat_messages_put(&chat, &m) == ERR_OK && s->n_ids == n &&
           memcmp(s->ids, wanted, n * sizeof *wanted) == 0,
       "messages: %s", what);
}

int main(void)
{
    const char *strings[INGOT_CHAT_STRINGS];

    memcpy(strings, test_template, sizeof strings);
    rig_alone();
    rig_make_model("tiny", INGOT_Q8_0);
    strings[INGOT_CHAT_REPLY_START] = "[G]";
    strings[INGOT_CHAT_PAST_START] = "[P]";
    strings[INGOT_CHAT_NO_THINKING] = "[N]";
    use_template(strings, 0);
    start_over(REPLY);
    check_two("[O][S]fine[/S][U]", "[/U][R][P]", "[/R][U]", "[/U][R][G]",
              "the reply's start is gone, the past one's is there");
    check_cache();
    start_over(REPLY);
    options_set(&options, "think", "off", NULL);
    check_two("[O][S]fine[/S][U]", "[/U][R][P]", "[/R][U]", "[/U][R][N]",
              "so is what asks for no thoughts");
    use_template(strings, INGOT_CHAT_KEEPS_THOUGHTS);
    start_over(REPLY);
    check_two("[O][S]fine[/S][U]", "[/U][R][G]", "[/R][U]", "[/U][R][G]",
              "where thoughts are kept, the start stays");
    strings[INGOT_CHAT_REPLY_START] = strings[INGOT_CHAT_NO_THINKING] = NULL;
    use_template(strings, 0);
    start_over(REPLY);
    check_two("[O][S]fine[/S][U]", "[/U][R]", "[/R][U]", "[/U][R]",
              "a reply that began after nothing stays as it was generated");
    strings[INGOT_CHAT_PAST_START] = NULL;
    strings[INGOT_CHAT_THINK_END] = "[T]";
    use_template(strings, 0);
    check_messages(" hm[T]\n fed ", " hm[T]\n fed ", "an earlier reply stays as it was sent");
    use_template(strings, INGOT_CHAT_TRIM_REPLY | INGOT_CHAT_DROPS_WRITTEN);
    check_messages(" hm[T]\n fed ", "fed", "thoughts and white space are gone");
    check_messages("hm[T]", "", "a reply of nothing but thoughts is empty");
    strings[INGOT_CHAT_THINK_END] = NULL;
    use_template(strings, INGOT_CHAT_SYSTEM_IN_USER | INGOT_CHAT_SYSTEM_LAST);
    start_over(REPLY);
    check_two("[O][U]", "[/U][R]", "[/R][U][S]fine[/S]", "[/U][R]",
              "a system prompt of the last turn moves on");
    check_cache();
    use_template(strings, INGOT_CHAT_SYSTEM_WHOLE);
    start_over(REPLY);
    check_two("[O]fine[U]", "[/U][R]", "[/R][U]", "[/U][R]", "a block of its own, without marks");
    start_over(REPLY);
    options_set(&options, "system", "bade", NULL);
    say("gogo", true);
    OK(rig.session.n_ids > 0 && chat.turns.n == 1,
       "a system prompt from the options begins a conversation");
    return tap_done();
}
