import { describe, expect, it } from "vitest"
import type { Secret } from "@delivery/domain/vault/Secret"
import { missingSecrets } from "../../src/catalog/matrix.ts"
import { cellState, environmentsOf, isMissingSomewhere, shownSecrets } from "../../src/vault/rows.ts"

const secret = (
  name: string,
  cells: Readonly<Record<string, { version: number; hasValue: boolean; deployed: boolean }>>
): Secret =>
  ({
    id: name,
    name,
    product: { id: "p", slug: "shop", name: "Shop" },
    environments: Object.entries(cells).map(([slug, cell]) => ({
      environment: { id: slug, slug, name: slug, class: "non-production", emoji: null, archived: false },
      updatedAt: null,
      updatedBy: null,
      ...cell
    })),
    createdAt: "2026-11-21T09:30:00.000Z",
    updatedAt: "2026-11-21T09:30:00.000Z"
  }) as unknown as Secret

const set = { version: 1, hasValue: true, deployed: true }
const none = { version: 0, hasValue: false, deployed: true }

describe("The matrix of secrets", () => {
  const half = secret("HALF", { staging: set, production: none, review: { ...none, deployed: false } })
  const whole = secret("WHOLE", { staging: set, production: set })
  const empty = secret("EMPTY", { staging: none, production: { version: 2, hasValue: false, deployed: true } })

  it("calls missing what a deployed product has elsewhere", () => {
    expect(half.environments.map((cell) => cellState(cell, half))).toEqual(["set", "missing", "none"])
    expect(empty.environments.map((cell) => cellState(cell, empty))).toEqual(["none", "cleared"])
    expect([half, whole, empty].map(isMissingSomewhere)).toEqual([true, false, false])
    expect(missingSecrets([half, whole, empty], "shop", "production")).toEqual(["HALF"])
  })

  it("has of a product the environments that it runs in or has values in", () => {
    const all = ["staging", "production", "review", "canary"].map((id) => ({ id }))
    expect(environmentsOf(all, [half, whole], "shop").map(({ id }) => id)).toEqual(["staging", "production"])
    const kept = secret("KEPT", { review: { version: 2, hasValue: false, deployed: false } })
    expect(environmentsOf(all, [half, kept], "shop").map(({ id }) => id)).toEqual(["staging", "production", "review"])
    expect(environmentsOf(all, [half], "billing")).toEqual(all)
    expect(environmentsOf(all, [half], undefined)).toEqual(all)
  })

  it("shows what the address asks for", () => {
    expect(shownSecrets([half, whole, empty], { q: "ho le" }).map(({ name }) => name)).toEqual(["WHOLE"])
    expect(shownSecrets([half, whole], { only: "missing" }).map(({ name }) => name)).toEqual(["HALF"])
    expect(shownSecrets([half], { product: "other" })).toEqual([])
  })
})
