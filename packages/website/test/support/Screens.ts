import type { Page } from "playwright-core"
import { seed, type Seeded, seedLargeRun } from "./Seed.ts"
import { type SeededPlanning, seedPlanning } from "./SeedPlanning.ts"
import { seedFlow } from "./SeedFlow.ts"
import { seedSettings, type SeededSettings } from "./SeedSettings.ts"
import { callWith, type Site, startSite } from "./Site.ts"

/** Every screen and every dialog of a workspace that has something of everything, for tests and pictures. */

export interface Screens {
  readonly site: Site
  /** Paths by what they show. */
  readonly screens: Readonly<Record<string, string>>
  /** What opens over a screen, and how. */
  readonly overlays: Readonly<Record<string, (page: Page) => Promise<unknown>>>
  readonly close: () => Promise<void>
}

const test = encodeURIComponent("tests/checkout/pays-by-card.spec.ts:Checkout › pays by card")

/** Whether all that the screen asks for has come. */
export const settled = async (page: Page) => {
  // On narrow screens, that of a test is for screen readers alone: it stands below.
  await page.locator("#screen h1").waitFor({ state: "attached" })
  await page.waitForLoadState("networkidle").catch(() => {})
  await page.waitForFunction(() => document.querySelector("[aria-busy=true], .animate-pulse") === null)
}

/** What a screen is called in the names of files. */
export const fileOf = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")

const screensOf = (
  seeded: Seeded,
  large: number,
  settings: SeededSettings,
  planning: SeededPlanning
): Screens["screens"] => ({
  Home: "/w/main",
  Runs: "/w/main/test-runs",
  "Runs, none": "/w/main/test-runs?q=nothing",
  Run: `/w/main/test-runs/${seeded.failed}`,
  "Run, all tests": `/w/main/test-runs/${seeded.failed}?view=tests`,
  "Run, retries": `/w/main/test-runs/${seeded.failed}?view=retries`,
  "Run, details": `/w/main/test-runs/${seeded.failed}?view=details`,
  "Run, passed": `/w/main/test-runs/${seeded.passed}`,
  "Run of 5,000 tests": `/w/main/test-runs/${large}`,
  "Run, running": `/w/main/test-runs/${seeded.running}`,
  "Run, unknown": "/w/main/test-runs/999",
  Test: `/w/main/test-runs/${seeded.failed}/tests/${test}`,
  "Compare runs": `/w/main/compare?run=${seeded.failed}`,
  "Compare runs, none chosen": "/w/main/compare",
  Tests: "/w/main/tests?product=shop",
  "Tests, none": "/w/main/tests?product=shop&q=nothing",
  Case: `/w/main/products/shop/cases/${test}`,
  "Muted tests": "/w/main/muted-tests",
  "Muted tests, none": "/w/main/products/billing/muted-tests",
  "Test rules": "/w/main/test-rules",
  Trends: "/w/main/trends?product=shop",
  Delivery: "/w/main/products/shop/delivery",
  "Delivery, none": "/w/main/products/billing/delivery",
  "Trends, table": "/w/main/trends?product=shop&view=table",
  "Trends, none": "/w/main/trends?product=billing&environment=review",
  Deployments: "/w/main/deployments",
  Deployment: "/w/main/deployments/shop/production",
  Readiness: "/w/main/deployments/shop/production?view=readiness",
  "Compare deployments": "/w/main/deployments/shop/production?view=compare",
  Vault: "/w/main/vault",
  "Compare environments": "/w/main/vault/compare?product=shop",
  Secret: "/w/main/products/shop/secrets/DATABASE_URL",
  Tickets: "/w/main/tickets",
  "Tickets, none": "/w/main/tickets?q=nothing",
  Board: `/w/main/tickets?layout=board&teams=${encodeURIComponent('["ENG"]')}`,
  "Tickets by milestone": "/w/main/tickets?group=milestone",
  Ticket: "/w/main/tickets/ENG-1",
  "Ticket that asks for evidence": "/w/main/tickets/ENG-10",
  "Ticket that mutes tests": "/w/main/tickets/ENG-2",
  View: `/w/main/views/${planning.view}`,
  Projects: "/w/main/projects",
  "Projects, archived": "/w/main/projects?view=archived",
  Project: "/w/main/projects/checkout",
  Teams: "/w/main/teams",
  "For all teams": "/w/main/teams?view=shared",
  Team: "/w/main/teams/ENG",
  Inbox: "/w/main/inbox",
  Agents: "/w/main/agents",
  Messages: "/w/main/agents?view=messages",
  Product: "/w/main/products/shop",
  Environment: "/w/main/environments/production",
  Events: "/w/main/events",
  Members: "/w/main/settings/members",
  "API keys": "/w/main/settings/api-keys",
  "API keys of the workspace": "/w/main/settings/api-keys?of=workspace",
  "Deployment tokens": "/w/main/deployments/shop/production?view=tokens",
  "Deployment tokens, none": "/w/main/deployments/shop/staging?view=tokens",
  Audit: "/w/main/audit",
  "Audit, none": "/w/main/audit?action=agent_denied",
  Webhooks: "/w/main/webhooks",
  Webhook: `/w/main/webhooks/${settings.webhook}`,
  Semaphores: "/w/main/semaphores",
  Workspace: "/w/main/settings",
  Profile: "/w/main/settings/profile",
  Credentials: "/w/main/settings/credentials",
  "Trusted publishers": "/w/main/settings/trusted-publishers",
  "No page": "/w/main/nothing/here"
})

