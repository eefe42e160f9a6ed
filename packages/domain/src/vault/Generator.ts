import { Schema } from "effect"
import { Body } from "../Body.ts"
import { OneOf } from "../Text.ts"

const between = (min: number, max: number, unit: string) =>
  Schema.Int.check(
    Schema.isBetween({ minimum: min, maximum: max }, { message: `Expected a whole number from ${min} to ${max}` })
  ).annotate({ description: `${unit}, ${min} to ${max}.`, examples: [min * 2] })

const chosen = (characters: string) => Schema.Boolean.annotate({ description: `Whether it has ${characters}.` })

/** Random bytes, encoded: `base64` is padded, `base64url` is not. */
export const TokenGenerator = Body({
  type: Schema.Literal("token"),
  bytes: between(16, 512, "Random bytes"),
  encoding: OneOf(["hex", "base64", "base64url"]).annotate({
    description: "`base64` is padded, `base64url` is not.",
    examples: ["base64url"]
  })
}).annotate({
  title: "token",
  description: "Random bytes, encoded.",
  examples: [{ type: "token", bytes: 32, encoding: "base64url" }]
})

/** Random characters of the classes chosen, at least one of each. */
export const PasswordGenerator = Body({
  type: Schema.Literal("password"),
  length: between(8, 256, "Characters"),
  lowercase: chosen("letters a to z"),
  uppercase: chosen("letters A to Z"),
  digits: chosen("digits"),
  symbols: chosen("ASCII punctuation without quotes, backquote and backslash")
}).annotate({
  title: "password",
  description: "Random characters of the classes chosen, at least one of each. No class chosen: 400.",
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
    "An Ed25519 key pair: the private key as PKCS#8 PEM is the value, the public key as SPKI PEM is answered.",
  examples: [{ type: "ed25519" }]
})

/** What makes the values of a generation (docs/contract.md, Vault). */
export const Generator = Schema.Union([TokenGenerator, PasswordGenerator, UuidGenerator, Ed25519Generator]).annotate({
  identifier: "Generator",
  description: "What makes the values.",
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

/** The classes that a password is to have, as their characters. */
export const chosenClasses = (generator: PasswordGenerator): ReadonlyArray<string> =>
  (["lowercase", "uppercase", "digits", "symbols"] as const)
    .filter((name) => generator[name])
    .map((name) => passwordClasses[name])
