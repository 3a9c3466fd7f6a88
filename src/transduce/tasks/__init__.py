"""The stations joined: what a command does, without its arguments and its printing."""
