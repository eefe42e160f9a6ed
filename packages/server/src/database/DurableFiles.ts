import type { PGlite } from "@electric-sql/pglite"
import { NodeFS } from "@electric-sql/pglite/nodefs"
import { fsyncSync } from "node:fs"
import { dirname, join } from "node:path"
import { flush } from "./Flush.ts"

/** An open file or directory of the database, as Emscripten has it. */
interface Stream {
  readonly node: Node
  readonly nfd: number
}

interface Node {
  readonly parent: Node
}

type Operations = Record<string, (...args: ReadonlyArray<unknown>) => unknown>

/** What Emscripten calls for files that are the machine's own. */
interface NodeFiles {
  readonly node_ops: Operations
  readonly stream_ops: Operations
  readonly realPath: (node: Node) => string
  /** Turns an error of Node into one that PostgreSQL reads. */
  readonly tryFSOperation: <A>(operation: () => A) => A
}

type Options = Parameters<NodeFS["init"]>[1]

/**
 * The directory of a database whose `fsync` reaches the disk: PGlite's own does nothing. PostgreSQL has to be started with
 * `fsync=on` and `wal_sync_method=fsync`, since `fdatasync` cannot be caught.
 *
 * A flush of any file first flushes the directories whose entries have changed. PostgreSQL itself leaves out those of tables that
 * were made since, and counts on file systems that do it anyway.
 */
export class DurableFiles extends NodeFS {
  readonly #directory: string
  /** Directories whose entries have changed since they were flushed. */
  readonly #changed = new Set<string>()
  /** Files of the log whose flush is put off. */
  readonly #owed = new Set<Stream>()
  #failure: unknown

  /**
   * Puts off the flush of a commit until `flush`, so that one serves many. It is done earlier where anything but the log is written:
   * the log is on the disk before what it tells of. Who answers a commit calls `flush` first.
   */
  groupsCommits = false

  constructor(directory: string) {
    super(directory)
    this.#directory = directory
  }

  override async init(database: PGlite, options: Options) {
    const { emscriptenOpts } = await super.init(database, options)
    const preRun = [
      ...(emscriptenOpts.preRun ?? []),
      (module: { readonly NODEFS: NodeFiles }) => this.#hook(module.NODEFS)
    ]
    return { emscriptenOpts: { ...emscriptenOpts, preRun } as Options }
  }

  /** Whether the flush of a commit is put off, or has failed. */
  get owesFlush(): boolean {
    return this.#owed.size > 0 || this.#failure !== undefined
  }

  /** Does what was put off. After a failure nothing is known of the disk: it fails for ever, as PostgreSQL itself ends then. */
  flush(): void {
    if (this.#failure !== undefined) throw this.#failure
    if (this.#owed.size === 0) return
    try {
      this.#flushDirectories()
      for (const { nfd } of this.#owed) fsyncSync(nfd)
      this.#owed.clear()
    } catch (error) {
      this.#failure = error
      throw error
    }
  }

  #hook(files: NodeFiles): void {
    const { node_ops, stream_ops } = files
    const log = join(this.#directory, "pg_wal")
    const flushFirst = (
      operations: Operations,
      name: string,
      note: (...args: ReadonlyArray<never>) => void = () => {}
    ) => {
      const operation = operations[name]!
      operations[name] = (...args) => {
        files.tryFSOperation(() => this.flush())
        note(...(args as ReadonlyArray<never>))
        return operation(...args)
      }
    }
    const changed = (directory: Node) => void this.#changed.add(files.realPath(directory))
    for (const name of ["mknod", "unlink", "rmdir", "symlink"]) flushFirst(node_ops, name, changed)
    flushFirst(node_ops, "rename", (node: Node, directory: Node) => {
      changed(node.parent)
      changed(directory)
    })
    flushFirst(node_ops, "setattr")
    for (const name of ["setattr", "close", "msync"]) flushFirst(stream_ops, name)
    const write = stream_ops["write"]!
    stream_ops["write"] = (stream, ...rest) => {
      if (!this.#owed.has(stream as Stream)) files.tryFSOperation(() => this.flush())
      return write(stream, ...rest)
    }
    stream_ops["fsync"] = (stream) => this.#fsync(files, stream as Stream, log)
  }

  #fsync(files: NodeFiles, stream: Stream, log: string): number {
    return files.tryFSOperation(() => {
      if (this.groupsCommits && dirname(files.realPath(stream.node)) === log) this.#owed.add(stream)
      else {
        this.flush()
        this.#flushDirectories()
        fsyncSync(stream.nfd)
      }
      return 0
    })
  }

  #flushDirectories(): void {
    for (const directory of this.#changed) {
      try {
        flush(directory)
      } catch (error) {
        // Removed since, which its parent has, too.
        if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error
      }
      this.#changed.delete(directory)
    }
  }
}
