import fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import { dirname, relative, resolve } from "node:path"
import { parentPort } from "node:worker_threads"
import type { DiskCall } from "./SimulatedDisk.ts"

/**
 * Loaded before anything else (`--import`) into each thread of a process, it appends what that does to `RECORDED_DISK`, a directory, to
 * `RECORDED_CALLS`, a file, in its order: all goes through these functions of Node. `acknowledged-7` in an answer of the thread
 * that holds the database is recorded before the answer leaves that thread.
 */
const root = resolve(process.env["RECORDED_DISK"]!)
const { closeSync, existsSync, fdatasyncSync, fsyncSync, ftruncateSync, mkdirSync, openSync } = fs
const { renameSync, rmdirSync, rmSync, unlinkSync, writeSync } = fs

const calls = openSync(process.env["RECORDED_CALLS"]!, "a", 0o600)
const bytesFile = openSync(`${process.env["RECORDED_CALLS"]}.bytes`, "a", 0o600)
let bytesWritten = fs.fstatSync(bytesFile).size

const record = (call: DiskCall): void => void writeSync(calls, `${JSON.stringify(call)}\n`)

/** Something that happened beside the disk. */
export const mark = (name: string): void => record({ call: "mark", name })

const inside = (path: unknown): string | undefined => {
  if (typeof path !== "string") return undefined
  const found = relative(root, resolve(path))
  return found.startsWith("..") ? undefined : found
}

const files = new Set<number>()

const refuse = (name: string): never => {
  throw new Error(`${name} is not recorded`)
}

const zeros = new Uint8Array(1024 * 1024)

const isZero = (bytes: Uint8Array): boolean =>
  bytes.length <= zeros.length && Buffer.compare(bytes, zeros.subarray(0, bytes.length)) === 0

const recordWrite = (file: number, bytes: Uint8Array, position: number): void => {
  if (isZero(bytes)) return record({ call: "zero", file, position, length: bytes.length })
  writeSync(bytesFile, bytes)
  record({ call: "write", file, position, length: bytes.length, at: bytesWritten })
  bytesWritten += bytes.length
}

const patched = {
  openSync: (path: string, flags: string | number = "r", mode?: number) => {
    const name = inside(path)
    const isNew = name !== undefined && !existsSync(path)
    const file = openSync(path, flags, mode)
    if (name === undefined) return file
    if (typeof flags === "string" && !["r", "r+", "w"].includes(flags)) refuse(`openSync ${flags}`)
    if (isNew) record({ call: "create", path: name })
    files.add(file)
    record({ call: "open", file, path: name })
    const truncates = typeof flags === "string" ? flags === "w" : (flags & fs.constants.O_TRUNC) !== 0
    if (truncates && !isNew) record({ call: "truncate", file, size: 0 })
    return file
  },
  closeSync: (file: number) => {
    if (files.delete(file)) record({ call: "close", file })
    closeSync(file)
  },
  writeSync: (file: number, bytes: Uint8Array, offset: number, length: number, position: number) => {
    if (!files.has(file)) return writeSync(file, bytes, offset, length, position)
    if (typeof position !== "number") refuse("writeSync without a position")
    const written = writeSync(file, bytes, offset, length, position)
    recordWrite(file, new Uint8Array(bytes.buffer, bytes.byteOffset + offset, written), position)
    return written
  },
  ftruncateSync: (file: number, size: number) => {
    ftruncateSync(file, size)
    if (files.has(file)) record({ call: "truncate", file, size })
  },
  fsyncSync: (file: number) => {
    fsyncSync(file)
    if (files.has(file)) record({ call: "flush", file })
  },
  fdatasyncSync: (file: number) => {
    fdatasyncSync(file)
    if (files.has(file)) record({ call: "flush", file })
  },
  renameSync: (from: string, to: string) => {
    renameSync(from, to)
    const [old, now] = [inside(from), inside(to)]
    if (old === undefined && now === undefined) return
    if (old === undefined || now === undefined || dirname(old) !== dirname(now))
      refuse("renameSync between directories")
    else record({ call: "rename", from: old, to: now })
  },
  unlinkSync: (path: string) => {
    unlinkSync(path)
    const name = inside(path)
    if (name !== undefined) record({ call: "remove", path: name })
  },
  rmdirSync: (path: string) => {
    rmdirSync(path)
    const name = inside(path)
    if (name !== undefined) record({ call: "remove", path: name })
  },
  rmSync: (path: string, options: fs.RmOptions) => {
    const name = inside(path)
    const isThere = name !== undefined && existsSync(path)
    if (isThere && options.recursive === true) refuse("rmSync of a directory")
    rmSync(path, options)
    if (isThere) record({ call: "remove", path: name })
  },
  mkdirSync: (path: string, options: fs.MakeDirectoryOptions & { readonly recursive: true }) => {
    const missing: Array<string> = []
    for (let one = resolve(path); inside(one) !== undefined && !existsSync(one); one = dirname(one))
      missing.unshift(one)
    const made = mkdirSync(path, options)
    for (const one of missing) record({ call: "makeDirectory", path: inside(one)! })
    return made
  }
}

Object.assign(fs, patched)
for (const name of ["linkSync", "symlinkSync", "writevSync", "copyFileSync", "cpSync", "appendFileSync"] as const) {
  Object.assign(fs, { [name]: () => refuse(name) })
}
syncBuiltinESMExports()

if (parentPort !== null) {
  const port = parentPort
  const post = port.postMessage.bind(port)
  port.postMessage = (message: { readonly _tag: string; readonly bytes?: Uint8Array }, transfer) => {
    if (message._tag === "Data") {
      for (const [name] of Buffer.from(message.bytes!)
        .toString("latin1")
        .matchAll(/acknowledged-\d+/g))
        mark(name)
    }
    post(message, transfer as ReadonlyArray<ArrayBuffer> as Array<ArrayBuffer>)
  }
}
