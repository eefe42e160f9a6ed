import { maxFileBytes, pathProblem } from "@delivery/domain/runs/StoredFile"
import type { Dirent } from "node:fs"
import { readdir, stat } from "node:fs/promises"
import { dirname, extname, isAbsolute, join, relative, resolve, sep } from "node:path"
import { Failure } from "./Failure.ts"
import { oneLine } from "./Output.ts"

/** The files that are stored with a run. */

/** What people are told meanwhile. */
export interface Tell {
  readonly progress: (line: string) => void
  readonly note: (line: string) => void
}

export interface Attachment {
  readonly path: string
  readonly contentType: string
  readonly source: string
}

const contentTypes: Readonly<Record<string, string>> = {
  ".css": "text/css",
  ".csv": "text/csv",
  ".html": "text/html",
  ".jpg": "image/jpeg",
  ".json": "application/json",
  ".log": "text/plain",
  ".md": "text/markdown",
  ".mp4": "video/mp4",
  ".pdf": "application/pdf",
  ".png": "image/png",
  ".txt": "text/plain",
  ".webm": "video/webm",
  ".webp": "image/webp",
  ".xml": "application/xml",
  ".zip": "application/zip"
}

/** A file, and the directory of what an argument names. */
interface Found {
  readonly file: string
  readonly from: string
}

/** The files that an argument names: itself, or all below it. What a link below it leads to may be no file of the run. */
const filesBelow = async (path: string, { note }: Tell): Promise<ReadonlyArray<Found>> => {
  const found = await stat(path).catch(() => {
    throw Failure.usage(`--attach: ${path} cannot be read.`)
  })
  const from = dirname(resolve(path))
  if (!found.isDirectory()) return [{ file: path, from }]
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  const pathOf = (entry: Dirent) => join(entry.parentPath, entry.name)
  const links = entries.filter((entry) => entry.isSymbolicLink()).map(pathOf)
  if (links.length > 0) note(`--attach: symbolic links are left out: ${links.map(oneLine).join(", ")}.`)
  return entries.filter((entry) => entry.isFile()).map((entry) => ({ file: pathOf(entry), from }))
}

/** Whether a relative path leads out of where it begins. */
const leadsOut = (path: string): boolean => path === ".." || path.startsWith(`..${sep}`) || isAbsolute(path)

/** The path of an attached file in the run: from the working directory or, if it lies elsewhere, from that of what was named. */
const attachmentOf = async ({ file, from }: Found): Promise<Attachment> => {
  const below = relative(process.cwd(), file)
  const path = (leadsOut(below) ? relative(from, file) : below).split(sep).join("/")
  const problem = pathProblem(path)
  if (problem !== undefined) throw Failure.usage(`--attach: ${file}: ${problem}.`)
  const { size } = await stat(file)
  if (size > maxFileBytes) throw Failure.usage(`--attach: ${file} is longer than 100 MiB.`)
  return { path, source: file, contentType: contentTypes[extname(file).toLowerCase()] ?? "application/octet-stream" }
}

export const attachmentsOf = async (paths: ReadonlyArray<string>, tell: Tell): Promise<ReadonlyArray<Attachment>> => {
  const files = (await Promise.all(paths.map((path) => filesBelow(path, tell)))).flat()
  const unique = new Map(files.toReversed().map((found) => [found.file, found]))
  const attachments = await Promise.all([...unique.values()].map(attachmentOf))
  const taken = new Set<string>()
  for (const { path } of attachments) {
    if (taken.has(path)) throw Failure.usage(`--attach: two files would be ${path} in the run.`)
    taken.add(path)
  }
  return attachments
}
