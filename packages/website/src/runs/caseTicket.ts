import type { Case } from "@delivery/domain/runs/Case"
import { codeSpan } from "../planning/markdown.ts"
import { visible } from "../ui/format.ts"
import { evidenceOf } from "./evidence.ts"
import { shownStates } from "./shownStates.ts"

/** What a ticket about a test over many runs says to begin with. Pure. */

/** Characters of a title that a ticket may have. */
const longestTitle = 200

export interface CaseAsked {
  readonly one: Case
  readonly product: { readonly name: string }
  /** Where the website shows the test. */
  readonly url: string
}

const first = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** What it is begins the title: the worst of it. */
export const caseTitleOf = ({ one }: Pick<CaseAsked, "one">): string => {
  const state = (["failing", "flaky", "slow"] as const).find((each) => one.states.includes(each)) ?? "test"
  const title = `${first(state)}: ${visible(one.title).replaceAll(/\s+/g, " ").trim()}`
  return title.length <= longestTitle ? title : `${title.slice(0, longestTitle - 1).replace(/[\ud800-\udbff]$/, "")}…`
}

export const caseDescriptionOf = ({ one, product, url }: CaseAsked): string => {
  const reasons = shownStates(one).flatMap((state) => {
    const evidence = evidenceOf(one, state)
    return state === "muted" || evidence === "" ? [] : [`- ${first(state)} ${evidence}`]
  })
  return [
    `[The results of the test](${url}) of ${codeSpan(visible(product.name))}.`,
    `Test: ${codeSpan(visible(one.caseId))}`,
    ...(reasons.length === 0 ? [] : [reasons.join("\n")])
  ].join("\n\n")
}
