import { describe, expect, it } from "vitest"
import { placesOf } from "../../src/app/places.ts"

describe("The places of the sidebar", () => {
  const labels = (role: Parameters<typeof placesOf>[0]) => placesOf(role).map(({ label }) => label)

  it("leave out what is for admins, once the role is known", () => {
    expect(labels("member")).not.toContain("Audit")
    expect(labels("viewer")).toContain("Semaphores")
    expect(labels("admin")).toEqual(labels(undefined))
    expect(labels("owner")).toContain("Trusted publishers")
  })

  it("have a key each", () => {
    const keys = placesOf("owner").flatMap(({ key }) => (key === undefined ? [] : [key]))
    expect(new Set(keys).size).toBe(keys.length)
  })
})
