import { describe, expect, it } from "vitest"
import { movePlace, moveSection, sectionsIn } from "../../src/app/placeOrder.ts"
import { placesOf } from "../../src/app/places.ts"

describe("The order of the sidebar", () => {
  const ofMember = placesOf("member")
  const labels = (order: ReadonlyArray<string>, places = ofMember) =>
    sectionsIn(order, places).map(({ group, places: some }) => [group, ...some.map(({ label }) => label)])
  const place = (label: string) => placesOf("owner").find((one) => one.label === label)!
  const shown = (order: ReadonlyArray<string>, group: string, places = ofMember) =>
    sectionsIn(order, places).find((section) => section.group === group)!.places

  it("is the usual one until something is moved", () => {
    expect(labels([])).toEqual([
      ["top", "Home", "Inbox", "Tickets", "Projects", "Teams"],
      ["products", "Runs", "Tests", "Trends", "Deployments", "Vault", "Semaphores"],
      ["work", "Agents", "Events"],
      ["settings", "Workspace", "Profile", "Members", "API keys"]
    ])
  })

  it("moves a place past the next that is shown, and no further than its section", () => {
    const vault = movePlace([], shown([], "products"), place("Vault"), -1)!
    expect(labels(vault)[1]).toEqual(["products", "Runs", "Tests", "Trends", "Vault", "Deployments", "Semaphores"])
    const back = movePlace(vault, shown(vault, "products"), place("Vault"), 1)!
    expect(labels(back)).toEqual(labels([]))
    expect(movePlace([], shown([], "products"), place("Runs"), -1)).toBeUndefined()
    expect(movePlace([], shown([], "products"), place("Semaphores"), 1)).toBeUndefined()
    // Of a member, Events is the last; what an admin sees behind it keeps its place.
    expect(movePlace([], shown([], "work"), place("Events"), 1)).toBeUndefined()
    const events = movePlace([], shown([], "work"), place("Events"), -1)!
    expect(labels(events, placesOf("owner"))[2]).toEqual(["work", "Events", "Agents", "Audit", "Webhooks"])
  })

  it("moves a section, but not before the first places", () => {
    const work = moveSection([], "work", -1)!
    expect(labels(work).map(([group]) => group)).toEqual(["top", "work", "products", "settings"])
    expect(moveSection(work, "work", -1)).toBeUndefined()
    expect(moveSection([], "settings", 1)).toBeUndefined()
    const settings = moveSection(work, "settings", -1)!
    expect(labels(settings).map(([group]) => group)).toEqual(["top", "work", "settings", "products"])
  })

  it("has places that came later behind the others of their section", () => {
    const order = moveSection([], "work", -1)!.filter((to) => to !== place("Trends").to)
    expect(labels(order)).toEqual([
      ["top", "Home", "Inbox", "Tickets", "Projects", "Teams"],
      ["work", "Agents", "Events"],
      ["products", "Runs", "Tests", "Deployments", "Vault", "Semaphores", "Trends"],
      ["settings", "Workspace", "Profile", "Members", "API keys"]
    ])
  })
})
