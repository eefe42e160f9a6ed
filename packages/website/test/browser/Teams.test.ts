import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { joinAs, openScreen, type Site, startSite } from "../support/Site.ts"

/** Teams with their members, statuses and tags, and what those see who are in none. */

let site: Site

beforeAll(async () => {
  site = await startSite()
  await site.call("POST", "teams", { key: "ENG", name: "Engineering" })
})

afterAll(async () => {
  await site.close()
  expect(site.problems).toEqual([])
})

const statuses = async () => {
  const answer = await site.call<{ statuses: ReadonlyArray<{ id: string; name: string; isDefault: boolean }> }>(
    "GET",
    "ticket-statuses?team=ENG"
  )
  return answer.statuses
}

describe("Teams", () => {
  it("are added, filled, hidden and archived, and brought back", async () => {
    const ben = await joinAs(site, "ben@example.com", "Ben", "member")
    const page = await openScreen(site, "teams")
    await page.getByRole("button", { name: "Add team" }).waitFor()
    await page.keyboard.press("n")
    const dialog = page.getByRole("dialog", { name: "Add a team" })
    await dialog.getByRole("textbox", { name: "Name" }).fill("Payments")
    await expect.poll(() => dialog.getByRole("textbox", { name: "Key" }).inputValue()).toBe("PAY")
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { level: 1, name: "Payments" }).waitFor()
    await site.call("POST", "tickets", { team: "PAY", title: "Secret plans" })
    await openScreen(site, "tickets", ben)
    await ben.getByText("Secret plans").waitFor()
    await page.keyboard.press("r")
    const change = page.getByRole("dialog", { name: "Change the team" })
    await change.getByRole("combobox", { name: "Seen by" }).click()
    await page.getByRole("option", { name: /^Private/ }).click()
    await change.getByRole("button", { name: "Save" }).click()
    await page.getByText("private", { exact: true }).waitFor()
    await ben.reload()
    await ben.getByText("Work is planned here").waitFor()
    await openScreen(site, "teams/PAY", ben)
    await ben.getByText("cannot see it").waitFor()
    await page.keyboard.press("m")
    await page
      .getByRole("dialog", { name: "Add a member to Payments" })
      .getByRole("button", { name: "Add member" })
      .click()
    await page.getByRole("listitem").filter({ hasText: "ben@example.com" }).waitFor()
    await openScreen(site, "tickets", ben)
    await ben.getByText("Secret plans").waitFor()
    await page.getByRole("button", { name: "More" }).click()
    await page.getByRole("menuitem", { name: "Archive" }).click()
    await page.getByText("archived", { exact: true }).waitFor()
    await page.getByRole("button", { name: "Undo" }).first().click()
    await page.getByText("Payments is back").first().waitFor()
  })

  it("are looked at beside their list", async () => {
    const page = await openScreen(site, "teams")
    await page
      .getByRole("list", { name: "Teams" })
      .getByRole("link", { name: /Engineering/ })
      .waitFor()
    await page.keyboard.press("j")
    await page.keyboard.press(" ")
    const peek = page.getByRole("complementary", { name: "The current team" })
    await peek.getByRole("heading", { name: "Engineering" }).waitFor()
    await peek.getByRole("region", { name: "Members" }).getByRole("listitem").first().waitFor()
    await peek.getByRole("region", { name: "Statuses" }).getByText("In progress").waitFor()
    await page.keyboard.press("Escape")
    await peek.waitFor({ state: "detached" })
    expect(new URL(page.url()).pathname).toBe("/w/main/teams")
  })

  it("have statuses that are added, ordered, made the default, and deleted with a place for their tickets", async () => {
    const page = await openScreen(site, "teams/ENG/ticket-statuses")
    await page.getByRole("button", { name: "Status", exact: true }).click()
    const dialog = page.getByRole("dialog", { name: "Add a status" })
    await dialog.getByRole("textbox", { name: "Name" }).fill("In review")
    await page.keyboard.press("Enter")
    const menu = (name: string) => page.getByRole("button", { name: `Change ${name}`, exact: true })
    await menu("In review").click()
    await page.getByRole("menuitem", { name: "Up" }).click()
    await expect
      .poll(async () => (await statuses()).map(({ name }) => name))
      .toEqual(["Backlog", "Todo", "In review", "In progress", "Done", "Canceled"])
    await menu("Todo").click()
    await page.getByRole("menuitem", { name: "Give it to new tickets" }).click()
    await expect.poll(async () => (await statuses()).find(({ isDefault }) => isDefault)?.name).toBe("Todo")
    const ticket = await site.call<{ identifier: string }>("POST", "tickets", {
      team: "ENG",
      title: "Waits",
      status: (await statuses()).find(({ name }) => name === "In review")!.id
    })
    await menu("In review").click()
    await page.getByRole("menuitem", { name: "Delete" }).click()
    const deleting = page.getByRole("dialog", { name: "Delete In review?" })
    await deleting.getByRole("button", { name: "Delete" }).click()
    // What is behind a dialog has no role.
    await deleting.waitFor({ state: "detached" })
    await menu("In review").waitFor({ state: "detached" })
    const moved = await site.call<{ status: { name: string } }>("GET", `tickets/${ticket.identifier}`)
    expect(moved.status.name).toBe("In progress")
    await menu("Backlog").click()
    await page.getByRole("menuitem", { name: "Delete" }).click()
    const refused = page.getByRole("dialog", { name: "Delete Backlog?" })
    await refused.getByRole("button", { name: "Delete" }).click()
    await refused.getByRole("alert").waitFor()
  })

  it("have tags, as the workspace has", async () => {
    const page = await openScreen(site, "settings/tags")
    await page.getByRole("heading", { level: 1, name: "Teams" }).waitFor()
    await page.getByRole("button", { name: "Tag", exact: true }).click()
    await page.getByRole("dialog", { name: "Add a tag" }).getByRole("textbox", { name: "Name" }).fill("Bug")
    await page.keyboard.press("Enter")
    await page.getByRole("button", { name: "Change Bug" }).click()
    await page.getByRole("dialog", { name: "Change the tag" }).getByRole("textbox", { name: "Name" }).fill("Defect")
    await page.keyboard.press("Enter")
    await page.getByRole("button", { name: "Delete Defect" }).click()
    await page.getByRole("dialog", { name: "Delete Defect?" }).getByRole("button", { name: "Delete" }).click()
    await page.getByText("No tags yet.").waitFor()
  })
})
