#!/usr/bin/env python3
"""Write seeds for wav_fuzz. usage: wav_seed.py OUT"""
import struct
import sys
import wave

for i, (channels, rate) in enumerate(((1, 16000), (2, 44100), (8, 22050))):
    with wave.open(sys.argv[1] + (f"-{i}" if i else ""), "wb") as f:
        f.setnchannels(channels)
        f.setsampwidth(2)
        f.setframerate(rate)
        f.writeframes(struct.pack("<64h", *range(-32, 32)))
