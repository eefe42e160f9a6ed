import type { Call } from "./Site.ts"

/** Rules, mutes and evidence as a team has them, beside what `Seed.ts` and `SeedPlanning.ts` have made. */

const caseOf = (file: string, title: string) => `tests/${file}.spec.ts:${title}`

const invoice = caseOf("account/downloads-an-invoice", "Account › downloads an invoice")
const paysByCard = caseOf("checkout/pays-by-card", "Checkout › pays by card")
const paysByInvoice = caseOf(
  "checkout/pays-by-invoice-after-a-credit-check",
  "Checkout › pays by invoice after a credit check"
)

const day = 24 * 60 * 60_000

/** ENG-2 mutes a test, ENG-6 another until a moment from now, and ENG-10 asks for evidence. */
export const seedFlow = async (call: Call): Promise<void> => {
  const { agents } = await call<{ agents: ReadonlyArray<{ id: string }> }>("GET", "agents")
  const until = (days: number) => new Date(Date.now() + days * day).toISOString()
  await call("PUT", "tickets/ENG-2/mute", { product: "shop", cases: [invoice], until: until(20.5) })
  await call("PUT", "tickets/ENG-6/mute", {
    product: "shop",
    cases: [
      caseOf("checkout/keeps-the-basket-when-the-session-ends", "Checkout › keeps the basket when the session ends")
    ],
    until: until(5.5)
  })
  await call("PATCH", "tickets/ENG-10", {
    cases: { product: "shop", caseIds: [paysByCard, paysByInvoice] },
    completion: "evidence",
    passes: 2
  })
  await call("POST", "test-rules", {
    product: "shop",
    environment: "staging",
    branch: "main",
    when: { failures: 2, ofLast: 3 },
    team: "ENG",
    owner: agents[0]!.id,
    ask: "build"
  })
  await call("POST", "test-rules", {
    product: "search",
    coverage: "critical",
    when: { failures: 1 },
    team: "ENG",
    project: "search",
    above: 5
  })
}
