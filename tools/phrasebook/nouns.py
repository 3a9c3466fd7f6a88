"""The table of nouns: English singular and plural, German, gender, plural, kinds."""

from functools import cache

from tools.phrasebook.words import Gender, Noun

M, F, N = Gender.MASCULINE, Gender.FEMININE, Gender.NEUTER

Row = tuple[str, str, str, Gender, str, str]

PEOPLE: tuple[Row, ...] = (
    ("man", "men", "Mann", M, "Männer", "person adult he free"),
    ("woman", "women", "Frau", F, "Frauen", "person adult she free"),
    ("boy", "boys", "Junge", M, "Jungen", "person he weak free"),
    ("girl", "girls", "Mädchen", N, "Mädchen", "person free"),
    ("child", "children", "Kind", N, "Kinder", "person"),
    ("brother", "brothers", "Bruder", M, "Brüder", "person kin owned he"),
    ("sister", "sisters", "Schwester", F, "Schwestern", "person kin owned she"),
    ("mother", "", "Mutter", F, "", "person kin owned adult she"),
    ("father", "", "Vater", M, "", "person kin owned adult he"),
    ("uncle", "uncles", "Onkel", M, "Onkel", "person kin owned adult he"),
    ("aunt", "aunts", "Tante", F, "Tanten", "person kin owned adult she"),
    ("", "parents", "", M, "Eltern", "person kin owned adult"),
    ("friend", "friends", "Freund", M, "Freunde", "person owned he"),
    ("neighbour", "neighbours", "Nachbar", M, "Nachbarn", "person adult he weak"),
    ("student", "students", "Student", M, "Studenten", "person adult he weak profession"),
    ("teacher", "teachers", "Lehrer", M, "Lehrer", "person adult he profession"),
    ("doctor", "doctors", "Arzt", M, "Ärzte", "person adult he profession"),
    ("guest", "guests", "Gast", M, "Gäste", "person adult he"),
)
LADIES: tuple[Row, ...] = (  # German feminine forms of professions with the same English word
    ("student", "", "Studentin", F, "", "profession"),
    ("teacher", "", "Lehrerin", F, "", "profession"),
    ("doctor", "", "Ärztin", F, "", "profession"),
)
ANIMALS: tuple[Row, ...] = (
    ("dog", "dogs", "Hund", M, "Hunde", "animal pet"),
    ("cat", "cats", "Katze", F, "Katzen", "animal pet"),
    ("horse", "horses", "Pferd", N, "Pferde", "animal"),
)
FOOD: tuple[Row, ...] = (
    ("apple", "apples", "Apfel", M, "Äpfel", "food"),
    ("pear", "pears", "Birne", F, "Birnen", "food"),
    ("egg", "eggs", "Ei", N, "Eier", "food boiled"),
    ("cake", "cakes", "Kuchen", M, "Kuchen", "food"),
    ("potato", "potatoes", "Kartoffel", F, "Kartoffeln", "food boiled"),
    ("carrot", "carrots", "Karotte", F, "Karotten", "food boiled"),
    ("bread", "", "Brot", N, "", "food mass"),
    ("cheese", "", "Käse", M, "", "food mass"),
    ("meat", "", "Fleisch", N, "", "food boiled mass"),
    ("soup", "", "Suppe", F, "", "food boiled mass"),
    ("chocolate", "", "Schokolade", F, "", "food mass"),
    ("coffee", "", "Kaffee", M, "", "drink mass"),
    ("tea", "", "Tee", M, "", "drink mass"),
    ("milk", "", "Milch", F, "", "drink mass"),
    ("water", "", "Wasser", N, "", "drink mass"),
    ("juice", "", "Saft", M, "", "drink mass"),
)
CLOTHES: tuple[Row, ...] = (
    ("shirt", "shirts", "Hemd", N, "Hemden", "clothes coloured flat"),
    ("dress", "dresses", "Kleid", N, "Kleider", "clothes coloured flat"),
    ("coat", "coats", "Mantel", M, "Mäntel", "clothes coloured flat"),
    ("jacket", "jackets", "Jacke", F, "Jacken", "clothes coloured flat"),
    ("hat", "hats", "Hut", M, "Hüte", "clothes coloured flat"),
    ("", "shoes", "Schuh", M, "Schuhe", "clothes coloured"),
    ("trousers", "", "Hose", F, "", "clothes coloured pair"),
)
THINGS: tuple[Row, ...] = (
    ("book", "books", "Buch", N, "Bücher", "print small flat"),
    ("letter", "letters", "Brief", M, "Briefe", "print small flat"),
    ("newspaper", "newspapers", "Zeitung", F, "Zeitungen", "print small flat"),
    ("cup", "cups", "Tasse", F, "Tassen", "vessel upright coloured"),
    ("glass", "glasses", "Glas", N, "Gläser", "vessel upright"),
    ("bottle", "bottles", "Flasche", F, "Flaschen", "vessel upright coloured"),
    ("key", "keys", "Schlüssel", M, "Schlüssel", "small flat"),
    ("knife", "knives", "Messer", N, "Messer", "small flat"),
    ("bag", "bags", "Tasche", F, "Taschen", "small coloured"),
    ("umbrella", "umbrellas", "Regenschirm", M, "Regenschirme", "small coloured"),
    ("picture", "pictures", "Bild", N, "Bilder", "small"),
    ("flower", "flowers", "Blume", F, "Blumen", "coloured plant"),
    ("lamp", "lamps", "Lampe", F, "Lampen", "device upright coloured switched"),
    ("computer", "computers", "Computer", M, "Computer", "device switched"),
    ("radio", "radios", "Radio", N, "Radios", "device switched"),
    ("table", "tables", "Tisch", M, "Tische", "furniture coloured"),
    ("chair", "chairs", "Stuhl", M, "Stühle", "furniture coloured"),
    ("bed", "", "Bett", N, "", "furniture"),
    ("cupboard", "cupboards", "Schrank", M, "Schränke", "furniture coloured"),
    ("car", "cars", "Auto", N, "Autos", "vehicle coloured"),
    ("bicycle", "bicycles", "Fahrrad", N, "Fahrräder", "vehicle coloured"),
    ("bus", "", "Bus", M, "", "public carrier coloured"),
    ("train", "", "Zug", M, "", "public carrier"),
    ("door", "doors", "Tür", F, "Türen", "opening coloured"),
    ("window", "windows", "Fenster", N, "Fenster", "opening"),
    ("tree", "", "Baum", M, "", "plant"),
)
PLACES: tuple[Row, ...] = (
    ("house", "", "Haus", N, "", "building coloured"),
    ("kitchen", "", "Küche", F, "", "space room"),
    ("room", "", "Zimmer", N, "", "space room"),
    ("garden", "", "Garten", M, "", "space"),
    ("office", "", "Büro", N, "", "space room"),
    ("school", "", "Schule", F, "", "building"),
    ("restaurant", "", "Restaurant", N, "", "building"),
    ("library", "", "Bibliothek", F, "", "building public"),
    ("cinema", "", "Kino", N, "", "building public"),
    ("hospital", "", "Krankenhaus", N, "", "building public"),
    ("shop", "", "Laden", M, "", "building"),
    ("station", "", "Bahnhof", M, "", "building public"),
    ("market", "", "Markt", M, "", "public"),
    ("street", "", "Straße", F, "", "public"),
    ("park", "", "Park", M, "", "public"),
    ("town", "", "Stadt", F, "", ""),
    ("village", "", "Dorf", N, "", ""),
    ("forest", "", "Wald", M, "", "public"),
    ("lake", "", "See", M, "", "public water_place"),
)
OTHERS: tuple[Row, ...] = (
    ("song", "songs", "Lied", N, "Lieder", "work"),
    ("story", "stories", "Geschichte", F, "Geschichten", "work"),
    ("film", "", "Film", M, "", "work event"),
    ("lesson", "", "Unterricht", M, "", "event"),
    ("question", "", "Frage", F, "", ""),
    ("name", "", "Name", M, "Namen", "owned weak"),
    ("time", "", "Zeit", F, "", "mass"),
    ("money", "", "Geld", N, "", "mass"),
    ("birthday", "", "Geburtstag", M, "", "owned"),
    ("sun", "", "Sonne", F, "", ""),
)
# Compounds: the first half in English and German, and the nouns that can be the second half.
COMPOUNDS: tuple[tuple[str, str, str], ...] = (
    ("coffee", "Kaffee", "cup"),
    ("tea", "Tee", "cup glass"),
    ("water", "Wasser", "glass bottle"),
    ("milk", "Milch", "glass bottle"),
    ("juice", "Saft", "glass bottle"),
    ("apple", "Apfel", "cake juice tree"),
    ("pear", "Birnen", "cake juice tree"),
    ("chocolate", "Schokoladen", "cake"),
    ("cheese", "Käse", "cake knife"),
    ("bread", "Brot", "knife"),
    ("potato", "Kartoffel", "soup"),
    ("carrot", "Karotten", "soup cake juice"),
    ("kitchen", "Küchen", "table chair cupboard door window lamp knife"),
    ("garden", "Garten", "table chair"),
    ("school", "Schul", "bag book bus"),
    ("summer", "Sommer", "dress jacket coat shoes hat"),
    ("winter", "Winter", "coat jacket shoes hat"),
)


