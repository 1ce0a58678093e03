/* Chat templates: their forms are derived, rendered as published, and compared with Jinja if Python
 * has it. */
#include <unistd.h>

#include "runtime/image/image.h"
#include "tests/unit/chat/chat_template_rig.h"
#include "tests/unit/tap.h"

enum { MOST = 4096 };

static const char *string_of(enum ingot_chat_string which, char out[MOST])
{
    uint32_t bytes;
    const char *text = image_chat_text(&section.head, which, &bytes);

    memcpy(out, text, bytes);
    out[bytes] = '\0';
    return out;
}

/* The texts of a turn's parts, one after the other. */
static void render_turn(const struct chat_turn *turn, char *out)
{
    struct tokenizer_part parts[CHAT_TURN_PARTS];
    size_t n = chat_turn_parts(&section.head, turn, parts), at = strlen(out);

    for (size_t i = 0; i < n; i++) {
        memcpy(out + at, parts[i].text, parts[i].bytes);
        at += parts[i].bytes;
    }
    out[at] = '\0';
}

static const char *render(const struct template_case *c, const char *system, bool no_thinking,
                          char out[MOST])
{
    struct chat_turn first = { .text = CASE_USER,
                               .bytes = strlen(CASE_USER),
                               .first = true,
                               .system = system,
                               .system_bytes = system != NULL ? strlen(system) : 0 };
    struct chat_turn second = { .text = CASE_USER2,
                                .bytes = strlen(CASE_USER2),
                                .no_thinking = no_thinking };

    out[0] = '\0';
    render_turn(&first, out);
    strcat(out, c->reply);
    render_turn(&second, out);
    return out;
}

static void check_text(const char *got, const char *wanted, const char *form, const char *what)
{
    if (!OK(strcmp(got, wanted) == 0, "%s has the right text: %s", form, what)) {
        printf("# got:    [%s]\n# wanted: [%s]\n", got, wanted);
    }
}

static void test_case(const struct template_case *c)
{
    char out[MOST];

    make_vocabulary(c->bos, c->eos, INGOT_TOKEN_CONTROL);
    if (!OK(build(NULL, c->jinja) == ERR_OK && error_message[0] == '\0' &&
                strcmp(string_of(INGOT_CHAT_NAME, out), c->form) == 0,
            "%s is recognized as %s %s", c->form, string_of(INGOT_CHAT_NAME, out), error_message)) {
        return;
    }
    check_text(render(c, CASE_SYSTEM, false, out), c->with_system, c->form, "with a system prompt");
    check_text(render(c, NULL, false, out), c->without, c->form, "without");
    if (c->no_thinking != NULL) {
        check_text(render(c, NULL, true, out), c->no_thinking, c->form, "without thoughts");
    }
}

/* The same strings by name alone; bos and the system prompt are what is published. */
static void test_names(void)
{
    static const char *const old[] = { "chatml", "phi3" }; /* the first case of each counts */
    char out[MOST];
    size_t n;

    (void)chat_forms(&n);
    for (size_t i = 0; i < N_CASES; i++) {
        const struct template_case *c = &template_cases[i];
        bool again = i > 0 && strcmp(c[-1].form, c->form) == 0 &&
                     (strcmp(c->form, old[0]) == 0 || strcmp(c->form, old[1]) == 0);

        n -= i == 0 || strcmp(c[-1].form, c->form) != 0;
        if (!again) {
            make_vocabulary(c->bos, c->eos, INGOT_TOKEN_CONTROL);
            OK(build(c->form, "{{ messages }}") == ERR_OK, "--template %s is accepted", c->form);
            check_text(render(c, CASE_SYSTEM, false, out), c->with_system, c->form, "by name");
            check_text(render(c, NULL, false, out), c->without, c->form, "by name, without");
        }
    }
    OK(n == 0, "every form has a case here");
    OK(build("none", template_cases[0].jinja) == ERR_OK && !chat_has_template(&section.head) &&
           section.head.n_stops > 0,
       "the template none has no strings, and stop tokens all the same");
    OK(build("nonesuch", NULL) == ERR_NOT_FOUND && strstr(error_message, "'nonesuch'") != NULL &&
           strstr(error_message, "and none") != NULL,
       "an unknown name of a template is refused: %s", error_message);
}

