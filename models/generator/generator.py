"""Makes conversations: questions, answers, and the marks of a right answer. The random.Random that is given determines
everything."""

import random

import sums
import talk
import words
from checks import passes, recall
from telling import Cast, MADE_OF, draw_kind

NAMES = words.SHE + words.HE
SYSTEMS = ["You are Ingot, a small model on a board.", "You are a helpful assistant.",
           "You are Ingot. You tell stories.", "Answer in short sentences.", "Be kind and brief.",
           "You are a friendly program on a small board."]

ASK_STORY = talk.lines("""Tell me a story about {s}.|Tell me a story about {s}
Can you tell me a story about {s}?|I would like a story about {s}.
Please tell me a story about {s}.|Write a short story about {s}.|A story about {s}|Story about {s}
Make up a story about {s}.|Do you know a story about {s}?|Tell me a short story about {s}.
I want a story about {s}.|Give me a story about {s}.|A story about {s}, please.
Could you tell a story about {s}?|Write a story about {s}.|Tell a tale about {s}.
Tell me something about {s}.|Tell me a bedtime story about {s}.|Let me hear a story about {s}.
How about a story about {s}?|Invent a story about {s}.|Once upon a time there was {s}
What about a story about {s}?|Now tell me a story about {s}.|Please write me a story about {s}
Read me a story about {s}.|My child wants a story about {s}.|A tale of {s}, please.
I would love to hear about {s}.|Story: {s}|Tell us a story about {s}!|Tell me about {s}.
write about {s}|And one about {s}?|Now one about {s}.""")
ASK_ANY = talk.lines("""Tell me a story.|A story, please.|Can you tell me a story?|I am bored.
Tell me something.|Tell me any story you like.|Do you know a story?|I would like a story.
Tell me a bedtime story.|Story please|Make up a story.|Write a story.|Surprise me.
Please tell me a story.|Tell me a fairy tale.|Entertain me.|tell a story|Let me hear a story.
I want a story.|Tell me a short story.|story|Tell me another story.""")
AGAIN = ["Another one, please.", "Another one", "Tell me another story.", "One more!", "Again!",
         "One more, please.", "Can I have another?", "Another story about {s}.",
         "And another one?", "Tell me one more story about {s}.",
         "Tell me another story about the {k}.", "Another one about {s}, please."]
MORE = ["Tell me more about the {k}.", "What happened next?", "And then?", "Go on.",
        "What happened then?", "Tell me more.", "More, please.", "How does it go on?",
        "What did {n} do next?", "Continue", "And after that?", "What happened to {n} then?"]
ASK_OWNER = ["Who did the {k} belong to?", "Whose {k} was it?"]
ASK_HERO = ["What was the name of the {k}?", "What was the {k} called?", "Who was the story about?",
            "What is the name of the {k}?", "Who was it about?"]
ASK_NAME = ["What is my name?", "Who am I?", "Do you know my name?", "Do you remember my name?",
            "What am I called?"]
YES = ["Yes", "Yes, please.", "Yes please!", "Sure", "Okay", "Yes, tell me one.", "Oh yes!",
       "Please do.", "Gladly", "Of course.", "Why not?", "Yes, I would like that."]
NO = ["No", "No, thank you.", "No thanks", "Not now.", "Maybe later."]
BEFORE = ["Please ", "Hey, ", "So, ", "Ingot, ", "Okay, ", "Now, ", "Well, ", "Hello! ", "Hi, ",
          "Dear Ingot, ", "And "]
AFTER = [" please", " now", " Ingot", " then", " for me", "!", "..", "??", " :)", " thanks"]


class Exchange:
    """The user's text, the reply to learn, and the check of the model's own reply. Gaps in `user` ({n}, {k}, {fn}) are
    about the story before it: `facts` fill them."""

    def __init__(self, user, reply, check, facts=None, **wanted):
        self.pattern, self.reply, self.check, self.wanted = user, reply, check, wanted
        self.user = user.format(**facts) if facts else user


