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
    const owner = await openScreen(site, "environments/live")
    await owner.getByRole("button", { name: "What to do with Live" }).click()
    await owner.getByRole("menuitem", { name: "Change" }).click()
    const dialog = owner.getByRole("dialog", { name: "Change the environment" })
    await dialog.getByRole("combobox", { name: "Who writes secrets" }).click()
    await owner.getByRole("option", { name: /approval of another admin/ }).click()
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
    expect(await ofMember.getByRole("button").allTextContents()).toEqual(["Withdraw"])

    // It comes by itself where the other looks.
    const list = owner.getByRole("list", { name: "Approvals" })
    await list.getByText("Rotate the key").waitFor()
    expect(await axeFindings(owner)).toEqual([])
    await list.getByRole("button", { name: "Approve Sam" }).click()
    await list.getByText("approved").waitFor()
    await ofMember.getByText("approved").waitFor()
    expect(await write()).toBe(200)
    await list.getByRole("button", { name: "End Sam" }).click()
    await owner.getByRole("dialog").getByRole("button", { name: "End" }).click()
    await list.getByText("ended").waitFor()
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
    await member.getByRole("gridcell", { name: "TOKEN in Live has a value" }).click()
    await member.getByLabel("New value").fill("canary-3")
    await member.getByRole("button", { name: "Set value" }).click()
    await member.getByText("Live: writes there need the approval of a second person.").waitFor()
    expect(await member.getByLabel("New value").inputValue()).toBe("canary-3")
  })
})
