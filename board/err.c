#include "board/err.h"

static const char *const texts[ERR_COUNT] = {
    [ERR_OK] = "fine",
    [-ERR_BUSY] = "the device is busy: try again",
    [-ERR_NO_DEVICE] = "no such device: attach a card or flash with an .ingot model",
    [-ERR_IO] = "a transfer failed: check the card and its contacts",
    [-ERR_TIMEOUT] = "the device did not answer in time: check the card and its contacts",
    [-ERR_RANGE] = "read beyond the end of the device: the card image is cut short, write it again",
    [-ERR_NOT_FOUND] = "no such file: put an .ingot model into the folder models/ of the card",
    [-ERR_NO_FILESYSTEM] = "no FAT32 partition: write the card with `make card`",
    [-ERR_BAD_FILESYSTEM] =
        "the FAT32 file system is damaged: check it with fsck.vfat or write the card again",
    [-ERR_TOO_FRAGMENTED] = "the file is in too many pieces: copy it to an empty card",
    [-ERR_BAD_MAGIC] = "not an .ingot file: make one with `ingot pack`",
    [-ERR_BAD_VERSION] =
        "an .ingot file of another version: pack the model again with this version",
    [-ERR_BAD_HEADER] = "a field of the header is out of bounds: pack the model again",
    [-ERR_BAD_CHECKSUM] = "the checksum does not match: the file is damaged, copy it again",
    [-ERR_TRUNCATED] = "the file is shorter than its header says: copy it again",
    [-ERR_UNSUPPORTED] = "this kind of file, device or value is not supported",
    [-ERR_NO_SPACE] = "it does not fit into memory",
    [-ERR_TOO_LONG] = "the text is too long: shorten it or raise ctx=",
    [-ERR_BAD_ARGUMENT] = "unknown or malformed option",
    [-ERR_ABORTED] = "stopped by Ctrl-C",
    [-ERR_BAD_TOKENIZER] =
        "the model has no token for a character of the text, nor one for unknown "
        "characters: pack it again together with its tokenizer",
    [-ERR_BAD_MODEL] = "the model file is malformed: download it again",
    [-ERR_NOT_SIGNED] = "not what was signed: copy the file again, or sign it with `ingot sign`",
    [-ERR_REMOVED] = "the card was taken out: put it back and ask again",
};

const char *err_text(enum err e)
{
    int i = -(int)e;

    if (i < 0 || i >= ERR_COUNT)
        return "unknown error";
    return texts[i];
}
