import type { Secret, SecretEnvironment } from "@delivery/domain/vault/Secret"
import { expect, it } from "vitest"
import { afterWrite, bySecret, type Drafts, keyOf, overConflicts, withDraft } from "../../src/vault/drafts.ts"

const place = (secret: string, environment: string, version: number) => ({
  secret: { id: secret, name: secret } as unknown as Secret,
  cell: { environment: { id: environment, slug: environment }, version } as unknown as SecretEnvironment
})

const [a, b, c] = [place("A", "staging", 3), place("A", "review", 0), place("B", "staging", 1)]
const drafts = [a, b, c].reduce((sum: Drafts, one) => withDraft(sum, one, "new"), new Map())

it("Cells are written by secret, each over the version that was seen", () => {
  expect(
    bySecret(drafts).map(({ drafts, secret }) => [
      secret.name,
      drafts.map(({ cell, version }) => [cell.environment.slug, version])
    ])
  ).toEqual([
    [
      "A",
      [
        ["staging", 3],
        ["review", 0]
      ]
    ],
    ["B", [["staging", 1]]]
  ])
  expect([...withDraft(drafts, b, undefined).keys()]).toEqual([keyOf(a), keyOf(c)])
})

it("What was refused stays, and the cells where somebody else was first say so", () => {
  const left = afterWrite(drafts, new Set(["B"]), new Map([["A", { staging: 5 }]]))
  expect([...left.values()].map(({ cell, conflict, version }) => [cell.environment.slug, version, conflict])).toEqual([
    ["staging", 3, 5],
    ["review", 0, undefined]
  ])
  expect([...overConflicts(left).values()].map(({ conflict, version }) => [version, conflict])).toEqual([
    [5, undefined],
    [0, undefined]
  ])
})
