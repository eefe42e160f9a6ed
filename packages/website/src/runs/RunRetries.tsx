import { retryOutcome } from "@delivery/domain/runs/RetryOutcome"
import type { Retry, TestRun } from "@delivery/domain/runs/TestRun"
import { actorName } from "../api/actors.ts"
import { client } from "../api/client.ts"
import { workspaceKey } from "../api/queries.ts"
import { mayAct, useMe, useRole } from "../api/session.ts"
import { useAction } from "../api/useAction.ts"
import { Badge } from "../ui/Badge.tsx"
import { Button } from "../ui/Button.tsx"
import { counted } from "../ui/format.ts"
import { Empty } from "../ui/States.tsx"
import { StatusMark } from "../ui/StatusMark.tsx"
import { Time } from "../ui/Time.tsx"
import { retryText } from "./retryWords.ts"

interface Props {
  readonly run: TestRun
  readonly slug: string
}

/** Whether the person may end a retry that runs: its publisher alone may. */
const useMayEnd = (slug: string) => {
  const [me, role] = [useMe(), useRole(slug)]
  return ({ publishedBy, state }: Retry): boolean =>
    state === "running" &&
    (mayAct(role, "admin") || (publishedBy.kind === "user" && publishedBy.id === me?.id && mayAct(role, "member")))
}

const useEndRetry = ({ run: { number: run }, slug }: Props) =>
  useAction({
    act: (retry: number) =>
      client.retries.finish({ params: { slug, run, retry }, payload: { interrupted: true, tests: [] } }),
    changes: [workspaceKey(slug, "run", run)],
    done: (_, retry) => ({ title: `Retry ${retry} has ended as interrupted` }),
    failed: (retry) => `Retry ${retry} was not ended`
  })

export const RunRetries = ({ run, slug }: Props) => {
  const mayEnd = useMayEnd(slug)
  const end = useEndRetry({ run, slug })
  if (run.retries.length === 0) {
    return (
      <Empty
        command={`npx @delivery/cli runs retry ${run.number}`}
        icon="runs"
        title="The failed tests were not retried"
      >
        A failed test that passes every attempt of a retry counts as flaky.
      </Empty>
    )
  }
  return (
    <ul aria-label="Retries">
      {run.retries.map((retry) => (
        <li
          className="border-border flex min-h-(--row) flex-wrap items-center gap-x-4 border-b px-4 py-1"
          key={retry.number}
        >
          <StatusMark status={retryOutcome(retry)} />
          <span className="font-medium">Retry {retry.number}</span>
          <span className="text-muted">{retryText(retry)}</span>
          <span className="text-muted">{counted(retry.requiredPasses, "pass", "passes")} required of each</span>
          {retry.elsewhere && (
            <Badge
              title={`What passed in it alone has failed for the gate. It tested ${retry.baseUrl}.`}
              tone="warning"
            >
              another address or release
            </Badge>
          )}
          {mayEnd(retry) && (
            <Button isBusy={end.isPending} onClick={() => end.mutate(retry.number)}>
              End the retry
            </Button>
          )}
          <span className="flex-1" />
          <span className="text-muted">{actorName(retry.publishedBy)}</span>
          <span className="text-muted">
            <Time at={retry.startedAt} />
          </span>
        </li>
      ))}
    </ul>
  )
}
