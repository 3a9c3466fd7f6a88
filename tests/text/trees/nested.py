"""Random trees as nested tuples, and what is written of them by plain recursion: the slow twin."""

from itertools import cycle

from hypothesis import strategies as st

WORDS = st.sampled_from(["the", "dog", "U.K.", "a\u00a0b", "1\\/2", "-LRB-", "naïve", "%", "XX"])
TAGS = st.sampled_from(["DT", "NN", ".", ",", "``", "-LRB-", "PRP$", ":", "X-"])
LABELS = st.sampled_from(["S", "NP", "VP", "PRT|ADVP", "X", "-LRB-"])
FULL_LABELS = st.sampled_from(["S", "NP-SBJ-1", "NP=2", "VP", "PRT|ADVP", "ROOT", "TOP", "-X-"])


def nested_trees(labels=LABELS, tags=TAGS):
    """(label, [children]) with leaves (tag, word); a constituent has at least one child."""
    leaves = st.tuples(tags, WORDS)

    def wrap(children):
        return st.tuples(labels, st.lists(children, min_size=1, max_size=4))

    return wrap(st.recursive(leaves, lambda inner: leaves | wrap(inner), max_leaves=25))


def is_leaf(node):
    return isinstance(node[1], str)


def brackets(node):
    """One line, as EVALB reads it."""
    label, inside = node
    return f"({label} {inside if is_leaf(node) else ' '.join(map(brackets, inside))})"


def leaves(node):
    return [node] if is_leaf(node) else [leaf for child in node[1] for leaf in leaves(child)]


def linearised(node, form, numbers=None):
    """The symbols of a node by the definition."""
    label, inside = node
    numbers = cycle(range(1, 65)) if numbers is None else numbers
    if is_leaf(node):
        return [{"xx": "XX", "numbered": f"XX{next(numbers)}"}.get(form, label)]
    middle = [symbol for child in inside for symbol in linearised(child, form, numbers)]
    opening, closing = (label, f"/{label}") if form == "t2t" else (f"({label}", f"){label}")
    return [opening, *middle, closing]


def is_well_formed(symbols, form, words):
    """Whether symbols of the labels S and NP are one tree over the words, without any repair."""
    opening, closing = ("", "/") if form == "t2t" else ("(", ")")
    open_labels, sizes, count = list[str](), list[int](), 0
    for index, symbol in enumerate(symbols):
        label = symbol.removeprefix(closing)
        if index and not open_labels:
            return False  # the tree has ended
        if symbol in (f"{opening}S", f"{opening}NP"):
            open_labels.append(symbol.removeprefix(opening))
            sizes.append(count)
        elif symbol in (f"{closing}S", f"{closing}NP"):
            if not open_labels or open_labels.pop() != label or sizes.pop() == count:
                return False
        else:
            expected = {"xx": "XX", "numbered": f"XX{count % 64 + 1}"}.get(form, symbol)
            count += 1
            if not open_labels or symbol != expected:
                return False
    return not open_labels and count == len(words)


def constituents(node, start=0):
    """(label, start, end) in the order of the opening brackets."""
    if is_leaf(node):
        return []
    found, position = [], start
    for child in node[1]:
        found += constituents(child, position)
        position += len(leaves(child))
    return [(node[0], start, position), *found]
