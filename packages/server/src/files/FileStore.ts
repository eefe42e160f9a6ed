import { Context } from "effect"
import type { BlobStore } from "./Blob.ts"

/** Where the bytes of files are. */
export class FileStore extends Context.Service<FileStore, BlobStore>()("@delivery/server/files/FileStore") {}
