import { Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { hashToken } from "./Tokens.ts"

/** No letter or digit that is taken for another. There are 32, so a byte chooses each equally often. */
const alphabet = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
const length = 8
/** What a code looks like, once blanks and hyphens are left out. */
export const codeForm = new RegExp(`^[${alphabet}]{${length}}$`)

/** What people type: a code (docs/contract.md, Sessions), and the secret of the browser that asked for it. */
export class NewCode extends Context.Service<
  NewCode,
  {
    readonly code: Effect.Effect<string>
    /** 256 bits, in letters that a cookie takes. */
    readonly secret: Effect.Effect<string>
  }
>()("@delivery/server/ids/NewCode") {
  static readonly layer = Layer.effect(
    NewCode,
    Effect.map(SecureRandom.SecureRandom, (random) => ({
      code: Effect.map(random.randomBytes(length), (bytes) =>
        Array.from(bytes, (byte) => alphabet[byte % alphabet.length]).join("")
      ),
      secret: Effect.map(random.randomBytes(32), (bytes) => Buffer.from(bytes).toString("base64url"))
    }))
  )
}

export const isSecret = (text: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(text)

/** The code that somebody typed, whatever its case, blanks and hyphens; undefined where it can be none. */
export const readCode = (text: string): string | undefined => {
  const code = text.replaceAll(/[\s\p{Pd}]/gu, "").toUpperCase()
  return codeForm.test(code) ? code : undefined
}

/** What is stored of a code: with the secret in it, which is stored nowhere, nobody finds the code by trying all of them. */
export const hashCode = (secret: string, code: string): string => hashToken(`${secret} ${code}`)
