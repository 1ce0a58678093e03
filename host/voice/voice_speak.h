/* Speaks a reply while it arrives. The reply is cut into sentences; in a separate thread, a program
 * turns each sentence into sound, and another program plays the sound. */
#ifndef INGOT_HOST_VOICE_SPEAK_H
#define INGOT_HOST_VOICE_SPEAK_H

#include <pthread.h>

#include "host/api/serve_text.h"
#include "host/voice/voice_wav.h"

struct voice_sentence;

struct voice_speak {
    const char
        *tts; /* a shell command that speaks its standard input, a sentence, into the WAV file {} */
    const char *play;   /* a shell command that plays the WAV file {}; "": do not play it */
    const char *folder; /* folder of the WAV files */
    bool keeps;         /* spoken sound is also collected in `spoken` */
    struct voice_sound spoken;
    char text[4096]; /* text after the last sentence */
    size_t n;
    pthread_t thread;
    pthread_mutex_t lock; /* protects all members below */
    pthread_cond_t more;
    struct voice_sentence *first, *last;
    bool busy, ends, failed;
    uint64_t
        first_ms; /* when the first sound was ready, on serial_millis()'s clock; the caller sets 0 */
};

/* Return how many of the n bytes of text are whole sentences; ends: no text follows. */
size_t voice_sentences(const char *text, size_t n, bool ends);

/* Start the thread; set the first four members before. False: the thread could not start. */
bool voice_speak_open(struct voice_speak *s);

/* Add more of the reply, or end the reply. */
void voice_speak_add(struct voice_speak *s, const char *text, size_t n);
void voice_speak_end(struct voice_speak *s);

/* Wait until everything was spoken. */
void voice_speak_wait(struct voice_speak *s);
void voice_speak_close(struct voice_speak *s);

/* Call in a child process: the process becomes a shell command with this standard input and output.
 * Does not return. */
void voice_become(const char *command, int in, int out);

/* Run a shell command in which {} is a path. `bytes` bytes of `input` go to its standard input; its
 * output goes to *said, if that is not NULL. False: it failed. */
bool voice_run(const char *command, const char *path, const char *input, size_t bytes,
               struct api_text *said);

#endif
