#include "host/voice/voice_hear.h"

#include <stdio.h>
#include <string.h>

#include "host/voice/voice_speak.h"

/* Recognizers, the best first; `test` is a shell command that succeeds if the recognizer exists. */
struct recognizer {
    const char *name, *test, *command;
};

/* INGOT_WHISPER: a folder with a model, or one of the names that faster-whisper knows. */
#define WHISPER \
    "import os,sys; from faster_whisper import WhisperModel; m = WhisperModel(os.environ.get(\"INGOT_WHISPER\", \"base.en\"), " \
    "device=\"cpu\", compute_type=\"int8\"); print(\" \".join(s.text.strip() for s in m.transcribe(sys.argv[1], language=\"en\", " \
    "beam_size=5)[0]))"

static const struct recognizer recognizers[] = {
    { "whisper", "python3 -c 'import faster_whisper' 2>/dev/null", "python3 -c '" WHISPER "' {}" },
    { "whisper.cpp", "command -v whisper-cli >/dev/null && test -f \"$INGOT_WHISPER\"",
      "whisper-cli -m \"$INGOT_WHISPER\" -np -nt -f {}" },
    { "moonshine", "python3 -c 'import moonshine_onnx' 2>/dev/null",
      "python3 -c 'import sys, moonshine_onnx as m; print(\" \".join(m.transcribe(sys.argv[1], \"moonshine/base\")))' {}" },
    { "pocketsphinx", "command -v pocketsphinx_continuous >/dev/null",
      "pocketsphinx_continuous -infile {} -logfn /dev/null" },
};
enum { RECOGNIZERS = sizeof recognizers / sizeof recognizers[0] };

static bool is_there(const struct recognizer *r)
{
    return voice_run(r->test, "", "", 0, NULL);
}

static bool is_address(const char *stt)
{
    return strncmp(stt, "http://", 7) == 0 || strncmp(stt, "https://", 8) == 0;
}

/* Write the command that sends a form with the file, as in OpenAI's API. */
static const char *ask_server(const char *address, char command[VOICE_COMMAND_BYTES],
                              const char **error_message)
{
    const char *path = strstr(address, "/audio/transcriptions") != NULL ? ""
                       : strstr(address, "/v1") != NULL                 ? "/audio/transcriptions"
                                                        : "/v1/audio/transcriptions";
    size_t bytes = strlen(address);
    int n;

    while (bytes != 0 && address[bytes - 1] == '/') {
        bytes--;
    }
    n = snprintf(command, VOICE_COMMAND_BYTES,
                 "curl -sS --fail-with-body --max-time 60 -F file=@{} -F response_format=text -F "
                 "\"model=${INGOT_STT_MODEL:-whisper-1}\" "
                 "-H \"Authorization: Bearer ${OPENAI_API_KEY:-none}\" '%.*s%s'",
                 (int)bytes, address, path);
    if (strchr(address, '\'') != NULL || n < 0 || n >= VOICE_COMMAND_BYTES) {
        *error_message = "the address of a server is too long, or has a quotation mark";
        return NULL;
    }
    return command;
}

const char *voice_hear_command(const char *stt, char command[VOICE_COMMAND_BYTES],
                               const char **name, const char **error_message)
{
    *name = NULL;
    if (stt != NULL && is_address(stt)) {
        *name = stt;
        return ask_server(stt, command, error_message);
    }
    for (size_t i = 0; i < RECOGNIZERS; i++) {
        const struct recognizer *r = &recognizers[i];
        bool named = stt != NULL && strcmp(stt, r->name) == 0;

        if (named && !is_there(r)) {
            *error_message = "it is not there: docs/VOICE.md says how to install it";
            return NULL;
        }
        if (named || (stt == NULL && is_there(r))) {
            *name = r->name;
            return r->command;
        }
    }
    if (stt == NULL) {
        *error_message =
            "no recognizer is there: pip install faster-whisper, or install pocketsphinx and "
            "pocketsphinx-en-us, or name a server or a program with --stt";
    }
    return stt;
}