static void test_bad(void)
{
    make_vocabulary("<s>", "</s>", INGOT_TOKEN_CONTROL);
    for (size_t i = 0; i < sizeof bad_templates / sizeof bad_templates[0]; i++) {
        OK(build(NULL, bad_templates[i].jinja) == ERR_OK && !chat_has_template(&section.head) &&
               strstr(error_message, "--template") != NULL &&
               strstr(error_message, bad_templates[i].names) != NULL,
           "%s has no template and a message: %s", bad_templates[i].what, error_message);
    }
    OK(build(NULL, NULL) == ERR_OK && !chat_has_template(&section.head) && error_message[0] == '\0',
       "without a template nothing is said");
}

static void test_prompts(void)
{
    const struct template_case *smollm2 = &template_cases[2];
    char out[MOST];

    make_vocabulary(smollm2->bos, smollm2->eos, INGOT_TOKEN_CONTROL);
    build(NULL, smollm2->jinja);
    OK(strncmp(render(smollm2, "", false, out), "<|im_start|>user", 16) == 0,
       "an empty system prompt makes no block, not even the model's own");
    build("llama3.1", NULL);
    OK(strncmp(render(smollm2, "", false, out), "<|im_start|><|start_header_id|>system", 37) == 0,
       "an empty system prompt has a block where the template always has one");
}

/* A template that needs the date is packed with the day of packing. */
static void test_date(void)
{
    make_vocabulary("<s>", "</s>", INGOT_TOKEN_CONTROL);
    unsetenv("SOURCE_DATE_EPOCH");
    build(NULL, "<|im_start|>system\nToday is {{ strftime_now('%Y') }}.<|im_end|>\n"
                "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n"
                "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}");
    OK(chat_has_template(&section.head) && strstr(error_message, "the date") != NULL,
       "a template that fails without a date gets today's: %s", error_message);
}

/* ---- what templates remove from texts -------------------------------------------------------- */

#define WIDE "\xe3\x80\x80" /* U+3000 */
#define NBSP "\xc2\xa0"     /* U+00A0 */

static void check_removed(const char *jinja, const struct template_case *like, const char *wanted)
{
    static const char hi[] = WIDE "\x1fHi" NBSP "\n", kind[] = "\n Be kind.\n";
    struct chat_turn first = {
        .text = hi, .bytes = strlen(hi), .first = true, .system = kind, .system_bytes = strlen(kind)
    };
    const char *said = " <think>\nhm\n</think>\n\n" WIDE "Hello!\r\n";
    struct tokenizer_part reply;
    char out[MOST] = "";

    make_vocabulary(like->bos, like->eos, INGOT_TOKEN_CONTROL);
    build(NULL, jinja);
    render_turn(&first, out);
    reply = chat_turn_reply(&section.head, said, strlen(said));
    strncat(out, reply.text, reply.bytes);
    check_text(out, wanted, like->form, "white space and thoughts that it removes");
}

/* Templates that remove white space at one end of a reply, or keep its thoughts: the reply stays,
 * because no flag says one end. */
