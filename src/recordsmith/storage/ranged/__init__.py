"""Remote objects read by ranges: nothing is downloaded that is not needed, and every byte is of one version.

    resolve("s3://bucket/data")     a folder, file or pattern  ->  URLs, with the facts that the listing gave
    open_object(url)                what cpp/files/remote_file.h asks for bytes; the core opens URLs through it

A URL is a path like any other for whatever reads records: the core opens it as a file (cpp/files/byte_source.h), and
asks for ranges. So records of a remote file go through the same checksums, decoding and columns as local ones, on the
same threads; errors name the URL.

    core ── ranges ──► RemoteObject.fetch
                          │   cut into BLOCKS of 1 MiB, numbered from the object's first byte
                          ├─► in memory          a few hundred MiB, the blocks used last
                          ├─► on its way         asked for before: announced by the loader, or by somebody else
                          ├─► on this disk       the cache, see `block_cache`
                          └─► ranged GET         neighbours in one request, many requests at a time

- Every request has If-Match with the ETag of the version that was opened. A changed object is a ChangedFileError; rows
  of two versions never mix. The version is also part of an index (its `inode`) and of the names of cached blocks.
- What is announced is fetched in the background; what is waited for is fetched first. Reading in order announces what
  follows by itself, more of it the longer it continues.
- Records that are large, far apart, and would not stay in the cache, are fetched alone.
- Requests are repeated by `storage.objects`, within RECORDSMITH_REMOTE_TIMEOUT. A thread that waits can be told to stop
  (`Waiting`): Ctrl-C does not wait for the network.
- Readers of Python that take files get the same bytes as a stream (`remote_stream`); folders of many small files, such
  as images, are listed and read without blocks (`listed_files`).
- Stores and web servers without strong ETags (`web_files`), and schemes that only fsspec knows, are downloaded as a
  whole (`storage.remote_files`).
"""
