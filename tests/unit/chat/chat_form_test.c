/* Published chat templates, each beside the form derived from it: five conversations written from
 * the form's strings must equal Jinja's, or the packer must have refused the template with a
 * reason. INGOT_TEMPLATES=FOLDER adds templates. */
#include <glob.h>

#include <cjson/cJSON.h>
#include "flash_image/chat/chat_derive.h"
#include "tests/unit/chat/chat_template_rig.h"
#include "tests/unit/jinja/reference.h"
#include "tests/unit/tap.h"

enum { MOST_TEMPLATES = 200, N_TALKS = 6, MOST = 1 << 16, DAY = 1767312000 };

static const char *const users[] = { "Hi, who are you?", "And what can you do?\nTell me more.",
                                     "Why <b>?" };
static const char *const replies[] = { "I am a model.", "I talk:\n\n- a lot", "" };

static const struct probe talks[N_TALKS] = {
    { .users = 1 },
    { .users = 1, .system = "Answer briefly." },
    { .users = 3, .replies = 2 },
    { .users = 3, .replies = 2, .system = "You are Ann.\n\nBe kind." },
    { .users = 1, .thinking = PROBE_NOT_THINKING },
    { .users = 3, .replies = 2, .system = "Be brief.", .thinking = PROBE_NOT_THINKING },
};

/* Writes the text by the form of one template. */
static struct derived {
    const char *name;
    char error_message[CHAT_ERROR_MESSAGE_BYTES];
    char *text[N_TALKS]; /* NULL: the form cannot write it */
    size_t question[N_TALKS][PROBE_N_TOOLS];
} list[MOST_TEMPLATES];
static size_t n_list;

static struct probe talk(size_t i)
{
    struct probe p = talks[i];

    memcpy(p.user, users, sizeof p.user);
    memcpy(p.reply, replies, sizeof p.reply);
    return p;
}

static void add_message(cJSON *to, const char *role, const char *text)
{
    cJSON *m = cJSON_CreateObject();

    cJSON_AddStringToObject(m, "role", role);
    cJSON_AddStringToObject(m, "content", text);
    cJSON_AddItemToArray(to, m);
}

/* The arguments of apply_chat_template. */
static char *context(const struct probe *p, enum probe_tools tools)
{
    cJSON *o = cJSON_CreateObject(), *messages = cJSON_AddArrayToObject(o, "messages");
    char *text;

    if (p->system != NULL)
        add_message(messages, "system", p->system);
    for (unsigned i = 0; i < p->users; i++) {
        add_message(messages, "user", p->user[i]);
        if (i < p->replies)
            add_message(messages, "assistant", p->reply[i]);
    }
    cJSON_AddBoolToObject(o, "add_generation_prompt", true);
    cJSON_AddStringToObject(o, "bos_token", "<s>");
    cJSON_AddStringToObject(o, "eos_token", "</s>");
    cJSON_AddNullToObject(o, "documents");
    cJSON_AddNumberToObject(o, "now", DAY);
    if (tools == PROBE_TOOLS_NONE)
        cJSON_AddNullToObject(o, "tools");
    if (tools == PROBE_TOOLS_EMPTY)
        cJSON_AddArrayToObject(o, "tools");
    if (p->thinking == PROBE_NOT_THINKING) {
        cJSON_AddFalseToObject(o, "enable_thinking");
        cJSON_AddFalseToObject(o, "thinking");
    }
    text = cJSON_PrintUnformatted(o);
    cJSON_Delete(o);
    return text;
}

/* Whether the form can write this conversation. */
static bool knows(const struct probe *p, bool no_system)
{
    if (p->system != NULL && no_system)
        return false;
    return p->thinking != PROBE_NOT_THINKING || section.head.bytes[INGOT_CHAT_NO_THINKING] != 0;
}

static bool has_system(const char *jinja, size_t bytes)
{
    static const struct probe given = { .users = 1, .system = "zqS", .user = { "zqU" } };
    struct prober p = { .bos = jinja_text("<s>"), .eos = jinja_text("</s>") };
    const time_t day = DAY;
    struct jinja_text out;
    struct tm tm = *gmtime(&day);
    bool has = false;

    p.now = &tm;
    if (probe_open(&p, jinja, bytes)) {
        for (unsigned i = 0; i < PROBE_N_TOOLS && !has; i++) {
            p.tools = (enum probe_tools)i;
            has = probe_render(&p, &given, &out) && strstr(out.data, "zqS") != NULL;
        }
    }
    probe_close(&p);
    return has;
}

