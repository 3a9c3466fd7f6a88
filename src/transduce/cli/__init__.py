"""The command line, one file per command; no other package parses arguments, prints or exits."""
