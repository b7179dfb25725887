"""Object stores (`s3://`, `gs://`, `az://`, `https://`, and what fsspec knows): one folder of one store, by its URL.

    open_folder("s3://bucket/data")  ->  ObjectFolder     walk, head, get_range, stream, put, upload, delete

obstore talks to S3, Google Cloud Storage, Azure and http(s) servers (`obstore_folder`), fsspec to the rest
(`fsspec_folder`). Both are optional: they are imported when a URL is used. `versions` says which objects of a folder
are in force, and `folder_upload` writes new ones.
"""

from recordsmith.storage.objects.addresses import child_url, split_url, without_secrets
from recordsmith.storage.objects.object_folder import ConditionFailedError, ObjectFacts, ObjectFolder
from recordsmith.storage.objects.opening import open_folder
from recordsmith.storage.objects.versions import PUBLISHED_NAME, Published, read_published

__all__ = [
    "PUBLISHED_NAME",
    "ConditionFailedError",
    "ObjectFacts",
    "ObjectFolder",
    "Published",
    "child_url",
    "open_folder",
    "read_published",
    "split_url",
    "without_secrets",
]
