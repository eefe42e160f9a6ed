import type { Secret, SecretEnvironment } from "@delivery/domain/vault/Secret"
import { expect, it } from "vitest"
import { compareEnvironments, differenceOf, differs, isSameValue } from "../../src/vault/environments.ts"

const cell = (slug: string, hasValue: boolean) => ({ environment: { slug }, hasValue, version: 1 }) as SecretEnvironment

const secret = (name: string, product: string, ...environments: ReadonlyArray<SecretEnvironment>) =>
  ({ id: name, name, product: { slug: product }, environments }) as unknown as Secret

it("Environments differ where one has no value, or another one, as far as values may be read", () => {
  const secrets = [
    secret("A", "shop", cell("staging", true), cell("production", true)),
    secret("B", "shop", cell("staging", true), cell("production", false)),
    secret("C", "shop", cell("production", true)),
    secret("D", "shop", cell("staging", false)),
    secret("E", "search", cell("staging", true))
  ]
  const compared = compareEnvironments(secrets, "shop", "staging", "production")
  const all = (isSame: boolean | undefined) => compared.map((one) => differenceOf(one, isSame))
  expect(all(undefined)).toEqual(["unknown", "left", "right", "neither"])
  expect([all(true)[0], all(false)[0]]).toEqual(["same", "other"])
  expect((["left", "right", "same", "other", "unknown", "neither"] as const).filter(differs)).toEqual([
    "left",
    "right",
    "other"
  ])
})

it("Values are the same to the character, and unknown where one is hidden", () => {
  const read = (a: string | null, b: string | null) => ({
    environments: [
      { environment: { slug: "a" }, value: a },
      { environment: { slug: "b" }, value: b }
    ]
  })
  expect(
    [read("x", "x"), read("x", "x "), read("x", null), read("", "")].map((one) => isSameValue(one, "a", "b"))
  ).toEqual([true, false, undefined, true])
})
