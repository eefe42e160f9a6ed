import { Schema } from "effect"
import { Body } from "../Body.ts"
import { OneOf } from "../Text.ts"

const between = (min: number, max: number, unit: string) =>
  Schema.Int.check(
    Schema.isBetween({ minimum: min, maximum: max }, { message: `Expected a whole number from ${min} to ${max}` })
  ).annotate({ description: `${unit}: ${min} to ${max}.`, examples: [min * 2] })

const chosen = (characters: string) =>
  Schema.Boolean.annotate({ description: `Whether the password contains ${characters}.` })

/** Random bytes, encoded as text. */
export const TokenGenerator = Body({
  type: Schema.Literal("token"),
  bytes: between(16, 512, "How many random bytes"),
  encoding: OneOf(["hex", "base64", "base64url"]).annotate({
    description: "How the bytes are encoded. `base64` is padded, `base64url` is not.",
    examples: ["base64url"]
  })
}).annotate({
  title: "token",
  description: "Random bytes, encoded as text.",
  examples: [{ type: "token", bytes: 32, encoding: "base64url" }]
})

/** Random characters of the chosen classes, at least one of each. */
export const PasswordGenerator = Body({
  type: Schema.Literal("password"),
  length: between(8, 256, "How many characters"),
  lowercase: chosen("letters a to z"),
  uppercase: chosen("letters A to Z"),
  digits: chosen("digits"),
  symbols: chosen("ASCII punctuation without quotes, backquote and backslash")
}).annotate({
  title: "password",
  description:
    "Random characters of the chosen classes, at least one of each. At least one class must be chosen (400).",
  examples: [{ type: "password", length: 24, lowercase: true, uppercase: true, digits: true, symbols: false }]
})
export type PasswordGenerator = typeof PasswordGenerator.Type

export const UuidGenerator = Body({ type: Schema.Literal("uuid") }).annotate({
  title: "uuid",
  description: "A random UUID, version 4.",
  examples: [{ type: "uuid" }]
})

export const Ed25519Generator = Body({ type: Schema.Literal("ed25519") }).annotate({
  title: "ed25519",
  description:
    "An Ed25519 key pair. The private key (PKCS#8 PEM) becomes the value; the public key (SPKI PEM) is in the response.",
  examples: [{ type: "ed25519" }]
})

/** How the values of a generation are made (docs/contract.md, Vault). */
export const Generator = Schema.Union([TokenGenerator, PasswordGenerator, UuidGenerator, Ed25519Generator]).annotate({
  identifier: "Generator",
  description: "How the values are made.",
  message: "Expected a generator of the type token, password, uuid or ed25519",
  examples: [{ type: "token", bytes: 32, encoding: "base64url" }]
})
export type Generator = typeof Generator.Type

/** The characters of each class of a password. */
export const passwordClasses = {
  lowercase: "abcdefghijklmnopqrstuvwxyz",
  uppercase: "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
  digits: "0123456789",
  symbols: "!#$%&()*+,-./:;<=>?@[]^_{|}~"
} as const

/** The chosen classes of a password, each as its characters. */
export const chosenClasses = (generator: PasswordGenerator): ReadonlyArray<string> =>
  (["lowercase", "uppercase", "digits", "symbols"] as const)
    .filter((name) => generator[name])
    .map((name) => passwordClasses[name])
