import { chosenClasses, type Generator, type PasswordGenerator } from "@delivery/domain/vault/Generator"
import { Effect, Redacted } from "effect"
import { generateKeyPairSync, randomBytes, randomInt, randomUUID } from "node:crypto"

/** A generated value, with its public key if it is a key pair. */
export interface GeneratedValue {
  readonly value: Redacted.Redacted
  readonly publicKey: string | null
}

/** A fresh value, from the operating system's random numbers (docs/contract.md, Vault). */
export const generate = (generator: Generator): Effect.Effect<GeneratedValue> =>
  Effect.sync(() => {
    switch (generator.type) {
      case "token":
        return withoutPublicKey(randomBytes(generator.bytes).toString(generator.encoding))
      case "password":
        return withoutPublicKey(password(generator))
      case "uuid":
        return withoutPublicKey(randomUUID())
      case "ed25519": {
        const { privateKey, publicKey } = generateKeyPairSync("ed25519", {
          privateKeyEncoding: { type: "pkcs8", format: "pem" },
          publicKeyEncoding: { type: "spki", format: "pem" }
        })
        return { value: Redacted.make(privateKey), publicKey }
      }
    }
  })

const withoutPublicKey = (text: string): GeneratedValue => ({ value: Redacted.make(text), publicKey: null })

/**
 * Passwords that lack a class are discarded and generated again, so that all valid passwords are equally likely; `randomInt`
 * has no modulo bias.
 */
const password = (generator: PasswordGenerator): string => {
  const classes = chosenClasses(generator)
  const alphabet = classes.join("")
  for (;;) {
    const drawn = Array.from({ length: generator.length }, () => alphabet[randomInt(alphabet.length)]!)
    if (classes.every((characters) => drawn.some((character) => characters.includes(character)))) return drawn.join("")
  }
}
