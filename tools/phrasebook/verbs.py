"""The table of verbs: English and German forms, and the kinds of nouns that fit each."""

from tools.phrasebook.conjugation import english, german, verb
from tools.phrasebook.words import EnglishVerb, Forms, Verb

LIVELY = "quickly slowly"
GOODS = "clothes print small vessel furniture vehicle device"
TRIP = "station lake market park town village forest cinema restaurant library hospital shop"


SEIN = german(
    "sein bist ist gewesen sein", present="bin bist ist sind", preterite="war warst war waren"
)
HABEN = german("haben hast hat gehabt", preterite="hatte hattest hatte hatten")
WISSEN = german(
    "wissen weißt weiß gewusst",
    present="weiß weißt weiß wissen",
    preterite="wusste wusstest wusste wussten",
)
MAG = german(
    "mögen magst mag gemocht",
    present="mag magst mag mögen",
    preterite="mochte mochtest mochte mochten",
)
IS: Forms = ("am", "are", "is", "are")
WAS: Forms = ("was", "were", "was", "were")

BE = Verb(EnglishVerb("be", IS, WAS, auxiliary=True), SEIN, "")
THERE_IS = Verb(EnglishVerb("be", IS, WAS, auxiliary=True), SEIN, "", traits=frozenset(["there"]))
COST = verb("cost cost", "kosten kostest kostet gekostet", GOODS, traits="state")
RAIN = verb("rain rained", "regnen regnest regnet geregnet", "")
RAINING = Verb(EnglishVerb("be", IS, WAS, "raining", auxiliary=True), RAIN.german, "")
SHINE = verb("shine shone", "scheinen scheinst scheint geschienen", "sun")
HAVE = Verb(
    EnglishVerb("have", ("have", "have", "has", "have"), ("had",) * 4),
    HABEN,
    "person",
    what="pet horse brother sister uncle aunt friend car bicycle key umbrella computer radio "
    "question time money garden",
    traits=frozenset(["state", "owner"]),
)
KNOW_THAT = Verb(english("know knew"), WISSEN, "person")
THINK = verb("think thought", "glauben glaubst glaubt geglaubt", "person")
HOPE = verb("hope hoped", "hoffen hoffst hofft gehofft", "person")
SAY = verb("say said", "sagen sagst sagt gesagt", "person")
TRY = verb("try tried", "versuchen versuchst versucht versucht", "person")
FORGET_TO = verb("forget forgot", "vergessen vergisst vergisst vergessen", "person")

