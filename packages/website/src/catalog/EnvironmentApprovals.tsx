import type { Approval } from "@delivery/domain/catalog/Approval"
import type { Environment } from "@delivery/domain/catalog/Environment"
import { useQuery } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { actorName } from "../api/actors.ts"
import { client } from "../api/client.ts"
import { Loaded } from "../api/Loaded.tsx"
import { mayAct, useMe, useRole } from "../api/session.ts"
import { Sure } from "../api/Sure.tsx"
import { useAction } from "../api/useAction.ts"
import { Badge } from "../ui/Badge.tsx"
import { Button } from "../ui/Button.tsx"
import { Cell, Item } from "../ui/Item.tsx"
import { later } from "../ui/later.tsx"
import { Section } from "../ui/Section.tsx"
import { Since } from "../ui/Since.tsx"
import { approvalsQuery } from "./approvalsQuery.ts"

/** Who asked to write in an environment that needs the approval of a second person, and what became of it. */

const AskApproval = later(() => import("./AskApproval.tsx"))

interface Props {
  readonly slug: string
  readonly environment: Environment
}

interface RowProps extends Props {
  readonly approval: Approval
}

const tones = {
  pending: "warning",
  approved: "success",
  rejected: "plain",
  withdrawn: "plain",
  ended: "plain",
  expired: "plain"
} as const

/** What is decided about one that is pending, by another admin. */
const Decide = ({ approval, environment, slug }: RowProps) => {
  const params = { slug, approval: approval.id }
  const changes = [approvalsQuery(slug, environment.slug).queryKey]
  const name = actorName(approval.requestedBy)
  const approve = useAction({
    act: () => client.approvals.approve({ params }),
    changes,
    done: () => ({ title: `${name} may write in ${environment.name} for ${approval.minutes} minutes` }),
    failed: () => `${name} may not write in ${environment.name}`
  })
  const reject = useAction({
    act: () => client.approvals.reject({ params, payload: {} }),
    changes,
    done: () => ({ title: `${name} may not write in ${environment.name}` })
  })
  return (
    <>
      <Button aria-label={`Approve ${name}`} isBusy={approve.isPending} onClick={() => approve.mutate()}>
        Approve
      </Button>
      <Sure doing={reject} subject={name} title={`Reject what ${name} asked for?`} verb="Reject">
        <p>Nothing is written. They may ask again.</p>
      </Sure>
    </>
  )
}

const End = ({ approval, environment, slug }: RowProps) => {
  const name = actorName(approval.requestedBy)
  const isPending = approval.state === "pending"
  const end = useAction({
    act: () => client.approvals.end({ params: { slug, approval: approval.id } }),
    changes: [approvalsQuery(slug, environment.slug).queryKey],
    done: () => ({ title: isPending ? `What ${name} asked for is withdrawn` : `The approval of ${name} has ended` })
  })
  return isPending ? (
    <Sure doing={end} subject={name} title={`Withdraw what ${name} asked for?`} verb="Withdraw">
      <p>Nobody can approve it any more.</p>
    </Sure>
  ) : (
    <Sure doing={end} subject={name} title={`End the approval of ${name}?`} verb="End">
      <p>
        Writes of {name} in {environment.name} are refused from now on, until another approval.
      </p>
    </Sure>
  )
}

const Row = (props: RowProps) => {
  const { approval, slug } = props
  const [me, isAdmin] = [useMe(), mayAct(useRole(slug), "admin")]
  const isOf = (actor: Approval["decidedBy"]) => actor?.kind === "user" && actor.id === me?.id
  const isOpen = approval.state === "pending" || approval.state === "approved"
  const mayEnd = isOpen && (isAdmin || isOf(approval.requestedBy) || isOf(approval.decidedBy))
  return (
    <Item
      actions={
        <>
          {approval.state === "pending" && isAdmin && !isOf(approval.requestedBy) && <Decide {...props} />}
          {mayEnd && <End {...props} />}
        </>
      }
      badges={<Badge tone={tones[approval.state]}>{approval.state}</Badge>}
      detail={approval.decisionReason === null ? approval.reason : `${approval.reason} · ${approval.decisionReason}`}
      isFaded={!isOpen}
      name={actorName(approval.requestedBy)}
    >
      {approval.decidedBy !== null && (
        <Cell>
          {(approval.state === "ended" || approval.state === "expired") && "approved "}by{" "}
          {actorName(approval.decidedBy)}
        </Cell>
      )}
      <Cell>for {approval.minutes} minutes</Cell>
      <Cell>
        {isOpen ? (
          <Since at={approval.expiresAt} never="" word={approval.state === "pending" ? "lapses" : "ends"} />
        ) : (
          <Since at={approval.requestedAt} never="" word="asked" />
        )}
      </Cell>
    </Item>
  )
}

/** Whoever came for them from elsewhere (ApprovalNote.tsx) sees them, below what runs there. */
const show = (section: HTMLElement | null) => {
  if (location.hash !== "") section?.scrollIntoView({ block: "end" })
}

const EnvironmentApprovals = ({ environment, slug }: Props) => {
  const [isAsking, setAsking] = useState(location.hash === "#ask")
  const navigate = useNavigate()
  const mayWrite = mayAct(useRole(slug), "member")
  const me = useMe()
  const query = useQuery(approvalsQuery(slug, environment.slug))
  const hasAsked =
    query.data?.approvals.some(
      ({ requestedBy, state }) => state === "pending" && requestedBy.kind === "user" && requestedBy.id === me?.id
    ) === true
  const mayAsk = mayWrite && !environment.archived && !hasAsked
  const close = () => {
    setAsking(false)
    // A page that is loaded again asks no second time.
    void navigate({ to: ".", hash: "", replace: true })
  }
  return (
    <div ref={show}>
      <Section
        actions={mayAsk && <Button onClick={() => setAsking(true)}>Ask for an approval</Button>}
        isFlush
        title="Approvals"
      >
        <Loaded query={query} rows={2}>
          {({ approvals }) =>
            approvals.length === 0 ? (
              <p className="text-muted px-4 py-3">
                Secret values and the class change here only when another admin has approved it. Nobody has asked yet.
              </p>
            ) : (
              <ul aria-label="Approvals">
                {approvals.map((approval) => (
                  <Row approval={approval} environment={environment} key={approval.id} slug={slug} />
                ))}
              </ul>
            )
          }
        </Loaded>
      </Section>
      {isAsking && mayAsk && query.data !== undefined && (
        <AskApproval environment={environment} onClose={close} slug={slug} />
      )}
    </div>
  )
}

export default EnvironmentApprovals
