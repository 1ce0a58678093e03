/* Answer the last turn again. */
#include <string.h>

#include "board/min_max.h"
#include "runtime/chat/chat_private.h"

enum err chat_retry(struct chat *c)
{
    const struct turns *t = &c->turns;
    const struct turn *last;
    size_t bytes, said;

    if (t->n == 0) {
        return ERR_NOT_FOUND;
    }
    last = &t->list[chat_question(c)];
    bytes = min_size(last->bytes, sizeof c->line - 1);
    said = t->said[last - t->list];
    said -= min_size(said, last->bytes - bytes);
    memcpy(c->line, t->text + last->text, bytes);
    c->line[bytes] = '\0';
    (void)chat_undo(c);
    return chat_reply_said(c, c->line, bytes, true, said);
}
