"""Replaces the files of a folder in one step: whatever fails or is killed, readers see all old files or all new ones.

    pets/                                    the output folder
    ├── recordsmith.json, pets-train...      what is published there
    └── .recordsmith-making/                 the folder of the run that holds its lock: one run at a time
        ├── lock
        ├── shards/NAME                      every new file, whole, checked and synced, under its final name
        ├── commit.json                      {"new": {NAME: bytes}, "old": [NAME]}: what to move here, what to remove
        └── ...                              what a run keeps to be resumed (recordsmith.run.staging)

    the new files are written ────────► commit.json gets its name ────────► files are moved and removed ────► the folder
    the old dataset is in force               (the commit point)                the new one is in force       is removed

A failure before the commit point leaves the old files as they were. After it the switch is only ever finished, by the
next run on the folder before it does anything else (`complete`). Until then everyone who reads goes by commit.json: a
name in `new` is the file in shards/ or, once it was moved, the file in the output folder; a name in `old` is no file
any more (`in_force`, `files_in_force`). Reading never writes: the folder may be read-only. And commit.json may be
hostile: its names have to be plain names of files. Where there is one file to publish, its own rename is the commit
point.

The output may also be a file, or a file with others that belong to it (an export to data.csv has data.csv.schema.json,
or data-00000.csv and so on). Its folder is then .data.csv.recordsmith-making, next to it.
"""

from recordsmith.storage.publication.run import INDEX_FOLDER, Publication, complete, unfinished_run
from recordsmith.storage.publication.switch import (
    FOLDER,
    Switch,
    files_in_force,
    in_force,
    interrupted_folders,
    public_path,
    state_of,
    switch_in,
)

__all__ = [
    "FOLDER",
    "INDEX_FOLDER",
    "Publication",
    "Switch",
    "complete",
    "files_in_force",
    "in_force",
    "interrupted_folders",
    "public_path",
    "state_of",
    "switch_in",
    "unfinished_run",
]
