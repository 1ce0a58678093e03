"""Stories about things: things have no names, {n} is the child who owns the thing, {k} is the thing."""

OPENING = ["Once upon a time there was {adja} {k} {inp}, and it belonged to {gender} named {n}.",
           "There once was {a} {inp}, and it belonged to {gender} called {n}.",
           "{Inp} there was {adja} {k} that belonged to {gender} named {n}.",
           "Long ago, {inp}, {gender} named {n} had {adja} {k}."]

ENDING = ["And from that day on the {k} had the best place of all.",
          "{n} never forgot what the {k} had done.",
          "The {k} could not speak, but if it could, it would have said thank you.",
          "And if nobody has moved it, the {k} is still there today.",
          "That night {n} dreamed of the {k} and smiled."]

OLD = [
    ["It was not new any more, and the paint was coming off.",
     "It had scratches all over and looked rather plain.",
     "It was older than anyone could remember."],
    ["\"Nobody needs this old {k},\" people said.", "Visitors smiled when they saw the {k}.",
     "\"You should get a new one,\" said {fn}, a friend of {n}."],
    ["{time} {n} put it out by the gate, to be taken away.",
     "{time} it was carried up to the attic.",
     "{time} a shiny new one came, and the old one was put in a corner."],
    ["It stood there in the dust, and the days went by.",
     "There it was cold and dark, and nobody came.",
     "Rain fell and leaves fell, and nobody looked at it."],
    ["But the new one broke after a week.", "But with the new one it was not the same.",
     "But {n} could not sleep, because something was missing."],
    ["So {n} went out with a lantern to look for the old {k}.",
     "\"I made a mistake,\" said {n}, and {he} ran to fetch it.",
     "{n} remembered all the good years and brought it back."],
    ["{He} washed it and painted it blue, and it looked fine again.",
     "{fn} helped to clean it, and under the dust it was beautiful.",
     "{He} rubbed it with a cloth until it shone."]]

MENDED = [
    ["{n} used it every day.", "It was the first thing that {n} saw each morning.",
     "There was nothing that {n} liked better."],
    ["{time} it fell down and broke.", "{time} there was a loud crack, and it broke in two.",
     "{time} it would not work any more."],
    ["{n} was very sad and put the pieces in a box.",
     "{n} turned it around and around, but could not see what to do.",
     "\"Now it is gone,\" said {n}, and a tear ran down {his} face."],
    ["{fn} said that one should throw it away.",
     "In the shop they said that it could not be mended.", "Everyone said, \"Buy a new one.\""],
    ["But an old woman down the road still knew how to mend such things.",
     "But {n} asked {fn}, who was good with tools.",
     "But {n} found a book about how such things are made."],
    ["It took three days, a little glue and a lot of patience.",
     "They worked all afternoon with small screws and fine wire.",
     "The first try went wrong, and so did the second, but the third was good."],
    ["Now the {k} was as good as before, and one could hardly see the crack.",
     "The {k} was whole again, and {n} jumped for joy.",
     "When it was done, the {k} looked even better than before."]]

NIGHT = [
    ["It was small, and nobody thought much of it.",
     "Most of the time it only stood there and waited.", "{n} hardly noticed it any more."],
    ["{time} a great storm came, and all the lights went out.",
     "{time} thick snow fell, and the road was closed.",
     "{time} the water rose, and everyone had to run."],
    ["{n} was alone and did not know what to do.",
     "{n} called for help, but the wind was too loud.",
     "{n} was afraid, and {fn} was still outside."],
    ["Then {n} saw the {k} and had an idea.", "Then {n} thought of the {k}.",
     "Only the {k} was still in its place."],
    ["{He} carried it to the window, where everyone could see it.",
     "{He} held it up high and called as loud as {he} could.",
     "{He} took it along and went out into the night."],
    ["{fn} saw the {k} from far away and found the way.",
     "{fn} knew the {k} at once and came running.",
     "Because of it the neighbours knew where to look, and they came with a rope."],
    ["Soon all were safe by the fire and ate {food}.",
     "When the morning came, everybody was safe.",
     "They sat together until the sun came up, and the {k} stood in the middle."]]

JOURNEY = [
    ["It had always been in the same place.", "It had never seen anything but one small room.",
     "From its place it could see a bit of sky and nothing more."],
    ["{time} {n} went on a journey and took it along.",
     "{time} {n} gave it to {fn}, who was going far away.",
     "{time} it fell off a cart and rolled down the hill."],
    ["It saw the hills, the river and the great city.",
     "It went over a bridge, through a wood and across the sea.",
     "It passed from hand to hand and from town to town."],
    ["But one night it was lost in a crowd.", "But then it was forgotten on a bench in the rain.",
     "But in a strange town somebody put it in the wrong bag."],
    ["A kind stranger picked it up and saw the name that was written on it.",
     "A little girl found it and asked everyone whose it was.",
     "An old sailor found it and put it in his pocket."],
    ["A letter was sent, and then another, and then an answer came.",
     "It took many weeks and many friendly people.",
     "\"I know where this belongs,\" said the finder, and sent it on its way."],
    ["In spring the {k} was home again, and {n} could not believe it.",
     "And one morning the {k} lay at the door, wrapped in paper.",
     "When {n} saw the {k} again, {he} danced around the table."]]

PLOTS = [OLD, MENDED, NIGHT, JOURNEY]

SEQUEL = [
    ["The next day {n} showed the {k} to everyone.",
     "A week later {n} took the {k} along to school.",
     "The next morning {n} looked at the {k} for a long time."],
    ["\"May I hold it?\" asked {fn}.", "\"Tell us about it,\" said {fn}.",
     "{fn} wanted to know everything."],
    ["So {n} told the tale from the beginning.", "They sat down, ate {food} and talked about it.",
     "{n} laughed and let everyone touch it."],
    ["Then it went back to its place by the window.",
     "And nobody ever laughed about the {k} again.",
     "Since then {n} has always taken good care of it."]]
