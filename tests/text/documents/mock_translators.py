"""Translators that tests can follow: the same text again, or the same text in other letters."""

from transduce.text.documents.document import Document, Joined


def repeat(document: Document) -> Joined:
    """Return the document with each sentence as its own translation."""
    return document.join(document.sentences, [])


def swap_case(document: Document) -> Joined:
    """Return the document with each sentence in swapped case, linked word by word."""
    links = [[(n, n) for n in range(len(one.split()))] for one in document.sentences]
    return document.join([one.swapcase() for one in document.sentences], links)
