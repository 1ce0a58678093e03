"""Sums of two numbers up to twenty, counting, and what comes next."""

ASK = ["What is {a} plus {b}?", "What is {a} + {b}?", "How much is {a} and {b}?", "{a} + {b}",
       "{a}+{b}", "{a} + {b} = ?", "Add {a} and {b}.", "What is the sum of {a} and {b}?",
       "{a} plus {b}", "How much is {a} + {b}?", "Can you add {a} and {b}?",
       "Calculate {a} + {b}.", "{a}+{b}=", "What do {a} and {b} make?", "And {a} plus {b}?",
       "Tell me what {a} + {b} is.", "I have {a} {food} and get {b} more. How many do I have?",
       "What is {a}+{b}?", "{a} and {b}?", "Do you know what {a} plus {b} is?", "Now {a} + {b}",
       "what's {a} plus {b}?", "{a} + {b}?",
       "{Name} has {a} {food} and finds {b} more. How many are there?",
       "And what is {a} and {b}?", "What does {a} plus {b} make?", "{a} plus {b} equals?",
       "{a} and {b} is?", "What does {a} + {b} equal?", "What is {a} added to {b}?",
       "If I have {a} {food} and you give me {b}, how many do I have?", "sum {a} {b}",
       "Can you work out {a} + {b}?", "How many are {a} and {b}?",
       "{a} {food} and {b} {food} are how many?"]
SAY = ["{a} plus {b} is {c}.", "{a} + {b} = {c}.", "{a} and {b} make {c}."]
FOODS = ["apples", "nuts", "pears", "eggs", "coins", "stones", "books", "cups", "stars", "shells"]
NUMBERS = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
fifteen sixteen seventeen eighteen nineteen twenty""".split()


def addition(rng, names):
    """(prompt, reply, right sum)"""
    a, b = rng.randint(0, 20), rng.randint(0, 20)
    spell = rng.random() < 0.12
    word = NUMBERS.__getitem__ if spell else str
    form = rng.choice([f for f in ASK if "+" not in f] if spell else ASK)
    prompt = form.format(a=word(a), b=word(b), food=rng.choice(FOODS), Name=rng.choice(names))
    reply = rng.choice(SAY).format(a=a, b=b, c=a + b)
    return prompt, reply, a + b


def counting(rng):
    """Return (prompt, reply): count to a number, say the next number, or say which of two is larger."""
    kind = rng.random()
    n = rng.randint(2, 20)
    if kind < 0.5:
        form = rng.choice(("Count to {}.", "Can you count to {}?", "Count up to {}",
                           "count from 1 to {}", "Please count to {}.", "How do you count to {}?"))
        return (form.format(n if rng.random() < 0.7 else NUMBERS[n]),
                ", ".join(str(i) for i in range(1, n + 1)) + ".")
    if kind < 0.75:
        form = rng.choice(("What comes after {}?", "Which number comes after {}?",
                           "What is the next number after {}?"))
        return form.format(n), f"After {n} comes {n + 1}."
    a, b = rng.sample(range(21), 2)
    form = rng.choice(("Which is more, {} or {}?", "Which number is larger, {} or {}?",
                       "What is bigger, {} or {}?", "Is {} more than {}?"))
    return form.format(a, b), f"{max(a, b)} is more than {min(a, b)}."
