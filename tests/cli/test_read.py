"""`transduce read` as a user calls it."""


def test_the_command_wants_a_page(call):
    assert "-o edition.html" in call("read").stderr
    assert call("read", "-o", "a.txt").code == 2
