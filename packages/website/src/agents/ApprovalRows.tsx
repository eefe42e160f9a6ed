import { Link } from "@tanstack/react-router"
import { actorName } from "../api/actors.ts"
import { counted } from "../ui/format.ts"
import { Time } from "../ui/Time.tsx"
import { useApprovals } from "./useApprovals.ts"

/** What others ask an admin to approve, with the way to where it is decided. */

const most = 5

/** Of what waits for the person, whatever it is. */
export const waitingRow = "border-border hover:bg-hover two-lines flex h-(--row) items-center gap-3 border-b px-4"

interface Props {
  readonly approvals: ReturnType<typeof useApprovals>
  readonly slug: string
}

export const ApprovalRows = ({ approvals, slug }: Props) => (
  <>
    {approvals.slice(0, most).map(({ environment, id, reason, requestedAt, requestedBy }) => (
      <Link
        className={waitingRow}
        data-tall
        key={id}
        params={{ slug, _splat: `environments/${environment.slug}` }}
        to="/w/$slug/$"
      >
        <span className="bg-accent-fill size-2 shrink-0 rounded-full" />
        <span className="foreign truncate font-medium sm:shrink-0">
          {actorName(requestedBy)} asks to write in {environment.name}
        </span>
        <span className="second-line">
          <span className="text-muted foreign min-w-0 flex-1 truncate">{reason}</span>
          <span className="text-muted">
            <Time at={requestedAt} />
          </span>
        </span>
      </Link>
    ))}
    {approvals.length > most && (
      <p className="text-muted border-border border-b px-4 py-2">
        And {counted(approvals.length - most, "approval")} more, on the pages of their environments.
      </p>
    )}
  </>
)

/** The same above the inbox. */
const ApprovalsWaiting = ({ slug }: { readonly slug: string }) => {
  const approvals = useApprovals(slug)
  if (approvals.length === 0) return null
  return (
    <section aria-label="Approvals that wait for you">
      <ApprovalRows approvals={approvals} slug={slug} />
    </section>
  )
}

export default ApprovalsWaiting
