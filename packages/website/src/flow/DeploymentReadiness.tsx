import { useQuery } from "@tanstack/react-query"
import { useNavigate, useSearch } from "@tanstack/react-router"
import type { Deployment } from "@delivery/domain/catalog/Deployment"
import type { Readiness, Reason } from "@delivery/domain/flow/Readiness"
import { mutedIn, notCountedTexts, pendingTexts, testedText } from "@delivery/domain/flow/ReadinessRuns"
import { useState } from "react"
import { FailureView } from "../api/FailureView.tsx"
import { deploymentsQuery } from "../catalog/queries.ts"
import { useEnvironmentName } from "../catalog/useEnvironmentName.ts"
import { statusOf } from "../runs/status.ts"
import { Badge } from "../ui/Badge.tsx"
import { Button } from "../ui/Button.tsx"
import { Copyable } from "../ui/Copy.tsx"
import { Input } from "../ui/Field.tsx"
import { Filter } from "../ui/Filter.tsx"
import { counted, formatCount, shortSha } from "../ui/format.ts"
import { Icon } from "../ui/Icon.tsx"
import { PathLink } from "../ui/PathLink.tsx"
import { Section } from "../ui/Section.tsx"
import { SkeletonRows } from "../ui/States.tsx"
import { StatusMark } from "../ui/StatusMark.tsx"
import { Time } from "../ui/Time.tsx"
import { ReadinessPolicyPart } from "./ReadinessPolicyPart.tsx"
import { readinessQuery } from "./readiness.ts"
import { evidenceText, markOf, readyWords, startOf, told, weigh } from "./reasons.ts"
import { SecretDrift } from "./SecretDrift.tsx"

/** Whether a version may go out to the deployment, the reasons against it, and the policy that asks for them. */

interface Props {
  readonly deployment: Deployment
  readonly slug: string
}

/** The path on this website of an address that the API gave. */
const pathOf = (url: string): string => {
  const { hash, pathname, search } = new URL(url, location.origin)
  return `${pathname}${search}${hash}`
}

interface ReasonProps {
  readonly reason: Reason
  readonly version: string | null
}

/** What a reason leads to, by what it is about. */
const places: Readonly<Partial<Record<NonNullable<Reason["subject"]>["type"], string>>> = {
  coverage: "runs",
  environment: "deployment",
  freeze: "policy"
}

const ReasonRow = ({ reason: { message, severity, subject }, version }: ReasonProps) => (
  <li className="border-border flex min-h-(--row) items-start gap-x-3 gap-y-1 border-b px-4 py-2 max-sm:flex-wrap max-sm:justify-between">
    <span className="w-16 shrink-0">
      <Badge tone={severity === "block" ? "danger" : "warning"}>{severity === "block" ? "blocks" : "warns"}</Badge>
    </span>
    <span className="foreign min-w-0 flex-1 break-words max-sm:order-1 max-sm:basis-full">
      {told(message, version)}
    </span>
    {subject !== null && subject.url !== null && (
      <PathLink path={pathOf(subject.url)} title={subject.label}>
        <span className="text-accent whitespace-nowrap">Open {places[subject.type] ?? subject.type}</span>
      </PathLink>
    )}
  </li>
)

interface VerdictProps {
  readonly readiness: Readiness
  /** The version that runs there. */
  readonly running: string | null
}

/** In one line, with the words of the page's head where these are about the same version. */
const verdictOf = ({ readiness, running }: VerdictProps) => {
  const { reasons, requires, runs } = readiness
  const has = (kind: Reason["kind"]) => reasons.some((one) => one.kind === kind)
  if (!readiness.ready) {
    const mark = markOf(readiness, running)
    if (mark?.tone === "text-warning") return [mark.tone, mark.icon, startOf(mark.text)] as const
    if (has("version_missing")) return ["text-danger", "lock", "Not ready: no next version is known"] as const
    const also = has("version_unknown") ? ", and nobody has released or tested it" : ""
    return ["text-danger", "lock", `Not ready${also}`] as const
  }
  if (has("version_unknown")) return ["text-warning", "warning", "Nobody has released or tested this version"] as const
  if (requires.length === 0) return ["text-muted", "check", "Ready: no run is required"] as const
  // A newer run is told of below.
  return mutedIn(runs) === 0
    ? (["text-success", "check", "Ready"] as const)
    : ([
        "text-warning",
        "warning",
        startOf(readyWords({ reasons: [], requires, runs: runs.map((run) => ({ ...run, newer: null })) }))
      ] as const)
}

