import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { runQuery } from "../runs/queries.ts"
import { statusOf } from "../runs/status.ts"
import { StatusMark } from "../ui/StatusMark.tsx"

/** The run that an agent named with its reply, and what that came to: it may say something else than the reply. */
const ReplyRun = ({ run, slug }: { readonly run: number; readonly slug: string }) => {
  const { data } = useQuery(runQuery(slug, run))
  return (
    <p className="flex flex-wrap items-center gap-x-2 pt-1">
      <Link className="hover:underline" params={{ slug, run: String(run) }} to="/w/$slug/test-runs/$run">
        Run {run}
      </Link>
      {data !== undefined && (
        <>
          <StatusMark isWordShown size={14} status={statusOf(data)} />
          <span className="text-muted">
            {data.product.name} in {data.environment.name}
          </span>
        </>
      )}
    </p>
  )
}

export default ReplyRun
