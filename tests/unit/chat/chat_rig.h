/* A conversation over the rig's session, at a terminal played here. */
#ifndef INGOT_TESTS_UNIT_CHAT_RIG_H
#define INGOT_TESTS_UNIT_CHAT_RIG_H

#include "runtime/chat/chat.h"

#include "runtime/base/crc32c.h"
#include "runtime/features/branches/chat_branches.h"
#include "runtime/features/feature.h"
#include "tests/unit/console/console_rig.h"
#include "tests/unit/rig.h"

static struct options options;
static struct chat chat;
static struct features features;

static char text[1 << 16];
static size_t text_bytes;
static int stop_after = -1; /* characters until Ctrl-C; -1: never */

static void keep_char(void *context, char c)
{
    (void)context;
    if (text_bytes + 1 < sizeof text) {
        text[text_bytes++] = c;
        text[text_bytes] = '\0';
    }
    stop_after -= stop_after > 0;
}

static int ctrl_c(void *context)
{
    (void)context;
    if (stop_after != 0)
        return CONSOLE_NO_BYTE;
    stop_after = -1;
    return 3;
}

/* Every part of a template, each different from the others. */
static const char *const test_template[INGOT_CHAT_STRINGS] = {
    [INGOT_CHAT_NAME] = "test",         [INGOT_CHAT_OPENING] = "[O]",
    [INGOT_CHAT_SYSTEM_PREFIX] = "[S]", [INGOT_CHAT_SYSTEM_SUFFIX] = "[/S]",
    [INGOT_CHAT_USER_PREFIX] = "[U]",   [INGOT_CHAT_USER_SUFFIX] = "[/U]",
    [INGOT_CHAT_REPLY_PREFIX] = "[R]",  [INGOT_CHAT_REPLY_SUFFIX] = "[/R]",
    [INGOT_CHAT_SYSTEM] = "fine",
};

/* The strings fit into the padding of the section's page, so that nothing moves. */
static void put_template(const char *const strings[INGOT_CHAT_STRINGS])
{
    struct ingot_header *h = (void *)rig.packed;
    struct ingot_chat *c = (void *)(rig.packed + h->chat.offset);
    char *at = (char *)(c + 1), *old_end = (char *)c + h->chat.bytes;

    for (int i = 0; i < INGOT_CHAT_STRINGS; i++) {
        const char *s = strings[i] != NULL ? strings[i] : "";
        uint32_t *bytes = i < INGOT_CHAT_FIRST_STRINGS
                              ? &c->bytes[i]
                              : &c->more_bytes[i - INGOT_CHAT_FIRST_STRINGS];

        *bytes = (uint32_t)strlen(s);
        memcpy(at, s, *bytes);
        at += *bytes;
    }
    if (at < old_end)
        memset(at, 0, (size_t)(old_end - at));
    h->chat.bytes = (uint64_t)(at - (char *)c);
    h->chat.crc32c = crc32c(0, c, (size_t)h->chat.bytes);
    h->header_crc32c = 0;
    h->header_crc32c = crc32c(0, h, sizeof *h);
}

__attribute__((unused)) static void start_over(uint32_t n)
{
    struct console_rig terminal = {
        .putc = keep_char, .getc = ctrl_c, .ticks = rig_file_ticks, .hz = 1000
    };

    console_rig_open(&terminal);
    if (rig_start(0, 0, false) != ERR_OK)
        rig_die(rig.model.error_message);
    options_init(&options);
    options.sampler.temp = 0.0f;
    options.reply.n = n;
    options.show.ids = true;
    stop_after = -1;
    if (chat.features == NULL)
        features_open(&features, features_built_in, FEATURES_BUILT_IN, NULL);
    chat.features = &features;
    chat_open(&chat, &console, &rig.session, NULL, &options, NULL);
    (void)chat_branches_open(&chat, rig.kept_sequences, 0);
}

__attribute__((unused)) static enum err say(const char *line, bool as_turn)
{
    text_bytes = 0;
    text[0] = '\0';
    return chat_reply(&chat, line, strlen(line), as_turn);
}

/* Whether the conversation, computed afresh from an empty cache, gives the same next logits. */
__attribute__((unused)) static bool cache_is_true(void)
{
    static uint32_t ids[4096];
    static float logits[8192];
    struct session *s = &rig.session;
    uint32_t n = s->n_cached, pending = s->n_ids - n, next = 5;
    bool same;

    memcpy(ids, s->ids, s->n_ids * sizeof *ids);
    if (n == s->context || session_cut(s, n) != n || session_append(s, &next, 1, NULL) != ERR_OK)
        return false;
    memcpy(logits, s->logits, rig_logits_bytes());
    (void)session_cut(s, 0);
    if (session_append(s, ids, n, NULL) != ERR_OK || session_append(s, &next, 1, NULL) != ERR_OK)
        return false;
    same = memcmp(logits, s->logits, rig_logits_bytes()) == 0;
    return session_cut(s, n) == n && session_put(s, ids + n, pending) == ERR_OK && same;
}

#endif
