/* The speech recognizer: a server, a recognizer found on this computer, or a command. */
#ifndef INGOT_HOST_VOICE_HEAR_H
#define INGOT_HOST_VOICE_HEAR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "host/api/serve_text.h"

enum { VOICE_COMMAND_BYTES = 1024 };

struct voice_hearer {
    const char *name;    /* a server's address or a recognizer's name; NULL if --stt is a command */
    const char *command; /* a shell command; {} stands for the WAV file, unless the command stays
                          * running */
    bool stays; /* the command stays running: it reads paths, and answers each with a line */
    char text[VOICE_COMMAND_BYTES];
    pid_t child; /* the process of a command that stays running */
    int fd;      /* standard input and output of that process */
};

/* Find the recognizer for --stt: "http://..." or "https://..." (a server with
 * /v1/audio/transcriptions), a recognizer's name, NULL (the best recognizer found here), or a
 * command. Returns false if there is none; *error_message says why. */
bool voice_hear_find(struct voice_hearer *h, const char *stt, const char **error_message);

/* If the command stays running, start it, so that its model is loaded once, before the first
 * question. voice_hear_close ends it. */
bool voice_hear_open(struct voice_hearer *h);
/* Add to *said the words that were spoken in a WAV file. False: the recognizer failed. */
bool voice_hear(struct voice_hearer *h, const char *path, struct api_text *said);
void voice_hear_close(struct voice_hearer *h);

#endif
