/* A reply is spoken while it comes: cut into sentences, each of which a program makes sound of, and another plays, in a
 * thread of their own. */
#ifndef INGOT_HOST_VOICE_SPEAK_H
#define INGOT_HOST_VOICE_SPEAK_H

#include <pthread.h>

#include "host/api/serve_text.h"
#include "host/voice/voice_wav.h"

struct voice_sentence;

struct voice_speak {
    const char
        *tts; /* a shell command: the sentence on its standard input, {} the WAV file to make */
    const char *play;   /* {} the file; "": none */
    const char *folder; /* where files are made */
    bool keeps;         /* what was spoken is gathered in `spoken` */
    struct voice_sound spoken;
    char text[4096]; /* since the last sentence */
    size_t n;
    pthread_t thread;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t more;
    struct voice_sentence *first, *last;
    bool busy, ends, failed;
    uint64_t
        first_ms; /* when the first sound was there, on serial_millis()'s clock; the caller sets 0 */
};

/* How many bytes of text (n) are whole sentences; ends: nothing follows. */
size_t voice_sentences(const char *text, size_t n, bool ends);

/* The first five members are set. False: no thread. */
bool voice_speak_open(struct voice_speak *s);

/* More of the reply; and its end. */
void voice_speak_add(struct voice_speak *s, const char *text, size_t n);
void voice_speak_end(struct voice_speak *s);

/* Wait until all was spoken. */
void voice_speak_wait(struct voice_speak *s);
void voice_speak_close(struct voice_speak *s);

/* A shell command whose {} are a path. (bytes) of `input` go to its standard input; what it writes goes to *said,
 * where that is not NULL. False: it failed. */
bool voice_run(const char *command, const char *path, const char *input, size_t bytes,
               struct serve_text *said);

#endif