def rough(text, rng):
    """Change a text as people type: without capitals, without the full stop, with a word before or after it."""
    if rng.random() < 0.25:
        before = rng.choice(BEFORE)
        keep = before[-2] == "!" or text.startswith(("I ", "{"))
        text = before + (text if keep else text[0].lower() + text[1:])
    if rng.random() < 0.12:
        text = text.rstrip(".?!") + rng.choice(AFTER)
    if rng.random() < 0.25:
        text = text[0].lower() + text[1:]
    elif rng.random() < 0.08:
        text = text.lower()
    if rng.random() < 0.2:
        text = text.rstrip(".?!") or text
    return text


def slip(text, rng):
    """Sometimes put a typing error into one of the longer words."""
    if rng.random() > 0.06:
        return text
    long = [w for w in text.split() if len(w) > 4 and w.isalpha()]
    if not long:
        return text
    w = rng.choice(long)
    i = rng.randrange(1, len(w) - 1)
    wrong = rng.choice((w[:i] + w[i + 1:], w[:i] + w[i + 1] + w[i] + w[i + 2:],
                        w[:i] + w[i] + w[i:]))
    return text.replace(w, wrong, 1)


def subject(rng):
    """Return (words of the prompt, a cast that obeys them, words that must appear in the story, and words that a wish
    for the place or the plot adds)"""
    kind, thing = draw_kind(rng)
    said, must, wishes, given = words.article(kind), [kind], [], {}
    which = rng.random()
    if which < 0.07 and not thing:
        name = rng.choice(NAMES)
        return name, Cast(rng, "girl" if name in words.SHE else "boy", name=name), [name], []
    if which < 0.14:
        form = rng.choice(("{}", "the {}", "my {}", "{}s", "some {}s"))
        said = form.replace("{}s", words.plural(kind)).format(kind)
    elif which < 0.21 and not thing:
        given["name"] = rng.choice(NAMES)
        said, must = f"my {kind} {given['name']}", [kind, given["name"]]
    elif which < 0.3:
        given["adjective"] = rng.choice(words.LOOKS if thing else words.ADJECTIVES)
        said = f"{words.article(given['adjective'])} {kind}"
    if rng.random() < 0.25 and not thing and "name" not in given:
        given["name"] = rng.choice(NAMES) if rng.random() < 0.8 else words.made_up(rng).capitalize()
        said += rng.choice((" named ", " called ")) + given["name"]
        must.append(given["name"])
    elif rng.random() < 0.12 and not thing:
        given["friend"] = rng.choice([a for a in words.ANIMALS if a != kind])
        said += " and " + words.article(given["friend"])
        must.append(given["friend"])
    elif rng.random() < 0.2 and not thing:
        asked, mark = rng.choice(list(MADE_OF))
        given["plot"] = MADE_OF[asked, mark]
        said += " " + asked
        wishes.append(mark)
    if rng.random() < 0.12 and "plot" not in given:
        given["place"] = rng.choice(words.PLACES)
        said += " " + " ".join(given["place"])
        wishes.append(given["place"][1])
    return said, Cast(rng, kind, thing, **given), must, wishes


def any_story(rng, prompts):
    """Ask for a story without saying what it is about."""
    cast = Cast(rng, *draw_kind(rng))
    prompt = rough(rng.choice(prompts), rng)
    return cast, Exchange(prompt, cast.tell(rng), "story", must=[], wishes=[])


def story(rng, share_followed=0.5):
    """Ask for a story, and often for something about it."""
    if rng.random() < 0.12:
        cast, told = any_story(rng, ASK_ANY)
    else:
        said, cast, must, wishes = subject(rng)
        prompt = rng.choice(ASK_STORY).format(s=said)
        vague = prompt.startswith(("Tell me about", "I would love"))
        if vague and not said.startswith(("a ", "an ", "my ")):
            prompt = f"Tell me a story about {said}."
        told = Exchange(rough(prompt, rng), cast.tell(rng), "story", must=must, wishes=wishes)
    if rng.random() < share_followed:
        return [told] + follow(rng, cast, told.wanted["must"][:1])
    return [told]


