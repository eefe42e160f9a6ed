import { useQuery } from "@tanstack/react-query"
import { Link, useParams, useSearch } from "@tanstack/react-router"
import type { AgentSession, Computer, RegisteredAgent } from "@delivery/domain/agents/Agent"
import { useState } from "react"
import { client, serviceUrl } from "../api/client.ts"
import { Loaded } from "../api/Loaded.tsx"
import { workspaceKey } from "../api/queries.ts"
import { useMe } from "../api/session.ts"
import { Sure } from "../api/Sure.tsx"
import { useAction } from "../api/useAction.ts"
import { Badge } from "../ui/Badge.tsx"
import { Button } from "../ui/Button.tsx"
import { Header, tabClass, Tabs } from "../ui/Header.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Cell, Item } from "../ui/Item.tsx"
import { useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"
import { Section } from "../ui/Section.tsx"
import { Since } from "../ui/Since.tsx"
import { Empty } from "../ui/States.tsx"
import { Time } from "../ui/Time.tsx"
import { Truncated } from "../ui/Truncated.tsx"
import { ticketListQuery } from "../planning/queries.ts"
import { liveAgentsQuery, liveMessagesQuery } from "./queries.ts"
import { type Work, workOf } from "./work.ts"

/** Coding agents: whose they are, on which computers, what each works on now, and how another one is connected. */

const AgentWork = later(() => import("./AgentWork.tsx"))
const Messages = later(() => import("./Messages.tsx"))
const Waiting = later(() => import("./Waiting.tsx"))
const ConnectAgent = later(() => import("./ConnectAgent.tsx"))

const Session = ({ session }: { readonly session: AgentSession }) => (
  <span className="inline-flex min-w-0 items-center gap-1.5">
    <Icon name="branch" size={14} />
    <Truncated text={`${session.repository ?? "unknown repository"} ${session.branch ?? ""}`.trim()} />
    {!session.live && (
      <span className="text-faint">
        <Time at={session.lastSeenAt} />
      </span>
    )}
  </span>
)

const OneComputer = ({ computer: { live, name, sessions } }: { readonly computer: Computer }) => (
  <li className="flex flex-wrap items-center gap-x-4 gap-y-1 py-0.5">
    <span className={`inline-flex items-center gap-1.5 ${live ? "" : "text-muted"}`}>
      <span
        aria-hidden="true"
        className={`size-2 rounded-full border ${live ? "bg-success border-transparent" : "border-strong"}`}
      />
      {name}
      <span className="text-muted">{live ? "live" : "away"}</span>
    </span>
    {sessions.map((session) => (
      <Session key={session.id} session={session} />
    ))}
  </li>
)

interface RowProps {
  readonly agent: RegisteredAgent
  readonly isMine: boolean
  readonly slug: string
  readonly work: Work | undefined
}

const Revoke = ({ agent, slug }: Pick<RowProps, "agent" | "slug">) => {
  const revoking = useAction({
    act: () => client.agents.revoke({ params: { slug, agent: agent.id } }),
    done: () => ({ title: `${agent.name} is revoked` }),
    changes: [workspaceKey(slug, "agents"), workspaceKey(slug, "notifications")]
  })
  return (
    <Sure doing={revoking} subject={agent.name} title={`Revoke ${agent.name}?`} verb="Revoke">
      <p>
        All its sign-ins end at once. Messages that wait for it are declined, and their senders are told. Connecting it
        again makes a new agent.
      </p>
    </Sure>
  )
}

const Computers = ({ agent: { computers, name, person } }: Pick<RowProps, "agent">) => (
  <ul aria-label={`Computers of ${name} of ${person.name}`} className="pb-1">
    {computers.map((computer) => (
      <OneComputer computer={computer} key={computer.id} />
    ))}
  </ul>
)

const Row = ({ agent, isMine, slug, work }: RowProps) => (
  <Item
    actions={isMine ? <Revoke agent={agent} slug={slug} /> : undefined}
    badges={
      <>
        {agent.live && <Badge tone="success">live</Badge>}
        {agent.serverUrl && (
          <Badge title="It signed in by the address of the server, and reports no computer">by URL</Badge>
        )}
      </>
    }
    detail={isMine ? "yours" : `of ${agent.person.name}`}
    isFaded={!agent.live}
    more={
      agent.computers.length === 0 && work === undefined ? undefined : (
        <>
          {agent.computers.length > 0 && <Computers agent={agent} />}
          {work !== undefined && <AgentWork agent={agent} slug={slug} work={work} />}
        </>
      )
    }
    name={agent.name}
  >
    <Cell>
      <Since at={agent.lastSeenAt} never="never seen" word="seen" />
    </Cell>
  </Item>
)

const All = ({ slug }: { readonly slug: string }) => {
  const me = useMe()
  const query = useQuery(liveAgentsQuery(slug))
  const { data: started } = useQuery(ticketListQuery(slug, { category: "started" }))
  const { data: said } = useQuery(liveMessagesQuery(slug))
  return (
    <Loaded query={query} rows={6}>
      {({ agents }) => {
        const isMine = ({ person }: RegisteredAgent) => person.id === me?.id
        const groups = [
          { title: "Yours", ofGroup: agents.filter(isMine) },
          { title: "Of others", ofGroup: agents.filter((one) => !isMine(one)) }
        ]
        return agents.length === 0 ? (
          <Empty
            command={`claude mcp add --transport http delivery ${serviceUrl}/agent/mcp`}
            icon="agent"
            title="Coding agents take tickets and answer messages"
          >
            Connect yours: it works for you, with your role.
          </Empty>
        ) : (
          groups
            .filter(({ ofGroup }) => ofGroup.length > 0)
            .map(({ ofGroup, title }) => (
              <Section isFlush key={title} title={title}>
                <ul aria-label={title}>
                  {ofGroup.map((agent) => (
                    <Row
                      agent={agent}
                      isMine={isMine(agent)}
                      key={agent.id}
                      slug={slug}
                      work={workOf(agent.id, started?.tickets ?? [], said?.messages ?? [])}
                    />
                  ))}
                </ul>
              </Section>
            ))
        )
      }}
    </Loaded>
  )
}

const AgentsScreen = () => {
  const { slug } = useParams({ from: "/w/$slug/agents" })
  const { view } = useSearch({ from: "/w/$slug/agents" })
  const [isConnecting, setConnecting] = useState(false)
  const connect = () => setConnecting(true)
  useKeys([{ keys: "c", label: "Connect an agent", group: "Agents", run: connect }])
  return (
    <>
      <Header
        actions={
          <Button icon="plus" look="primary" onClick={connect} shortcut="c">
            Connect an agent
          </Button>
        }
        crumbs={[]}
        title="Agents"
      />
      <Tabs label="Views of agents">
        <Link activeOptions={{ exact: true }} className={tabClass} params={{ slug }} search={{}} to="/w/$slug/agents">
          Agents
        </Link>
        <Link
          activeOptions={{ exact: true }}
          className={tabClass}
          params={{ slug }}
          search={{ view: "messages" }}
          to="/w/$slug/agents"
        >
          Messages
        </Link>
      </Tabs>
      {view === "messages" ? (
        <Messages slug={slug} />
      ) : (
        <>
          <Waiting slug={slug} />
          <All slug={slug} />
        </>
      )}
      {isConnecting && <ConnectAgent onClose={() => setConnecting(false)} slug={slug} />}
    </>
  )
}

export default AgentsScreen
