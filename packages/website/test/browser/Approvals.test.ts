import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { axeFindings } from "../support/Axe.ts"
import { isLive, joinAs, openScreen, type Site, startSite } from "../support/Site.ts"

/** Writes that need a second person: turned on, refused, asked for, approved, made and ended. */

let site: Site

beforeAll(async () => {
  site = await startSite()
  await site.call("POST", "products", { slug: "shop", name: "Shop", type: "library" })
  await site.call("POST", "environments", { slug: "live", name: "Live", class: "production" })
  await site.call("POST", "deployments", { product: "shop", environment: "live" })
  await site.call("POST", "products/shop/secrets", { name: "TOKEN", values: { live: "canary-1" } })
})

afterAll(async () => {
  await site.close()
  expect(site.problems).toEqual([])
})

describe("Approvals", () => {
  it("are turned on, asked for by one and approved by another, and let that one write", async () => {
    const owner = await openScreen(site, "deployments")
    await owner.getByRole("columnheader", { name: "Live" }).getByRole("link", { name: "Live" }).click()
    await owner.getByRole("heading", { name: "Live" }).waitFor()
    expect(new URL(owner.url()).pathname).toBe("/w/main/environments/live")
    await owner.getByRole("button", { name: "What to do with Live" }).click()
    await owner.getByRole("menuitem", { name: "Change" }).click()
    const dialog = owner.getByRole("dialog", { name: "Change the environment" })
    await dialog.getByRole("combobox", { name: "Who writes secrets" }).click()
    await owner.getByRole("option", { name: /approval of another admin/ }).click()
    await dialog.getByRole("status").getByText("One person alone cannot turn this off again").waitFor()
    await dialog.getByRole("button", { name: "Save" }).click()
    await dialog.waitFor({ state: "detached" })
    await owner.getByText("needs approvals").waitFor()
    await owner.getByText("Nobody has asked yet.").waitFor()
    await isLive(owner)

    const member = await joinAs(site, "sam@example.com", "Sam", "member")
    await openScreen(site, "environments/live", member)
    const write = () =>
      member.evaluate(async () => {
        const answer = await fetch("/v1/workspaces/main/products/shop/secrets/TOKEN", {
          method: "PATCH",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ values: { live: "canary-2" } })
        })
        return ((await answer.json()) as { readonly reason?: string }).reason ?? answer.status
      })
    expect(await write()).toBe("approval_required")
    await member.getByRole("button", { name: "Ask for an approval" }).click()
    const asking = member.getByRole("dialog", { name: "Ask to write in Live" })
    await asking.getByLabel("Reason").fill("Rotate the key")
    expect(await axeFindings(member)).toEqual([])
    await asking.getByRole("button", { name: "Ask", exact: true }).click()
    await asking.waitFor({ state: "detached" })
    const ofMember = member.getByRole("list", { name: "Approvals" })
    await ofMember.getByText("pending").waitFor()
    await member.getByText("It waits for another admin, and lapses after 24 hours.").waitFor()
    await ofMember.getByText(/^lapses in/).waitFor()
    expect(await member.getByRole("button", { name: "Ask for an approval" }).count()).toBe(0)
    expect(await ofMember.getByRole("button").allTextContents()).toEqual(["Withdraw"])

    // It comes by itself where the other looks.
    const list = owner.getByRole("list", { name: "Approvals" })
    await list.getByText("Rotate the key").waitFor()
    expect(await axeFindings(owner)).toEqual([])
    await list.getByRole("button", { name: "Approve Sam" }).click()
    await list.getByText("approved").waitFor()
    await list.getByText(/^ends in/).waitFor()
    await ofMember.getByText("approved").waitFor()
    await ofMember.getByText("by Owner").waitFor()
    expect(await write()).toBe(200)
    await list.getByRole("button", { name: "End Sam" }).click()
    await owner.getByRole("dialog").getByRole("button", { name: "End" }).click()
    await list.getByText("ended").waitFor()
    await list.getByText("approved by Owner").waitFor()
    expect(await write()).toBe("approval_required")
  })

  it("are rejected, and the vault says why it writes nothing", async () => {
    const member = await joinAs(site, "kim@example.com", "Kim", "member")
    await openScreen(site, "environments/live", member)
    await member.getByRole("button", { name: "Ask for an approval" }).click()
    const asking = member.getByRole("dialog", { name: "Ask to write in Live" })
    await asking.getByLabel("Reason").fill("Try it out")
    await asking.getByRole("button", { name: "Ask", exact: true }).click()
    await asking.waitFor({ state: "detached" })
    const owner = await openScreen(site, "environments/live")
    const list = owner.getByRole("list", { name: "Approvals" })
    await list.getByRole("button", { name: "Reject Kim" }).click()
    await owner.getByRole("dialog").getByRole("button", { name: "Reject" }).click()
    await list.getByText("rejected").waitFor()
    expect(await list.getByRole("button").count()).toBe(0)
    await member.goto(`${site.origin}/w/main/vault`)
    const needed = "Writes in Live need the approval of another admin."
    await member.getByRole("gridcell", { name: "TOKEN in Live has a value" }).click()
    // It is said before anything is typed.
    const dialog = member.getByRole("dialog", { name: "TOKEN" })
    await dialog.getByRole("status").getByText(needed).waitFor()
    await member.getByLabel("New value").fill("canary-3")
    await member.getByRole("button", { name: "Set value" }).click()
    // What was refused is said in other words and another colour than what was known before.
    const refusal = dialog.getByRole("alert").filter({ hasText: `Nothing was written. ${needed}` })
    await refusal.waitFor()
    expect(await refusal.getAttribute("class")).toContain("text-danger")
    expect(await member.getByLabel("New value").inputValue()).toBe("canary-3")
    expect(await dialog.getByText("delivery approvals request").count()).toBe(0)
    expect(await axeFindings(member)).toEqual([])
    expect(await dialog.getByRole("link", { name: "Ask for an approval" }).getAttribute("href")).toBe(
      "/w/main/environments/live#ask"
    )
    await dialog.getByRole("button", { name: "Clear value" }).click()
    const sure = member.getByRole("dialog", { name: "Clear TOKEN in Live?" })
    await sure.getByRole("button", { name: "Clear value" }).click()
    await sure.getByRole("alert").getByText(needed).waitFor()
    await sure.getByRole("button", { name: "Cancel" }).click()

    // In another tab, what was typed stays; once it is asked for, this one says so, and what becomes of it.
    const [asked] = await Promise.all([
      member.context().waitForEvent("page"),
      dialog.getByRole("link", { name: "Ask for an approval in a new tab" }).click()
    ])
    // The form is open there; once it is closed, a page that is loaded again asks no second time.
    const form = asked.getByRole("dialog", { name: "Ask to write in Live" })
    await form.getByLabel("Reason").and(asked.locator(":focus")).waitFor()
    await asked.keyboard.press("Escape")
    await form.waitFor({ state: "detached" })
    await expect.poll(() => new URL(asked.url()).hash).toBe("")
    await asked.getByRole("button", { name: "Ask for an approval" }).click()
    await asked.getByLabel("Reason").fill("Rotate it")
    await asked.getByRole("button", { name: "Ask", exact: true }).click()
    await asked.getByRole("list", { name: "Approvals" }).getByText("pending").waitFor()
    await asked.close()
    await dialog.getByText("You have asked; it waits for another admin.").waitFor()
    await member.setViewportSize({ width: 1280, height: 300 })
    const [seen] = await Promise.all([
      member.context().waitForEvent("page"),
      dialog.getByRole("link", { name: "See what you asked for in a new tab" }).click()
    ])
    // It is at the end of that page.
    await seen.setViewportSize({ width: 1280, height: 300 })
    const row = seen.getByRole("list", { name: "Approvals" }).getByText("Rotate it")
    await row.waitFor()
    await expect.poll(() => row.evaluate((one) => one.getBoundingClientRect().bottom <= innerHeight)).toBe(true)
    await seen.close()
    await member.setViewportSize({ width: 1280, height: 800 })
    expect(await member.getByLabel("New value").inputValue()).toBe("canary-3")
    await list.getByRole("button", { name: "Approve Kim" }).click()
    await dialog.getByText("You may write in Live now: do it again.").waitFor()
    await member.getByRole("button", { name: "Set value" }).click()
    await member.getByText("TOKEN of Shop in Live is written").first().waitFor()
    await list.getByRole("button", { name: "End Kim" }).click()
    await owner.getByRole("dialog").getByRole("button", { name: "End" }).click()
    await list.getByText("ended").first().waitFor()
  })

  it("are found where one looks for them: columns, the palette, and what waits for an admin", async () => {
    const member = await joinAs(site, "ann@example.com", "Ann", "member")
    await openScreen(site, "vault", member)
    // However long a head is, its column is no wider than the cells below it.
    await member.setViewportSize({ width: 320, height: 720 })
    await site.call("PATCH", "environments/live", { name: "Live, in all countries" })
    const head = member.getByRole("columnheader", { name: "Live, in all countries" })
    await head.getByText("(needs approvals)").waitFor({ state: "attached" })
    const cell = member.getByRole("gridcell", { name: "TOKEN in Live" })
    expect((await head.boundingBox())!.width).toBe((await cell.boundingBox())!.width)
    await site.call("PATCH", "environments/live", { name: "Live" })
    await member.setViewportSize({ width: 1280, height: 800 })
    await member
      .getByRole("columnheader", { name: "Live" })
      .getByRole("link", { name: "Live (production) (needs approvals)" })
      .click()
    await member.getByRole("button", { name: "Ask for an approval" }).click()
    await member.getByLabel("Reason").fill("Rotate all keys")
    await member.getByRole("button", { name: "Ask", exact: true }).click()
    await member.getByRole("list", { name: "Approvals" }).getByText("pending").waitFor()
    // Nobody decides what they asked for themselves: it does not wait for them.
    const owner = await openScreen(site, "environments/live")
    await owner.getByRole("button", { name: "Ask for an approval" }).click()
    await owner.getByLabel("Reason").fill("Mine")
    await owner.getByRole("button", { name: "Ask", exact: true }).click()
    await owner.getByRole("list", { name: "Approvals" }).getByText("Mine").waitFor()

    await openScreen(site, "", owner)
    const waiting = owner.getByRole("region", { name: "Waiting for you" })
    await waiting.getByRole("link", { name: /Ann asks to write in Live/ }).waitFor()
    expect(await waiting.getByRole("link").count()).toBe(1)
    expect(await axeFindings(owner)).toEqual([])
    // The inbox says so on every screen, and leads there, too.
    await owner.getByRole("link", { name: /^Inbox 1 waiting: 0 unread, 1 approval/ }).click()
    const inInbox = owner.getByRole("region", { name: "Approvals that wait for you" })
    await inInbox.getByRole("link", { name: /Ann asks to write in Live/ }).waitFor()
    expect(await axeFindings(owner)).toEqual([])
    await inInbox.getByRole("link", { name: /Ann asks/ }).click()
    await owner.getByRole("button", { name: "Approve Ann" }).waitFor()

    await openScreen(site, "", owner)
    for (const text of ["approvals", "Live"]) {
      await owner.keyboard.press("Control+k")
      await owner.getByRole("combobox", { name: "Search and do" }).fill(text)
      await owner.getByRole("option", { name: "Live environment, needs approvals" }).waitFor()
      await owner.keyboard.press("Escape")
    }
    await owner.keyboard.press("Control+k")
    await owner.getByRole("combobox", { name: "Search and do" }).fill("approvals")
    await owner.getByRole("option", { name: "Live environment" }).click()
    await owner.getByRole("heading", { name: "Live" }).waitFor()
    // Nobody but an admin approves: nothing waits for a member.
    await openScreen(site, "", member)
    await isLive(member)
    expect(await member.getByText("asks to write").count()).toBe(0)
    await owner.getByRole("button", { name: "Reject Ann" }).click()
    await owner.getByRole("dialog").getByRole("button", { name: "Reject" }).click()
    await owner.getByRole("list", { name: "Approvals" }).getByText("rejected").first().waitFor()
    await owner.getByRole("link", { name: /^Inbox$/ }).waitFor()
  })

  it("are not turned off, and nothing is pasted, without one", async () => {
    const owner = await openScreen(site, "deployments")
    await owner.getByRole("button", { name: "What to do with Live" }).click()
    await owner.getByRole("menuitem", { name: "Change" }).click()
    const dialog = owner.getByRole("dialog", { name: "Change the environment" })
    await dialog.getByRole("combobox", { name: "Who writes secrets" }).click()
    await owner.getByRole("option", { name: /Whoever may write/ }).click()
    const need = "Turning this off needs the approval of another admin."
    await dialog.getByRole("status").getByText(need).waitFor()
    await dialog.getByText("You have asked; it waits for another admin.").waitFor()
    await dialog.getByRole("button", { name: "Save" }).click()
    await dialog.getByRole("alert").getByText(need).waitFor()
    expect(await dialog.getByRole("alert").count()).toBe(1)
    expect(await axeFindings(owner)).toEqual([])
    await dialog.getByRole("button", { name: "Cancel" }).click()
    await owner.getByRole("button", { name: "What to do with Live" }).click()
    await owner.getByRole("menuitem", { name: "Archive" }).click()
    await owner
      .getByText("That needs the approval of another admin. Ask for one on the page of Live.")
      .first()
      .waitFor()

    const member = await joinAs(site, "lea@example.com", "Lea", "member")
    await openScreen(site, "vault", member)
    await member.getByRole("button", { name: "Paste .env" }).click()
    const pasting = member.getByRole("dialog", { name: "Paste a .env file" })
    const needed = "Writes in Live need the approval of another admin."
    await pasting.getByRole("status").getByText(needed).waitFor()
    await pasting.getByLabel("Contents of the file").fill("TOKEN=canary-4\nOTHER=canary-5\n")
    await pasting.getByRole("button", { name: "Show the difference" }).click()
    await pasting.getByRole("button", { name: "Write 2 secrets" }).waitFor()
    await pasting.getByRole("status").getByText(needed).waitFor()
    expect(await axeFindings(member)).toEqual([])
    await pasting.getByRole("button", { name: "Write 2 secrets" }).click()
    await pasting.getByRole("alert").getByText("Nothing was written to Shop in Live.").waitFor()
    await pasting.getByText("Not written, for want of an approval: TOKEN, OTHER").waitFor()
    await pasting.getByRole("alert").getByText(needed).waitFor()
    expect(await axeFindings(member)).toEqual([])
    expect(await pasting.getByText("delivery approvals request").count()).toBe(0)
  })
})
