/* OpenAI's answers to chat completions and completions: events of a stream, or one object. Events
 * and objects are written piece by piece, so that a board need not keep a whole answer. */
#ifndef INGOT_RUNTIME_API_CHAT_H
#define INGOT_RUNTIME_API_CHAT_H

#include "runtime/api/api_stream.h"

/* Tokens of all replies to a request. */
struct api_usage {
    uint32_t prompt, cached, reply;
    bool counted;         /* a prompt has been counted */
    uint32_t last_prompt; /* number of the last prompt that was counted */
};

/* Add the tokens of a finished reply. A prompt counts once, however many replies it has; tokens of
 * refused replies count, too. */
void api_usage_add(struct api_usage *u, const struct api_job *j);

/* Write a piece of a reply as an event. */
void api_chat_say(const struct api_stream *s, const struct api_piece *p);

/* Write the end of a stream, after the last piece of all replies. `j` is the job of the first
 * reply, or NULL if a reply has failed. */
void api_chat_say_end(struct api_text *out, const struct api_answer *a, const struct api_usage *u,
                      const struct api_job *j);

/* Write one object: the part before the replies, a piece of a reply, and the part after the last
 * reply. No reply may have failed. */
void api_chat_begin(struct api_text *out, const struct api_answer *a);
void api_chat_part(const struct api_stream *s, const struct api_piece *p);
void api_chat_end(struct api_text *out, const struct api_usage *u, const struct api_job *j);

/* Write {"error":{...}} without the end of the line. */
void api_error_put(struct api_text *out, const struct api_error *e);

#endif
