import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router"
import type { AccountApiKey } from "@delivery/domain/identity/AccountApiKey"
import type { ApiKey } from "@delivery/domain/identity/ApiKey"
import { useState } from "react"
import { actorName } from "../api/actors.ts"
import { client } from "../api/client.ts"
import { ForAdmins } from "../api/ForAdmins.tsx"
import { Loaded } from "../api/Loaded.tsx"
import { mayAct, useRole } from "../api/session.ts"
import { Sure } from "../api/Sure.tsx"
import { useAction } from "../api/useAction.ts"
import { Badge } from "../ui/Badge.tsx"
import { Button } from "../ui/Button.tsx"
import { Header, tabClass, Tabs } from "../ui/Header.tsx"
import { Cell, Item } from "../ui/Item.tsx"
import { useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"
import { Since } from "../ui/Since.tsx"
import { Empty } from "../ui/States.tsx"
import { KeepAccountKeys, keeping } from "./KeepAccountKeys.tsx"
import { accountKeysQuery, apiKeysQuery } from "./queries.ts"
import { ScopeBadges } from "./ScopeBadges.tsx"

/** One's own keys and those of the workspace: what they may do, when they were used, when they end. */

const NewKeyDialog = later(() => import("./NewKeyDialog.tsx"))

interface RowProps {
  readonly apiKey: ApiKey | AccountApiKey
  readonly revoke: (payload: ReturnType<typeof keeping>) => Promise<unknown>
  readonly changes: ReadonlyArray<unknown>
}

const KeyRow = ({ apiKey, changes, revoke }: RowProps) => {
  const [isKept, setKept] = useState(false)
  const name = apiKey.name
  const revoking = useAction({
    act: () => revoke(keeping(isKept)),
    done: () => ({ title: `${name} is revoked` }),
    changes: [changes]
  })
  const token = `${apiKey.tokenPrefix}…${apiKey.lastFour}`
  return (
    <Item
      actions={
        <Sure action="Revoke key" doing={revoking} subject={name} title={`Revoke ${name}?`} verb="Revoke">
          <p>
            It is refused from the next request on. What was made with it ends, too:{" "}
            {isKept ? "keys of people" : "keys"}, sign-ins of agents, pending invites and trusted publishers. There is
            no way back.
          </p>
          <KeepAccountKeys isKept={isKept} onChange={setKept} />
        </Sure>
      }
      badges={"role" in apiKey && <Badge>{apiKey.role}</Badge>}
      detail={
        <>
          <span className="font-mono">{token}</span>
          {"createdBy" in apiKey && apiKey.createdBy !== null && ` · made by ${actorName(apiKey.createdBy)}`}
        </>
      }
      name={apiKey.name}
    >
      <ScopeBadges scopes={apiKey.scopes} />
      <Cell>
        <Since at={apiKey.lastUsedAt} never="never used" word="used" />
      </Cell>
      <Cell tone={apiKey.expiresSoon ? "warning" : "muted"}>
        <Since at={apiKey.expiresAt} never="does not expire" word="expires" />
      </Cell>
    </Item>
  )
}

const OwnKeys = () => (
  <Loaded query={useQuery(apiKeysQuery)} rows={4}>
    {(keys) =>
      keys.length === 0 ? (
        <Empty icon="key" title="Keys let programs act as you, in each of your workspaces">
          A key can be limited by scopes and a date.
        </Empty>
      ) : (
        <ul aria-label="API keys">
          {keys.map((apiKey) => (
            <KeyRow
              apiKey={apiKey}
              changes={apiKeysQuery.queryKey}
              key={apiKey.id}
              revoke={(payload) => client.apiKeys.revoke({ params: { apiKeyId: apiKey.id }, payload })}
            />
          ))}
        </ul>
      )
    }
  </Loaded>
)

const WorkspaceKeys = ({ slug }: { readonly slug: string }) => (
  <Loaded query={useQuery(accountKeysQuery(slug))} rows={4}>
    {({ accountApiKeys }) =>
      accountApiKeys.length === 0 ? (
        <Empty icon="key" title="Keys of the workspace belong to no person">
          They are for CI and other programs that go on when people leave. A CI that can show who it is needs none: see{" "}
          <Link className="text-accent underline" params={{ slug }} to="/w/$slug/settings/trusted-publishers">
            trusted publishers
          </Link>
          .
        </Empty>
      ) : (
        <ul aria-label="Keys of the workspace">
          {accountApiKeys.map((apiKey) => (
            <KeyRow
              apiKey={apiKey}
              changes={accountKeysQuery(slug).queryKey}
              key={apiKey.id}
              revoke={(payload) => client.accountApiKeys.revoke({ params: { slug, apiKeyId: apiKey.id }, payload })}
            />
          ))}
        </ul>
      )
    }
  </Loaded>
)

const ApiKeysScreen = () => {
  const { slug } = useParams({ from: "/w/$slug/settings/api-keys" })
  const search = useSearch({ from: "/w/$slug/settings/api-keys" })
  const isOfWorkspace = search.of === "workspace"
  const isForSteps = search.for === "steps"
  const navigate = useNavigate({ from: "/w/$slug/settings/api-keys" })
  const mayManage = mayAct(useRole(slug), "admin")
  const [isMaking, setMaking] = useState(isForSteps)
  const close = () => {
    setMaking(false)
    if (isForSteps) void navigate({ search: ({ for: _, ...rest }) => rest, replace: true })
  }
  useKeys(
    !isOfWorkspace || mayManage
      ? [{ keys: "c", label: "New API key", group: "API keys", run: () => setMaking(true) }]
      : []
  )
  return (
    <>
      <Header
        actions={
          (!isOfWorkspace || mayManage) && (
            <Button icon="plus" look="primary" onClick={() => setMaking(true)} shortcut="c">
              New API key
            </Button>
          )
        }
        crumbs={[]}
        title="API keys"
      />
      <Tabs label="Whose keys">
        {([undefined, "workspace"] as const).map((of) => (
          <Link
            activeOptions={{ exact: true }}
            className={tabClass}
            from="/w/$slug/settings/api-keys"
            key={of ?? "own"}
            replace
            search={of === undefined ? {} : { of }}
            to="."
          >
            {of === undefined ? "Yours" : "Of the workspace"}
          </Link>
        ))}
      </Tabs>
      {isOfWorkspace ? (
        <ForAdmins slug={slug} subject="The keys of the workspace are">
          <WorkspaceKeys slug={slug} />
        </ForAdmins>
      ) : (
        <OwnKeys />
      )}
      {isMaking && <NewKeyDialog isForSteps={isForSteps} onClose={close} {...(isOfWorkspace ? { slug } : {})} />}
    </>
  )
}

export default ApiKeysScreen