const Verdict = ({ readiness, running }: VerdictProps) => {
  const { blocks, warnings } = weigh(readiness.reasons)
  const counts = [
    ...(blocks > 0 ? [`${counted(blocks, "reason")} ${blocks === 1 ? "keeps" : "keep"} it back`] : []),
    ...(warnings > 0 ? [counted(warnings, "warning")] : [])
  ]
  const [tone, icon, text] = verdictOf({ readiness, running })
  return (
    <div className="px-4 pt-4" role="status">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span className={`text-md inline-flex items-center gap-2 font-medium ${tone}`}>
          <Icon name={icon} size={16} />
          {text}
        </span>
        {readiness.version === null ? (
          <span className="text-muted">No version is known</span>
        ) : (
          <Copyable label="Copy the version" shown={shortSha(readiness.version)} text={readiness.version} />
        )}
        <span className="text-muted">{counts.join(", ")}</span>
      </div>
      {[...readiness.runs.flatMap(pendingTexts), ...notCountedTexts(readiness)].map((text, index) => (
        <p className="text-warning flex items-baseline gap-2 pt-1" key={`${index} ${text}`}>
          <Icon name="warning" size={12} />
          <span className="foreign min-w-0 break-words">{text}</span>
        </p>
      ))}
    </div>
  )
}

interface MutedProps {
  readonly failures: Readiness["runs"][number]["mutedFailures"]
  readonly slug: string
}

/** What failed in a run and does not count. */
const MutedFailures = ({ failures: { count, tests }, slug }: MutedProps) => (
  <div className="pt-1 pl-6.5">
    <p className="text-muted">
      {count === 1 ? "A test failed that was" : `${counted(count, "test")} failed that were`} muted when the run
      started. That stays so for this run:
    </p>
    <ul aria-label="Muted failures" className="list-disc pl-5">
      {tests.map(({ caseId, ticket, title }) => (
        <li className="foreign break-words" key={caseId} title={caseId}>
          {title}
          {ticket !== null && (
            <>
              , <PathLink path={`/w/${slug}/tickets/${ticket}`}>{ticket}</PathLink>
            </>
          )}
        </li>
      ))}
      {count > tests.length && <li>and {formatCount(count - tests.length)} more</li>}
    </ul>
  </div>
)

interface DecidedProps {
  readonly decided: Readiness["runs"][number]
  readonly slug: string
  readonly version: string | null
}

const Decided = ({ decided, slug, version }: DecidedProps) => {
  const nameOf = useEnvironmentName(slug)
  const { counts, coverage, environment, finishedAt, gateResult, git, mutedFailures, result, run } = decided
  const commit = testedText(decided, version)
  return (
    <li className="border-border border-b px-4 py-1.5">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <StatusMark size={14} status={statusOf({ counts, gateResult, result, state: "finished" })} />
        <PathLink path={`/w/${slug}/test-runs/${run}`}>Run {run}</PathLink>
        <span className="text-muted">
          {coverage}, in {nameOf(environment)}
        </span>
        <span className="tabular">{evidenceText(counts)}</span>
        {commit !== undefined && (
          <span className="text-muted foreign break-words" title={git.sha}>
            {commit}
          </span>
        )}
        {git.dirty && (
          <Badge title="The working tree had changes that were not committed" tone="warning">
            uncommitted changes
          </Badge>
        )}
        {gateResult !== result && <Badge tone="warning">passes by its mutes</Badge>}
        <span className="text-muted ml-auto">
          <Time at={finishedAt} />
        </span>
      </div>
      {mutedFailures.count > 0 && <MutedFailures failures={mutedFailures} slug={slug} />}
    </li>
  )
}

