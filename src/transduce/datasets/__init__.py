"""Public parallel corpora: their descriptions, and how they are downloaded and unpacked."""
