/* The speech recognizer: a server, a recognizer found on this computer, or a command. */
#ifndef INGOT_HOST_VOICE_HEAR_H
#define INGOT_HOST_VOICE_HEAR_H

#include <stdbool.h>
#include <stddef.h>

enum { VOICE_COMMAND_BYTES = 1024 };

/* Make the shell command for --stt, in which {} is a WAV file. stt is "http://..." or "https://..." (a server with
 * /v1/audio/transcriptions), a recognizer's name, NULL (the best one found here), or a command. *name: the recognizer's
 * name; NULL if it is a command. Returns NULL if there is none; *error_message says why. */
const char *voice_hear_command(const char *stt, char command[VOICE_COMMAND_BYTES],
                               const char **name, const char **error_message);

#endif
