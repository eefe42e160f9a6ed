import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import type { ApiKey } from "@delivery/domain/identity/ApiKey"
import { lazy, Suspense, useState } from "react"
import { client } from "../api/client.ts"
import { tellFailure } from "../api/failures.ts"
import { FailureView } from "../api/FailureView.tsx"
import { Badge } from "../ui/Badge.tsx"
import { Button } from "../ui/Button.tsx"
import { Header } from "../ui/Header.tsx"
import { Empty, SkeletonRows } from "../ui/States.tsx"
import { Time } from "../ui/Time.tsx"
import { toast } from "../ui/toast.ts"
import { apiKeysQuery } from "./queries.ts"

/** One's own keys: what they may do, when they were used, when they end. */

const NewKeyDialog = lazy(() => import("./NewKeyDialog.tsx"))

const KeyRow = ({ apiKey }: { readonly apiKey: ApiKey }) => {
  const queries = useQueryClient()
  const [isSure, setSure] = useState(false)
  const revoke = useMutation({
    mutationFn: () => client.apiKeys.revoke({ params: { apiKeyId: apiKey.id }, payload: {} }),
    onSuccess: () => toast({ title: `${apiKey.name} is revoked`, detail: "What was made with it has ended, too." }),
    onError: (error) => tellFailure(`${apiKey.name} is not revoked.`, error),
    onSettled: () => queries.invalidateQueries({ queryKey: apiKeysQuery.queryKey })
  })
  return (
    <li className="border-border flex min-h-11 flex-wrap items-center gap-x-3 gap-y-1 border-b px-4 py-1.5">
      <span className="min-w-40 flex-1">
        <span className="foreign block truncate font-medium">{apiKey.name}</span>
        <span className="text-muted font-mono text-xs">
          {apiKey.tokenPrefix}…{apiKey.lastFour}
        </span>
      </span>
      <span className="flex gap-1">
        {apiKey.scopes === null ? (
          <Badge>all scopes</Badge>
        ) : (
          apiKey.scopes.map((scope) => <Badge key={scope}>{scope}</Badge>)
        )}
      </span>
      <span className="text-muted">
        {apiKey.lastUsedAt === null ? (
          "never used"
        ) : (
          <>
            used <Time at={apiKey.lastUsedAt} />
          </>
        )}
      </span>
      <span className={apiKey.expiresSoon ? "text-warning" : "text-muted"}>
        {apiKey.expiresAt === null ? (
          "does not expire"
        ) : (
          <>
            ends <Time at={apiKey.expiresAt} />
          </>
        )}
      </span>
      <Button
        aria-label={isSure ? `Really revoke ${apiKey.name}?` : `Revoke ${apiKey.name}`}
        isBusy={revoke.isPending}
        look={isSure ? "danger" : "quiet"}
        onBlur={() => setSure(false)}
        onClick={() => (isSure ? revoke.mutate() : setSure(true))}
      >
        {isSure ? "Really revoke?" : "Revoke"}
      </Button>
    </li>
  )
}

const ApiKeysScreen = () => {
  const { data, error, refetch } = useQuery(apiKeysQuery)
  const [isMaking, setMaking] = useState(false)
  return (
    <>
      <Header
        actions={
          <Button icon="plus" look="primary" onClick={() => setMaking(true)}>
            New API key
          </Button>
        }
        crumbs={[]}
        title="API keys"
      />
      {data === undefined ? (
        error === null ? (
          <SkeletonRows rows={4} />
        ) : (
          <FailureView error={error} onRetry={() => void refetch()} />
        )
      ) : data.length === 0 ? (
        <Empty icon="key" title="Keys let programs act as you, in each of your workspaces">
          A key can be limited by scopes and a date.
        </Empty>
      ) : (
        <ul aria-label="API keys">
          {data.map((apiKey) => (
            <KeyRow apiKey={apiKey} key={apiKey.id} />
          ))}
        </ul>
      )}
      {isMaking && (
        <Suspense fallback={null}>
          <NewKeyDialog onClose={() => setMaking(false)} />
        </Suspense>
      )}
    </>
  )
}

export default ApiKeysScreen
