import { open } from "node:fs/promises"
import { basename } from "node:path"
import { readJunit } from "./Junit.ts"
import { readPlaywrightJson } from "./PlaywrightJson.ts"
import type { Results } from "./Result.ts"
import { Refused } from "./Xml.ts"

/** The largest file of results, in bytes. */
export const maxResultBytes = 50 * 1024 * 1024

const bytesOf = async (file: string): Promise<Buffer> => {
  const handle = await open(file, "r").catch(() => {
    throw new Refused("it cannot be opened.")
  })
  try {
    const found = await handle.stat()
    if (found.isDirectory()) throw new Refused("it is a directory: name the files of results in it.")
    const { size } = found
    if (size > maxResultBytes) throw new Refused(`it is longer than ${maxResultBytes / 1024 / 1024} MiB.`)
    // Of a pipe, whose size is not known, no more than one byte beyond the limit is read.
    const chunks: Array<Buffer> = []
    let length = 0
    for await (const chunk of handle.createReadStream({ end: maxResultBytes, autoClose: false })) {
      chunks.push(chunk as Buffer)
      length += (chunk as Buffer).length
    }
    if (length > maxResultBytes) throw new Refused(`it is longer than ${maxResultBytes / 1024 / 1024} MiB.`)
    return Buffer.concat(chunks)
  } catch (error) {
    if (error instanceof Refused) throw error
    throw new Refused("it cannot be read.")
  } finally {
    await handle.close()
  }
}

/** The encoding that the bytes begin with or that XML declares; UTF-8 otherwise. */
const encodingOf = (bytes: Buffer): string => {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le"
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be"
  const declared = /^(?:\xef\xbb\xbf)?<\?xml[^>]*encoding\s*=\s*["']([A-Za-z0-9._-]+)["']/.exec(
    bytes.subarray(0, 200).toString("latin1")
  )
  return declared?.[1] ?? "utf-8"
}

const textOf = (bytes: Buffer): string => {
  const encoding = encodingOf(bytes)
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch {
    throw new Refused(`its text is not ${encoding}.`)
  }
}

/** The text of a file of results. Throws `Refused`. */
export const readText = async (file: string): Promise<string> => textOf(await bytesOf(file))

/** The results of JUnit XML, or of Playwright's JSON report. Throws `Refused`. */
export const resultsOf = (text: string, file: string, now: number): Results => {
  const context = { name: basename(file), directory: process.cwd(), now }
  return text.trimStart().startsWith("{") ? readPlaywrightJson(text) : readJunit(text, context)
}

/** The results of a file. Throws `Refused`. */
export const readResults = async (file: string, now: number): Promise<Results> =>
  resultsOf(await readText(file), file, now)
