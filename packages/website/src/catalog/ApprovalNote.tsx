import type { Approval } from "@delivery/domain/catalog/Approval"
import { useQuery } from "@tanstack/react-query"
import { useMe } from "../api/session.ts"
import { Time } from "../ui/Time.tsx"
import { approvalsQuery } from "./approvalsQuery.ts"
import { environmentsQuery } from "./queries.ts"

/** Whether the person may write in an environment, where that needs the approval of a second person, and where to ask for one. */

interface Props {
  readonly slug: string
  /** The slug of the environment. */
  readonly environment: string
  /** The server has refused a write for it: that counts for more than what is known here. */
  readonly isRefused?: boolean
  /** What did not happen then; empty where something else says it. */
  readonly refusal?: string
  /** What needs it, where that is no write of a value: "Turning this off needs". */
  readonly what?: string
}

type State = "approved" | "pending" | undefined

/** What has become of what the person has asked for, as far as it still counts. */
const stateOf = (approvals: ReadonlyArray<Approval>, person: string | undefined): [State, Approval | undefined] => {
  const mine = approvals.filter(
    ({ expiresAt, requestedBy, state }) =>
      requestedBy.kind === "user" &&
      requestedBy.id === person &&
      (state === "approved" || state === "pending") &&
      Date.parse(expiresAt) > Date.now()
  )
  const found = mine.find(({ state }) => state === "approved") ?? mine[0]
  return found?.state === "approved" || found?.state === "pending" ? [found.state, found] : [undefined, undefined]
}

/** Above what was pressed, it may have been scrolled away. */
const show = (note: HTMLElement | null) => note?.scrollIntoView({ block: "nearest" })

export const ApprovalNote = ({
  environment,
  isRefused = false,
  refusal = "Nothing was written.",
  slug,
  what
}: Props) => {
  const me = useMe()
  const { data: catalog } = useQuery(environmentsQuery(slug))
  const known = catalog?.environments.find((one) => one.slug === environment)
  const isNeeded = isRefused || known?.approvals === true
  const { data, isPending } = useQuery({ ...approvalsQuery(slug, environment), enabled: isNeeded })
  if (!isNeeded || isPending) return null
  const name = known?.name ?? environment
  const [state, approval] = stateOf(data?.approvals ?? [], me?.id)
  if (state === "approved" && approval !== undefined) {
    return (
      <p className="text-muted" role="status">
        You may write in <span className="foreign">{name}</span>
        {isRefused && " now: do it again"}. The approval ends <Time at={approval.expiresAt} />.
      </p>
    )
  }
  return (
    <p
      className={`${isRefused ? "bg-danger-soft text-danger" : "bg-warning-soft text-warning"} foreign rounded-md px-3 py-2`}
      key={isRefused ? "refused" : "told"}
      ref={isRefused ? show : undefined}
      role={isRefused ? "alert" : "status"}
    >
      {isRefused && refusal !== "" && <strong className="font-medium">{refusal} </strong>}
      {what ?? `Writes in ${name} need`} the approval of another admin.{" "}
      {state === "pending" && "You have asked; it waits for another admin. "}
      {/* In another tab: what is typed here stays. */}
      <a
        className="whitespace-nowrap underline"
        href={`/w/${slug}/environments/${environment}#${state === "pending" ? "approvals" : "ask"}`}
        rel="noopener"
        target="_blank"
      >
        {state === "pending" ? "See what you asked for" : "Ask for an approval"} in a new tab
      </a>
    </p>
  )
}
