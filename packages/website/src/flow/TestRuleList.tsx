import type { TestRule } from "@delivery/domain/flow/TestRule"
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import { actorName } from "../api/actors.ts"
import { client } from "../api/client.ts"
import { Loaded } from "../api/Loaded.tsx"
import { workspaceKey } from "../api/queries.ts"
import { Sure } from "../api/Sure.tsx"
import { useAction } from "../api/useAction.ts"
import { CategoryMark } from "../planning/CategoryMark.tsx"
import { Badge } from "../ui/Badge.tsx"
import { Button } from "../ui/Button.tsx"
import { Time } from "../ui/Time.tsx"
import { undone } from "../ui/toast.ts"
import { ruleTicketsQuery } from "./queries.ts"
import { RuleMatches } from "./RuleMatches.tsx"
import { type RuleThings, useRuleNames } from "./useRuleNames.ts"
import { restOf, sentenceOf } from "./words.ts"

/** The rules as sentences, each with its tickets and what is done with it. */

interface RuleProps {
  readonly rule: TestRule
  readonly slug: string
  readonly things: RuleThings
  readonly mayChange: boolean
  readonly onChange: () => void
}

const Tickets = ({ rule, slug }: Pick<RuleProps, "rule" | "slug">) => (
  <Loaded query={useQuery(ruleTicketsQuery(slug, rule.id))} rows={2}>
    {({ tickets }) =>
      tickets.length === 0 ? (
        <p className="text-muted py-1">It has made no ticket that you see yet.</p>
      ) : (
        <ul aria-label="Tickets of the rule" className="max-h-80 overflow-y-auto">
          {tickets.map((ticket) => (
            <li key={ticket.id}>
              <Link
                className="hover:bg-hover flex min-h-(--row) items-center gap-2 rounded-md px-2"
                params={{ slug, ticket: ticket.identifier }}
                to="/w/$slug/tickets/$ticket"
              >
                <CategoryMark status={ticket.status} />
                <span className="text-muted tabular shrink-0">{ticket.identifier}</span>
                <span className="foreign min-w-0 flex-1 truncate">{ticket.title}</span>
                <span className="text-muted">
                  <Time at={ticket.createdAt} />
                </span>
              </Link>
            </li>
          ))}
        </ul>
      )
    }
  </Loaded>
)

const useRuleActions = ({ rule, slug }: Pick<RuleProps, "rule" | "slug">) => {
  const params = { slug, testRule: rule.id }
  const changes = [workspaceKey(slug, "test-rules")]
  const setState = useAction({
    act: (state: TestRule["state"]) => client.testRules.update({ params, payload: { state } }),
    done: ({ state }) =>
      state === "active"
        ? { title: "The rule makes tickets", detail: "It acts as you from now on.", tone: "success" }
        : {
            title: "The rule is stopped",
            undo: (): Promise<string | undefined> => undone(setState.mutateAsync("active"))
          },
    failed: () => "The rule stays as it was",
    changes
  })
  const remove = useAction({
    act: () => client.testRules.delete({ params }),
    done: () => ({ title: "The rule was deleted" }),
    changes
  })
  return { remove, setState }
}

interface StateProps extends Pick<RuleProps, "rule"> {
  readonly hasLeft: boolean
  readonly goneOwner: string | undefined
}

const State = ({ goneOwner, hasLeft, rule }: StateProps) => (
  <>
    {rule.state === "stopped" && (
      <Badge title="It makes no tickets: somebody stopped it, or it could not act as its author any more">
        stopped
      </Badge>
    )}
    {hasLeft && (
      <Badge title="A rule acts as its author: it makes nothing before somebody else takes it over" tone="warning">
        author has left
      </Badge>
    )}
    {goneOwner !== undefined && (
      <Badge title="New tickets of the rule belong to nobody: change its owner" tone="warning">
        {goneOwner}
      </Badge>
    )}
  </>
)

const Rule = ({ mayChange, onChange, rule, slug, things }: RuleProps) => {
  const [isOpen, setOpen] = useState(false)
  const { remove, setState } = useRuleActions({ rule, slug })
  const hasLeft =
    rule.author.kind === "removed" || (rule.author.kind === "user" && things.hasLeft(rule.author.id) === true)
  const isActive = rule.state === "active"
  const sentence = sentenceOf(rule, things.namesOf(rule), things.isAgent(rule.owner))
  return (
    <li className="border-border flex flex-col gap-1.5 border-b px-4 py-3">
      <p className={`foreign font-medium ${isActive && !hasLeft ? "" : "text-muted"}`}>{sentence}</p>
      <p className="text-muted text-xs">{restOf(rule)}</p>
      {isActive && <RuleMatches rule={rule} slug={slug} />}
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <State goneOwner={things.goneOwner(rule.owner)} hasLeft={hasLeft} rule={rule} />
        <span className="text-muted text-xs">
          Acts as {actorName(rule.author)}, changed <Time at={rule.updatedAt} />
        </span>
        <span className="-mr-2.5 ml-auto flex gap-1 max-sm:-ml-2.5 max-sm:basis-full max-sm:justify-between">
          <Button aria-expanded={isOpen} look="quiet" onClick={() => setOpen(!isOpen)}>
            {isOpen ? "Hide its tickets" : "Show its tickets"}
          </Button>
          {mayChange && (
            <>
              <Button look="quiet" onClick={onChange}>
                Change
              </Button>
              {hasLeft ? (
                <Button isBusy={setState.isPending} look="quiet" onClick={() => setState.mutate("active")}>
                  Take over
                </Button>
              ) : (
                <Button
                  isBusy={setState.isPending}
                  look="quiet"
                  onClick={() => setState.mutate(isActive ? "stopped" : "active")}
                >
                  {isActive ? "Stop" : "Begin again"}
                </Button>
              )}
              <Sure action="Delete the rule" doing={remove} title="Delete the rule?" verb="Delete">
                <p className="foreign">{sentence}</p>
                <p>The tickets that it has made stay as they are. The rule cannot be brought back.</p>
              </Sure>
            </>
          )}
        </span>
      </div>
      {isOpen && <Tickets rule={rule} slug={slug} />}
    </li>
  )
}

interface Props {
  readonly mayChange: boolean
  readonly onChange: (rule: TestRule) => void
  readonly slug: string
  readonly testRules: ReadonlyArray<TestRule>
}

const TestRuleList = ({ mayChange, onChange, slug, testRules }: Props) => {
  const things = useRuleNames(slug)
  return (
    <ul aria-label="Test rules">
      {testRules.map((rule) => (
        <Rule
          key={rule.id}
          mayChange={mayChange}
          onChange={() => onChange(rule)}
          rule={rule}
          slug={slug}
          things={things}
        />
      ))}
    </ul>
  )
}

export default TestRuleList
