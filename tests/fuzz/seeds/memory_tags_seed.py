#!/usr/bin/env python3
"""Write seeds for memory_tags_fuzz. usage: memory_tags_seed.py OUT"""
import sys

SEEDS = [
    b"Good.<|mem_store|>personal What is my name? = Ann<|mem_end|> Hello <|mem_forget|>wiki<|mem_end|>!",
    b"<|mem_store|>episodic we met\nand <|mem_recall|> <|<|mem_store|>contested a<|mem_<|mem_end|>",
]
for i, seed in enumerate(SEEDS):
    with open(sys.argv[1] + (f"-{i}" if i else ""), "wb") as f:
        f.write(seed)
