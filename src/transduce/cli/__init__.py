"""The command line, the only package that parses arguments, prints and exits; a file a command."""