static void test_kept_replies(void)
{
    static const char *const contents[] = {
        "{{ m.content.lstrip() if m.role == 'assistant' else m.content }}",
        "{{ m.content.rstrip() if m.role == 'assistant' else m.content }}",
        "{{ m.content }}",
    };
    static const char *const opens[] = { "", "", "<think>\n" };

    for (size_t i = 0; i < sizeof contents / sizeof contents[0]; i++) {
        char jinja[MOST], wanted[MOST];

        snprintf(jinja, sizeof jinja,
                 "{%% for m in messages %%}<|im_start|>{{ m.role }}\n%s<|im_end|>\n{%% endfor %%}"
                 "{%% if add_generation_prompt %%}<|im_start|>assistant\n%s{%% endif %%}",
                 contents[i], opens[i]);
        snprintf(wanted, sizeof wanted, "%s%s%s",
                 IM_SYSTEM("\n Be kind.\n") "<|im_start|>user\n" WIDE "\x1fHi" NBSP
                                            "\n<|im_end|>\n<|im_start|>assistant\n",
                 opens[i], " <think>\nhm\n</think>\n\n" WIDE "Hello!\r\n");
        check_removed(jinja, &template_cases[0], wanted);
    }
}

static void test_removed(void)
{
    const struct template_case *chatml = &template_cases[0], *qwen3 = &template_cases[5];
    const struct template_case *llama3 = &template_cases[7];

    check_removed(llama3->jinja, llama3,
                  "<|begin_of_text|>" H("system") "Be kind.<|eot_id|>" H("user") "Hi<|eot_id|>" H(
                      "assistant") "<think>\nhm\n</think>\n\n" WIDE "Hello!");
    check_removed(chatml->jinja, chatml,
                  IM_SYSTEM("\n Be kind.\n") "<|im_start|>user\n" WIDE "\x1fHi" NBSP
                                             "\n<|im_end|>\n<|im_start|>assistant\n"
                                             " <think>\nhm\n</think>\n\n" WIDE "Hello!\r\n");
    check_removed(qwen3->jinja, qwen3,
                  IM_SYSTEM("\n Be kind.\n") "<|im_start|>user\n" WIDE "\x1fHi" NBSP
                                             "\n<|im_end|>\n<|im_start|>assistant\n" WIDE
                                             "Hello!\r\n");
    check_removed("{% for m in messages %}<|im_start|>{{ m.role }}\n"
                  "{{ m.content.rstrip() if m.role == 'system' else m.content }}<|im_end|>\n"
                  "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}",
                  chatml,
                  IM_SYSTEM("\n Be kind.") "<|im_start|>user\n" WIDE "\x1fHi" NBSP
                                           "\n<|im_end|>\n<|im_start|>assistant\n"
                                           " <think>\nhm\n</think>\n\n" WIDE "Hello!\r\n");
}

/* ---- Jinja ----------------------------------------------------------------------------------- */

static const char *const script =
    "import sys\n"
    "try:\n"
    "    import jinja2\n"
    "except ImportError:\n"
    "    sys.exit(77)\n"
    "def refuse(text): raise ValueError(text)\n"
    "env = jinja2.Environment(trim_blocks=True, lstrip_blocks=True)\n"
    "env.globals['raise_exception'] = refuse\n"
    "out = []\n"
    "for case in open(sys.argv[1], newline='').read().split('\\x1e')[:-1]:\n"
    "    bos, eos, system, user, reply, user2, think, text = case.split('\\x1f')\n"
    "    m = [{'role': 'system', 'content': system}] if system else []\n"
    "    m += [{'role': 'user', 'content': user}, {'role': 'assistant', 'content': reply},\n"
    "          {'role': 'user', 'content': user2}]\n"
    "    more = {'enable_thinking': False} if think == 'off' else {}\n"
    "    out.append(env.from_string(text).render(messages=m, bos_token=bos, eos_token=eos,\n"
    "                                            add_generation_prompt=True, **more))\n"
    "open(sys.argv[2], 'w', newline='').write('\\x1e'.join(out) + '\\x1e')\n";

/* A rendering that Jinja is asked for, and its expected text. */
struct question {
    const struct template_case *c;
    const char *system, *think, *wanted, *what;
};

static size_t questions(struct question q[3 * N_CASES])
{
    size_t n = 0;

    for (size_t i = 0; i < N_CASES; i++) {
        const struct template_case *c = &template_cases[i];

        q[n++] = (struct question){ c, "", "on", c->without, "without a system prompt" };
        if (!c->no_system_role) {
            q[n++] = (struct question){ c, CASE_SYSTEM, "on", c->with_system, "with one" };
        }
        if (c->no_thinking != NULL) {
            q[n++] = (struct question){ c, "", "off", c->no_thinking, "without thoughts" };
        }
    }
    return n;
}

