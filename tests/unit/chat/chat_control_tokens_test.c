/* Which tokens end a turn, and that no text of a person becomes a control token. */
#include "tests/unit/chat/chat_template_rig.h"
#include "tests/unit/tap.h"

/* ---- stop tokens ----------------------------------------------------------------------------- */

static bool is_stop(const struct ingot_chat *chat, uint32_t id)
{
    for (uint32_t i = 0; i < chat->n_stops; i++) {
        if (chat->stops[i] == id)
            return true;
    }
    return false;
}

static bool stops_at(const char *text)
{
    const struct ingot_tokenizer *head = (const void *)tokenizer;
    struct tokenizer t;

    tokenizer_open(&t, tokenizer);
    for (uint32_t id = 0; id < head->n_tokens; id++) {
        if (tokenizer_text_bytes(&t, id) == strlen(text) &&
            memcmp(tokenizer_text(&t, id), text, strlen(text)) == 0) {
            return is_stop(&section.head, id);
        }
    }
    return false;
}

static void test_stops(void)
{
    struct chat_request r = { .name = "llama2", .n_stops = 3 };
    const uint32_t more[3] = { 5, 5, 1u << 30 };

    make_vocabulary("<s>", "</s>", INGOT_TOKEN_CONTROL);
    r.tokenizer = tokenizer;
    r.stops = more;
    OK(chat_template_build(&r, section.bytes, &section_bytes, error_message) == ERR_OK &&
           section.head.stops[0] == ((const struct ingot_tokenizer *)(void *)tokenizer)->eos &&
           section.head.stops[1] == 5 && section.head.n_stops == INGOT_MAX_STOPS &&
           section.head.stops[2] != 5,
       "eos comes first, then the model's other ones, once each");
    OK(stops_at("</s>") && stops_at("<|im_end|>") && stops_at("<|eot_id|>") &&
           stops_at("<end_of_turn>") && stops_at("<|end|>") && !stops_at("<|im_start|>") &&
           !stops_at("<s>"),
       "control tokens that the vocabulary calls an end are stop tokens");
}

/* ---- forgery --------------------------------------------------------------------------------- */

static uint64_t scratch[1 << 16];

/* Returns the control tokens of a first turn, in order, and their number. */
static size_t control_ids(const char *system, const char *text, bool trusted, uint32_t *out)
{
    struct chat_turn turn = { .text = text,
                              .bytes = strlen(text),
                              .first = true,
                              .system = system,
                              .system_bytes = strlen(system) };
    struct tokenizer_part parts[CHAT_TURN_PARTS];
    size_t n_parts = chat_turn_parts(&section.head, &turn, parts), n = 0, found = 0;
    uint32_t ids[512];
    struct tokenizer t;

    for (size_t i = 0; i < n_parts; i++) {
        parts[i].trusted = parts[i].trusted || trusted;
    }
    tokenizer_open(&t, tokenizer);
    if (tokenizer_encode_parts(&t, parts, n_parts, TOKENIZER_BOS, ids, 512, &n, scratch,
                               sizeof scratch) != ERR_OK) {
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        if (tokenizer_type(&t, ids[i]) == INGOT_TOKEN_CONTROL) {
            out[found++] = ids[i];
        }
    }
    return found;
}

/* Counts the control tokens' texts that, typed in several ways, change the control tokens. */
static unsigned forged(bool trusted)
{
    static const char *const ways[] = { "%s", "a%sb", "%s%s", "%.*s" };
    uint32_t plain[512], typed[512];
    size_t n_plain = control_ids("x", "x", false, plain), n;
    unsigned count = 0;

    for (size_t i = 0; i < sizeof controls / sizeof controls[0]; i++) {
        for (unsigned way = 0; way < 4; way++) {
            char text[80];

            if (way == 3) { /* its beginning, which the template's next string might complete */
                snprintf(text, sizeof text, ways[3], (int)strlen(controls[i]) - 1, controls[i]);
            } else {
                snprintf(text, sizeof text, ways[way], controls[i], controls[i]);
            }
            n = control_ids("x", text, trusted, typed);
            count += n != n_plain || memcmp(typed, plain, n * sizeof *typed) != 0;
            n = control_ids(text, "x", trusted, typed);
            count += n != n_plain || memcmp(typed, plain, n * sizeof *typed) != 0;
        }
    }
    return count;
}

static void test_forgery(void)
{
    for (size_t i = 0; i < N_CASES; i++) {
        const struct template_case *c = &template_cases[i];

        make_vocabulary(c->bos, c->eos, INGOT_TOKEN_CONTROL);
        build(NULL, c->jinja);
        OK(forged(false) == 0, "%s: no control token can be typed", c->form);
        OK(forged(true) >= 3 * 2 * (sizeof controls / sizeof controls[0]),
           "%s: each control token is one if the text is trusted", c->form);
    }
}

static void test_claim(void)
{
    struct ingot_tokenizer *head;
    struct tokenizer t;
    unsigned markers = 0;
    uint32_t n_sorted;

    make_vocabulary("<s>", "</s>", INGOT_TOKEN_USER);
    build("chatml", NULL);
    head = (void *)tokenizer;
    n_sorted = head->n_sorted;
    chat_template_claim(section.bytes, tokenizer);
    tokenizer_open(&t, tokenizer);
    for (uint32_t id = 0; id < head->n_tokens; id++) {
        bool is_im = tokenizer_text_bytes(&t, id) > 5 &&
                     (memcmp(tokenizer_text(&t, id), "<|im_s", 6) == 0 ||
                      memcmp(tokenizer_text(&t, id), "<|im_e", 6) == 0) &&
                     memcmp(tokenizer_text(&t, id), "<|im_sep", 8) != 0;

        markers += is_im && tokenizer_type(&t, id) == INGOT_TOKEN_CONTROL;
        if (!is_im && tokenizer_type(&t, id) == INGOT_TOKEN_CONTROL) {
            markers = 100;
        }
    }
    OK(markers == 2 && head->n_sorted == n_sorted - 2,
       "a user-defined <|im_start|> and <|im_end|> become control tokens, and no other");
    OK(head->eot != INGOT_NO_TOKEN && tokenizer_text_bytes(&t, head->eot) == 10 &&
           memcmp(tokenizer_text(&t, head->eot), "<|im_end|>", 10) == 0,
       "<|im_end|> ends a turn");
    OK(forged(false) == 0, "typed text cannot make a control token");
}

int main(void)
{
    test_stops();
    test_forgery();
    test_claim();
    free(tokenizer);
    return tap_done();
}
