import { useQuery } from "@tanstack/react-query"
import { useParams } from "@tanstack/react-router"
import type { TrustedPublisher } from "@delivery/domain/identity/TrustedPublisher"
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
import { Header } from "../ui/Header.tsx"
import { Cell, Item } from "../ui/Item.tsx"
import { useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"
import { Since } from "../ui/Since.tsx"
import { Empty } from "../ui/States.tsx"
import { publishersQuery } from "./queries.ts"
import { ScopeBadges } from "./ScopeBadges.tsx"
import { issuerName } from "./workflowLines.ts"

/** Workflows of CI that get keys of the workspace without storing one. */

const NewPublisherDialog = later(() => import("./NewPublisherDialog.tsx"))
const WorkflowLines = later(() => import("./WorkflowLines.tsx"))

interface RowProps {
  readonly publisher: TrustedPublisher
  readonly slug: string
}

const Row = ({ publisher, slug }: RowProps) => {
  const [isShown, setShown] = useState(false)
  const name = `${publisher.workflow} of ${issuerName(publisher.issuer)} ${publisher.repositoryId}`
  const remove = useAction({
    act: () => client.trustedPublishers.delete({ params: { slug, publisher: publisher.id } }),
    done: () => ({
      title: `${publisher.workflow} is trusted no more`,
      detail: "The keys that it was given have ended."
    }),
    changes: [publishersQuery(slug).queryKey]
  })
  return (
    <Item
      actions={
        <>
          <Button aria-label={`Lines for ${name}`} look="quiet" onClick={() => setShown(true)}>
            Lines
          </Button>
          <Sure
            action="Delete publisher"
            doing={remove}
            subject={name}
            title={`Delete ${publisher.workflow}?`}
            verb="Delete"
          >
            <p>
              The keys that it was given end at once, with what was made with them. Its next job gets none. To undo
              that, trust it anew.
            </p>
          </Sure>
          {isShown && <WorkflowLines issuer={publisher.issuer} onClose={() => setShown(false)} slug={slug} />}
        </>
      }
      badges={
        <>
          <Badge>{publisher.role}</Badge>
          {publisher.allowPullRequests && <Badge tone="warning">pull requests</Badge>}
        </>
      }
      detail={`${issuerName(publisher.issuer)} · repository ${publisher.repositoryId} of ${publisher.ownerId} · trusted by ${actorName(publisher.createdBy)}`}
      name={publisher.workflow}
    >
      <ScopeBadges scopes={publisher.scopes} />
      <Cell width="wide">
        {publisher.ref ?? "any branch"}
        {publisher.environment !== null && `, in ${publisher.environment}`}
      </Cell>
      <Cell width="narrow">
        <Since at={publisher.lastUsedAt} never="never used" word="used" />
      </Cell>
      {publisher.expiresAt !== null && (
        <Cell tone="warning">
          <Since at={publisher.expiresAt} never="" word="ends" />
        </Cell>
      )}
    </Item>
  )
}

const TrustedPublishersScreen = () => {
  const { slug } = useParams({ from: "/w/$slug/settings/trusted-publishers" })
  const mayManage = mayAct(useRole(slug), "admin")
  const query = useQuery({ ...publishersQuery(slug), enabled: mayManage })
  const [isMaking, setMaking] = useState(false)
  useKeys(
    mayManage ? [{ keys: "c", label: "Trust a workflow", group: "Trusted publishers", run: () => setMaking(true) }] : []
  )
  const make = (
    <Button icon="plus" look="primary" onClick={() => setMaking(true)} shortcut="c">
      Trust a workflow
    </Button>
  )
  return (
    <>
      <Header actions={mayManage && make} crumbs={[]} title="Trusted publishers" />
      <ForAdmins slug={slug} subject="Trusted publishers are">
        <Loaded query={query} rows={4}>
          {({ trustedPublishers }) =>
            trustedPublishers.length === 0 ? (
              <Empty icon="key" title="A trusted workflow publishes runs without a stored key">
                GitHub and GitLab say of each job which repository and workflow it is. Trust one, and its jobs get keys
                that work for 15 minutes.
              </Empty>
            ) : (
              <ul aria-label="Trusted publishers">
                {trustedPublishers.map((publisher) => (
                  <Row key={publisher.id} publisher={publisher} slug={slug} />
                ))}
              </ul>
            )
          }
        </Loaded>
      </ForAdmins>
      {isMaking && query.data !== undefined && (
        <NewPublisherDialog issuers={query.data.issuers} onClose={() => setMaking(false)} slug={slug} />
      )}
    </>
  )
}

export default TrustedPublishersScreen