static void derive(struct derived *d, const char *jinja, size_t bytes)
{
    static char text[MOST];
    struct chat_request r = { .jinja = { (const uint8_t *)jinja, bytes }, .tokenizer = tokenizer };
    bool built = chat_template_build(&r, section.bytes, &section_bytes, d->error_message) ==
                     ERR_OK &&
                 chat_has_template(&section.head);
    bool no_system = !has_system(jinja, bytes);

    for (size_t i = 0; i < N_TALKS; i++) {
        struct probe p = talk(i);

        if (built && knows(&p, no_system)) {
            size_t n = chat_render(&section.head, &p, text, sizeof text - 1);

            text[n] = '\0';
            d->text[i] = strdup(text);
        }
        for (unsigned t = 0; t < PROBE_N_TOOLS; t++) {
            char *c = context(&p, (enum probe_tools)t);

            d->question[i][t] = reference_ask(c, jinja, bytes);
            cJSON_free(c);
        }
    }
}

/* Returns Jinja's text as Transformers calls it, or with `tools` left out or empty if it fails
 * so. */
static const char *wanted(const struct derived *d, size_t i)
{
    for (unsigned t = 0; t < PROBE_N_TOOLS; t++) {
        if (reference.answer[d->question[0][t]][0] == '=')
            return reference.answer[d->question[i][t]];
    }
    return reference.answer[d->question[i][0]];
}

/* Returns the number of conversations that differ. */
static unsigned differences(const struct derived *d)
{
    unsigned n = 0;

    for (size_t i = 0; i < N_TALKS; i++) {
        const char *want = wanted(d, i);

        if (d->text[i] != NULL && (want[0] != '=' || strcmp(want + 1, d->text[i]) != 0)) {
            printf("# %s, talk %zu: got    [%s]\n# wanted [%s]\n", d->name, i, d->text[i], want);
            n++;
        }
    }
    return n;
}

static void read_templates(const char *folder)
{
    char pattern[400];
    glob_t found;

    snprintf(pattern, sizeof pattern, "%s/*.jinja", folder);
    if (glob(pattern, 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc && n_list < MOST_TEMPLATES; i++) {
        size_t bytes;
        char *jinja = (char *)test_read_file(found.gl_pathv[i], &bytes);
        struct derived *d = &list[n_list++];

        d->name = strdup(strrchr(found.gl_pathv[i], '/') + 1);
        derive(d, jinja, bytes);
        free(jinja);
    }
    globfree(&found);
}

static void compare(void)
{
    unsigned equal = 0;

    for (size_t i = 0; i < n_list; i++) {
        const struct derived *d = &list[i];

        if (d->text[0] == NULL) {
            OK(d->error_message[0] != '\0', "%s is refused: %s", d->name, d->error_message);
        } else if (OK(differences(d) == 0, "%s: the form gives the same text as Jinja%s%s", d->name,
                      d->text[1] == NULL ? ", without a system prompt" : "",
                      d->text[4] != NULL ? ", without thoughts too" : "")) {
            equal++;
        }
    }
    OK(equal >= n_list * 30 / 34, "%u of %zu templates give the same text", equal, n_list);
}

int main(void)
{
    char folder[300];
    const char *more = getenv("INGOT_TEMPLATES");

    setenv("SOURCE_DATE_EPOCH", "1767312000", 1);
    make_vocabulary("<s>", "</s>", INGOT_TOKEN_CONTROL);
    reference_open();
    snprintf(folder, sizeof folder, "%s/templates", test_assets());
    read_templates(more != NULL ? more : folder);
    if (!reference_answer()) {
        OK(true,
           "templates beside Jinja # SKIP Python has no jinja2: make setup-tests installs it");
    } else if (n_list == 0) {
        OK(true, "templates beside Jinja # SKIP no templates in %s", folder);
    } else {
        compare();
    }
    for (size_t i = 0; i < n_list; i++) {
        for (size_t k = 0; k < N_TALKS; k++)
            free(list[i].text[k]);
        free((char *)(uintptr_t)list[i].name);
    }
    reference_close();
    free(tokenizer);
    return tap_done();
}
