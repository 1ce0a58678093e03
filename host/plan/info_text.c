/* For `ingot info`: tokenizer and chat. Their texts come from the file, so they are shown
 * escaped. */
#include <stdio.h>
#include <string.h>

#include "host/plan/info.h"
#include "host/args/shown_streams.h"
#include "flash_image/source/pre_tokenizer.h"
#include "runtime/chat/chat_turn.h"
#include "runtime/text/plural.h"

static void print_escaped(const char *text, size_t bytes)
{
    putchar('"');
    for (size_t i = 0; i < bytes; i++) {
        unsigned char c = (unsigned char)text[i];

        if (c == '\n') {
            fputs("\\n", stdout);
        } else if (c == '"' || c == '\\') {
            printf("\\%c", c);
        } else if (c < 32 || c == 127) {
            printf("\\x%02x", c);
        } else {
            putchar(c);
        }
    }
    putchar('"');
}

static void print_if(uint32_t flag, const char *text)
{
    if (flag != 0) {
        fputs(text, stdout);
    }
}

static void print_token(const struct tokenizer *t, const char *before, uint32_t id,
                        const char *after)
{
    if (id < t->head->n_tokens) {
        printf("%s%u ", before, id);
        print_escaped(tokenizer_text(t, id), tokenizer_text_bytes(t, id));
        fputs(after, stdout);
    }
}

/* Print the number of tokens of a type, and the names of the first ones. */
static void print_special(const struct tokenizer *t, const char *label, enum ingot_token_type type)
{
    uint32_t n = 0;

    for (uint32_t id = 0; id < t->head->n_tokens; id++) {
        n += tokenizer_type(t, id) == type;
    }
    if (n == 0) {
        return;
    }
    printf("            %u %s:", n, label);
    n = 0;
    for (uint32_t id = 0; id < t->head->n_tokens && n <= INFO_MOST_SPECIAL; id++) {
        if (tokenizer_type(t, id) == type && ++n <= INFO_MOST_SPECIAL) {
            putchar(' ');
            print_escaped(tokenizer_text(t, id), tokenizer_text_bytes(t, id));
        }
    }
    puts(n > INFO_MOST_SPECIAL ? " ..." : "");
}

const char *info_tokenizer_kind(unsigned kind)
{
    static const char *const kinds[] = {
        [INGOT_TOKENIZER_SPM] = "SentencePiece by score",
        [INGOT_TOKENIZER_BPE] = "byte-level BPE",
        [INGOT_TOKENIZER_CHARACTERS] = "SentencePiece by merges",
        [INGOT_TOKENIZER_UNIGRAM] = "Unigram",
    };

    return kinds[kind];
}

void info_print_tokenizer(const struct image *img)
{
    struct tokenizer t;
    uint32_t flags;

    tokenizer_open(&t, img->tokenizer);
    flags = t.head->flags;
    printf("tokenizer   %s, %u %s", info_tokenizer_kind(t.head->kind), t.head->n_tokens,
           plural(t.head->n_tokens, "token", "tokens"));
    if (t.merges != NULL) {
        printf(", %u %s", t.merges->n_merges, plural(t.merges->n_merges, "merge", "merges"));
    }
    if (t.head->kind == INGOT_TOKENIZER_BPE) {
        printf(", words as %s", pre_tokenizer_name((enum ingot_pre)t.merges->pre));
    }
    print_if(flags & INGOT_NFC, ", texts in NFC");
    print_if(flags & INGOT_ADD_BOS, ", bos in front");
    print_if(flags & INGOT_ADD_EOS, ", eos at the end");
    print_if(flags & INGOT_ADD_SPACE_PREFIX, ", a space in front");
    putchar('\n');
    print_token(&t, "            bos ", t.head->bos, "\n");
    print_token(&t, "            eos ", t.head->eos, "\n");
    print_token(&t, "            eot ", t.head->eot, "\n");
    print_token(&t, "            unk ", t.head->unk, "\n");
    print_special(&t, "control", INGOT_TOKEN_CONTROL);
    print_special(&t, "user-defined", INGOT_TOKEN_USER);
}

