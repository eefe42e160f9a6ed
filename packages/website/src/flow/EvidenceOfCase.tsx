import type { EvidenceRun, TicketEvidence } from "@delivery/domain/flow/Evidence"
import { Link } from "@tanstack/react-router"
import { useEnvironmentName } from "../catalog/useEnvironmentName.ts"
import { shortSha } from "../ui/format.ts"
import { Icon } from "../ui/Icon.tsx"

/** A test of a ticket: where it failed last, and in which runs it has passed since. */

const whys: Readonly<Record<NonNullable<EvidenceRun["excluded"]>, string>> = {
  unknown_commit: "of an unknown commit",
  same_commit: "of a commit that failed",
  of_owner: "published by an owner of the ticket, or by you",
  other_address: "against another address than the deployment's",
  other_environment: "in another environment than the one where it failed",
  deployment_changed: "the deployment changed meanwhile",
  ran_before: "ran before the failure, and published later",
  uncommitted_changes: "with uncommitted changes",
  retry: "only its retry passed, and a new run is needed"
}

/** A CI whose key was made anew looks like any other by its runs: so the key is named. */
const whyOf = ({ excluded, key }: EvidenceRun): string =>
  typeof key === "string"
    ? `published with the key ${key}, which an owner, or you, made after the ticket`
    : whys[excluded!]

interface RunProps {
  readonly slug: string
  readonly ran: Pick<EvidenceRun, "run" | "environment" | "branch" | "commit">
}

/** A run, where it ran and of what: a pass in another environment, or of another branch, may prove little. */
const Run = ({ ran: { branch, commit, environment, run }, slug }: RunProps) => {
  const nameOf = useEnvironmentName(slug)
  return (
    <>
      <Link className="text-text underline" params={{ slug, run: String(run) }} to="/w/$slug/test-runs/$run">
        run {run}
      </Link>{" "}
      in {nameOf(environment)} ({branch !== "" && <>{branch} </>}
      <span className="font-mono text-xs">{shortSha(commit)}</span>)
    </>
  )
}

const RunList = ({ runs, slug }: { readonly runs: ReadonlyArray<RunProps["ran"]>; readonly slug: string }) =>
  runs.map((ran, index) => (
    <span key={ran.run}>
      {index > 0 && ", "}
      <Run ran={ran} slug={slug} />
    </span>
  ))

interface Props {
  readonly slug: string
  readonly product: string
  /** Whether its ticket is completed only with it. */
  readonly isAsked: boolean
  readonly one: TicketEvidence["cases"][number]
}

/** What has to happen yet, or would have to where nothing depends on it. */
const askedOf = (
  { isAsked, one: { environment, failed, needed, passed } }: Pick<Props, "isAsked" | "one">,
  nameOf: (slug: string) => string
): string => {
  const lacking = needed - passed
  const more = passed === 0 ? "" : " more"
  const how = isAsked
    ? `Must pass ${lacking === 1 ? `once${more}` : `${lacking}${more} times`}`
    : `Has not passed ${lacking === 1 ? `once${more}` : `${lacking}${more} times`} since`
  const where = environment === null ? "" : ` in ${nameOf(environment)}`
  return `${how}${where}${failed === null ? "" : ", on another commit"}.`
}

/** Of a test without a title no run is known. */
const noFailure = (title: string | null): string =>
  title === null
    ? "Is in none of the runs that are kept: those that had it were deleted, or its id is wrong"
    : "Has failed in none of the runs that are kept"

/** Of a run that counts and of one that does not, as many as a line takes. */
const most = 3

export const EvidenceOfCase = ({ isAsked, one, product, slug }: Props) => {
  const { caseId, failed, needed, passed, runs, title } = one
  const nameOf = useEnvironmentName(slug)
  const proofs = runs.filter(({ excluded }) => excluded === null).slice(0, Math.max(needed, most))
  const others = runs.filter(({ excluded }) => excluded !== null).slice(0, most)
  return (
    <li className="border-border flex flex-wrap items-center gap-x-3 border-b px-4 py-1.5">
      <span className={passed >= needed ? "text-success" : "text-muted"}>
        <Icon name={passed >= needed ? "check" : "clock"} />
      </span>
      <span className="min-w-0 flex-1">
        <Link
          className="foreign block truncate font-medium outline-offset-0 hover:underline"
          params={{ slug, product, case: caseId }}
          to="/w/$slug/products/$product/cases/$case"
        >
          {(title ?? caseId).slice(0, 500)}
        </Link>
        {passed < needed && <span className="block">{askedOf({ isAsked, one }, nameOf)}</span>}
        <span className="text-muted foreign block text-xs">
          {failed === null ? (
            noFailure(title)
          ) : (
            <>
              Failed last in <Run ran={failed} slug={slug} />
            </>
          )}
          {proofs.length > 0 && ", passed in "}
          <RunList runs={proofs} slug={slug} />.
          {[...Map.groupBy(others, whyOf)].map(([why, same]) => (
            <span key={why}>
              {" "}
              Not counted, as {why}: <RunList runs={same} slug={slug} />.
            </span>
          ))}
        </span>
      </span>
      <span className={`tabular ${passed >= needed ? "text-success" : "text-muted"}`}>
        {Math.min(passed, needed)} of {needed}
      </span>
    </li>
  )
}
