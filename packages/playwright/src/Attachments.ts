import type { TestCase, TestResult } from "@playwright/test/reporter"
import { createHash } from "node:crypto"
import { extname } from "node:path"
import { fileOf, titleOf } from "./TestReports.ts"

type Attachment = TestResult["attachments"][number]

/** A file to upload: its path in the run, and its bytes or where they are. */
export interface RunFile {
  readonly path: string
  readonly contentType: string
  readonly source: string | Uint8Array
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

const extensionOf = (attachment: Attachment): string => {
  if (/\.[A-Za-z0-9]{1,8}$/.test(attachment.name)) return ""
  const fromPath = safe(extname(attachment.path ?? ""), 10)
  if (fromPath !== "") return `.${fromPath}`
  return extensions[attachment.contentType.split(";")[0]?.trim().toLowerCase() ?? ""] ?? ""
}

/**
 * The files of an attempt, as `<test file>/<title>-<hash of the test>/<name>`, each path once. Attachments whose name
 * begins with `_` are Playwright's own; its reports hide them too.
 */
export const runFiles = (test: TestCase, result: TestResult, rootDir: string): ReadonlyArray<RunFile> => {
  const file = fileOf(test, rootDir)
    .split("/")
    .map((segment) => safe(segment, 100))
    .filter((segment) => segment !== "")
  const folder = file.join("/").length <= 250 ? file : file.slice(-1)
  const hash = createHash("sha256").update(test.id).digest("hex").slice(0, 10)
  const directory = [...folder, `${safe(titleOf(test), 80)}-${hash}`].join("/")
  const used = new Set<string>()
  const files: Array<RunFile> = []
  for (const attachment of result.attachments) {
    const source = attachment.body ?? attachment.path
    if (source === undefined || attachment.name.startsWith("_")) continue
    const name = fileName(attachment, extensionOf(attachment))
    const extension = extname(name)
    let unique = name
    for (let n = 2; used.has(unique.toLowerCase()); n++)
      unique = `${name.slice(0, name.length - extension.length)}-${n}${extension}`
    used.add(unique.toLowerCase())
    files.push({
      path: `${directory}/${unique}`,
      contentType: attachment.contentType || "application/octet-stream",
      source
    })
  }
  return files
}