static void test_jinja(void)
{
    static struct question q[3 * N_CASES];
    size_t n = questions(q), bytes;
    char in[64], out[64], program[64], command[400];
    const char *python = getenv("PYTHON");
    char *answers = NULL, *at;
    FILE *f;
    int status;

    snprintf(in, sizeof in, "/tmp/ingot-chat-%ld.in", (long)getpid());
    snprintf(out, sizeof out, "/tmp/ingot-chat-%ld.out", (long)getpid());
    snprintf(program, sizeof program, "/tmp/ingot-chat-%ld.py", (long)getpid());
    f = fopen(program, "w");
    fputs(script, f);
    fclose(f);
    f = fopen(in, "w");
    for (size_t i = 0; i < n; i++) {
        const char *reply = q[i].c->reply + (q[i].c->reply[0] == ' ');

        fprintf(f, "%s\x1f%s\x1f%s\x1f%s\x1f%s\x1f%s\x1f%s\x1f%s\x1e", q[i].c->bos, q[i].c->eos,
                q[i].system, CASE_USER, reply, CASE_USER2, q[i].think, q[i].c->jinja);
    }
    fclose(f);
    snprintf(command, sizeof command, "%s %s %s %s", python != NULL ? python : "python3", program,
             in, out);
    status = system(command);
    if (status != 0) {
        OK(status == 77 << 8, "the templates in Jinja # SKIP Python has no jinja2");
    } else {
        answers = (char *)test_read_file(out, &bytes);
        at = answers;
        for (size_t i = 0; i < n; i++) {
            char *end = strchr(at, '\x1e');

            *end = '\0';
            check_text(at, q[i].wanted, q[i].c->form, q[i].what);
            at = end + 1;
        }
    }
    free(answers);
    unlink(in);
    unlink(out);
    unlink(program);
}

/* ---- outside data ---------------------------------------------------------------------------- */

/* Templates that are cut, and with changed bytes: they give a form or an error message, and no
 * fault. */
static void test_damaged(void)
{
    uint32_t random = 1;
    unsigned forms = 0, error_messages = 0;

    make_vocabulary("<s>", "</s>", INGOT_TOKEN_CONTROL);
    for (unsigned round = 0; round < 600; round++) {
        const char *jinja = template_cases[round % N_CASES].jinja;
        size_t n = strlen(jinja), bytes = n;
        uint8_t *copy;

        random = random * 1664525u + 1013904223u;
        bytes = round % 2 == 0 ? (random >> 8) % (n + 1) : n;
        copy = test_alloc(bytes);
        memcpy(copy, jinja, bytes);
        for (unsigned i = 0; i < round % 5 && bytes != 0; i++) {
            random = random * 1664525u + 1013904223u;
            copy[(random >> 8) % bytes] = (uint8_t) "'\"{}%#\\]['+~\1\2\3\0"[random >> 28];
        }
        {
            struct chat_request r = { .jinja = { copy, bytes }, .tokenizer = tokenizer };

            if (chat_template_build(&r, section.bytes, &section_bytes, error_message) == ERR_OK) {
                forms += chat_has_template(&section.head);
                error_messages += !chat_has_template(&section.head) && error_message[0] != '\0';
            }
        }
        free(copy);
    }
    OK(forms > 50 && error_messages > 50 && forms + error_messages > 590,
       "600 damaged templates give %u forms and %u sentences", forms, error_messages);
}

int main(void)
{
    for (size_t i = 0; i < N_CASES; i++) {
        test_case(&template_cases[i]);
    }
    test_names();
    test_bad();
    test_prompts();
    test_date();
    test_removed();
    test_kept_replies();
    test_jinja();
    test_damaged();
    free(tokenizer);
    return tap_done();
}
