"""The words of stories and questions. The project wrote every list."""

ANIMALS = """fox bear owl rabbit mouse cat dog hedgehog squirrel deer wolf frog duck goose hen
horse pony cow sheep goat pig donkey lion tiger elephant monkey giraffe zebra camel panda penguin
seal whale dolphin turtle snail bee ant spider butterfly beetle crow robin sparrow eagle parrot
swan otter beaver badger mole bat lizard snake crab fish octopus kitten puppy lamb hamster raccoon
koala kangaroo crocodile hippo""".split()

PEOPLE = """girl boy farmer baker sailor king queen princess prince knight wizard teacher painter
miller shepherd gardener giant dwarf witch pirate dragon robot ghost unicorn fairy carpenter
fisherman clown""".split()

# Stories about things differ: things have no names, and cannot walk away.
THINGS = """lamp kettle clock boat chair spoon bell box book pencil umbrella radio hat shoe basket
broom key mirror candle stone leaf kite drum flower chip pillow cup ball coat bucket hammer
suitcase camera blanket telephone flute bottle button map lantern plate scarf""".split()
LOOKS = "small little old plain red blue green round heavy yellow strange brown".split()

IRREGULAR = {"mouse": "mice", "goose": "geese", "wolf": "wolves", "sheep": "sheep", "fish": "fish",
             "deer": "deer", "butterfly": "butterflies", "pony": "ponies", "puppy": "puppies",
             "fairy": "fairies", "knight": "knights", "fisherman": "fishermen", "dwarf": "dwarves",
             "leaf": "leaves", "snowman": "snowmen"}

SHE = """Mia Anna Lucy Rosa Ella Nora Lily Ruby Ida Clara Emma Olga Tilda Wanda Greta Molly Daisy
Hanna Zoe Eva Lena Pia Sara Alma Frida Nelly""".split()
HE = """Tom Ben Max Leo Finn Oscar Hugo Paul Otto Sam Felix Emil Karl Milo Theo Jack Bruno Ted
Willy Nico Jonas Anton Pip Rufus Casper Gus""".split()

ADJECTIVES = """small young little old brave clever kind shy cheerful curious quiet gentle friendly
patient""".split()

# The preposition for somebody who lives there, and the place.
PLACES = [("in", "the forest"), ("by", "the river"), ("on", "a green hill"), ("near", "the sea"),
          ("in", "a small village"), ("at", "the edge of the wood"), ("under", "an old oak"),
          ("in", "a quiet valley"), ("on", "a little island"), ("behind", "the mill"),
          ("in", "the mountains"), ("beside", "a deep lake"), ("near", "the old castle"),
          ("on", "a farm"), ("in", "the garden"), ("in", "a big city"), ("near", "a tall tower"),
          ("in", "a warm desert"), ("beyond", "the meadow"), ("by", "the harbour")]

LOST = ["red ball", "silver key", "blue scarf", "wooden flute", "golden ring", "little drum",
        "green hat", "favourite book", "tin whistle", "warm blanket", "paper boat", "brass bell"]
SPOTS = ["under a pile of leaves", "behind a big stone", "in a hollow tree",
         "at the bottom of a basket", "in the tall grass", "between two roots", "beside the well",
         "on top of the fence"]
FOODS = ["apples", "bread", "honey", "soup", "berries", "cake", "nuts", "pancakes", "cheese",
         "pears"]
GIFTS = ["a basket of apples", "a warm coat", "a jar of honey", "a small lantern",
         "a bag of seeds", "a painted cup", "a soft cushion", "a wooden toy"]
TIMES = ["One morning", "One day", "One evening", "One cold day", "One summer day",
         "One windy day", "Early one morning", "One afternoon"]

COUNTRIES = """France Spain Italy Germany Japan China India Brazil Canada Egypt Kenya Norway Sweden
Poland Greece Turkey Peru Mexico Chile Australia Austria Finland England America Russia
Portugal""".split()
CITIES = """Paris London Rome Berlin Madrid Tokyo Cairo Oslo Vienna Moscow Delhi Lima Sydney Boston
Chicago Athens Dublin""".split() + ["New York"]
LANGUAGES = """French German Spanish Italian Latin Chinese Japanese Russian Polish Greek
Arabic""".split()
TOPICS = """gravity history music football chess physics magnets electricity money politics
religion philosophy algebra geometry volcanoes planets dinosaurs atoms oceans rockets satellites
bacteria taxes insurance gold steel oxygen photosynthesis democracy evolution poetry opera cricket
tennis engines""".split()
DISHES = ["pancakes", "soup", "bread", "pizza", "an omelette", "apple pie", "rice", "pasta",
          "a cake", "coffee", "tea"]
ILLS = ["a headache", "a fever", "a cough", "a sore throat", "stomach pain", "a cold",
        "back pain", "a rash", "toothache", "a broken arm", "high blood pressure"]
DAYS = ["today", "tomorrow", "this week", "tonight", "this weekend", "on Monday", "next week"]

ONSETS = "b d f g h k l m n p r s t v w z br cr dr fl gl gr pl st tr sh ch th".split()
VOWELS = "a e i o u ee oo ai ou ie".split()
CODAS = ["", "", "", "n", "r", "l", "t", "s", "k", "m", "x", "nd", "rt", "mp", "ll", "p", "g"]


def made_up(rng):
    """Make up a word that no list has, so that the model also learns to copy words of several tokens."""
    return "".join(rng.choice(ONSETS) + rng.choice(VOWELS) + rng.choice(CODAS)
                   for _ in range(rng.choice((1, 2, 2, 2, 3))))


def plural(kind):
    if kind in IRREGULAR:
        return IRREGULAR[kind]
    return kind + ("es" if kind.endswith(("s", "x", "ch", "sh")) else "s")


def article(word):
    return ("an " if word[0] in "aeiou" else "a ") + word
