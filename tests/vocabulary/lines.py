"""Text to learn from."""

LINES = [
    "The old dog sleeps under the table.",
    "Der alte Hund schläft unter dem Tisch.",
    "The dogs run, the dog runs, a doggy barks.",
    "Die Hunde rennen, der Hund rennt, ein Hündchen bellt.",
    "</s> is the end of a sentence, <s> is its begin. </s> </s> <s> <s>",
    "Unter dem alten Tisch schlafen die alten Hunde.",
] * 3
