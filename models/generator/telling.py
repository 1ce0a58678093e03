"""Chooses the cast of a story, and tells the story."""

import stories
import things
import words

# What a prompt can name besides the hero, the words of which one must then occur, and the plot.
MADE_OF = {
    ("and a storm", "storm|wind"): stories.STORM,
    ("in a storm", "storm|wind"): stories.STORM,
    ("who is afraid of the dark", "dark"): stories.DARK,
    ("who was afraid at night", "dark"): stories.DARK,
    ("who likes to sing", "sing|song|sang"): stories.SINGER,
    ("who could sing", "sing|song|sang"): stories.SINGER,
    ("and a seed", "seed"): stories.SEED,
    ("who had a garden", "seed"): stories.SEED,
    ("who helped a friend", "hole|mud|rocks"): stories.STUCK,
    ("who saved a friend", "hole|mud|rocks"): stories.STUCK,
    ("and a new neighbour", "neighbour|stranger|next door"): stories.NEIGHBOUR,
    ("and a stranger", "neighbour|stranger|next door"): stories.NEIGHBOUR,
    ("and a race", "race"): stories.RACE,
    ("who was slow", "race"): stories.RACE,
    ("who broke something", "broke|piece|glue"): stories.BROKEN,
    ("who told the truth", "broke|piece|glue"): stories.BROKEN,
    ("in winter", "winter|snow"): stories.WINTER,
    ("in the snow", "winter|snow"): stories.WINTER,
    ("and a bridge", "bridge|water"): stories.BRIDGE,
    ("and a map", "map"): stories.MAP,
    ("and a treasure", "map"): stories.MAP,
    ("who found a treasure", "map"): stories.MAP,
    ("and a kite", "kite"): stories.KITE,
    ("in the fog", "fog"): stories.FOG,
    ("who lost the way", "fog"): stories.FOG,
    ("who got lost", "fog"): stories.FOG,
    ("who lost something", "gone|missing|nowhere"): stories.LOST_THING}

GIRLS, BOYS = "girl queen princess witch fairy", "boy king prince wizard"


def draw_kind(rng):
    """Return (what the story is about, whether it is a thing)"""
    which = rng.random()
    if which < 0.50:
        return rng.choice(words.ANIMALS), False
    if which < 0.65:
        return rng.choice(words.PEOPLE), False
    if which < 0.85:
        return rng.choice(words.THINGS), True
    return words.made_up(rng), False


def pronouns(she):
    he, his, him = ("she", "her", "her") if she else ("he", "his", "him")
    return dict(he=he, He=he.capitalize(), his=his, His=his.capitalize(), him=him)


class Cast:
    """The people and things of a story; what the prompt does not say is drawn."""

    def __init__(self, rng, kind, thing=False, name=None, friend=None, place=None, adjective=None,
                 plot=None):
        self.kind, self.thing, self.wanted, self.plot = kind, thing, plot, None
        girl = rng.random() < 0.5
        if kind in GIRLS.split() + BOYS.split():
            girl = kind in GIRLS.split()
        if name in words.SHE + words.HE:
            girl = name in words.SHE
        self.name = name or rng.choice(words.SHE if girl else words.HE)
        she = rng.random() < 0.5
        friend = friend or rng.choice([a for a in words.ANIMALS if a != kind])
        friend_name = rng.choice([n for n in (words.SHE if she else words.HE) if n != self.name])
        inp = " ".join(place or rng.choice(words.PLACES))
        adjective = adjective or rng.choice(words.LOOKS if thing else words.ADJECTIVES)
        friendly = pronouns(she)
        self.gaps = dict(
            n=self.name, k=kind, a=words.article(kind), adja=words.article(adjective), inp=inp,
            Inp=inp[0].upper() + inp[1:], **pronouns(girl), gender="a girl" if girl else "a boy",
            f=friend, af=words.article(friend), fn=friend_name,
            fp=friendly["him"], fp_he=friendly["he"], fp_his=friendly["his"],
            t=rng.choice(words.LOST), spot=rng.choice(words.SPOTS), food=rng.choice(words.FOODS),
            food2=rng.choice(("apples", "berries", "nuts", "pears")),
            gift=rng.choice(words.GIFTS), time=rng.choice(words.TIMES))

    def tell(self, rng, avoid=None):
        """Return a story whose plot is not `avoid`."""
        told = things if self.thing else stories
        self.plot = self.wanted or rng.choice([p for p in told.PLOTS if p is not avoid])
        steps = [rng.choice(s) for s in (told.OPENING, *self.plot, told.ENDING)]
        return " ".join(steps).format(**self.gaps)

    def sequel(self, rng):
        told = things if self.thing else stories
        return " ".join(rng.choice(s) for s in told.SEQUEL).format(**self.gaps)
