"""Public parallel corpora: what is known of them, and how they are downloaded and unpacked."""
