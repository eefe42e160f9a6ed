import { createClient } from "@delivery/client/web"
import { expect, it } from "vitest"
import { factsOf, readerOf } from "../../src/app/facts.ts"
import { matches } from "../../src/app/match.ts"

const client = createClient({ baseUrl: "http://localhost:1" })

it("finds what the API answers at the addresses that it gives", () => {
  const reader = (path: string) => readerOf(client, "main", path)
  expect(reader("tickets/ENG-12")).toMatchObject({
    noun: "ticket",
    name: "ENG-12",
    path: "/v1/workspaces/main/tickets/ENG-12"
  })
  expect(reader("views/1")?.path).toBe("/v1/workspaces/main/views")
  expect(reader("settings/nothing")).toBeUndefined()
  expect([reader("constructor/x"), reader("tickets"), reader("tickets/a/b")]).toEqual([undefined, undefined, undefined])
})

it("says in lines what lines can say", () => {
  const facts = factsOf({
    title: "Pay",
    lead: { name: "Ana" },
    count: 2,
    teams: [{ name: "A" }, { name: "B" }],
    none: null,
    odd: { x: 1 }
  })
  expect(facts).toEqual([
    ["title", "Pay"],
    ["lead", "Ana"],
    ["count", "2"],
    ["teams", "A, B"],
    ["none", "none"]
  ])
})

it("finds commands by all of their words", () => {
  expect(matches("run shop", "Shop · Run 12")).toBe(true)
  expect(matches("run vault", "Shop · Run 12")).toBe(false)
})
