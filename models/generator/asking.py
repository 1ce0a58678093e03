"""How people ask for an action: its words, in frames of other words. {n} is a name, {v} is on or off, {c} the action,
{q} the question, {w} something that has nothing to do with it."""

import talk
import words
from generator import rough

# Words for actions.
DO = dict(
    switch="""turn {v} the {n}|turn the {n} {v}|switch {v} the {n}|switch the {n} {v}|put the {n} {v}|put {v} the {n}
set the {n} to {v}|turn {v} {n}|switch {n} {v}|turn my {n} {v}|turn {v} that {n}|turn {v} our {n}|turn the {n} back {v}
switch the {n} back {v}|make the {n} go {v}|turn this {n} {v}|turn {n} {v}|switch {v} this {n}""",
    on="""start the {n}|activate the {n}|enable the {n}|power up the {n}|let the {n} run|run the {n}|get the {n} going
use the {n}|power on the {n}|keep the {n} on|leave the {n} on|start up the {n}|start my {n}|start that {n}""",
    off="""stop the {n}|deactivate the {n}|disable the {n}|power down the {n}|shut the {n} down|cut the power to the {n}
power off the {n}|shut off the {n}|leave the {n} off|shut down the {n}|stop my {n}|stop this {n}|keep the {n} off""",
    open="open the {n}|open up the {n}|open my {n}|leave the {n} open",
    close="close the {n}|shut the {n}|close my {n}|close that {n}")
