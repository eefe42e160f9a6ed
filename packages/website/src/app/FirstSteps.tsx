import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { type ReactNode, useEffect, useState } from "react"
import { serviceUrl } from "../api/client.ts"
import { postCommand } from "../api/command.ts"
import { mayAct, useRole } from "../api/session.ts"
import { deploymentsQuery, environmentsQuery, productsQuery } from "../catalog/queries.ts"
import { invitesQuery, membersQuery } from "../identity/queries.ts"
import { agentsQuery, teamsQuery } from "../planning/queries.ts"
import { latestRunsQuery } from "../runs/queries.ts"
import { Button, buttonClass } from "../ui/Button.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Section } from "../ui/Section.tsx"
import Command from "../ui/Command.tsx"
import { toast } from "../ui/toast.ts"
import { vaultQuery } from "../vault/queries.ts"
import { Begin } from "../api/Begin.tsx"
import { pressWhenThere } from "../api/creators.ts"
import { PasskeyStep, useHasPasskey } from "./PasskeyStep.tsx"
import { isPutAway, type PutAway, putAway } from "./putAway.ts"

/**
 * How a new workspace begins: each line is ticked when it has happened, and all are gone when all have. They are for admins, who
 * may do all of it, and can be put away. Where work has begun, what happened comes first: they are one line until somebody opens them,
 * but for the passkey of a person who has none, which cannot wait.
 */

const passkeyTitle = "Add a passkey"

interface Step {
  readonly title: string
  readonly isDone: boolean
  readonly command?: string
  /** Where the website has it. */
  readonly action?: ReactNode
  readonly children?: ReactNode
}

interface Props {
  readonly slug: string
  /** In a workspace that has had a run, the passkey and the rest stand apart. */
  readonly part: "all" | "passkey" | "rest"
}

interface StepsProps extends Props {
  readonly steps: ReadonlyArray<Step>
  readonly onAway: () => void
}

const StepLine = ({ action, children, command, isDone, title }: Step) => (
  <li className="flex min-w-0 gap-3">
    <span className={`flex h-7 items-center ${isDone ? "text-success" : "text-faint"}`}>
      <Icon name={isDone ? "check" : "arrowRight"} />
      <span className="sr-only">{isDone ? "Done:" : "To do:"}</span>
    </span>
    <div className="flex min-w-0 flex-1 flex-col gap-1.5">
      <div className="flex min-h-7 flex-wrap items-center justify-between gap-x-3 gap-y-1">
        <h3 className={isDone ? "text-muted line-through" : "font-medium"}>{title}</h3>
        {!isDone && action}
      </div>
      {!isDone && children}
      {!isDone && command !== undefined && <Command text={command} />}
    </div>
  </li>
)

const StepList = ({ slug, steps }: Pick<StepsProps, "slug" | "steps">) => (
  <>
    {steps.some(({ command }) => command !== undefined) && (
      <p className="text-muted pt-2">
        Each line is ticked when it has happened. For the commands,{" "}
        <Link
          className="text-accent underline"
          params={{ slug }}
          search={{ for: "steps" }}
          to="/w/$slug/settings/api-keys"
        >
          create an API key
        </Link>{" "}
        with the scopes <code className="font-mono text-xs">read write publish vault admin</code>, and put it into{" "}
        <code className="font-mono text-xs">DELIVERY_API_KEY</code>.
      </p>
    )}
    <ol className="flex flex-col gap-3 py-3">
      {steps.map((step) => (
        <StepLine key={step.title} {...step} />
      ))}
    </ol>
  </>
)

const titles = { all: "The first minute", passkey: "Sign in again", rest: "The first minute" }

const Steps = ({ onAway, part, slug, steps }: StepsProps) => {
  const [isOpen, setOpen] = useState(part !== "rest")
  return (
    <Section
      actions={
        <>
          {part === "rest" && (
            <>
              <span className="text-muted tabular">
                {steps.filter(({ isDone }) => isDone).length} of {steps.length} done
              </span>
              <Button aria-expanded={isOpen} look="quiet" onClick={() => setOpen(!isOpen)}>
                {isOpen ? "Hide" : "Show"}
                <span className="sr-only"> the first minute</span>
              </Button>
            </>
          )}
          <Button look="quiet" onClick={onAway}>
            Put away<span className="sr-only">{part === "passkey" ? " the passkey" : " the first minute"}</span>
          </Button>
        </>
      }
      title={titles[part]}
    >
      {isOpen && <StepList slug={slug} steps={steps} />}
    </Section>
  )
}

