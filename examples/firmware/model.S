/* The model, unchanged from its file. The option -DMODEL= names the model's path. */
    .section .rodata.model, "a"
    .balign 64
    .globl model_start, model_end
model_start:
    .incbin MODEL
model_end:
    .section .note.GNU-stack, "", %progbits
