import { Link } from "@tanstack/react-router"
import type { AuditEntry } from "@delivery/domain/audit/Audit"
import { memo, useDeferredValue, useId, useState } from "react"
import { actorName } from "../api/actors.ts"
import { useEnvironmentName } from "../catalog/useEnvironmentName.ts"
import { Badge } from "../ui/Badge.tsx"
import { IconButton } from "../ui/Button.tsx"
import { Changes, changesText } from "../ui/Changes.tsx"
import { counted } from "../ui/format.ts"
import { List } from "../ui/List.tsx"
import { later } from "../ui/later.tsx"
import { Time } from "../ui/Time.tsx"
import { actionWords } from "./words.ts"

/** Who did what, a line each; what else is known of it, below the line when it is asked for. */

const Details = later(() => import("./AuditDetails.tsx"))
const PolicyLine = later(() => import("../events/PolicyLine.tsx"), Changes)
const WebhookEnd = later(() => import("../webhooks/WebhookEnd.tsx"))

/** The most that a line says of what others wrote. */
const maxText = 500

/** Of a secret: where and which version; of a deployment that read its secrets: how many. */
const scopeOf = ({ environments, secrets, versions }: AuditEntry, nameOf: (environment: string) => string): string => {
  if (secrets !== undefined) return counted(secrets.length, "secret")
  return (environments ?? [])
    .map(
      (environment, index) => `${nameOf(environment)}${versions?.[index] === undefined ? "" : ` v${versions[index]}`}`
    )
    .join(", ")
}

/** Who did it where no member, key or token did. */
const others: Readonly<Record<string, string>> = {
  ciToken: "a CI",
  host: "the operator",
  report: "a report",
  server: "the server"
}

interface RowProps {
  readonly entry: AuditEntry
  readonly slug: string
}

/** The audit is read again every two seconds: what is the same is not drawn again. */
const Row = memo(({ entry, slug }: RowProps) => {
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  const nameOf = useEnvironmentName(slug)
  const { actor } = entry
  const name = actorName(actor)
  const label = entry.subject.label.slice(0, maxText)
  const scope = scopeOf(entry, nameOf).slice(0, maxText)
  const { changes = [] } = entry
  return (
    <li>
      <div className="border-border flex min-h-(--row) items-center gap-x-2 border-b py-1 pr-2 pl-4 max-md:items-start md:flex-wrap">
        <span className="min-w-0 flex-1 flex-wrap gap-x-2 max-md:flex max-md:py-0.5 md:contents">
          {actor.kind === "removed" ? (
            <span className="text-muted md:w-36">{others[entry.credential?.kind ?? ""] ?? "somebody"}</span>
          ) : (
            <Link
              className="foreign max-w-40 truncate font-medium hover:underline md:w-36"
              from="/w/$slug/audit"
              search={(before) => ({ ...before, actor: actor.id })}
              title={`Only what ${name} did`}
              to="."
            >
              {name}
            </Link>
          )}
          <span className="text-muted foreign md:w-44">{actionWords(entry.action)}</span>
          <Link
            className="foreign max-w-full min-w-0 truncate hover:underline md:max-w-100"
            from="/w/$slug/audit"
            search={(before) => ({ ...before, subject: entry.subject.id })}
            title={`Only what was done to ${label}`}
            to="."
          >
            {label}
            {entry.subject.type === "webhook" && <WebhookEnd id={entry.subject.id} label={label} slug={slug} />}
          </Link>
          {entry.outcome === "refused" && <Badge tone="danger">refused</Badge>}
          <span
            className="text-muted foreign min-w-0 flex-1 truncate text-xs max-md:basis-full"
            title={changesText(changes).slice(0, 1_000) || undefined}
          >
            {scope}
            {scope !== "" && changes.length > 0 && " · "}
            {entry.subject.type === "policy" ? (
              <PolicyLine changes={changes} slug={slug} />
            ) : (
              <Changes changes={changes} />
            )}
          </span>
        </span>
        <span className="text-muted tabular text-xs max-lg:hidden">{entry.address}</span>
        <span className="ml-auto inline-flex items-center gap-1">
          <span className="text-muted text-right md:w-24">
            <Time at={entry.at} />
          </span>
          <IconButton
            aria-controls={isOpen ? id : undefined}
            aria-expanded={isOpen}
            icon={isOpen ? "chevronDown" : "chevronRight"}
            isSmall
            label={`Details of ${actionWords(entry.action)} ${label.slice(0, 80)}`}
            onClick={() => setOpen(!isOpen)}
          />
        </span>
      </div>
      {isOpen && <Details entry={entry} id={id} slug={slug} />}
    </li>
  )
})

interface Props {
  readonly entries: ReadonlyArray<AuditEntry>
  readonly slug: string
}

/** As many as fill half of a screen: they come first, and the others in the next frames. */
const firstRows = 16

export const AuditList = ({ entries, slug }: Props) => {
  const drawn = useDeferredValue(entries.length, firstRows)
  return (
    <List isOrdered label="Audit" noun="entry">
      {entries.slice(0, drawn).map((entry) => (
        <Row entry={entry} key={entry.id} slug={slug} />
      ))}
    </List>
  )
}
