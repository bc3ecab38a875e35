"""Where tables live: catalogue, files, publication, lock."""