/** What has happened, as far as the steps ask; undefined until all of it is known. */
const useHappened = (slug: string) => {
  const { data: products } = useQuery(productsQuery(slug))
  const { data: environments } = useQuery(environmentsQuery(slug))
  const { data: deployments } = useQuery(deploymentsQuery(slug))
  const { data: runs } = useQuery(latestRunsQuery(slug))
  const { data: vault } = useQuery(vaultQuery(slug))
  const { data: agents } = useQuery(agentsQuery(slug))
  const { data: teams } = useQuery(teamsQuery(slug))
  const { data: members } = useQuery(membersQuery(slug))
  const { data: invites } = useQuery(invitesQuery(slug))
  if (
    agents === undefined ||
    products === undefined ||
    environments === undefined ||
    deployments === undefined ||
    runs === undefined ||
    vault === undefined ||
    teams === undefined ||
    members === undefined ||
    invites === undefined
  )
    return undefined
  return {
    hasProduct: products.products.length > 0,
    hasEnvironment: environments.environments.length > 0,
    isDeployed: deployments.deployments.length > 0,
    hasRun: runs.runs.length > 0,
    hasSecret: vault.secrets.length > 0,
    hasAgent: agents.agents.length > 0,
    hasTeam: teams.teams.length > 0,
    hasOthers: members.members.length > 1 || invites.invites.length > 0
  }
}

/** A deployment stands in the matrix, where its product and its environment are. */
const Deploy = ({
  hasEnvironment,
  hasProduct,
  slug
}: {
  readonly slug: string
  readonly hasEnvironment: boolean
  readonly hasProduct: boolean
}) =>
  hasEnvironment && hasProduct ? (
    <Link
      className={buttonClass()}
      onClick={() => pressWhenThere(`/w/${slug}/deployments`, "Add a deployment")}
      params={{ slug }}
      to="/w/$slug/deployments"
    >
      Add a deployment
    </Link>
  ) : hasEnvironment ? null : (
    <Begin label="Add an environment" slug={slug} />
  )

const useSteps = (slug: string): ReadonlyArray<Step> | undefined => {
  const happened = useHappened(slug)
  const hasPasskey = useHasPasskey()
  if (happened === undefined || hasPasskey === undefined) return undefined
  const api = (path: string, body: string) => postCommand(slug, path, body)
  const line = `DELIVERY_URL=${serviceUrl} DELIVERY_WORKSPACE=${slug}`
  const begin = (label: string) => <Begin label={label} slug={slug} />
  return [
    ...(hasPasskey === "none" ? [] : [{ title: passkeyTitle, isDone: hasPasskey, children: <PasskeyStep /> }]),
    {
      title: "Add a product",
      isDone: happened.hasProduct,
      action: begin("Add a product"),
      command: api("products", '{"slug": "shop", "name": "Shop", "type": "website"}')
    },
    {
      title: "Say where it runs",
      isDone: happened.isDeployed,
      action: <Deploy {...happened} slug={slug} />,
      command: `${api("environments", '{"slug": "staging", "name": "Staging", "class": "non-production"}')}\n${api("deployments", '{"product": "shop", "environment": "staging", "baseUrl": "https://staging.shop.example.com"}')}`
    },
    {
      title: "Publish a run",
      isDone: happened.hasRun,
      command: `${line} npx @delivery/cli runs publish results.xml --product shop --environment staging`
    },
    {
      title: "Put a secret",
      isDone: happened.hasSecret,
      action: happened.hasProduct && happened.hasEnvironment ? begin("Paste a .env file") : undefined,
      command: `${line} npx @delivery/cli secrets import .env --product shop --environment staging`
    },
    {
      title: "Add a team",
      isDone: happened.hasTeam,
      action: begin("Add a team"),
      command: api("teams", '{"key": "ENG", "name": "Engineering"}')
    },
    { title: "Invite somebody", isDone: happened.hasOthers, action: begin("Invite somebody") },
    {
      title: "Connect an agent",
      isDone: happened.hasAgent,
      action: begin("Connect an agent"),
      command: `claude mcp add --transport http delivery ${serviceUrl}/agent/mcp`
    }
  ]
}

const Asked = ({ onAway, part, slug }: Props & Pick<StepsProps, "onAway">) => {
  const steps = useSteps(slug)
  const isOver = steps?.every((step) => step.isDone) === true
  // Nothing of it is asked for again.
  useEffect(() => {
    if (isOver) putAway(slug, "steps", true)
  }, [isOver, slug])
  if (steps === undefined || isOver) return null
  const others = steps.filter(({ title }) => title !== passkeyTitle)
  const passkey = steps.filter((step) => step.title === passkeyTitle && (part === "all" || !step.isDone))
  // Where all else has happened, a passkey is no beginning of the workspace any more.
  const isRestOver = others.every((step) => step.isDone)
  const shown = part === "all" ? [...passkey, ...(isRestOver ? [] : others)] : part === "passkey" ? passkey : others
  if (shown.length === 0 || (part === "rest" && isRestOver)) return null
  return <Steps onAway={onAway} part={part} slug={slug} steps={shown} />
}

const Beginning = ({ part, slug }: Props) => {
  const what: PutAway = part === "passkey" ? "passkey" : "steps"
  const [isAway, setAway] = useState(() => isPutAway(slug, what))
  const put = (next: boolean) => {
    putAway(slug, what, next)
    setAway(next)
  }
  const onAway = () => {
    put(true)
    toast({
      title: `“${titles[part]}” was put away`,
      undo: async () => {
        put(false)
        return `“${titles[part]}” is back`
      }
    })
  }
  return isAway ? null : <Asked onAway={onAway} part={part} slug={slug} />
}

const FirstSteps = ({ part, slug }: Props) =>
  mayAct(useRole(slug), "admin") ? <Beginning part={part} slug={slug} /> : null

export default FirstSteps
