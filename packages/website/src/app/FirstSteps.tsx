import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import { serviceUrl } from "../api/client.ts"
import { mayAct, useRole } from "../api/session.ts"
import { deploymentsQuery, productsQuery } from "../catalog/queries.ts"
import { agentsQuery } from "../planning/queries.ts"
import { latestRunsQuery } from "../runs/queries.ts"
import { Button } from "../ui/Button.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Section } from "../ui/Section.tsx"
import Command from "../ui/Command.tsx"
import { toast } from "../ui/toast.ts"
import { vaultQuery } from "../vault/queries.ts"
import { isPutAway, putAway } from "./putAway.ts"

/**
 * How a new workspace begins: each line is ticked when it has happened, and all are gone when all have. They are for admins, who
 * may do all of it, and can be put away.
 */

interface Step {
  readonly title: string
  readonly isDone: boolean
  readonly command: string
}

interface StepsProps {
  readonly slug: string
  readonly steps: ReadonlyArray<Step>
  readonly onAway: () => void
}

const Steps = ({ onAway, slug, steps }: StepsProps) => (
  <Section
    actions={
      <Button look="quiet" onClick={onAway}>
        Put away<span className="sr-only"> the first minute</span>
      </Button>
    }
    title="The first minute"
  >
    <p className="text-muted pt-2">
      Make an{" "}
      <Link className="text-accent underline" params={{ slug }} to="/w/$slug/settings/api-keys">
        API key
      </Link>{" "}
      and put it into <code className="font-mono text-xs">DELIVERY_API_KEY</code>. Each line is ticked when it has
      happened.
    </p>
    <ol className="flex flex-col gap-4 py-4">
      {steps.map(({ command, isDone, title }) => (
        <li className="flex min-w-0 gap-3" key={title}>
          <span className={isDone ? "text-success" : "text-faint"}>
            <Icon name={isDone ? "check" : "arrowRight"} />
            <span className="sr-only">{isDone ? "Done:" : "To do:"}</span>
          </span>
          <div className="flex min-w-0 flex-1 flex-col gap-1.5">
            <h3 className={isDone ? "text-muted line-through" : "font-medium"}>{title}</h3>
            {!isDone && <Command text={command} />}
          </div>
        </li>
      ))}
    </ol>
  </Section>
)

const useSteps = (slug: string): ReadonlyArray<Step> | undefined => {
  const { data: products } = useQuery(productsQuery(slug))
  const { data: deployments } = useQuery(deploymentsQuery(slug))
  const { data: runs } = useQuery(latestRunsQuery(slug))
  const { data: vault } = useQuery(vaultQuery(slug))
  const { data: agents } = useQuery(agentsQuery(slug))
  if (
    agents === undefined ||
    products === undefined ||
    deployments === undefined ||
    runs === undefined ||
    vault === undefined
  )
    return undefined
  const api = (path: string, body: string) =>
    `curl -H "Authorization: Bearer $DELIVERY_API_KEY" -H "Content-Type: application/json" \\\n  ${serviceUrl}/v1/workspaces/${slug}/${path} -d '${body}'`
  const line = `DELIVERY_URL=${serviceUrl} DELIVERY_WORKSPACE=${slug}`
  return [
    {
      title: "Add a product",
      isDone: products.products.length > 0,
      command: api("products", '{"slug": "shop", "name": "Shop", "type": "website"}')
    },
    {
      title: "Say where it runs",
      isDone: deployments.deployments.length > 0,
      command: `${api("environments", '{"slug": "staging", "name": "Staging", "class": "non-production"}')}\n${api("deployments", '{"product": "shop", "environment": "staging", "baseUrl": "https://staging.shop.example.com"}')}`
    },
    {
      title: "Publish a run",
      isDone: runs.runs.length > 0,
      command: `${line} npx @delivery/cli runs publish results.xml --product shop --environment staging`
    },
    {
      title: "Put a secret",
      isDone: vault.secrets.length > 0,
      command: `${line} npx @delivery/cli secrets import .env --product shop --environment staging`
    },
    {
      title: "Connect an agent",
      isDone: agents.agents.length > 0,
      command: `claude mcp add --transport http delivery ${serviceUrl}/agent/mcp`
    }
  ]
}

const Beginning = ({ slug }: { readonly slug: string }) => {
  const steps = useSteps(slug)
  const [isAway, setAway] = useState(() => isPutAway(slug))
  const put = (next: boolean) => {
    putAway(slug, next)
    setAway(next)
  }
  const onAway = () => {
    put(true)
    toast({
      title: "The first minute was put away",
      undo: async () => {
        put(false)
        return "The first minute is back"
      }
    })
  }
  return !isAway && steps?.some((step) => !step.isDone) === true ? (
    <Steps onAway={onAway} slug={slug} steps={steps} />
  ) : null
}

const FirstSteps = ({ slug }: { readonly slug: string }) =>
  mayAct(useRole(slug), "admin") ? <Beginning key={slug} slug={slug} /> : null

export default FirstSteps
