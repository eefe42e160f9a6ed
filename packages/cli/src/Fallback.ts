import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto"
import { open, readFile, rename, rm } from "node:fs/promises"
import { Failure } from "./Failure.ts"

/**
 * The values that a product started with last, in a file for the time when the service is away. The file is encrypted under the
 * token that read them: who has the file alone has nothing.
 *
 *     magic (8 bytes) · salt (16) · nonce (12) · AES-256-GCM of the JSON · tag (16)
 *
 * The key is HKDF-SHA256 of the token with the salt. Whatever comes before the text is authenticated as well.
 */

export interface Kept {
  /** When the service answered them, in milliseconds since 1970. */
  readonly loadedAt: number
  readonly product: string
  readonly environment: string
  readonly values: Readonly<Record<string, string>>
}

const magic = Buffer.from("DLVSEC01")
const [saltBytes, nonceBytes, tagBytes] = [16, 12, 16]
const headerBytes = magic.length + saltBytes + nonceBytes

const keyOf = (token: string, salt: Uint8Array): Buffer =>
  Buffer.from(hkdfSync("sha256", token, salt, "delivery secrets run --fallback", 32))

export const sealed = (kept: Kept, token: string): Buffer => {
  const salt = randomBytes(saltBytes)
  const nonce = randomBytes(nonceBytes)
  const header = Buffer.concat([magic, salt, nonce])
  const cipher = createCipheriv("aes-256-gcm", keyOf(token, salt), nonce)
  cipher.setAAD(header)
  const text = Buffer.concat([cipher.update(JSON.stringify(kept), "utf8"), cipher.final()])
  return Buffer.concat([header, text, cipher.getAuthTag()])
}

/** The values of a file; undefined for one that is cut, changed, or was written with another token. */
export const opened = (file: Buffer, token: string): Kept | undefined => {
  if (file.length < headerBytes + tagBytes || !file.subarray(0, magic.length).equals(magic)) return undefined
  const header = file.subarray(0, headerBytes)
  const salt = header.subarray(magic.length, magic.length + saltBytes)
  const decipher = createDecipheriv("aes-256-gcm", keyOf(token, salt), header.subarray(magic.length + saltBytes), {
    authTagLength: tagBytes
  })
  decipher.setAAD(header)
  decipher.setAuthTag(file.subarray(file.length - tagBytes))
  try {
    const text = Buffer.concat([decipher.update(file.subarray(headerBytes, file.length - tagBytes)), decipher.final()])
    return JSON.parse(text.toString("utf8")) as Kept
  } catch {
    return undefined
  }
}

/** Replaces the file at once: whoever reads it meanwhile, or after a crash, has the old one or the new one. */
export const keepFallback = async (file: string, kept: Kept, token: string): Promise<void> => {
  const written = `${file}.${process.pid}.tmp`
  try {
    // One that a killed process left may have another mode.
    await rm(written, { force: true })
    const handle = await open(written, "wx", 0o600)
    try {
      await handle.writeFile(sealed(kept, token))
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(written, file)
  } catch (error) {
    await rm(written, { force: true }).catch(() => {})
    throw error
  }
}

/** Rejects with why there are no values, in a sentence. */
export const readFallback = async (file: string, token: string): Promise<Kept> => {
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw Failure.unreachable(
      error.code === "ENOENT"
        ? `There is no fallback yet: ${file} is written when the service answers.`
        : `The fallback ${file} cannot be read (${error.code ?? error.message}).`
    )
  })
  const kept = opened(bytes, token)
  if (kept !== undefined) return kept
  throw Failure.unreachable(
    `The fallback ${file} is not used: it is damaged, or was written with another token than this one.`
  )
}

const units = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1_000]
] as const

/** How long ago, in the largest unit that fits: `3 hours`. */
export const ageText = (millis: number): string => {
  const [name, size] = units.find(([, size]) => millis >= size) ?? units[3]
  const count = Math.max(0, Math.floor(millis / size))
  return `${count} ${name}${count === 1 ? "" : "s"}`
}
