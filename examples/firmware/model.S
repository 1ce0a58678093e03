/* The model, unchanged from its file. MODEL is the path, by -D. */
    .section .rodata.model, "a"
    .balign 64
    .globl model_start, model_end
model_start:
    .incbin MODEL
model_end:
    .section .note.GNU-stack, "", %progbits