const Runs = ({ readiness, slug }: { readonly readiness: Readiness; readonly slug: string }) =>
  readiness.runs.length === 0 ? null : (
    <Section isFlush title="Runs that decided">
      <ul>
        {readiness.runs.map((decided) => (
          <Decided decided={decided} key={decided.coverage} slug={slug} version={readiness.version} />
        ))}
      </ul>
    </Section>
  )

/** Which version is asked about: one that runs elsewhere, or any other that is typed. */
const ChosenVersion = ({ deployment, slug }: Props) => {
  const { version } = useSearch({ from: "/w/$slug/deployments/$product/$environment" })
  const navigate = useNavigate({ from: "/w/$slug/deployments/$product/$environment" })
  const { data } = useQuery(deploymentsQuery(slug))
  const [text, setText] = useState("")
  const places = (data?.deployments ?? []).filter((one) => one.product.slug === deployment.product.slug)
  const versions = [...new Set(places.flatMap((one) => one.version ?? []))]
  const choose = (next: string | undefined) =>
    void navigate({ search: { view: "readiness", ...(next === undefined ? {} : { version: next }) }, replace: true })
  const whereOf = (one: string) =>
    places
      .filter((place) => place.version === one)
      .map((place) => place.environment.name)
      .join(", ")
  return (
    <div className="border-border flex flex-wrap items-center gap-2 border-b px-3 py-1.5">
      <Filter
        choices={versions.map((one) => ({ value: one, label: `${shortSha(one)}, in ${whereOf(one)}` }))}
        noun="version"
        onChange={choose}
        value={version}
      />
      <form
        className="flex items-center gap-2"
        onSubmit={(event) => {
          event.preventDefault()
          if (text.trim() === "") return
          choose(text.trim())
          setText("")
        }}
      >
        <Input
          isLabelHidden
          isMono
          label="Another version"
          maxLength={200}
          onChange={(event) => setText(event.target.value)}
          placeholder="Another version"
          spellCheck={false}
          value={text}
        />
        <Button disabled={text.trim() === ""} type="submit">
          Check
        </Button>
      </form>
    </div>
  )
}

const DeploymentReadiness = ({ deployment, slug }: Props) => {
  const { version } = useSearch({ from: "/w/$slug/deployments/$product/$environment" })
  const [product, environment] = [deployment.product.slug, deployment.environment.slug]
  const { data, error, refetch } = useQuery(readinessQuery(slug, product, environment, version))
  return (
    <section aria-label="Readiness" className="pb-6">
      <ChosenVersion deployment={deployment} slug={slug} />
      {data === undefined ? (
        error === null ? (
          <SkeletonRows rows={4} />
        ) : (
          <FailureView error={error} onRetry={() => void refetch()} />
        )
      ) : (
        <>
          <Verdict readiness={data} running={deployment.version} />
          {data.reasons.length === 0 ? (
            <p className="text-muted px-4 pt-2">
              {data.requires.length === 0
                ? "Nothing that the policy looks at keeps it back. It asks for no run, so that no test says that the version works."
                : "Nothing that the policy asks for keeps it back."}
            </p>
          ) : (
            <ul aria-label="Reasons" className="border-border mt-2 border-t">
              {data.reasons.map((reason, index) => (
                <ReasonRow
                  key={`${reason.kind} ${reason.subject?.id ?? ""} ${index}`}
                  reason={reason}
                  version={data.version}
                />
              ))}
            </ul>
          )}
          <Runs readiness={data} slug={slug} />
        </>
      )}
      <SecretDrift environment={environment} product={product} slug={slug} />
      <ReadinessPolicyPart at={data?.at} deployment={deployment} slug={slug} />
    </section>
  )
}

export default DeploymentReadiness