INTRANSITIVE = (  # verbs without an object
    verb("sleep slept", "schlafen schläfst schläft geschlafen", "person animal",
         where="room house garden bed", how="well alone"),
    verb("work worked", "arbeiten arbeitest arbeitet gearbeitet", "adult brother sister friend",
         where="office shop hospital garden kitchen restaurant library school station",
         how=f"{LIVELY} well alone together with", traits="long"),
    verb("dance danced", "tanzen tanzt tanzt getanzt", "person",
         where="kitchen garden park restaurant street", how="well alone together with"),
    verb("sing sang", "singen singst singt gesungen", "person",
         where="kitchen garden park street school", how="quietly well together with"),
    verb("swim swam", "schwimmen schwimmst schwimmt geschwommen sein", "person dog",
         where="lake", how="alone together quickly slowly with", traits="long"),
    verb("wait waited", "warten wartest wartet gewartet", "person",
         where="station park street front", how="quietly alone together with"),
)  # fmt: skip
RISING = (  # verbs without an object, often at a certain hour
    verb("get got up", "auf|stehen stehst steht aufgestanden sein", "person"),
    verb("fall fell asleep", "ein|schlafen schläfst schläft eingeschlafen sein", "person animal",
         traits="unwilled"),
    verb("arrive arrived", "an|kommen kommst kommt angekommen sein", "person bus train",
         where="station", traits="long"),
    verb("leave left", "ab|fahren fährst fährt abgefahren sein", "bus train"),
    verb("come came back", "zurück|kommen kommst kommt zurückgekommen sein", "person pet",
         traits="long"),
    verb("begin began", "an|fangen fängst fängt angefangen", "event", traits="long"),
    verb("rest rested", "sich aus|ruhen ruhst ruht ausgeruht", "person", where="garden room park",
         traits="long"),
    verb("sit sat down", "sich hin|setzen setzt setzt hingesetzt", "person"),
)  # fmt: skip
RESTING = (  # verbs with a place
    verb("live lived", "wohnen wohnst wohnt gewohnt", "person",
         where="town village house", traits="placed state"),
    verb("stay stayed", "bleiben bleibst bleibt geblieben sein", "person",
         where="house room garden town village hospital kitchen school office", how="alone",
         traits="placed"),
    verb("sit sat", "sitzen sitzt sitzt gesessen", "person pet",
         where="seat underneath garden kitchen room park beside front", how="quietly alone",
         traits="placed"),
    verb("stand stood", "stehen stehst steht gestanden", "person horse",
         where="front behind beside garden street", how="quietly alone together", traits="placed"),
    verb("lie lay", "liegen liegst liegt gelegen", "flat pet",
         where="surface underneath beside inside", traits="placed"),
)  # fmt: skip
MOVING = (  # verbs with a direction
    verb("go went", "gehen gehst geht gegangen sein", "person",
         where=f"kitchen garden school office {TRIP} doctor aunt uncle neighbour",
         how="alone together quickly slowly with", traits="placed goal"),
    verb("travel travelled", "fahren fährst fährt gefahren sein", "person",
         where="station lake market town village cinema hospital aunt uncle friend",
         how="bus train car bicycle alone together with", traits="placed goal long"),
)  # fmt: skip
DOING = (  # verbs with a direct object
    verb("eat ate", "essen isst isst gegessen", "person animal", what="food",
         where="kitchen garden restaurant park", how=f"{LIVELY} with",
         traits="hungry"),
    verb("drink drank", "trinken trinkst trinkt getrunken", "person", what="drink",
         where="kitchen garden restaurant office room", how=f"{LIVELY} with", traits="thirsty"),
    verb("buy bought", "kaufen kaufst kauft gekauft", "person", what=f"food drink flower {GOODS}",
         where="shop market town", how="for with", traits="long"),
    verb("sell sold", "verkaufen verkaufst verkauft verkauft", "person",
         what=f"food flower horse house {GOODS}", where="market town", traits="long"),
    verb("read read", "lesen liest liest gelesen", "person", what="print story",
         where="garden library room park kitchen office train bed", how=f"{LIVELY} alone"),
    verb("write wrote", "schreiben schreibst schreibt geschrieben", "person",
         what="letter book story song", where="room garden office library kitchen",
         how=f"{LIVELY} alone"),
    verb("see saw", "sehen siehst sieht gesehen", "person",
         what="person animal vehicle carrier tree house picture film lake",
         where="garden street park town forest", traits="seen"),
    verb("find found", "finden findest findet gefunden", "person",
         what="small clothes pet print", where="kitchen garden street park surface underneath",
         traits="unwilled seen"),
    verb("lose lost", "verlieren verlierst verliert verloren", "person",
         what="key bag umbrella letter hat book money knife",
         where="park street station town forest", traits="unwilled"),
    verb("look looked for", "suchen suchst sucht gesucht", "person",
         what="small clothes person pet book", where="kitchen garden house underneath room park"),
    verb("look looked at", "an|sehen siehst sieht angesehen", "person",
         what="picture house flower dress car horse tree person", how="quietly together",
         traits="sure"),
    verb("visit visited", "besuchen besuchst besucht besucht", "person",
         what="person town village school", how="with together", traits="long sure"),
    verb("invite invited", "ein|laden lädst lädt eingeladen", "person", what="person",
         traits="sure"),
    verb("call called", "an|rufen rufst ruft angerufen", "person", what="person", traits="sure"),
    verb("pick picked up", "ab|holen holst holt abgeholt", "person", what="person",
         where="station school", traits="sure parting", how="car with"),
    verb("meet met", "treffen triffst trifft getroffen", "person", what="person",
         where="park station cinema restaurant library market street front", traits="long"),
    verb("open opened", "auf|machen machst macht aufgemacht", "person",
         what="door window bottle letter cupboard bag", how=f"{LIVELY} quietly"),
    verb("close closed", "zu|machen machst macht zugemacht", "person",
         what="door window cupboard bag bottle", how=f"{LIVELY} quietly"),
    verb("turn turned on", "ein|schalten schaltest schaltet eingeschaltet", "person",
         what="switched", traits="sure"),
    verb("turn turned off", "aus|schalten schaltest schaltet ausgeschaltet", "person",
         what="switched", traits="sure"),
    verb("put put on", "an|ziehen ziehst zieht angezogen", "person", what="clothes",
         how=LIVELY, traits="worn"),
    verb("take took off", "aus|ziehen ziehst zieht ausgezogen", "person", what="clothes",
         how=LIVELY, traits="worn"),
    verb("wear wore", "tragen trägst trägt getragen", "person", what="clothes", traits="worn"),
    verb("wash washed", "waschen wäschst wäscht gewaschen", "person",
         what="clothes car bicycle horse dog potato apple carrot window", how=f"{LIVELY} with"),
    verb("tidy tidied up", "auf|räumen räumst räumt aufgeräumt", "person",
         what="room cupboard house garden", how=f"{LIVELY} alone together with", traits="sure"),
    verb("repair repaired", "reparieren reparierst repariert repariert", "person",
         what="vehicle device furniture opening bus", how=f"{LIVELY} alone together for with"),
    verb("forget forgot", "vergessen vergisst vergisst vergessen", "person",
         what="key bag umbrella name question birthday letter song story", traits="unwilled sure"),
    verb("cook cooked", "kochen kochst kocht gekocht", "person", what="boiled",
         how="for with together", where="kitchen", traits="hungry"),
    verb("understand understood", "verstehen verstehst versteht verstanden", "person",
         what="question story letter film song person book name", how="well", traits="sure"),
    verb("throw threw away", "weg|werfen wirfst wirft weggeworfen", "person",
         what="newspaper letter apple bottle shoes hat bread cheese umbrella cup"),
)  # fmt: skip
STATES = (  # verbs with a direct object but without an hour
    Verb(english("know knew"), german("kennen kennst kennt gekannt"), "person",
         what="person song story town village film book name", traits=frozenset(["state", "sure"])),
    verb("need needed", "brauchen brauchst braucht gebraucht", "person",
         what="coat umbrella key lamp table chair bed knife money time car bicycle doctor "
         "jacket computer trousers", traits="state owner"),
    Verb(english("like liked"), MAG, "person", what="person animal food drink",
         traits=frozenset(["state", "general"])),
    HAVE,
)  # fmt: skip
PLEASING = verb(  # the thing liked is the German subject: das Kleid gefällt mir
    "like liked", "gefallen gefällst gefällt gefallen", "person",
    what="clothes picture song story film house garden flower town village car",
    traits="state swapped",
)  # fmt: skip
PUTTING = (
    verb("put put", "legen legst legt gelegt", "person", what="flat",
         where="surface underneath beside inside", traits="placed goal"),
    verb("put put", "stellen stellst stellt gestellt", "person", what="upright",
         where="surface underneath beside", traits="placed goal"),
)  # fmt: skip
GIVING = (
    verb("give gave", "geben gibst gibt gegeben", "person",
         what="small print food flower clothes vessel money", whom="person"),
    verb("show showed", "zeigen zeigst zeigt gezeigt", "person",
         what="picture letter house garden dress room book bicycle car dog horse",
         whom="person"),
    verb("bring brought", "bringen bringst bringt gebracht", "person",
         what="food drink vessel flower newspaper umbrella chair bag", whom="person"),
    verb("tell told", "erzählen erzählst erzählt erzählt", "person", what="story", whom="person"),
)  # fmt: skip
HELPING = (  # verbs whose only object is dative
    verb("help helped", "helfen hilfst hilft geholfen", "person", whom="person",
         where="kitchen garden office"),
    verb("thank thanked", "danken dankst dankt gedankt", "person", whom="person"),
)  # fmt: skip
BELONG = verb(
    "belong belonged to", "gehören gehörst gehört gehört", f"{GOODS} animal house garden",
    whom="person", traits="state",
)  # fmt: skip
ALL_VERBS = (
    *INTRANSITIVE, *RISING, *RESTING, *MOVING, *DOING, *STATES, *PUTTING, *GIVING, *HELPING,
    PLEASING, BELONG, BE, COST, RAIN, SHINE, KNOW_THAT, THINK, HOPE, SAY, TRY, FORGET_TO,
)  # fmt: skip
