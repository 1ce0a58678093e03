/* The names of a split model's parts; private to the GGUF reader. */
#ifndef INGOT_FLASH_IMAGE_GGUF_SPLIT_H
#define INGOT_FLASH_IMAGE_GGUF_SPLIT_H

enum { GGUF_MOST_PARTS = 1024 };

/* Find the ending "-00002-of-00003.gguf" of a path. NULL if the path has none. */
const char *gguf_split_ending(const char *path);

#endif
