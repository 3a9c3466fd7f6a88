"""The command line: the only room that parses arguments, prints and exits. One file a command."""
