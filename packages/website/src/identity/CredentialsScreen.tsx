import { useQuery } from "@tanstack/react-query"
import { useNavigate, useParams, useSearch } from "@tanstack/react-router"
import type { WorkspaceCredential } from "@delivery/domain/identity/Credential"
import { actorName } from "../api/actors.ts"
import { client } from "../api/client.ts"
import { ForAdmins } from "../api/ForAdmins.tsx"
import { Loaded } from "../api/Loaded.tsx"
import { sessionQuery } from "../api/proof.ts"
import { meQuery } from "../api/session.ts"
import { Sure } from "../api/Sure.tsx"
import { useAction } from "../api/useAction.ts"
import { Badge } from "../ui/Badge.tsx"
import { Button } from "../ui/Button.tsx"
import { withoutUndefined } from "../ui/address.ts"
import { Filter } from "../ui/Filter.tsx"
import { counted } from "../ui/format.ts"
import { Header } from "../ui/Header.tsx"
import { Cell, Item } from "../ui/Item.tsx"
import { List as Walked } from "../ui/List.tsx"
import { Since } from "../ui/Since.tsx"
import { Empty } from "../ui/States.tsx"
import { credentialsQuery } from "./queries.ts"
import { ScopeBadges } from "./ScopeBadges.tsx"
import { credentialKinds, type CredentialsSearch } from "./search.ts"

/** Everything that may act in the workspace, whoever's it is, with block and unblock. */

interface RowProps {
  readonly credential: WorkspaceCredential
  readonly slug: string
  /** Whether it is what this page acts with. */
  readonly isThis: boolean
}

const secretsOf = (deployment: WorkspaceCredential["deployment"]): string =>
  deployment === undefined
    ? "reads the secrets of its deployment"
    : `reads the secrets of ${deployment.product.name} in ${deployment.environment.name}`

/** Whose it is and how it ends, where others have the same name. */
const detailOf = ({ createdBy, deployment, kind, lastFour, name, owner, role }: WorkspaceCredential): string => {
  const [of, maker] = [actorName(owner), createdBy === null ? undefined : actorName(createdBy)]
  return [
    // A token of a deployment has the role of nobody: it reads what its product needs there.
    [...(of === name ? [] : [of]), kind === "deploymentToken" ? secretsOf(deployment) : role].join(", "),
    ...(maker === undefined || maker === of ? [] : [`made by ${maker}`]),
    ...(lastFour === null ? [] : [`…${lastFour}`])
  ].join(" · ")
}

const Actions = ({ credential, isThis, slug }: RowProps) => {
  const name = credential.name
  // Several may have one name.
  const subject = credential.lastFour === null ? name : `${name}, …${credential.lastFour}`
  const params = { slug, credential: credential.id }
  const changes = [credentialsQuery(slug).queryKey]
  const block = useAction({
    act: () => client.credentials.block({ params }),
    done: () => ({ title: `${name} is blocked` }),
    // Without access there is nothing to read: the frame says so.
    changes: isThis ? [meQuery.queryKey] : changes
  })
  const unblock = useAction({
    act: () => client.credentials.unblock({ params }),
    done: () => ({ title: `${name} may act again` }),
    failed: () => `${name} stays blocked.`,
    changes
  })
  if (credential.blocked) {
    return (
      <Button aria-label={`Unblock ${subject}`} isBusy={unblock.isPending} onClick={() => unblock.mutate()}>
        Unblock
      </Button>
    )
  }
  return (
    <Sure doing={block} subject={subject} title={`Block ${name}?`} verb="Block">
      <p className="foreign font-medium">{detailOf(credential)}</p>
      <p>
        From the next request on, this workspace does not let it in, nor what was made with it: keys, sign-ins of
        agents, tokens of deployments. It is unblocked here, too.
      </p>
      {isThis && <p className="text-danger font-medium">You are signed in with it: you lose this page at once.</p>}
    </Sure>
  )
}

const Row = (props: RowProps) => {
  const { credential, isThis } = props
  return (
    <Item
      actions={<Actions {...props} />}
      badges={
        <>
          <Badge>{credentialKinds[credential.kind]}</Badge>
          {isThis && <Badge tone="accent">this session</Badge>}
          {credential.blocked && <Badge tone="danger">blocked</Badge>}
          {credential.makerEndedAt !== undefined && (
            <Badge title="The key that it was made with has ended" tone="warning">
              maker ended
            </Badge>
          )}
        </>
      }
      detail={detailOf(credential)}
      isFaded={credential.blocked}
      name={credential.name}
    >
      {credential.kind !== "deploymentToken" && <ScopeBadges scopes={credential.scopes} />}
      <Cell width="narrow">
        <Since at={credential.lastUsedAt} never="never used" word="used" />
      </Cell>
      <Cell>
        <Since at={credential.expiresAt} never="does not expire" word="expires" />
      </Cell>
    </Item>
  )
}

const List = ({ slug }: { readonly slug: string }) => {
  const { kind, state } = useSearch({ from: "/w/$slug/settings/credentials" })
  const navigate = useNavigate({ from: "/w/$slug/settings/credentials" })
  const { data: current } = useQuery(sessionQuery)
  const set = (change: { readonly [Name in keyof CredentialsSearch]?: CredentialsSearch[Name] | undefined }) =>
    void navigate({ search: (before) => withoutUndefined<CredentialsSearch>({ ...before, ...change }), replace: true })
  return (
    <>
      <search aria-label="Credentials" className="border-border flex flex-wrap items-center gap-1 border-b px-3 py-1.5">
        <Filter
          choices={Object.entries(credentialKinds).map(([value, label]) => ({ value, label }))}
          noun="kind"
          onChange={(kind) => set({ kind: kind as WorkspaceCredential["kind"] | undefined })}
          value={kind}
        />
        <Filter
          choices={[{ value: "blocked", label: "blocked" }]}
          noun="state"
          onChange={(state) => set({ state: state as "blocked" | undefined })}
          value={state}
        />
      </search>
      <Loaded query={useQuery(credentialsQuery(slug))} rows={10}>
        {({ credentials }) => {
          const shown = credentials.filter(
            (one) => (kind === undefined || one.kind === kind) && (state === undefined || one.blocked)
          )
          return shown.length === 0 ? (
            <Empty icon="filter" title={`None of ${counted(credentials.length, "credential")} matches`} />
          ) : (
            <Walked label="Credentials" noun="credential">
              {shown.map((credential) => (
                <Row
                  credential={credential}
                  isThis={credential.id === current?.session.id}
                  key={credential.id}
                  slug={slug}
                />
              ))}
            </Walked>
          )
        }}
      </Loaded>
    </>
  )
}

const CredentialsScreen = () => {
  const { slug } = useParams({ from: "/w/$slug/settings/credentials" })
  return (
    <>
      <Header crumbs={[]} title="Credentials" />
      <ForAdmins slug={slug} subject="The credentials of the workspace are">
        <List slug={slug} />
      </ForAdmins>
    </>
  )
}

export default CredentialsScreen
