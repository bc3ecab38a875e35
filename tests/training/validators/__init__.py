"""What trainers document of the files they take, as checks that tell what is wrong: a generator of faults for a record or a file.

Written from each trainer's own pages and sharing nothing with the export they judge.
"""
