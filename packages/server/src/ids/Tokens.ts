import { Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { hash } from "node:crypto"
import { crc32 } from "node:zlib"

/** The kinds of tokens, by their first letters (docs/contract.md, Tokens). */
export type TokenPrefix = "ctk_" | "wtk_" | "ltk_" | "atk_" | "rtk_" | "otk_" | "dtk_" | "stk_" | "itk_"

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
const randomLength = 36
const form = /^(ctk_|wtk_|ltk_|atk_|rtk_|otk_|dtk_|stk_|itk_)[0-9A-Za-z]{42}$/

/** Six base62 characters of the CRC-32 over `text`: detects a mistyped or cut token without a look-up in the database. */
const checksum = (text: string): string => {
  let rest = crc32(text)
  let digits = ""
  for (let i = 0; i < 6; i++) {
    digits = alphabet[rest % 62]! + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}

/** Makes tokens: the prefix, 36 random characters and their checksum. Only `hashToken` of one is ever stored. */
export class NewToken extends Context.Service<NewToken, (prefix: TokenPrefix) => Effect.Effect<string>>()(
  "@delivery/server/ids/NewToken"
) {
  static readonly layer = Layer.effect(
    NewToken,
    Effect.map(
      SecureRandom.SecureRandom,
      (random) => (prefix: TokenPrefix) =>
        Effect.map(randomBase62(random, randomLength), (characters) => {
          const body = prefix + characters
          return body + checksum(body)
        })
    )
  )
}

/** Bytes of 248 and more are drawn again, so that every character is equally likely. */
const randomBase62 = Effect.fnUntraced(function* (random: SecureRandom.SecureRandom["Service"], length: number) {
  let text = ""
  while (text.length < length) {
    for (const byte of yield* random.randomBytes(length * 2)) {
      if (byte < 248 && text.length < length) text += alphabet[byte % 62]!
    }
  }
  return text
})

/** Whether `text` is a token of this kind with the right checksum. */
export const isToken = (prefix: TokenPrefix, text: string): boolean =>
  text.startsWith(prefix) && form.test(text) && checksum(text.slice(0, -6)) === text.slice(-6)

/** SHA-256 in base64url: what is stored of a token. Tokens are random, so no salt is needed. */
export const hashToken = (token: string): string => hash("sha256", token, "base64url")