FRAMES = """{c}|{c}|Please {c}|{c}, please|Could you {c}?|Can you {c}, please?|Can you {c}?|Would you {c}?|Will you {c}?
I want you to {c}|I would like you to {c}|You can {c} now|You may {c}|Would you please {c}?|It is time to {c}|{w}, {c}
{w}, so please {c}|{w} and {w}, so {c}|Be kind and {c}|Now {c}|First {c}|Help me to {c}|I need you to {c}|Try to {c}
You have to {c}|You must {c}|You should {c}|Is it possible to {c}?|May I ask you to {c}?|Why not {c}?|Let us {c}
Someone must {c}|{c} for me|{c} now|{c} right now|{c} again|{c} when you can|{c}, for {w}|{c}, {w}|Remember to {c}
Come and {c}|{w}. {c}|{c}. {w}|Think of {w} and {c}|{c} and be quick|Would it be good to {c}?|Then {c}|Quick, {c}!
I ask you to {c}|Hurry and {c}|{w}, could you {c}?|{c} until I come back|We want you to {c}|And now {c}|{c} at once
Maybe you could {c}|If {w}, {c}|When {w}, you can {c}"""
WHY = """it is dark|it is late|it is cold|it is warm|it is early|{name} is here|{name} is asleep|{name} is away|I am tired
{name} and {name} are here|the {animal} is hungry|my {animal} is ill|I am at home|we are alone|we have time|it is raining
the day is over|the {animal} wants it|I lost my {thing}|the {thing} is broken|it is too loud|nobody is here|I have to go
the {thing} is mine|I like {dish}|{name} said so|I am busy|everyone is ready|we are late|I am back|there is no hurry"""
# Whole sentences.
SAID = dict(
    switch="""{N} {v}|{n} {v}|{N} {v}!|The {n} {v}, please|{N} {v}, please|{V} with the {n}|I want the {n} {v}|{n}: {v}
I would like the {n} to be {v}|I need the {n} {v}|Would you mind turning the {n} {v}?|Would you mind switching {v} the {n}?
The {n} should be {v}|The {n} has to be {v}|Have the {n} {v}|May I have the {n} {v}?|Can I get the {n} {v}?|Set {n} {v}
The {n} must go {v}|Can we have the {n} {v}?|We want the {n} {v}|Now the {n} {v}|And the {n} {v}?|{w}, the {n} {v}!
The {n} is to be {v}|I wish the {n} to be {v}|How about turning the {n} {v}?|Thank you for turning the {n} {v}
The {n} ought to be {v}|Please have the {n} {v}|I want to see the {n} {v}|{w}, I want the {n} {v}|The {n} goes {v} now
{n} {v}, {w}|The {n} can go {v}|Is the {n} {v}? If not, turn it {v}|Take the {n} and turn it {v}|{n}, turn {v}
The {n}, please turn it {v}|About the {n}: turn it {v}|What about turning {v} the {n}?|{w}, {n} {v}|Make sure the {n} is {v}
Check that the {n} is {v} and turn it {v} if not|Let the {n} be {v}|I prefer the {n} {v}|It is better with the {n} {v}""",
    on="""I need the {n}|I need the {n} now|The {n} may start now|I want to use the {n}|Let us have the {n}|The {n} has to run
We need the {n} to run|The {n} must run|Can we use the {n}?|{w}, I need the {n}|Do not leave the {n} off|The {n} should run
Don't leave the {n} off|Would you mind starting the {n}?|Give me some {n}|I want the {n} to run""",
    off="""I do not need the {n} any more|No more {n}, please|Do not leave the {n} on|The {n} may stop now|Nobody needs the {n}
Don't leave the {n} on|I don't want the {n} on any more|The {n} should not be on|I don't need the {n}|Enough of the {n}
I do not need the {n} now|Don't let the {n} run|Do not let the {n} stay on|The {n} must not run|We do not need the {n} now
The {n} must stop|Would you mind stopping the {n}?|{w}, I do not need the {n}|The {n} must not stay on|No {n} now, please""",
    open="I want the {n} open|The {n} must be open|I need the {n} open",
    close="I want the {n} closed|The {n} must be closed|I need the {n} closed",
    read="""How is the {n}?|Check the {n}|Read the {n}|What does the {n} say?|What is the state of the {n}?|check {n}
Look at the {n}|Can you check the {n}?|Did somebody open the {n}?|Did {name} open the {n}?|Did {name} close the {n}?
What about the {n}?|The {n}: on or off?|Please read the {n}|What is the {n} now?|Has the {n} been opened?
State of the {n}?|Was the {n} open?|How does the {n} look?|Have you checked the {n}?|Go and look at the {n}|{w}, is the {n} {s}?
Is the {n} {s}?|Is the {n} {s}?|Is the {n} {s}?|Is my {n} still {s}?|Is the {n} really {s}?|Did {name} leave the {n} {s}?
Is the {n} {s} or {s}?|Is {n} {s}?|Has {name} left the {n} {s}?|{w}, check the {n}|Read {n}|Is the {n} {s}, for {w}?""",
    temperature="""How warm is it?|What is the temperature?|What's the temperature of the board?|temperature|Temperature?
What is the temperature of the board?|How hot is the board?|How hot are you?|Read the temperature|Are you hot?
Can you read the temperature?|Is the board hot?|Are you warm?|How warm is the board?|What temperature do you have?
How hot is it?|Check the temperature|Please read the temperature|How many degrees is it?|Is it warm?|Is it hot?
Is the board too hot?|How warm are you now?|Show me the temperature|What does the sensor say?|Measure the temperature
What is the chip's temperature?|How hot is the processor?|Is it hot in there?|How many degrees has the board?
And how warm is it now?|Give me the temperature|Is it getting warm?|How cold is it?|Are you cold?|{w}, how warm is it?
What is the temperature now?|What is your temperature?|Is it too warm for you?|How many degrees are there?|{w}, is it hot?
Temperature of the board|Has it become warm?|How hot has the board become?|What temperature is it?|Is the chip warm?""",
    uptime="""How long have you been running?|What is the uptime?|Uptime|How long have you been on?|uptime?|Read the uptime
How long is the board on?|How long has the board been running?|When did you start?|How long have you been up?
Since when are you running?|Since when is the board on?|For how long do you run?|Show me the uptime|Check the uptime
How many seconds have you been running?|How long have you been awake?|How long is it since you started?|Give me the uptime
When was the board started?|How long ago did you start?|How many seconds are you up?|{w}, what is the uptime?
How long has the board been on?|Since when are you awake?|What is the uptime of the board?|Your uptime?
For how long have you been on?|How much time is it since the start?|How many seconds is it since you started?""",
    keep="""Do not {c}|Don't {c}|Please do not {c}|Please don't {c}|Never {c}|You must not {c}|I do not want you to {c}
Do not touch the {n}|Leave the {n} as it is|Don't touch the {n}|Do not {c}, for {w}|{w}, so do not {c}|{w}, don't {c}
You may not {c}|I don't want you to {c}|Never ever {c}|Not the {n}, please|Do not {c} now|Please never {c}""",
    several="""Turn everything {v}|Turn all {v}|Switch all of them {v}|Turn the {n} {v} and the {m} too|Everything {v}!
Turn on the {n} and the {m}|Turn off the {n} and the {m}|Switch the {n} and the {m} {v}|Both {v}|All of them {v}
Turn the {n} and the {m} {v}|All {v}|{N} and {m} {v}|Turn {v} both the {n} and the {m}|The {n} and the {m} {v}""",
    pulse="""Pulse the {n} for {ms} ms|Pulse the {n} for {ms} milliseconds|Pulse {n} {ms} ms|The {n} for {ms} ms
Give the {n} a pulse of {ms} ms|Turn the {n} on for {ms} ms|Switch on the {n} for {ms} milliseconds
Please pulse the {n} for {ms} ms|Let the {n} run for {ms} milliseconds|{w}, pulse the {n} for {ms} ms""")
# Words for questions, within a sentence.
ASKED = dict(
    read="""whether the {n} is {s}|if the {n} is {s}|how the {n} is|what the {n} says|the state of the {n}
whether somebody opened the {n}""",
    temperature="""the temperature|how warm it is|how hot the board is|what the temperature is|how many degrees it is
how warm you are|how hot it is|how hot the chip is""",
    uptime="""the uptime|how long you have been running|how long the board is on|how long you have been on
when you started|what the uptime is|how many seconds you have been running""")
QUESTIONS = """Tell me {q}|I want to know {q}|Can you tell me {q}?|Do you know {q}?|Could you tell me {q}?|Say {q}
Please tell me {q}|I would like to know {q}|Can you see {q}?|Let us see {q}|Show me {q}|{w}, tell me {q}|May I know {q}?
I have to know {q}|Can you look {q}?|Would you tell me {q}?|Do you see {q}?|I ask you {q}|{name} wants to know {q}"""
STATES = ["on", "off", "open", "closed", "shut"]


