import { useQuery } from "@tanstack/react-query"
import type { Deployment } from "@delivery/domain/catalog/Deployment"
import type { DeploymentToken } from "@delivery/domain/deploy/DeploymentToken"
import { useState } from "react"
import { client } from "../api/client.ts"
import { ForAdmins } from "../api/ForAdmins.tsx"
import { Loaded } from "../api/Loaded.tsx"
import { Sure } from "../api/Sure.tsx"
import { useAction } from "../api/useAction.ts"
import { Badge } from "../ui/Badge.tsx"
import { Button } from "../ui/Button.tsx"
import { Cell, Item } from "../ui/Item.tsx"
import { later } from "../ui/later.tsx"
import { Section } from "../ui/Section.tsx"
import { useKeys } from "../ui/keys.ts"
import { Since } from "../ui/Since.tsx"
import { Empty } from "../ui/States.tsx"
import { tokensQuery } from "./queries.ts"

/** The tokens with which a product reads its secrets in an environment: made, rotated, revoked, and used from where. */

const NewTokenDialog = later(() => import("./NewTokenDialog.tsx"))
const RotateToken = later(() => import("./RotateToken.tsx"))
const TokenLines = later(() => import("./TokenLines.tsx"))

interface Target {
  readonly slug: string
  readonly product: string
  readonly environment: string
}

const Actions = ({ token, ...target }: Target & { readonly token: DeploymentToken }) => {
  const [isRotating, setRotating] = useState(false)
  const name = token.name
  const revoke = useAction({
    act: () =>
      client.deploymentTokens.revoke({
        params: { slug: target.slug, product: target.product, environment: target.environment, token: token.id }
      }),
    done: () => ({ title: `${name} is revoked` }),
    changes: [tokensQuery(target.slug, target.product, target.environment).queryKey]
  })
  return (
    <>
      {token.replacedBy === null && (
        <Button aria-label={`Rotate ${name}`} look="quiet" onClick={() => setRotating(true)}>
          Rotate
        </Button>
      )}
      <Sure action="Revoke token" doing={revoke} subject={name} title={`Revoke ${name}?`} verb="Revoke">
        <p>
          What runs with it reads its secrets no more, from the next request on. A product that is running keeps those
          that it has, and may not start again. There is no way back: rotate it instead to change it without a gap.
        </p>
      </Sure>
      {isRotating && <RotateToken {...target} onClose={() => setRotating(false)} token={token} />}
    </>
  )
}

const Row = ({ token, ...target }: Target & { readonly token: DeploymentToken }) => {
  const networks = token.allowedAddresses
  return (
    <Item
      actions={<Actions {...target} token={token} />}
      badges={
        <>
          {token.replacedBy !== null && <Badge tone="warning">rotated</Badge>}
          {token.makerEndedAt !== null && (
            <Badge title="The key that it was made with has ended. The token goes on." tone="warning">
              maker ended
            </Badge>
          )}
        </>
      }
      detail={
        <>
          <span className="font-mono">
            {token.tokenPrefix}…{token.lastFour}
          </span>
          {` · made by ${token.createdBy.name}${token.createdBy.active ? "" : ", who has no access any more"}`}
        </>
      }
      isFaded={token.replacedBy !== null}
      name={token.name}
    >
      <Cell width="wide">
        <span title={networks === null ? undefined : networks.join(", ")}>
          {networks === null
            ? "from everywhere"
            : `from ${networks[0]}${networks.length > 1 ? ` and ${networks.length - 1} more` : ""}`}
        </span>
      </Cell>
      <Cell width="wide">
        <Since at={token.lastUsedAt} never="never used" word="used" />
        {token.lastUsedFrom !== null && ` from ${token.lastUsedFrom}`}
      </Cell>
      <Cell>
        <Since at={token.expiresAt} never="does not expire" word="expires" />
      </Cell>
    </Item>
  )
}

const List = (target: Target & { readonly isActive: boolean }) => {
  const { environment, isActive, product, slug } = target
  const [dialog, setDialog] = useState<"new" | "lines">()
  const close = () => setDialog(undefined)
  useKeys(isActive ? [{ keys: "c", label: "New token", group: "Deployment tokens", run: () => setDialog("new") }] : [])
  const make = (
    <Button icon="plus" look="primary" onClick={() => setDialog("new")} shortcut="c">
      New token
    </Button>
  )
  return (
    <>
      <Loaded query={useQuery(tokensQuery(slug, product, environment))} rows={3}>
        {({ tokens }) =>
          tokens.length === 0 ? (
            <Empty
              action={isActive && make}
              icon="key"
              title="With a token the product reads its own secrets here, in production too"
            >
              Make one for each place that runs it. It can do nothing else but say which version runs.
            </Empty>
          ) : (
            <Section
              actions={
                <>
                  <Button look="quiet" onClick={() => setDialog("lines")}>
                    Lines to paste
                  </Button>
                  {isActive && make}
                </>
              }
              isFlush
              title="Deployment tokens"
            >
              <ul aria-label="Deployment tokens">
                {tokens.map((token) => (
                  <Row environment={environment} key={token.id} product={product} slug={slug} token={token} />
                ))}
              </ul>
            </Section>
          )
        }
      </Loaded>
      {dialog === "new" && <NewTokenDialog environment={environment} onClose={close} product={product} slug={slug} />}
      {dialog === "lines" && <TokenLines onClose={close} product={product} />}
    </>
  )
}

interface Props {
  readonly deployment: Deployment
  readonly slug: string
}

const DeploymentTokens = ({ deployment, slug }: Props) => (
  <ForAdmins slug={slug} subject="Tokens of deployments are">
    <List
      environment={deployment.environment.slug}
      isActive={deployment.active}
      product={deployment.product.slug}
      slug={slug}
    />
  </ForAdmins>
)

export default DeploymentTokens