const struct info_chat_string info_chat_strings[INFO_CHAT_STRINGS] = {
    { "opening", "opening", INGOT_CHAT_OPENING },
    { "system", "system_prefix", INGOT_CHAT_SYSTEM_PREFIX },
    { "  ends", "system_suffix", INGOT_CHAT_SYSTEM_SUFFIX },
    { "user", "user_prefix", INGOT_CHAT_USER_PREFIX },
    { "  ends", "user_suffix", INGOT_CHAT_USER_SUFFIX },
    { "reply", "reply_prefix", INGOT_CHAT_REPLY_PREFIX },
    { "  ends", "reply_suffix", INGOT_CHAT_REPLY_SUFFIX },
    { "think=off", "no_thinking", INGOT_CHAT_NO_THINKING },
    { "thoughts end", "thoughts_end", INGOT_CHAT_THINK_END },
    { "to come", "reply_start", INGOT_CHAT_REPLY_START },
    { "past", "past_start", INGOT_CHAT_PAST_START },
    { "system prompt", "system_prompt", INGOT_CHAT_SYSTEM },
};

static void print_string(const struct image *img, const char *label, enum ingot_chat_string which)
{
    uint32_t bytes;
    const char *text = image_chat_string(img, which, &bytes);

    if (bytes != 0) {
        printf("            %-14s", label);
        print_escaped(text, bytes);
        putchar('\n');
    }
}

static void print_template(const struct image *img)
{
    uint32_t flags = img->chat->flags, bytes;
    const char *name = image_chat_string(img, INGOT_CHAT_NAME, &bytes);
    char text[200];

    snprintf(text, sizeof text, "%.*s", (int)bytes, name);
    printf("template    %s", name_shown(text));
    print_if((flags & INGOT_CHAT_SYSTEM_IN_USER) != 0 && (flags & INGOT_CHAT_SYSTEM_LAST) == 0,
             ", system prompt inside the first turn");
    print_if(flags & INGOT_CHAT_SYSTEM_LAST, ", system prompt inside the last turn");
    print_if(flags & INGOT_CHAT_SYSTEM_ALWAYS, ", a system block always");
    print_if(flags & INGOT_CHAT_SYSTEM_WHOLE, ", a block of its own without a system prompt");
    print_if(flags & INGOT_CHAT_TRIM, ", texts without white space around them");
    print_if(flags & INGOT_CHAT_KEEPS_THOUGHTS, ", thoughts kept");
    putchar('\n');
    for (size_t i = 0; i < INFO_CHAT_STRINGS; i++) {
        print_string(img, info_chat_strings[i].label, info_chat_strings[i].which);
    }
}

/* Print defaults of options for replies. */
static void print_sampling(const struct ingot_sampling *s)
{
    struct info_sampling fields[INFO_SAMPLING];
    size_t n = info_sampling(s, fields);

    for (size_t i = 0; i < n; i++) {
        printf("%s%s %g", i == 0 ? "defaults    " : ", ", fields[i].name, fields[i].value);
    }
    if (n != 0) {
        putchar('\n');
    }
}

size_t info_sampling(const struct ingot_sampling *s, struct info_sampling fields[INFO_SAMPLING])
{
    const struct {
        enum ingot_sampling_field bit;
        struct info_sampling field;
    } all[INFO_SAMPLING] = {
        { INGOT_SAMPLES_TEMP, { "temp", (double)s->temp } },
        { INGOT_SAMPLES_TOP_P, { "top_p", (double)s->top_p } },
        { INGOT_SAMPLES_TOP_K, { "top_k", s->top_k } },
        { INGOT_SAMPLES_MIN_P, { "min_p", (double)s->min_p } },
        { INGOT_SAMPLES_REPEAT, { "repeat", (double)s->repeat } },
        { INGOT_SAMPLES_REPEAT_LAST, { "repeat_last_n", s->repeat_last } },
    };
    size_t n = 0;

    for (size_t i = 0; i < INFO_SAMPLING; i++) {
        if ((s->given & (uint32_t)all[i].bit) != 0) {
            fields[n++] = all[i].field;
        }
    }
    return n;
}

void info_print_chat(const struct image *img)
{
    struct tokenizer t;

    tokenizer_open(&t, img->tokenizer);
    if (chat_has_template(img->chat)) {
        print_template(img);
    } else {
        puts("template    none: text is continued as it stands");
    }
    fputs("stops at   ", stdout);
    for (uint32_t i = 0; i < img->chat->n_stops; i++) {
        print_token(&t, " ", img->chat->stops[i], "");
    }
    puts(img->chat->n_stops == 0 ? " nothing: give a count of tokens" : "");
    print_sampling(&img->header->sampling);
}