class Ways:
    """said: whole sentences; do, frames: for actions; asked, questions: for questions."""

    def __init__(self, said, do=None, frames="{c}", asked=None, questions="{q}"):
        self.said, self.do, self.asked = ({kind: talk.lines(text) for kind, text in (lists or {}).items()}
                                          for lists in (said, do, asked))
        self.frames, self.questions = talk.lines(frames), talk.lines(questions)

    def pattern(self, rng, kind):
        if kind in self.do and rng.random() < 0.65:
            return rng.choice(self.frames).replace("{c}", rng.choice(self.do[kind]))
        if kind in self.asked and rng.random() < 0.4:
            return rng.choice(self.questions).replace("{q}", rng.choice(self.asked[kind]))
        pattern = rng.choice(self.said[kind])
        return pattern.replace("{c}", rng.choice(self.do["switch"])) if "{c}" in pattern else pattern

    def ask(self, rng, kind, n="", v="", **more):
        """Draw one sentence, as people type it."""
        text = self.pattern(rng, kind)
        while "{w}" in text:
            text = text.replace("{w}", rng.choice(BECAUSE), 1)
        for gap, values in (("{s}", STATES), ("{name}", words.SHE + words.HE), ("{animal}", words.ANIMALS),
                            ("{thing}", words.THINGS), ("{dish}", words.DISHES)):
            while gap in text:
                text = text.replace(gap, rng.choice(values), 1)
        text = text.format(n=n, N=n.capitalize(), v=v, V=v.capitalize(), **more)
        text = text[0].upper() + text[1:] if rng.random() < 0.8 else text
        return rough(text if text[-1] in ".?!" else text + ".", rng)


BECAUSE = talk.lines(WHY)
LEARNED = Ways(SAID, DO, FRAMES, ASKED, QUESTIONS)
