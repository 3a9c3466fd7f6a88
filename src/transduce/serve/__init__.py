"""A translation server: HTTP in front, searches that requests join in processes behind."""