/** On narrow screens the filters are behind one button. */
const openFilters = async (page: Page, name: string) => {
  const filters = page.getByRole("search", { name })
  await filters.getByRole("searchbox").waitFor()
  const all = filters.getByRole("button", { name: "Filter" })
  if (await all.isVisible()) await all.click()
}

const overlaysOf = (site: Site, seeded: Seeded): Screens["overlays"] => ({
  Palette: async (page) => {
    await page.goto(`${site.origin}/w/main`)
    await settled(page)
    await page.keyboard.press("Control+k")
    await page.getByRole("combobox", { name: "Search and do" }).waitFor()
  },
  Keys: async (page) => {
    await page.goto(`${site.origin}/w/main`)
    await settled(page)
    await page.keyboard.press("?")
    await page.getByRole("dialog", { name: "Keys" }).waitFor()
  },
  "Readiness policy": async (page) => {
    await page.goto(`${site.origin}/w/main/deployments/shop/production?view=readiness`)
    await page.getByRole("button", { name: "Change policy" }).click()
    await page.getByRole("dialog").waitFor()
  },
  "Connect an agent": async (page) => {
    await page.goto(`${site.origin}/w/main/agents`)
    await page.getByRole("button", { name: "Connect an agent" }).click()
    await page.getByRole("dialog").getByRole("tab", { name: "Codex" }).waitFor()
  },
  "Filter of runs": async (page) => {
    await page.goto(`${site.origin}/w/main/test-runs`)
    await openFilters(page, "Runs")
    await page.getByRole("button", { name: "result" }).click()
    await page.getByRole("menuitemradio", { name: "failed" }).waitFor()
  },
  "A cell of the vault": async (page) => {
    await page.goto(`${site.origin}/w/main/vault`)
    await page.getByRole("gridcell", { name: "SESSION_SECRET in Staging has a value" }).click()
    await page.getByRole("dialog").getByText("Versions").waitFor()
  },
  "Several cells of the vault": async (page) => {
    await page.goto(`${site.origin}/w/main/vault`)
    await page.getByRole("gridcell", { name: "SESSION_SECRET in Staging" }).waitFor()
    // The key is there as soon as it is known that the person may write.
    await page.getByRole("button", { name: "Add secret" }).waitFor()
    await page.keyboard.press("b")
    await page.getByRole("gridcell", { name: "SESSION_SECRET in Staging" }).click()
    await page.getByRole("textbox", { name: "New value of SESSION_SECRET" }).fill("new")
    await page.keyboard.press("Enter")
    await page.getByText("1 cell changed").waitFor()
  },
  "Add a secret": async (page) => {
    await page.goto(`${site.origin}/w/main/vault`)
    await page.getByRole("button", { name: "Add secret" }).click()
    await page.getByRole("dialog").getByLabel("Name").waitFor()
  },
  "New ticket": async (page) => {
    await page.goto(`${site.origin}/w/main/test-runs/${seeded.failed}/tests/${test}`)
    await page.getByRole("button", { name: "Create ticket" }).click()
    await page.getByRole("dialog", { name: "New ticket" }).waitFor()
  },
  "Mute a test": async (page) => {
    await page.goto(`${site.origin}/w/main/test-runs/${seeded.failed}/tests/${test}`)
    await page.getByRole("button", { name: "Mute…" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Mute the test" }).waitFor()
  },
  "Mute tests that fail alike": async (page) => {
    await page.goto(`${site.origin}/w/main/test-runs/${seeded.failed}`)
    await page
      .getByRole("button", { name: /^Mute (?:all|the rest)/ })
      .first()
      .click()
    await page
      .getByRole("dialog", { name: "Mute tests" })
      .getByRole("button", { name: /^Mute\s/ })
      .waitFor()
  },
  "Extend a mute": async (page) => {
    await page.goto(`${site.origin}/w/main/tickets/ENG-2`)
    await page.getByRole("region", { name: "Muted tests" }).getByRole("button", { name: "Extend…" }).click()
    await page.getByRole("dialog", { name: "Extend the mute" }).waitFor()
  },
  "New test rule": async (page) => {
    await page.goto(`${site.origin}/w/main/test-rules`)
    await page.getByRole("button", { name: "New rule" }).click()
    await page.getByRole("dialog").getByLabel("Completed after").waitFor()
  },
  "Completion of a ticket": async (page) => {
    await page.goto(`${site.origin}/w/main/tickets/ENG-10`)
    await page.getByRole("button", { name: /^Completion:/ }).click()
    await page.getByRole("menuitem", { name: /Tests and runs/ }).click()
    await page.getByRole("dialog", { name: "How ENG-10 is completed" }).getByLabel("Add a test").waitFor()
  },
  "Evidence that is missing": async (page) => {
    await page.goto(`${site.origin}/w/main/tickets/ENG-10`)
    await page.getByRole("list", { name: "Evidence of each test" }).waitFor()
    await page.getByRole("button", { name: /^Status:/ }).click()
    await page.getByRole("menuitemradio", { name: /Done/ }).click()
    await page
      .getByRole("dialog", { name: "ENG-10 needs evidence to be completed" })
      .getByRole("listitem")
      .first()
      .waitFor()
  },
  "Add a product": async (page) => {
    await page.goto(`${site.origin}/w/main/deployments`)
    await page.getByRole("button", { name: "Add product" }).click()
    await page.getByRole("dialog").getByLabel("Slug").waitFor()
  },
  "Add an environment": async (page) => {
    await page.goto(`${site.origin}/w/main/deployments`)
    await page.getByRole("button", { name: "More", exact: true }).click()
    await page.getByRole("menuitem", { name: "Add environment" }).click()
    await page.getByRole("dialog").getByLabel("Slug").waitFor()
  },
  "Archived products": async (page) => {
    await page.goto(`${site.origin}/w/main/deployments`)
    await page.getByRole("button", { name: "More", exact: true }).click()
    await page.getByRole("menuitem", { name: /Archived/ }).click()
    await page.getByRole("dialog").getByText("Nothing is archived.").waitFor()
  },
  "New ticket of a team": async (page) => {
    await page.goto(`${site.origin}/w/main/tickets`)
    await page.getByRole("button", { name: "New ticket" }).click()
    await page.getByRole("dialog", { name: "New ticket" }).waitFor()
  },
  "Tickets from a list": async (page) => {
    await page.goto(`${site.origin}/w/main/tickets`)
    await page.getByRole("button", { name: "More", exact: true }).click()
    await page.getByRole("menuitem", { name: "From a list" }).click()
    await page.getByRole("dialog").getByLabel("Titles").waitFor()
  },
  "Selected tickets": async (page) => {
    await page.goto(`${site.origin}/w/main/tickets`)
    await page.getByRole("checkbox", { name: "Select ENG-1", exact: true }).check()
    await page.getByRole("toolbar", { name: "Selection" }).getByRole("button", { name: "Status" }).click()
    await page.getByRole("menuitemradio").first().waitFor()
  },
  "Filter of tickets": async (page) => {
    await page.goto(`${site.origin}/w/main/tickets`)
    await openFilters(page, "Tickets")
    await page.getByRole("search").getByRole("button", { name: "owner" }).click()
    await page.getByRole("menuitemcheckbox", { name: "nobody" }).waitFor()
  },
  "Save as view": async (page) => {
    await page.goto(`${site.origin}/w/main/tickets?owners=${encodeURIComponent('["me"]')}`)
    await page.getByRole("button", { name: "Save as view" }).click()
    await page.getByRole("dialog").getByLabel("Name").waitFor()
  },
  "Status of a ticket": async (page) => {
    await page.goto(`${site.origin}/w/main/tickets/ENG-1`)
    await page.getByRole("button", { name: /^Status:/ }).click()
    await page.getByRole("menuitemradio").first().waitFor()
  },
  "Tags of a ticket": async (page) => {
    await page.goto(`${site.origin}/w/main/tickets/ENG-1`)
    await page.getByRole("button", { name: /^Tags: / }).click()
    await page.getByRole("dialog").getByRole("checkbox").first().waitFor()
  },
  "Ask an agent": async (page) => {
    await page.goto(`${site.origin}/w/main/tickets/ENG-1`)
    await page.getByRole("button", { name: "Ask an agent" }).click()
    await page.getByRole("dialog").getByLabel("Note").waitFor()
  },
  "History of a ticket": async (page) => {
    await page.goto(`${site.origin}/w/main/tickets/ENG-9`)
    await page.getByRole("button", { name: "More" }).click()
    await page.getByRole("menuitem", { name: "History" }).click()
    await page.getByRole("dialog", { name: "History of ENG-9" }).getByRole("insertion").first().waitFor()
  },
  "Edit a description": async (page) => {
    await page.goto(`${site.origin}/w/main/tickets/ENG-1`)
    await page.getByRole("button", { name: "Edit the description" }).click()
    const field = page.getByRole("textbox", { name: "Description" })
    await field.fill("")
    await field.pressSequentially("Ask @")
    await page.getByRole("option").first().waitFor()
  },
  "Add a project": async (page) => {
    await page.goto(`${site.origin}/w/main/projects`)
    await page.getByRole("button", { name: "Add project" }).click()
    await page.getByRole("dialog").getByLabel("Slug").waitFor()
  },
  "Add a milestone": async (page) => {
    await page.goto(`${site.origin}/w/main/projects/checkout`)
    await page.getByRole("button", { name: "Milestone" }).click()
    await page.getByRole("dialog").getByLabel("Name").waitFor()
  },
  "Add a team": async (page) => {
    await page.goto(`${site.origin}/w/main/teams`)
    await page.getByRole("button", { name: "Add team" }).click()
    await page.getByRole("dialog").getByLabel("Key").waitFor()
  },
  "Add a member to a team": async (page) => {
    await page.goto(`${site.origin}/w/main/teams/ENG`)
    await page.getByRole("button", { name: "Member", exact: false }).first().click()
    await page.getByRole("dialog").waitFor()
  },
  "Add a status": async (page) => {
    await page.goto(`${site.origin}/w/main/teams/ENG`)
    await page.getByRole("button", { name: "Status", exact: true }).click()
    await page.getByRole("dialog").getByLabel("Name").waitFor()
  },
  "Delete a status": async (page) => {
    await page.goto(`${site.origin}/w/main/teams/ENG`)
    await page.getByRole("button", { name: "Change Done" }).click()
    await page.getByRole("menuitem", { name: "Delete" }).click()
    await page.getByRole("dialog", { name: "Delete Done?" }).waitFor()
  },
  "Add a tag": async (page) => {
    await page.goto(`${site.origin}/w/main/teams?view=shared`)
    await page.getByRole("button", { name: "Tag", exact: true }).click()
    await page.getByRole("group", { name: "Color" }).waitFor()
  },
  Invite: async (page) => {
    await page.goto(`${site.origin}/w/main/settings/members`)
    await page.getByRole("button", { name: "Invite" }).click()
    await page.getByRole("dialog").waitFor()
  },
  "New key": async (page) => {
    await page.goto(`${site.origin}/w/main/settings/api-keys`)
    await page.getByRole("button", { name: "New API key" }).click()
    await page.getByRole("dialog").waitFor()
  },
  "New deployment token": async (page) => {
    await page.goto(`${site.origin}/w/main/deployments/shop/production?view=tokens`)
    await page.getByRole("button", { name: "New token" }).click()
    await page.getByRole("dialog").getByLabel("Name").waitFor()
  },
  "Lines of a token": async (page) => {
    await page.goto(`${site.origin}/w/main/deployments/shop/production?view=tokens`)
    await page.getByRole("button", { name: "Lines to paste" }).click()
    await page.getByRole("tab", { name: "Kubernetes" }).click()
    await page.getByRole("tabpanel", { name: "Kubernetes" }).waitFor()
  },
  "Revoke a token": async (page) => {
    await page.goto(`${site.origin}/w/main/deployments/shop/production?view=tokens`)
    await page.getByRole("button", { name: "Revoke kubernetes", exact: true }).click()
    await page.getByRole("dialog", { name: "Revoke kubernetes?" }).waitFor()
  },
  "Trust a workflow": async (page) => {
    await page.goto(`${site.origin}/w/main/settings/trusted-publishers`)
    await page.getByRole("button", { name: "Trust a workflow" }).click()
    await page.getByRole("dialog").getByLabel("Number of the repository").waitFor()
  },
  "New webhook": async (page) => {
    await page.goto(`${site.origin}/w/main/webhooks`)
    await page.getByRole("button", { name: "New webhook" }).click()
    await page.getByRole("dialog").getByLabel("Address").waitFor()
  },
  "Actions of the audit": async (page) => {
    await page.goto(`${site.origin}/w/main/audit`)
    await page.getByRole("button", { name: "action" }).click()
    await page.getByRole("menuitemradio", { name: "secret read" }).waitFor()
  },
  "Details of the audit": async (page) => {
    await page.goto(`${site.origin}/w/main/audit`)
    const details = page.getByRole("button", { name: /^Details of/ }).first()
    await details.click()
    await page.getByText("Network address").waitFor()
  },
  "Add a passkey": async (page) => {
    await page.goto(`${site.origin}/w/main/settings/profile`)
    await page.getByRole("button", { name: "Add a passkey" }).click()
    await page.getByRole("dialog").getByLabel("Name").waitFor()
  }
})

export const startScreens = async (): Promise<Screens> => {
  const site = await startSite({
    WEBHOOK_PRIVATE: "true",
    // Home says until when a passkey can be added: however slow the machine is, it is not too late.
    SUDO_MS: "7200000"
  })
  const seeded = await seed(site.call)
  const large = await seedLargeRun(site.call)
  const planning = await seedPlanning(site.call, (key) => callWith(site.origin, key))
  await seedFlow(site.call)
  const settings = await seedSettings(site)
  return {
    site,
    screens: screensOf(seeded, large, settings, planning),
    overlays: overlaysOf(site, seeded),
    close: async () => {
      settings.close()
      await site.close()
    }
  }
}
