/* The recognizer of speech: a server, a recognizer that is found on this computer, or a command. */
#ifndef INGOT_HOST_VOICE_HEAR_H
#define INGOT_HOST_VOICE_HEAR_H

#include <stdbool.h>
#include <stddef.h>

enum { VOICE_COMMAND_BYTES = 1024 };

/* The shell command for --stt, whose {} is a WAV file: of "http://..." or "https://..." a server with
 * /v1/audio/transcriptions, of a name its recognizer, of NULL the best that is found here, else what was given. *name: what it
 * is called, NULL: it is a command. NULL: there is none; *error_message says why. */
const char *voice_hear_command(const char *stt, char command[VOICE_COMMAND_BYTES],
                               const char **name, const char **error_message);

#endif
