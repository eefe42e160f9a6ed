import type { TestRule } from "@delivery/domain/flow/TestRule"
import { formatCount } from "../ui/format.ts"

/** Test rules in words. Pure. */

/** A whole number that was typed, within limits; undefined for anything else. */
export const wholeAt = (text: string, least: number, most: number): number | undefined => {
  const value = Number(text)
  return /^\d+$/.test(text.trim()) && value >= least && value <= most ? value : undefined
}

/** The names of what a rule refers to, as people read them. */
export interface RuleNames {
  readonly product: string
  readonly environment: string | null
  readonly team: string
  readonly project: string | null
  readonly owner: string | null
  /** Whether the owner is an agent that was revoked. */
  readonly isOwnerRevoked: boolean
}

type Said = Pick<TestRule, "above" | "ask" | "branch" | "closeAfter" | "completion" | "coverage" | "when">

const asks: Readonly<Record<NonNullable<TestRule["ask"]>, string>> = {
  build: "build it",
  plan: "plan it",
  refine: "refine the ticket",
  draft: "draft the ticket"
}

const whenText = ({ failures, ofLast }: TestRule["when"]): string =>
  ofLast === 1
    ? "fails in a run"
    : failures === ofLast
      ? `fails in ${failures} runs one after the other`
      : `fails in ${failures} of the last ${ofLast} runs`

/** "When a test on main fails in 2 of the last 3 runs of Shop, make a ticket in team Web, and ask Claude of Ana to build it." */
export const sentenceOf = ({ ask, branch, coverage, when }: Said, names: RuleNames, isAgent: boolean): string => {
  const which = coverage === null ? "a test" : `a test of a ${coverage} run`
  const on = branch === null ? "" : ` on ${branch}`
  const where = names.environment === null ? "" : ` in ${names.environment}`
  const project = names.project === null ? "" : `, in the project ${names.project}`
  const owner =
    names.owner === null
      ? ""
      : names.isOwnerRevoked
        ? ", which nobody owns, as its agent was revoked"
        : isAgent
          ? `, and ask ${names.owner} to ${asks[ask ?? "build"]}`
          : `, and give it to ${names.owner}`
  return `When ${which}${on} ${whenText(when)} of ${names.product}${where}, make a ticket in team ${names.team}${project}${owner}.`
}

/** What else a rule does, which is the same for most. */
export const restOf = ({ above, closeAfter, completion }: Said): string =>
  `${
    above === 1 ? "Tests" : `Where ${formatCount(above)} tests or more fail at once, those`
  } that fail alike share a ticket. It is completed once its tests have passed ${
    closeAfter === 1 ? "a run" : `${closeAfter} runs`
  } since${completion === "evidence" ? ", and only with evidence" : ""}.`