def story_and_more(rng):
    return story(rng, 1.0)


def story_of_two(rng):
    """Ask for a story about two animals, and two questions about it."""
    kind, friend = rng.sample(words.ANIMALS, 2)
    cast = Cast(rng, kind, friend=friend)
    said = f"{words.article(kind)} and {words.article(friend)}"
    prompt = rough(rng.choice(ASK_STORY).format(s=said), rng)
    told = Exchange(prompt, cast.tell(rng), "story", must=[kind, friend], wishes=[])
    return [told] + [q for _ in range(2) for q in follow(rng, cast, [kind], rng.uniform(0.5, 1))]


def follow(rng, cast, must, which=None):
    """Return an exchange about the story that the cast has just played; it is a question if `which` is 0.5 or
    more."""
    g, which = cast.gaps, rng.random() if which is None else which
    if which < 0.25:
        prompt = rng.choice(AGAIN).replace("{s}", words.article(cast.kind))
        again = Cast(rng, cast.kind, cast.thing, name=cast.name if must == [cast.name] else None)
        return [Exchange(rough(prompt, rng), again.tell(rng, cast.plot), "story", g, must=must,
                         wishes=[])]
    if which < 0.5:
        return [Exchange(rough(rng.choice(MORE), rng), cast.sequel(rng), "recall", g, which="n")]
    if which < 0.65:
        prompt = rng.choice(ASK_OWNER if cast.thing else ASK_HERO)
        reply = "The {k} belonged to {n}." if cast.thing else "The {k} was called {n}."
        return [Exchange(rough(prompt, rng), reply.format(**g), "recall", g, which="n")]
    if which < 0.8:
        prompts = ["Where was that?", "Where did it happen?", "Where was the {k}?"]
        prompt = rng.choice(prompts if cast.thing else prompts + ["Where did {n} live?"])
        reply = rng.choice(("It was {inp}.", "That was {inp}.")).format(**g)
        return [Exchange(rough(prompt, rng), reply, "recall", g, which="inp")]
    if cast.thing:
        reply = "I like every story. Would you like another one?"
        return [Exchange(rough("Did you like the story?", rng), reply, "marks", marks=["like"])]
    prompt, reply, fact = rng.choice((("Who was {fn}?", "{fn} was {af}.", "f"),
                                      ("Who was the friend?", "That was {fn}.", "fn"),
                                      ("Who else was in the story?", "That was {fn}.", "fn")))
    return [Exchange(rough(prompt, rng), reply.format(**g), "recall", g, which=fact)]


def listed(rng, table):
    _, prompts, answers, marks = rng.choice(table)
    prompt = slip(rough(rng.choice(prompts), rng), rng)
    return [Exchange(prompt, rng.choice(answers), "marks", marks=marks)]


def refused(rng):
    prompt, reply, marks = talk.refusal(rng)
    return [Exchange(slip(rough(prompt, rng), rng), reply, "marks", marks=marks)]


def numbers(rng):
    out = []
    for _ in range(rng.choice((1, 1, 2, 3))):
        if rng.random() < 0.85:
            prompt, reply, total = sums.addition(rng, NAMES)
            out.append(Exchange(rough(prompt, rng), reply, "sum", total=total))
        else:
            prompt, reply = sums.counting(rng)
            out.append(Exchange(rough(prompt, rng), reply, "exact", text=reply))
    return out


def count(rng):
    prompt, reply = sums.counting(rng)
    return [Exchange(rough(prompt, rng), reply, "exact", text=reply)]


