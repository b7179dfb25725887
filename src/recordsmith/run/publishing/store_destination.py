"""A remote folder that is written by machines which share nothing but object storage.

Shards are uploaded by those who write them, to the version that run.json names. Whoever ends the run adds the manifest
and the other small files, and puts the version in force. Nothing is needed of the machine on which a run was begun.
"""

from __future__ import annotations

import os
from dataclasses import replace

from recordsmith.dataset.descriptions.manifest import MANIFEST_NAME, Manifest, load_manifest
from recordsmith.errors import RecordsmithError, advise, list_names
from recordsmith.run.progress import OnProgress
from recordsmith.run.publishing.remote_destination import RemoteDestination, counted
from recordsmith.run.staging.run_in_store import RunInStore
from recordsmith.storage.objects import Published, child_url, open_folder, read_published
from recordsmith.storage.objects.folder_upload import FolderUpload, remove_version
from recordsmith.storage.objects.versions import PublishedFile
from recordsmith.storage.publication import FOLDER, INDEX_FOLDER, files_in_force, unfinished_run

__all__ = ["StoreDestination"]


class StoreDestination(RemoteDestination):
    """The URL of a folder.

    Args:
        store: the remote folders.
        home: a local folder of this process.
        overwrite: what is there may be replaced.
        allow_race: also write to an output that has no conditional writes.
        resume: continue what an interrupted run left.
        in_parts: several processes do the same run, and this is one of them.
    """

    def __init__(
        self, store: RunInStore, home: str, *, overwrite: bool, allow_race: bool, resume: bool, in_parts: bool
    ) -> None:
        super().__init__(store.output, home, overwrite=overwrite, allow_race=allow_race)
        self.store: RunInStore = store
        self._resume = resume
        self._in_parts = in_parts
        self._folder = open_folder(store.output)
        self._in_force: Published | None = None
        self._is_done = self._is_sending = False

    def shown(self, path: str) -> str:
        """Return how a path is shown; files that only this process sees are not."""
        hidden = path.startswith(os.path.join(self.path, FOLDER)) or not path.startswith(self.path)
        return self.place if path.startswith(self._home) and hidden else super().shown(path)

    def begin(self) -> None:
        """Look at what is there: an unfinished run, a finished one, or files of others."""
        self._clear()
        begun = self.store.begun()
        now = self._in_force = read_published(self._folder)
        if begun is not None and now is not None and now.folder == begun.version:
            if self._resume or (self._in_parts and not self._overwrite):
                self._is_done = True
            else:
                self.store.clear()  # of a run that was killed when it had published everything
                begun = None
        if now is not None and not self._overwrite and (self._resume or self._in_parts):
            self._is_done = True
        if self._is_done and now is not None:
            self._fetch_manifest(now)
            return
        if begun is not None and not (self._resume or self._in_parts or self._overwrite):
            raise unfinished_run(self.place)
        if not self._overwrite and (begun is None or now is not None):
            self._refuse_existing(now)

    def publish(self, on_progress: OnProgress | None = None) -> None:
        """Add the small files to the shards, put the version in force, and remove what the machines shared."""
        self._is_sending = True
        begun, before = self.store.begun(), self._in_force
        if self._is_done:
            if begun is not None and before is not None and before.folder == begun.version:
                if before.replaced:
                    remove_version(self._folder, before.replaced)
                self._clear_remote(begun.version)
            elif begun is not None:  # the dataset was published by another run with the same plan
                self.store.give_up()
            return
        if begun is None:
            raise RecordsmithError(
                "Another process has finished or removed this run in the meantime.",
                path=self.place,
                advice="Check the output. If it is not complete, start the run again.",
            )
        files = files_in_force(self.path)
        manifest = load_manifest(os.path.join(self.path, MANIFEST_NAME))
        upload = FolderUpload(self._folder, os.path.join(self._home, "upload.json"), allow_race=self._allow_race)
        upload.continue_version(
            begun.version, before, replacing=self._overwrite, is_conditional=self.store.is_one_bucket
        )
        advance = counted(on_progress, sum(map(os.path.getsize, files.values())))
        sent = upload.send(files, (), before or Published(), advance)
        every = {**sent.files, **_shards(manifest)}
        others = self._checked(begun.version, every)
        upload.commit(replace(sent, files=every, document=manifest.document))
        self._folder.delete(others)
        self._clear_remote(begun.version)

    def end(self, error: BaseException | None) -> None:
        """Remove the local folder; what is in the store stays, for whoever continues."""
        if error is not None and self._is_sending:
            error.add_note(advise("Finished work is kept. Continue the upload with {resume}.", resume=True))
        super().end(error)

    def _clear_remote(self, version: str) -> None:
        """Remove what is left of a run that is published: uploads of killed processes, and what was shared."""
        self._folder.abort_uploads(f"{version}/")
        self.store.clear()

    def _checked(self, version: str, files: dict[str, PublishedFile]) -> list[str]:
        """Raise unless all files of a version are there; return what else is, which killed processes have left."""
        listed = {facts.key: facts.size for facts in open_folder(child_url(self._url, version)).walk()}
        missing = sorted(name for name, file in files.items() if listed.get(name) != file.bytes)
        if missing:
            raise RecordsmithError(
                "Uploaded files are missing at the output, or have another size.",
                path=self.place,
                found=list_names(missing),
                advice=advise("Continue with {resume}: they are written again.", resume=True),
            )
        known = {*files, *(f"{INDEX_FOLDER}/{name}.index" for name in files)}
        return [f"{version}/{name}" for name in listed if name not in known]


def _shards(manifest: Manifest) -> dict[str, PublishedFile]:
    """Return the shards that a manifest lists, as they were uploaded."""
    every = (shard for split in manifest.splits.values() for shard in split.shards)
    return {shard.name: PublishedFile(shard.bytes or 0, shard.sha256 or "") for shard in every}
