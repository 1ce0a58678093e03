"""Shared by this folder's Python programs: a case runs immediately and prints a line for table.py.

A program is started as PROGRAM BASE [CELL...]: BASE is the server's address without /v1. Each line has CELL, CASE, and `ok` or the error, separated
by tabs. The cells are chat, stream, tools, structured and embeddings: all of them, or only those that are named."""

import asyncio
import inspect
import os
import sys
from datetime import date
from typing import Literal, Optional, Union

for telemetry in ("HAYSTACK_TELEMETRY_ENABLED", "LITELLM_TELEMETRY"):
    os.environ[telemetry] = "False"
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # otherwise it fetches a cost map from the network
os.environ["OPENAI_AGENTS_DISABLE_TRACING"] = "1"

from pydantic import BaseModel, Field  # noqa: E402: after the variables, which some packages read when they are imported

BASE, CELLS = sys.argv[1], sys.argv[2:]
V1 = BASE + "/v1"
MODEL = "any-name"
KEY = "secret"
QUESTION = "What is the capital of France? Answer with one word."


def must(good, why=""):
    if not good:
        raise AssertionError(str(why))


def case(cell, name):
    """Decorates a function without arguments, which may be a coroutine: runs it immediately, and prints its line."""
    def run(function):
        if CELLS and cell not in CELLS:
            return
        try:
            done = function()
            if inspect.isawaitable(done):
                asyncio.run(done)
            why = "ok"
        except Exception as error:  # whatever a client raises is the cell's answer
            why = " ".join(f"{type(error).__name__}: {error}".split())[:600]
        print(cell, name, why, sep="\t", flush=True)
    return run


# Schemas that programs request. Names of functions and members are short, because a small model has to write them.

class Party(BaseModel):
    """Dates and maps."""
    day: date
    seats: dict[str, int] = Field(max_length=4)


class Point(BaseModel):
    """Tuples."""
    at: tuple[int, int]
    kind: Literal["corner", "middle"]


class Score(BaseModel):
    """A float in a range, any integer, and a null."""
    share: float = Field(ge=0, le=1)
    count: int
    rank: Optional[Literal[1, 2, 3]] = None


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = Field(ge=1, le=9)


class Dog(BaseModel):
    kind: Literal["dog"]
    loud: bool


class Pet(BaseModel):
    """A union with a discriminator."""
    pet: Union[Cat, Dog] = Field(discriminator="kind")


SHAPES = (("dates and maps", Party), ("tuples", Point), ("ranged float, any integer, null", Score), ("unions", Pet))
