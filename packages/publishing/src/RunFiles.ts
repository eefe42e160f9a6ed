import { createHash } from "node:crypto"
import { extname } from "node:path"

/** A file to upload: its path in the run, and its bytes or where they are. */
export interface RunFile {
  readonly path: string
  readonly contentType: string
  readonly source: string | Uint8Array
}

/** What a test attached. */
export interface Attachment {
  readonly name: string
  readonly contentType: string
  readonly source: string | Uint8Array
}

/** The test that a file belongs to. Of two tests with the same file and title, `key` tells them apart. */
export interface FileOwner {
  readonly file: string
  readonly title: string
  readonly key: string
}

const extensions: Readonly<Record<string, string>> = {
  "application/json": ".json",
  "application/pdf": ".pdf",
  "application/xml": ".xml",
  "application/zip": ".zip",
  "image/jpeg": ".jpg",
  "image/png": ".png",
  "image/webp": ".webp",
  "text/css": ".css",
  "text/csv": ".csv",
  "text/html": ".html",
  "text/markdown": ".md",
  "text/plain": ".txt",
  "video/webm": ".webm"
}

/** Letters, digits, dots, dashes and underscores of any script, at most `length` of them. */
const safe = (text: string, length: number): string =>
  Array.from(
    text
      .toWellFormed()
      .normalize("NFC")
      .replaceAll(/[^\p{L}\p{M}\p{N}._-]+/gu, "-")
      .replaceAll(/^[-.]+/g, "")
  )
    .slice(0, length)
    .join("")
    .replaceAll(/[-.]+$/g, "")

const fileName = (attachment: Attachment, extension: string): string => {
  const name = safe(attachment.name, 100) || "attachment"
  return extension === "" || name.toLowerCase().endsWith(extension.toLowerCase()) ? name : name + extension
}

const extensionOf = ({ contentType, name, source }: Attachment): string => {
  if (/\.[A-Za-z0-9]{1,8}$/.test(name)) return ""
  const fromPath = typeof source === "string" ? safe(extname(source), 10) : ""
  if (fromPath !== "") return `.${fromPath}`
  return extensions[contentType.split(";")[0]?.trim().toLowerCase() ?? ""] ?? ""
}

/** The files of an attempt, as `<test file>/<title>-<hash of the test>/<name>`, each path once. */
export const runFiles = (
  { file, key, title }: FileOwner,
  attachments: ReadonlyArray<Attachment>
): ReadonlyArray<RunFile> => {
  const segments = file
    .split("/")
    .map((segment) => safe(segment, 100))
    .filter((segment) => segment !== "")
  const folder = segments.join("/").length <= 250 ? segments : segments.slice(-1)
  const hash = createHash("sha256").update(key).digest("hex").slice(0, 10)
  const directory = [...folder, `${safe(title, 80)}-${hash}`].join("/")
  const used = new Set<string>()
  const files: Array<RunFile> = []
  for (const attachment of attachments) {
    const name = fileName(attachment, extensionOf(attachment))
    const extension = extname(name)
    let unique = name
    for (let n = 2; used.has(unique.toLowerCase()); n++)
      unique = `${name.slice(0, name.length - extension.length)}-${n}${extension}`
    used.add(unique.toLowerCase())
    files.push({
      path: `${directory}/${unique}`,
      contentType: attachment.contentType || "application/octet-stream",
      source: attachment.source
    })
  }
  return files
}