def names(rng):
    """Tell the user's name, and then ask for it."""
    ask = rng.choice(ASK_NAME)
    name = rng.choice(NAMES) if rng.random() < 0.6 else words.made_up(rng).capitalize()
    tell = rng.choice(("My name is {}.", "I am {}.", "I am called {}.", "Call me {}.",
                       "Hello, my name is {}.", "Hi, I am {}.", "Hello, I am {}!")).format(name)
    answer = rng.choice(("Nice to meet you, {}!", "Hello {}! I am Ingot.",
                         "Hello {}, nice to meet you.")).format(name)
    out = [Exchange(rough(tell, rng), answer, "marks", marks=[name])]
    if rng.random() < 0.6:
        if rng.random() < 0.4:
            out += listed(rng, talk.TALK) if rng.random() < 0.5 else numbers(rng)[:1]
        out.append(Exchange(rough(ask, rng), f"Your name is {name}.", "marks", marks=[name]))
    return out


def repeated(rng):
    """Ask the model to repeat words: nothing else teaches copying as fast."""
    said = " ".join(rng.choice((words.made_up(rng), rng.choice(NAMES),
                                rng.choice(words.ANIMALS + words.THINGS)))
                    for _ in range(rng.choice((1, 1, 2, 3, 4))))
    ask = rng.choice(("Say {}.", "Repeat {}.", "Can you say {}?", "Repeat after me: {}.",
                      "Please say {}.", "Say: {}"))
    reply = f"All right: {said}."
    return [Exchange(rough(ask, rng).format(said), reply, "marks", marks=[said])]


def about_itself(rng):
    return listed(rng, talk.SELF)


def small_talk(rng):
    return listed(rng, talk.TALK)


# Parts and their shares: for the stages of training, from the first to the last, and for the examination.
FIRST = {repeated: 0.5, names: 0.2, numbers: 0.2, small_talk: 0.1}
MIXED = {story: 0.22, numbers: 0.20, about_itself: 0.20, refused: 0.15, small_talk: 0.15,
         names: 0.04, repeated: 0.04}
THEN = {story_and_more: 0.35, story: 0.10, numbers: 0.20, about_itself: 0.10, refused: 0.08,
        small_talk: 0.08, names: 0.05, repeated: 0.04}
LAST = {story_of_two: 0.15, story_and_more: 0.25, count: 0.12, numbers: 0.12, about_itself: 0.10,
        refused: 0.08, small_talk: 0.08, names: 0.06, repeated: 0.04}
EXAM = {story: 0.42, numbers: 0.16, about_itself: 0.16, refused: 0.12, small_talk: 0.10,
        names: 0.03, repeated: 0.01}


def part(rng, shares):
    """Draw one to three exchanges that belong together."""
    return rng.choices(list(shares), list(shares.values()))[0](rng)


def answered(rng):
    """Answer yes or no to a reply that offers a story."""
    if rng.random() < 0.75:
        return [any_story(rng, YES)[1]]
    reply = "All right. Just say what you would like."
    return [Exchange(rough(rng.choice(NO), rng), reply, "marks", marks=["All right"])]


def conversation(rng, at_least, shares):
    """Return a system prompt or None, and exchanges with at least `at_least` characters in all."""
    out = []
    system = rng.choice(SYSTEMS) if rng.random() < 0.2 else None
    while sum(len(e.user) + len(e.reply) + 40 for e in out) < at_least:
        if not out and rng.random() < 0.02:
            out.append(Exchange(rough(rng.choice(ASK_NAME), rng), "You have not told me your name.",
                                "marks", marks=["not told"]))
        out += part(rng, shares)
        offered = out[-1].reply.endswith(("story?", "another one?", "tell you one?"))
        if offered and rng.random() < 0.4:
            out += answered(rng)
    return system, out


if __name__ == "__main__":
    rng = random.Random(3)
    for _ in range(12):
        before = None
        for e in conversation(rng, 200, MIXED)[1]:
            print(f"> {e.user}\n{e.reply}\n")
            assert passes(e, e.reply, recall(before)), (e.check, e.wanted)
            before = e.reply if e.check == "story" else before
