import type { Call } from "./Site.ts"

/** Teams, projects and tickets as a real team has them, for tests and pictures of planning. */

export interface SeededPlanning {
  /** The id of a view of the workspace. */
  readonly view: string
}

interface Made {
  readonly id: string
}

const titles = [
  "Pay by card",
  "Show the basket beside the form",
  "Remember the address",
  "Ask for the post code first",
  "Say why a card was refused",
  "Pay with a saved card",
  "Refunds from the order page",
  "A receipt by mail",
  "Round the total as the bank does",
  "Block double payments",
  "Translate the errors",
  "Focus the first wrong field"
]

const description = `The checkout takes **Visa** and Mastercard, see [the plan](/w/main/projects).

- [x] The form
- [ ] The bank

\`\`\`ts
const total = sum(lines)
\`\`\`

> Cards of the old shop stay.

| Card | Fee |
|---|---|
| Visa | 1.2 % |
`

export const seedPlanning = async (call: Call, as: (key: string) => Call): Promise<SeededPlanning> => {
  await call("POST", "teams", { key: "ENG", name: "Engineering" })
  await call("POST", "teams", { key: "OPS", name: "Operations", visibility: "private" })
  await call("POST", "projects", {
    slug: "checkout",
    name: "New checkout",
    summary: "One page, three fields.",
    status: "active",
    teams: ["ENG"],
    targetDate: "2027-03-31",
    document: "# Goal\n\nHalf as many people leave the checkout."
  })
  await call("POST", "projects", { slug: "search", name: "Faster search", teams: ["ENG", "OPS"] })
  await call("POST", "projects/checkout/milestones", { name: "Private beta", summary: "Ten customers pay with it." })
  await call("POST", "projects/checkout/milestones", { name: "Everybody" })
  const bug = await call<Made>("POST", "tags", { name: "Bug", color: "#d73a4a" })
  await call("POST", "tags", { name: "Design", color: "#5319e7", team: "ENG" })
  const { statuses } = await call<{ statuses: ReadonlyArray<Made> }>("GET", "ticket-statuses?team=ENG")
  const me = await call<Made & { readonly name: string }>("GET", "/v1/me")
  for (const [index, title] of titles.entries()) {
    await call("POST", "tickets", {
      team: "ENG",
      title,
      ...(index === 0 ? { description, plan: "1. Add the form\n2. Call the bank" } : {}),
      status: statuses[index % statuses.length]!.id,
      project: index % 3 === 0 ? null : "checkout",
      ...(index % 3 === 0 ? {} : { milestone: 1 + (index % 2) }),
      owner: index % 4 === 1 ? me.id : null,
      tags: index % 4 === 0 ? [bug.id] : []
    })
  }
  const texts = ["The total is rounded down.", "The total is rounded as the bank does: half a cent goes up."]
  for (const description of texts) await call("PATCH", "tickets/ENG-9", { description })
  await call("POST", "tickets", { team: "OPS", title: "Move the backups" })
  const { access_token, agent } = await call<{ access_token: string; agent: string }>("POST", "agents/register", {
    client: "claude",
    computer: "laptop"
  })
  const question = `[@${me.name}](user:${me.id}) which cards come **first**?`
  await as(access_token)("POST", "/agent/v1/tickets/ENG-1/comments", { body: question })
  // What is told of a ticket is read where its page is opened: the inbox has it of one whose page is none of the screens.
  await call("POST", "ticket-notifications/read")
  await as(access_token)("POST", "/agent/v1/tickets/ENG-3/comments", { body: question })
  await call("POST", "messages", { agent, ticket: "ENG-1", ask: "build", note: "Please start with **Visa**." })
  const view = await call<Made>("POST", "views", {
    name: "Bugs",
    scope: { kind: "workspace" },
    filters: { tags: [bug.id] },
    layout: "list"
  })
  return { view: view.id }
}
