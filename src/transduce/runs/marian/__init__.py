"""Import of Hugging Face Marian checkpoints: configuration, vocabularies, weights."""