def noun(row: Row) -> Noun:
    """Build a Noun from a row of the tables."""
    english, plural, german, gender, german_plural, kinds = row
    name = english or plural
    tags = frozenset((*kinds.split(), name))
    return Noun(english, plural, german, gender, german_plural, tags, name)


NOUNS = tuple(map(noun, PEOPLE + ANIMALS + FOOD + CLOTHES + THINGS + PLACES + OTHERS))
NOUN = {entry.name: entry for entry in NOUNS}
LADY = {entry.name: entry for entry in map(noun, LADIES)}


def compound(first: str, german: str, head: Noun) -> Noun:
    """Build a compound noun such as coffee cup (Kaffeetasse), declined like its last word."""
    return Noun(
        english=f"{first} {head.english}" if head.english else "",
        plural=f"{first} {head.plural}" if head.plural else "",
        german=german + head.german.lower(),
        gender=head.gender,
        german_plural=german + head.german_plural.lower() if head.german_plural else "",
        kinds=head.kinds,
        name=head.name,
        first=first,
    )


@cache
def compounds_of(head: Noun) -> tuple[Noun, ...]:
    """Return the compounds whose last word is this noun."""
    return tuple(
        compound(first, german, head)
        for first, german, heads in COMPOUNDS
        if head.name in heads.split()
    )


@cache
def nouns_of(kinds: str) -> tuple[Noun, ...]:
    """Return the nouns of any of these kinds; each noun's own name is also a kind."""
    wanted = frozenset(kinds.split())
    return tuple(entry for entry in NOUNS if wanted & entry.kinds)
