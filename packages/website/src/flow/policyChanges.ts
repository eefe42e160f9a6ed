import { freezeChanges, type FreezeWindow, isLikeWindow, isSameWindow } from "@delivery/domain/flow/FreezeChanges"
import type { ReadinessPolicy, ReasonSetting } from "@delivery/domain/flow/ReadinessPolicy"
import type { Coverage } from "@delivery/domain/runs/TestEntry"
import { momentOf } from "./mute.ts"

/** What a person changes of a policy that others may change meanwhile. Pure. */

/** A window as it is filled in, and the one of the policy that it was made of, unless it is new. */
export interface MyWindow {
  readonly of: FreezeWindow | undefined
  readonly window: FreezeWindow
}

/** A policy as it is filled in. */
export interface MyPolicy extends Omit<ReadinessPolicy, "freezes"> {
  readonly freezes: ReadonlyArray<MyWindow>
}

export const weightLabels = {
  tickets: "Tickets that block releases",
  secrets: "Missing secrets",
  drift: "Drift of secrets",
  mutes: "Overdue mutes"
} as const

export const settingLabels = {
  block: "Block",
  warn: "Warn",
  off: "Do not look"
} as const satisfies Record<ReasonSetting, string>

export const requirementLabels = {
  block: "Must have passed",
  warn: "Warn unless it passed",
  off: "Not required"
} as const satisfies Record<ReasonSetting, string>

const weights = ["tickets", "secrets", "drift", "mutes"] as const
export const coverages = [
  "critical",
  "acceptance",
  "regression",
  "exhaustive"
] as const satisfies ReadonlyArray<Coverage>

const requiredOf = ({ requires }: Pick<ReadinessPolicy, "requires">, coverage: Coverage): ReasonSetting =>
  requires.find((one) => one.coverage === coverage)?.severity ?? "off"

/** The coverages, first those that the policy requires, in its order. */
const inOrder = ({ requires }: ReadinessPolicy): ReadonlyArray<Coverage> => [
  ...new Set([...requires.map(({ coverage }) => coverage), ...coverages])
]

/** Mine where I changed it, else theirs. */
const chosen = <A>(base: A, mine: A, theirs: A): A => (mine === base ? theirs : mine)

/** What the person did with a window of the policy: left it, removed it, or changed it. */
const myChange = (base: FreezeWindow, mine: MyPolicy): "left" | "removed" | FreezeWindow => {
  const kept = mine.freezes.find(({ of }) => of !== undefined && isSameWindow(of, base))
  if (kept === undefined) return "removed"
  return isSameWindow(kept.window, base) ? "left" : kept.window
}

const added = ({ freezes }: MyPolicy) => freezes.flatMap(({ of, window }) => (of === undefined ? [window] : []))

/** What I did in place of what they did to the same windows; all else of theirs stays. No window stands there twice. */
const mergeFreezes = (base: ReadinessPolicy, mine: MyPolicy, theirs: ReadinessPolicy): ReadonlyArray<FreezeWindow> => {
  const changes = freezeChanges(base.freezes, theirs.freezes)
  const laterOf = (window: FreezeWindow) => {
    const change = changes.find(({ before }) => before !== undefined && isSameWindow(before, window))
    return change === undefined ? window : change.after
  }
  const touched = base.freezes.flatMap((window) => {
    const change = myChange(window, mine)
    return change === "left" ? [] : [{ window, change }]
  })
  const news = added(mine)
  const theirsNew = changes.flatMap(({ after, before }) => (before === undefined && after !== undefined ? [after] : []))
  const inPlaceOf = [
    ...touched.flatMap(({ window }) => laterOf(window) ?? []),
    ...theirsNew.filter((window) => news.some((one) => isLikeWindow(one, window)))
  ]
  const all = [
    ...theirs.freezes.filter((window) => !inPlaceOf.some((one) => isSameWindow(one, window))),
    ...touched.flatMap(({ change }) => (typeof change === "string" ? [] : [change])),
    ...news
  ]
  return all.filter((window, index) => all.findIndex((one) => isSameWindow(one, window)) === index)
}

/** The policy as it is now, with what the person changed of the one that they had before them. */
export const mergePolicies = (base: ReadinessPolicy, mine: MyPolicy, theirs: ReadinessPolicy): ReadinessPolicy => {
  return {
    from: chosen(base.from, mine.from, theirs.from),
    requires: inOrder(theirs).flatMap((coverage) => {
      const severity = chosen(requiredOf(base, coverage), requiredOf(mine, coverage), requiredOf(theirs, coverage))
      return severity === "off" ? [] : [{ coverage, severity }]
    }),
    tickets: chosen(base.tickets, mine.tickets, theirs.tickets),
    secrets: chosen(base.secrets, mine.secrets, theirs.secrets),
    drift: chosen(base.drift, mine.drift, theirs.drift),
    mutes: chosen(base.mutes, mine.mutes, theirs.mutes),
    freezes: mergeFreezes(base, mine, theirs)
  }
}

const spanOf = ({ from, reason, to }: FreezeWindow) => `${reason}, ${momentOf(from)} to ${momentOf(to)}`

/** Windows that somebody else has changed and the person too, to something else. */
const freezeClashes = (base: ReadinessPolicy, mine: MyPolicy, theirs: ReadinessPolicy): ReadonlyArray<string> => {
  const changes = freezeChanges(base.freezes, theirs.freezes)
  const news = changes.some(({ before }) => before === undefined)
  return changes.flatMap(({ after, before }) => {
    if (before === undefined) {
      const like = added(mine).find((one) => after !== undefined && isLikeWindow(one, after))
      return like === undefined || after === undefined || isSameWindow(like, after)
        ? []
        : [`the window ${like.reason} was added: ${spanOf(after)}`]
    }
    const change = myChange(before, mine)
    if (change === "left") return []
    if (after !== undefined) {
      return change !== "removed" && isSameWindow(change, after)
        ? []
        : [`the window ${before.reason} is now ${spanOf(after)}`]
    }
    // Both removed it, unless they put another in its place.
    return change === "removed" && !news ? [] : [`the window ${before.reason} was removed`]
  })
}

/** What somebody else has changed since `base` and the person changes too, to something else, each as it is now. */
export const policyClashes = (
  base: ReadinessPolicy,
  mine: MyPolicy,
  theirs: ReadinessPolicy
): ReadonlyArray<string> => {
  const clash = <A extends string | null>(before: A, own: A, now: A, text: string) =>
    own === before || now === before || own === now ? [] : [text]
  return [
    ...clash(base.from, mine.from, theirs.from, `versions come from ${theirs.from ?? "nowhere in particular"}`),
    ...coverages.flatMap((coverage) => {
      const now = requiredOf(theirs, coverage)
      return clash(
        requiredOf(base, coverage),
        requiredOf(mine, coverage),
        now,
        `${coverage} is “${requirementLabels[now]}”`
      )
    }),
    ...weights.flatMap((field) =>
      clash(base[field], mine[field], theirs[field], `${weightLabels[field]} is “${settingLabels[theirs[field]]}”`)
    ),
    ...freezeClashes(base, mine, theirs)
  ]
}
