"""`rs.lint`: what is wrong with code that makes or reads TFRecords, found by reading it. Nothing is executed.

source_files   text, tree, cells of notebooks, places
interpreter    follows a module symbolically: statements, expressions, calls, scope, dataset_sources, dataset_methods
values         what it knows about values; pipelines: what it knows about datasets
program        all of that, as the subject of the rules
rules/         one documented rule each, by subject
edits, fixing  corrected code
"""
